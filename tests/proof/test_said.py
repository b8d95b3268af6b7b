"""What matters where some claims are given: those, and all that they speak of, however it became known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.readings.said import ALL, AllBut, Given, Source, Sources

CLAIMS = ("a", "b", "c")
THINGS = (*CLAIMS, *((kind, number) for kind in ("cell", "sum") for number in range(4)))
GIVEN: tuple[Given, ...] = (ALL, AllBut(frozenset("b")), (), ("a",), ("b",), ("c", "a"))

links = st.tuples(st.sampled_from(("", *THINGS)), st.sampled_from(THINGS[len(CLAIMS) :]))
steps = st.lists(st.one_of(links, st.sampled_from(GIVEN).map(lambda g: (g,))), max_size=40)


def reached(links: set[tuple[Source, Source]], known: set[Source], claims: Given) -> set[Source]:
    """The same, from the beginning."""
    found: set[Source] = {"", *(c for c in CLAIMS if c in claims and (c in known or not isinstance(claims, AllBut)))}
    while more := {what for source, what in links if source in found} - found:
        found |= more
    return found


@given(steps)
def test_it_is_the_same_in_whatever_order_it_was_said_and_asked(taken: list[tuple[Source, ...]]) -> None:
    sources, said, known = Sources(), set[tuple[Source, Source]](), set[Source]()
    for step in taken:
        if len(step) == 1:
            (claims,) = step
            assert set(sources.relevant(claims)) == reached(said, known, claims)
        else:
            source, what = step
            for begun in step:
                sources.begin(begun)
            sources.link(source, what)
            known.add(source)
            said.add((source, what))
    for claims in GIVEN:
        assert set(sources.relevant(claims)) == reached(said, known, claims)
