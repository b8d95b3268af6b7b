"""A model: fields, rules and dials, with nothing sized yet."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from model.language.build import parameter_names
from model.language.dials import Dial, PerIndex, dial_of
from model.language.errors import LanguageError, refuse
from model.language.rules import Rule
from model.language.state import Field, State, bounds
from model.language.terms import BINDERS, BOOL, Index, Moment, Op, Term, Var, walk, want


@dataclass(frozen=True)
class Requirement:
    """What the dials of a world must satisfy together, and the sentence for one that does not."""

    condition: Term
    sentence: str


@dataclass(frozen=True)
class Forget:
    """Values that nobody can read any more, and that a search may forget.

    For each choice of `members`, the cells of `fields` at those members may take their initial value in a state where
    `unless` is false. This is a reduction: it is claimed to change no verdict, and the tests hold it to that.
    """

    fields: tuple[Field, ...]
    members: tuple[Var, ...]
    unless: Term
    reason: str


def forget(fields: tuple[Field, ...], unless: Callable[..., Term], reason: str) -> Forget:
    """Declare what may be forgotten; `unless` is a function of a state and of the members, as @prop and rules are."""
    hints = typing.get_type_hints(unless)
    state, *domains = (hints[name] for name in parameter_names(unless))
    variables = [domain.variable(name) for domain, name in zip(domains, parameter_names(unless)[1:], strict=True)]
    term = want(unless(state(Moment.NOW), *variables), BOOL, "unless")
    return Forget(fields, tuple(v.data for v in variables), term, reason)


@dataclass(frozen=True)
class Model:
    """Everything declared, nothing yet sized."""

    name: str
    state: type[State]
    dials: tuple[Dial, ...]
    rules: tuple[Rule, ...]
    requirements: tuple[Requirement, ...] = ()
    forgets: tuple[Forget, ...] = ()

    def rule(self, name: str) -> Rule:
        """The rule of that name; LanguageError with the nearest name if there is none."""
        for candidate in self.rules:
            if candidate.name == name:
                return candidate
        raise LanguageError(f"there is no rule {name}; {nearest(name, [r.name for r in self.rules])}.")

    def field(self, name: str) -> Field:
        for candidate in self.state.fields():
            if candidate.name == name:
                return candidate
        raise LanguageError(f"there is no field {name}; {nearest(name, [f.name for f in self.state.fields()])}.")

    def dial(self, name: str) -> Dial:
        for candidate in self.dials:
            if candidate.name == name:
                return candidate
        raise LanguageError(f"there is no dial {name}; {nearest(name, [d.name for d in self.dials])}.")


def model(
    name: str,
    state: type[State],
    dials: tuple[Term | PerIndex, ...],
    rules: tuple[Rule, ...],
    requirements: tuple[Requirement, ...] = (),
    forgets: tuple[Forget, ...] = (),
) -> Model:
    """Put a model together; every dial that is used must be listed, and every rule must be about this state."""
    listed = tuple(dial_of(d) for d in dials)
    terms = [t for f in state.fields() for t in _terms_of_field(f)]
    terms += [t for r in rules for t in _terms_of(r)]
    terms += [t for r in requirements for t in _mentioned(r.condition)]
    terms += [t for f in forgets for t in _mentioned(f.unless)]
    for dial in (t.data for t in terms if t.op is Op.DIAL):
        if dial not in listed:
            raise refuse(f"{name} uses the dial {dial.name} without listing it; add it to dials=.")
    for declared in rules:
        if declared.state is not state:
            raise refuse(
                f"the rule {declared.name} is about {declared.state.__name__}, not {state.__name__}; "
                "declare both with one state."
            )
    for what, names in (("dials", [d.name for d in listed]), ("rules", [r.name for r in rules])):
        for twice in (n for n in names if names.count(n) > 1):
            raise refuse(f"{name} has two {what} named {twice}; give the second a name of its own.")
    return Model(name, state, listed, rules, requirements, forgets)


def _terms_of(declared: Rule) -> list[Term]:
    roots = [declared.needs, *(g.condition for g in declared.guards), *(n.value for n in declared.notes)]
    for update in declared.updates:
        roots += [update.value, *update.indices]
    for variable in declared.params:
        roots += _sizes(variable)
    return [t for root in roots for t in _mentioned(root)]


def _terms_of_field(declared: Field) -> list[Term]:
    roots = [declared.needs, *bounds(declared.kind, declared.indices), *(i.size for i in declared.indices)]
    return [t for root in roots for t in _mentioned(root)]


def _mentioned(root: Term) -> Iterator[Term]:
    """Every subterm, and those of the sizes of what is quantified over."""
    for term in walk(root):
        yield term
        for size in _sizes(term.data) if term.op in BINDERS or term.op is Op.VAR else ():
            yield from walk(size)


def _sizes(variable: Var) -> list[Term]:
    domain = variable.domain
    return [domain.size] if issubclass(domain, Index) else [domain.low, domain.high]


def indices_of(declared: Model) -> tuple[type[Index], ...]:
    """The indices that the fields use, in order of first use."""
    return tuple(dict.fromkeys(i for f in declared.state.fields() for i in f.indices))


def nearest(name: str, known: list[str]) -> str:
    """`did you mean X?`-half of a sentence about an unknown name."""
    close = difflib.get_close_matches(name, known, 1, cutoff=0.5)
    return f"did you mean {close[0]}" if close else f"there are {', '.join(known)}"
