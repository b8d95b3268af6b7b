"""What is said of a product by an unknown dial is true of multiplication, and a model that breaks it is noticed."""

from __future__ import annotations

from collections.abc import Sequence

import z3
from hypothesis import given
from hypothesis import strategies as st

from model.readings.products import Product, broken, laws
from model.readings.solver import solver_term

NOBODY: frozenset[object] = frozenset()
numbers = st.integers(-3, 4)


def stated(dial: int, rows: Sequence[tuple[int, int]]) -> tuple[z3.Solver, list[Product]]:
    """A solver that knows what some factors and products are, and the products."""
    solver, d = z3.Solver(), z3.Int("d")
    solver.add(d == dial)
    products = []
    for n, (factor, value) in enumerate(rows):
        f, v = z3.Int(f"f{n}"), z3.Int(f"v{n}")
        solver.add(f == factor, v == value)
        products.append(Product(d, f, v, NOBODY))
    assert solver.check() == z3.sat
    return solver, products


def holds(solver: z3.Solver, facts: Sequence[object]) -> bool:
    return bool(solver.check(*[solver_term(f) for f in facts]) == z3.sat)


@given(st.integers(0, 3), st.lists(numbers, max_size=5))
def test_products_obey_the_laws(dial: int, factors: list[int]) -> None:
    solver, products = stated(dial, [(f, dial * f) for f in factors])
    assert holds(solver, laws(products))
    assert broken(solver.model(), products) == []


@given(st.integers(0, 3), st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5))
def test_a_model_that_breaks_a_law_is_noticed(dial: int, rows: list[tuple[int, int]]) -> None:
    solver, products = stated(dial, rows)
    noticed = broken(solver.model(), products)
    assert bool(noticed) is not holds(solver, laws(products))
    assert not noticed or not holds(solver, noticed)
