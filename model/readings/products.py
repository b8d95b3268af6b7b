"""Products by an unknown dial: each is a value of its own, of which only laws of multiplication are known.

This keeps queries linear. What is said of the values follows from the order of the factors; it is true of multiplication
and less than all of it, so it can make a proof fail, but not succeed wrongly. There is a law for every pair of products,
and next to none are needed: those are stated that a model of the solver is seen to break.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from model.readings.solver import at_most, below, equality, implication, numbers_in, sum_of


@dataclass(frozen=True, eq=False)
class Product:
    """A dial times a factor. `value` stands for it; `tag`: the members that it speaks of."""

    dial: Any
    factor: Any
    value: Any
    tag: frozenset[Any]


def sign(p: Product) -> Iterator[Any]:
    """A product by a dial of at least nothing is at least the dial if the factor is positive, and nothing if it is 0."""
    yield implication(at_most(1, p.factor), at_most(p.dial, p.value))
    yield implication(at_most(p.factor, 0), at_most(p.value, 0))
    yield implication(equality(p.factor, 0), equality(p.value, 0))


def order(p: Product, q: Product) -> Iterator[Any]:
    """Of one dial: more of a factor is at least the dial more of the product, and one more is exactly the dial more."""
    for a, b in ((p, q), (q, p)):
        more = sum_of([a.value, a.dial])
        yield implication(below(a.factor, b.factor), at_most(more, b.value))
        yield implication(equality(b.factor, sum_of([a.factor, 1])), equality(b.value, more))
    yield implication(equality(p.factor, q.factor), equality(p.value, q.value))


def laws(products: Sequence[Product]) -> list[Any]:
    """All that is said of these products."""
    alone = itertools.chain.from_iterable(sign(p) for p in products)
    pairs = (order(p, q) for p, q in itertools.combinations(products, 2) if p.dial.eq(q.dial))
    return _facts(itertools.chain(alone, *pairs))


def broken(found: Any, products: Sequence[Product]) -> list[Any]:
    """Laws that a model of the solver breaks: if it breaks any, then one of a product alone or of two neighbours."""
    values = iter(numbers_in(found, (t for p in products for t in (p.factor, p.dial, p.value))))
    number = dict(zip(products, zip(values, values, values, strict=True), strict=True))
    facts: list[Any] = []
    for p in products:
        factor, dial, value = number[p]
        if (factor >= 1 and value < dial) or (factor <= 0 < value) or (factor == 0 != value):
            facts += sign(p)
    for p, q in itertools.pairwise(sorted(products, key=lambda p: (p.dial.get_id(), number[p][0]))):
        if p.dial.eq(q.dial):
            (less, dial, low), (more, _, high) = number[p], number[q]
            gap = dial if less < more else 0
            if high < low + gap or (more - less <= 1 and high != low + gap):
                facts += order(p, q)
    return _facts(facts)


def _facts(values: Iterable[Any]) -> list[Any]:
    return [v for v in values if v is not True]
