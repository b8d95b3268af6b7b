"""What a declaration cannot mean is refused in one sentence: the author's line, what was written, what to write."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from model.language import (
    LanguageError,
    among,
    before,
    count,
    exists,
    forall,
    implies,
    ite,
    total,
)
from model.language.terms import Moment
from tests.language.small import Amount, Colour, Job, Place, Shape, Small, strict, top, weight

now = Small(Moment.NOW)
j, k, p, n = Job.variable("j"), Job.variable("k"), Place.variable("p"), Amount.variable("n")

Case = tuple[Callable[[], object], str]


def truth(term: str) -> str:
    return (
        f"the term ({term}) was asked for a Python truth value (and, or, not, if, while, in or a chained comparison), "
        "but it has none until a state is given; "
        "write a & b, a | b, ~a, ite(c, a, b), among(a, b, c), or (a < b) & (b < c)."
    )


def division(term: str) -> str:
    return (
        f"division and modulo of ({term}) are not in the language, because solvers and Python differ on "
        "negative numbers; multiply the other side by a dial instead."
    )


PARENTHESES = "put each comparison in parentheses, since &, | and ~ bind tighter than ==."
AS_NUMBER = "write ite(condition, 1, 0), or count(Index, ...)."
NO_TERM = "write a term, True or False, a whole number, or a member of an Enum."
NO_NUMBER = "write the arithmetic with + - * on terms."
OVER_INDEX = "write forall, exists, count or total over an index"

TRUTH: list[Case] = [
    (lambda: now.busy[j] and now.open, truth("busy[j]")),
    (lambda: now.busy[j] or now.open, truth("busy[j]")),
    (lambda: not now.busy[j], truth("busy[j]")),
    (lambda: 1 if now.level[j] == 0 else 2, truth("level[j] == 0")),
    (lambda: [x for x in (1, 2) if now.level[j] == x], truth("level[j] == 1")),
    (lambda: now.colour[j] in (Colour.RED, Colour.BLUE), truth("colour[j] == RED")),
    (lambda: 0 < now.level[j] < 3, truth("level[j] > 0")),
    (lambda: now.level[j] == now.level[k] == 3, truth("level[j] == level[k]")),
    (lambda: max(now.level[j], 3), truth("level[j] < 3")),
    (lambda: bool(now.open), truth("open")),
    (lambda: strict and now.open, truth("strict")),
    (lambda: forall(Job, lambda q: now.busy[q] and now.open), truth("busy[q]")),
]

PYTHON: list[Case] = [
    (lambda: j in now.turn, "`in` cannot look into the term (turn); write among(x, a, b, c)."),
    (lambda: j in now.busy, "`in` cannot look into busy; write exists(Index, lambda i: ...) or among(x, a, b)."),
    (
        lambda: list(now.balance),
        f"the term (balance) cannot be iterated; {OVER_INDEX}, or `for i in every(Index)` around an update.",
    ),
    (lambda: list(now.busy), f"busy cannot be iterated; {OVER_INDEX}."),
    (lambda: sum(weight), f"weight cannot be iterated; {OVER_INDEX}."),
    (lambda: int(now.level[j]), f"the term (level[j]) is no Python number; {NO_NUMBER}"),
    (lambda: range(now.level[j]), f"the term (level[j]) is no Python number; {NO_NUMBER}"),
    (lambda: float(now.level[j] + 1), f"the term (level[j] + 1) is no Python number; {NO_NUMBER}"),
    (lambda: "ab"[now.level[j]], f"the term (level[j]) is no Python number; {NO_NUMBER}"),
    (lambda: now.level[j] / 2, division("level[j]")),
    (lambda: now.level[j] // 2, division("level[j]")),
    (lambda: now.level[j] % 2, division("level[j]")),
    (lambda: 6 / now.level[j], division("level[j]")),
    (lambda: 6 // top, division("top")),
    (lambda: 6 % now.level[j], division("level[j]")),
    (lambda: divmod(now.level[j], 2), division("level[j]")),
    (lambda: divmod(6, now.level[j]), division("level[j]")),
    (lambda: -now.level[j], "the term (level[j]) has no sign of its own; write 0 - (level[j])."),
    (lambda: now.balance[j], "the term (balance) is a single value of sort Int; leave out the index."),
    (lambda: now.level[j][k], "the term (level[j]) is a single value of sort Int; leave out the index."),
]

SORTS: list[Case] = [
    (
        lambda: now.colour[j] == Shape.ROUND,
        "(colour[j]) is Colour and (ROUND) is Shape, which are never equal; compare terms of one sort.",
    ),
    (
        lambda: now.busy[j] != 1,
        "(busy[j]) is Bool and (1) is Int, which are never equal; compare terms of one sort.",
    ),
    (lambda: j == p, "(j) is Job and (p) is Place, which are never equal; compare terms of one sort."),
    (
        lambda: among(now.colour[j], Colour.RED, 2),
        "(colour[j]) is Colour and (2) is Int, which are never equal; compare terms of one sort.",
    ),
    (lambda: among(now.colour[j]), "among(colour[j]) has nothing to be among; give it at least one value."),
    (
        lambda: now.colour[j] == Colour.RED & now.colour[k] == Colour.BLUE,
        f"& takes Bool, but (RED) is Colour; {PARENTHESES}",
    ),
    (lambda: now.level[j] == 1 & now.level[k] == 2, f"& takes Bool, but (1) is Int; {PARENTHESES}"),
    (lambda: now.level[j] > now.balance | now.open, f"| takes Bool, but (balance) is Int; {PARENTHESES}"),
    (lambda: ~now.level[j] == 1, f"~ takes Bool, but (level[j]) is Int; {PARENTHESES}"),
    (lambda: now.busy[j] == True & now.open == True, truth("busy[j] == True & open")),  # noqa: E712
    (lambda: now.busy[j] + 1, f"+ takes Int, but (busy[j]) is Bool; {AS_NUMBER}"),
    (lambda: 1 + now.busy[j], f"+ takes Int, but (busy[j]) is Bool; {AS_NUMBER}"),
    (lambda: now.level[j] - True, f"- takes Int, but (True) is Bool; {AS_NUMBER}"),
    (lambda: top * now.open, f"* takes Int, but (open) is Bool; {AS_NUMBER}"),
    (lambda: now.colour[j] + 1, "+ takes Int, but (colour[j]) is Colour; give it a term of sort Int."),
    (
        lambda: now.level[j] * now.balance,
        "the product (level[j]) * (balance) depends on the state on both sides; "
        "only a product by a dial or a number is in the language.",
    ),
    (
        lambda: n * now.balance,
        "the product (n) * (balance) depends on the state on both sides; "
        "only a product by a dial or a number is in the language.",
    ),
    (
        lambda: ite(now.open, 1, now.busy[j]),
        "ite gives (1) of sort Int or (busy[j]) of sort Bool; give both branches one sort.",
    ),
    (
        lambda: ite(now.open, Colour.RED, Shape.ROUND),
        "ite gives (RED) of sort Colour or (ROUND) of sort Shape; give both branches one sort.",
    ),
    (
        lambda: ite(now.level[j], 1, 2),
        "the condition of ite takes Bool, but (level[j]) is Int; give it a term of sort Bool.",
    ),
    (
        lambda: now.level[ite(now.open, j, k)],
        "ite gives (j) or (k), but which member is meant may not depend on a condition; "
        "choose between what the members have: ite(condition, now.field[a], now.field[b]).",
    ),
    (lambda: implies(now.open, 1), "implies takes Bool, but (1) is Int; give it a term of sort Bool."),
    (lambda: now.level[j] + 0.5, f"0.5 is no term; {NO_TERM}"),
    (lambda: now.colour[j] == None, f"None is no term; {NO_TERM}"),  # noqa: E711
    (lambda: now.colour[j] == "RED", f"'RED' is no term; {NO_TERM}"),
    (
        lambda: now.colour[j] < Colour.BLUE,
        "(colour[j]) is Colour and (BLUE) is Colour, which have no order; "
        "compare two Ints or two members of one ordered index.",
    ),
    (
        lambda: j <= k,
        "(j) is Job and (k) is Job, which have no order; compare two Ints or two members of one ordered index.",
    ),
    (
        lambda: p < 1,
        "(p) is Place and (1) is Int, which have no order; compare two Ints or two members of one ordered index.",
    ),
]

INDICES: list[Case] = [
    (lambda: now.colour == Colour.RED, "colour is a function of [Job], not a value; write colour[Job]."),
    (lambda: now.colour != Colour.RED, "colour is a function of [Job], not a value; write colour[Job]."),
    (lambda: now.load < 3, "load is a function of [Place, Job], not a value; write load[Place, Job]."),
    (lambda: 1 + now.level, "level is a function of [Job], not a value; write level[Job]."),
    (lambda: now.level[j] == now.level, "level is a function of [Job], not a value; write level[Job]."),
    (lambda: ~now.busy, "busy is a function of [Job], not a value; write busy[Job]."),
    (lambda: not now.busy, "busy is a function of [Job], not a value; write busy[Job]."),
    (lambda: weight == 3, "weight is a function of [Job], not a value; write weight[Job]."),
    (lambda: now.level[j] * weight, "weight is a function of [Job], not a value; write weight[Job]."),
    (lambda: 1 if weight else 2, "weight is a function of [Job], not a value; write weight[Job]."),
    (
        lambda: now.level[p],
        "level is a function of [Job], but was given (p) of sort Place; write level[Job].",
    ),
    (lambda: now.level[0], "level is a function of [Job], but was given (0) of sort Int; write level[Job]."),
    (
        lambda: now.level[j, k],
        "level is a function of [Job], but was given (j) of sort Job, (k) of sort Job; write level[Job].",
    ),
    (
        lambda: now.load[p],
        "load is a function of [Place, Job], but was given (p) of sort Place; write load[Place, Job].",
    ),
    (
        lambda: now.load[j, p],
        "load is a function of [Place, Job], but was given (j) of sort Job, (p) of sort Place; write load[Place, Job].",
    ),
    (lambda: now.load[()], "load is a function of [Place, Job], but was given nothing; write load[Place, Job]."),
    (lambda: now.level["j"], f"'j' is no term; {NO_TERM}"),
    (lambda: weight[p], "weight[...] takes Job, but (p) is Place; give it a term of sort Job."),
    (lambda: now.colours[j], "Small has no field colours; did you mean colour?"),
    (
        lambda: now.zzz,
        "Small has no field zzz; it has colour, busy, level, lit, paint, load, turn, open, balance, extra.",
    ),
]

MEMBERS: list[Case] = [
    (lambda: j.next, "Job has no next member; declare it with ordered=True."),
    (lambda: Job.first(), "Job has no first member; declare it with ordered=True or quantify over it."),
    (
        lambda: before(j, lambda q: now.level[q]),
        "Job has no order, so nothing is before (j); declare it with ordered=True.",
    ),
    (
        lambda: before(now.balance, lambda q: 1),  # type: ignore[type-var]
        "(balance) is no member of an index, so nothing is before it; give before a member.",
    ),
    (
        lambda: forall(Amount, lambda q: q > 0),  # type: ignore[type-var]
        "forall cannot range over Amount, which is no index; give it a subclass of Index.",
    ),
    (
        lambda: exists(Colour, lambda q: now.turn == q),  # type: ignore[type-var]
        "exists cannot range over Colour, which is no index; give it a subclass of Index.",
    ),
    (
        lambda: total(Job, lambda q, r: 1),  # type: ignore[arg-type, misc]
        "the body of total takes (q, r); write a function of one member, total(Job, lambda j: ...).",
    ),
    (
        lambda: count(Job, lambda q: now.level[q]),
        "count takes Bool, but (level[q]) is Int; give it a term of sort Bool.",
    ),
    (lambda: total(Job, lambda q: now.busy[q]), f"total takes Int, but (busy[q]) is Bool; {AS_NUMBER}"),
]


@pytest.mark.parametrize(("wrong", "sentence"), TRUTH + PYTHON + SORTS + INDICES + MEMBERS)
def test_one_sentence_at_the_author_s_line(wrong: Callable[[], object], sentence: str) -> None:
    with pytest.raises(LanguageError) as refused:
        wrong()
    line = wrong.__code__.co_firstlineno
    assert str(refused.value) == f"tests/language/test_misuse.py:{line}: {sentence}"


def test_terms_have_no_hash() -> None:
    """A set or dict of terms would have to compare them, and == makes a term."""
    with pytest.raises(TypeError, match=r"\Aunhashable type: 'Term'\Z"):
        hash(now.open)
    with pytest.raises(TypeError, match=r"\Aunhashable type: 'Cells'\Z"):
        hash(now.busy)
