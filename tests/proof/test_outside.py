"""Bounded checking against the explorer, the exported queries against another solver, and mutants that change nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from checker.check import confirm
from checker.proof.bmc import bmc
from checker.proof.claims import claims
from checker.proof.noop import no_op
from checker.proof.prove import Task, work
from checker.replay.trace import build
from model.language.build import ite
from model.language.edits import Drop, Replace, changed, rule_name
from model.language.properties import Shape
from model.lifecycle import LIFECYCLE
from model.lifecycle.dials import LateResult
from model.lifecycle.state import Reason
from model.readings.layout import Layout
from specs.faults.equivalent import EQUIVALENT
from specs.properties import PROPERTIES
from tests.proof.scopes import SCOPE, WHOLE
from tests.search.running import CAUGHT, changed_by, fault_named, world_of

cvc5 = pytest.importorskip("cvc5")

# Runs as long as these take the solver half a minute; the others, seconds.
LONG = {"promise-kept-at-preempt", "promise-kept-at-abort", "nobody-is-preempted"}
# A lost way home is nothing that a run shows, however long.
HOME = {n for n, (caught_by, _) in CAUGHT.items() if caught_by == "rest.way-home"}


# ------------------------------------------------------------------------------------------- bounded checking
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in CAUGHT if n not in HOME]
)
def test_bounded_checking_finds_a_fault_in_as_many_steps_as_the_explorer(name: str) -> None:
    caught_by, length = CAUGHT[name]
    variation, world = changed_by(name), world_of(fault_named(name).world)
    wanted = [c for c in claims(variation.model, PROPERTIES) if c.name == caught_by]
    run = bmc(variation.model, world, wanted, length, 60.0)
    assert (run.depth, run.broken, len(run.events)) == (length, (caught_by,), length)
    confirm(build(Layout(variation.model, world), caught_by, run.events, variation), PROPERTIES)


def test_bounded_checking_finds_nothing_in_the_unchanged_rules() -> None:
    wanted = [c for c in claims(LIFECYCLE, PROPERTIES) if c.shape is not Shape.REST]
    run = bmc(LIFECYCLE, world_of("solo"), wanted, 7, 60.0)
    assert (run.depth, run.broken, run.unknown) == (7, (), False)


# ------------------------------------------------------------------------------------------------ other solvers
def answer_of(path: Path) -> str:
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", "60000")
    parser = cvc5.InputParser(solver)
    parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, str(path))
    symbols = parser.getSymbolManager()
    said = ""
    while True:
        command = parser.nextCommand()
        if command.isNull():
            return said.strip()
        said += command.invoke(solver, symbols)


def exported(directory: Path, where: str, *names: str) -> list[Path]:
    """The queries of some obligations, as files."""
    scope = replace(SCOPE, smt2=directory)
    assert all(o.answer == "proved" for o in work(scope, scope.theory(), Task(where, names)).prove())
    return sorted(directory.glob("*.smt2"))


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    found: list[Path] = []
    for where, names in (
        ("notify", ("delivery.message-once", "delivery.message-last")),
        ("release", ("ownership.references", "ownership.keeps")),
        ("retire_token", ("progress.scheduled-adds-up", "delivery.context-first")),
        ("recycle", ("progress.owed-adds-up",)),
    ):
        found += exported(tmp_path_factory.mktemp(where), where, *names)
    return found


def test_another_solver_agrees(queries: list[Path]) -> None:
    assert len(queries) >= 8
    assert {p.name: answer_of(p) for p in queries} == {p.name: "unsat" for p in queries}


def test_another_solver_does_not_agree_to_everything(queries: list[Path], tmp_path: Path) -> None:
    """Without its last assertion, which denies the claim, a query is no contradiction any more."""
    denied = queries[0].read_text().rpartition("(assert ")[0]
    weaker = tmp_path / "weaker.smt2"
    weaker.write_text(f"{denied}\n(check-sat)\n")
    assert answer_of(weaker) != "unsat"


def test_no_numeral_bounds_a_size(queries: list[Path]) -> None:
    """The numbers in a query are those of the rules: 0, 1 and their negations; and 2, in `the next but one`."""
    for path in queries:
        body = re.sub(r"\|[^|]*\|", "", re.sub(r"(?m)^;.*$", "", path.read_text()))
        numerals = set(re.findall(r"(?<![\w.!~-])\d+(?![\w.!~-])", body))
        assert numerals <= {"0", "1", "2"}, path.name


# ------------------------------------------------------------------------------------------------------ no-ops
@pytest.mark.parametrize(
    ("change", "fixed", "expected"),
    [
        (Drop("retire_length/planned"), {"overrun": False}, True),
        pytest.param(Drop("retire_length/planned"), {"overrun": True}, None, marks=pytest.mark.slow),
        (Replace("reject/reason", lambda now, r: ite(now.asked[r], Reason.REJECTED, Reason.REJECTED)), {}, True),
        (Drop("preempt/owed"), {}, None),
        (Drop("notify.once"), {}, None),
    ],
)
def test_whether_a_mutant_is_a_no_op(change: Drop | Replace, fixed: dict[str, bool], expected: bool | None) -> None:
    rule = LIFECYCLE.rule(rule_name(change.part))
    assert no_op(replace(SCOPE, fixed=fixed), rule, changed(LIFECYCLE, change).rule(rule.name)) is expected


# Of what is said to change nothing, these rest on the argument in specs/faults/equivalent.py, and why: each of them writes
# another value or fires in other states, so that the steps are not the same. All others are the same at every size.
ARGUED = {
    **{p: "another value stays in a cell that is forgotten" for p in EQUIVALENT if p.endswith(("/start", "/uses"))},
    "acquire/published_family": "another family stays in a cell that is read only of what is published",
    "publish.held": "of a block that is not held it writes the family, which is read only of what is published",
    "recycle.something": "no invariant says that a place without work has no start; without that field it is shown",
}


@pytest.mark.slow
@pytest.mark.parametrize("part", [p for p in EQUIVALENT if p not in ARGUED])
def test_what_is_said_to_change_nothing_changes_nothing_at_any_size(part: str) -> None:
    rule = LIFECYCLE.rule(rule_name(part))
    assert rule.name in {r.name for r in WHOLE.rules}
    assert no_op(WHOLE, rule, changed(LIFECYCLE, Drop(part)).rule(rule.name)) is True


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(p, marks=[pytest.mark.slow] if p.endswith("/start") and p != "retire_chunk/start" else [])
        for p in ARGUED
        if rule_name(p) != "execute"
    ],
)
def test_what_rests_on_an_argument_does_something_else(part: str) -> None:
    """(What execute forgets is there only with the memory, where nothing but patience would tell.)"""
    rule = LIFECYCLE.rule(rule_name(part))
    assert no_op(SCOPE, rule, changed(LIFECYCLE, Drop(part)).rule(rule.name)) is None


def test_a_step_that_changes_nothing_is_no_step() -> None:
    """An empty window that moves up is the same window."""
    scope, rule = replace(SCOPE, fixed={"late_result": LateResult.DROP}), LIFECYCLE.rule("recycle")
    assert no_op(scope, rule, changed(LIFECYCLE, Drop("recycle.something")).rule("recycle")) is True
