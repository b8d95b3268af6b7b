"""A small typed language in which rules and properties are declared once, as data. It knows nothing of serving.

Start with `rules.py` (what a declaration looks like) and `terms.py` (what it leaves behind).
"""

from model.language.build import among, before, count, every_of, exists, forall, implies, ite, total
from model.language.dials import choice, number, number_per, switch
from model.language.errors import LanguageError
from model.language.model import Model, Requirement, model
from model.language.properties import Promise, Property, Shape, at_rest, home, leads_to, prop, reachable, step
from model.language.rules import Rule, assume, enabled, every, guard, note, rule
from model.language.state import Field, State, field, flag, scalar, upto
from model.language.terms import Index, Range, Term

__all__ = [
    "Field", "Index", "LanguageError", "Model", "Promise", "Property", "Range", "Requirement", "Rule", "Shape", "State", "Term",
    "among", "assume", "at_rest", "before", "choice", "count", "enabled", "every", "every_of", "exists", "field",
    "flag", "forall", "guard", "home", "implies", "ite", "leads_to", "model", "note", "number", "number_per", "prop", "reachable",
    "rule", "scalar", "step", "switch", "total", "upto",
]  # fmt: skip
