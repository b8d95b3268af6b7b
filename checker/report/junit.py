"""JUnit XML: cases that passed, failed or were left open, whatever command they are of."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.verdict import Unusable, cause


@dataclass(frozen=True)
class Case:
    """One test case. At most one of `failure` and `error` is set; `note` says what a passed case passes over."""

    where: str
    name: str
    failure: str = ""
    error: str = ""
    text: str = ""
    note: str = ""
    seconds: float | None = None


def probe_junit(path: Path | None) -> None:
    """Find out before a long run that the file cannot be written. Unusable if so."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise Unusable(f"the JUnit file cannot be written to {path}; give a file in a directory that exists.")


def write_junit(suite: str, cases: Sequence[Case], path: Path) -> None:
    """Write the file. Unusable if it cannot be written."""
    root = ET.Element("testsuite", name=suite)
    for case in cases:
        _add(root, case)
    root.set("tests", str(len(cases)))
    root.set("failures", str(sum(bool(c.failure) for c in cases)))
    root.set("errors", str(sum(bool(c.error) for c in cases)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise Unusable(
            f"the JUnit file cannot be written to {path} ({cause(error)}); give another --junit FILE."
        ) from None


def _add(root: ET.Element, case: Case) -> None:
    element = ET.SubElement(root, "testcase", classname=case.where, name=case.name)
    if case.seconds is not None:
        element.set("time", f"{case.seconds:.3f}")
    if case.failure:
        ET.SubElement(element, "failure", message=case.failure).text = case.text or None
    if case.error:
        ET.SubElement(element, "error", message=case.error)
    if case.note:
        ET.SubElement(element, "system-out").text = case.note
