"""The baseline of `drive`: a file with the kinds of findings that are known, one a line, which do not fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from checker.replay.assumptions import REMOVABLE
from checker.replay.drive import DAMAGE, STUCK
from checker.replay.engine_world import HELD, TERMINAL, WINDOW
from checker.replay.path import DIFFERS, NO_EVENT, ORDER
from checker.verdict import Unusable
from model.language.model import Model, nearest

EXCEPTION = "exception "


def read_known(path: Path | None, model: Model) -> list[str]:
    """The labels in the file; none without a file. Unusable if it cannot be read, or names what can never be found.

    A misspelt line would let nothing pass, and nobody would learn of it until its finding fails.
    """
    if path is None:
        return []
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{path} cannot be read ({error}); give a file with one kind of finding a line.") from None
    known = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
    for label in known:
        _check(path, label, list(kinds(model)))
    return known


def _check(path: Path, label: str, every: list[str]) -> None:
    kind, _, rests = label.partition(", without ")
    if not kind.startswith(EXCEPTION) and kind not in every:
        raise Unusable(f"{path} lists {label}, which is no kind of finding; {_suggest(kind, every)}.")
    for name in rests.split(" and ") if rests else []:
        if name not in REMOVABLE:
            raise Unusable(
                f"{path} lists {label}, but there is no assumption {name}; {nearest(name, list(REMOVABLE))}."
            )


def _suggest(kind: str, every: list[str]) -> str:
    said = nearest(kind, every)
    return said if said.startswith("did you mean") else "copy the kind as drive prints it in front of `, after N moves`"


def kinds(model: Model) -> Iterator[str]:
    """Every kind that a finding can be of, but for exceptions, which are named as the engine names them."""
    yield from (STUCK, DAMAGE, HELD, TERMINAL)
    for rule in model.rules:
        yield from (f"{rule.name}.{guard.name}" for guard in rule.guards)
        yield from (f"{rule.name}.{ORDER}", NO_EVENT + rule.name)
    yield from (DIFFERS + name for name in (*(f.name for f in model.state.fields()), WINDOW))
