"""Dials as words: `budget=4`, `mixed=off`, `prompt=5,1`, `release=ordered`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checker.verdict import Unusable


def parse_setting(text: str) -> tuple[str, Any]:
    """A dial's name and value. Unusable if the text is not DIAL=VALUE; what the value may be, the world knows."""
    name, found, value = text.partition("=")
    if not found or not name or not value:
        raise Unusable(f"{text!r} sets no dial; write DIAL=VALUE, such as preemption=off or prompt=5,1.")
    if "," in value:
        return name.strip(), [_plain(v) for v in value.split(",")]
    return name.strip(), _plain(value)


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Several settings; Unusable if one dial is set twice."""
    settings = [parse_setting(text) for text in texts]
    names = [name for name, _ in settings]
    for name in names:
        if names.count(name) > 1:
            raise Unusable(f"the dial {name} is set twice; set it once.")
    return dict(settings)


def _plain(text: str) -> Any:
    text = text.strip()
    if text.lower() in ("on", "true"):
        return True
    if text.lower() in ("off", "false"):
        return False
    try:
        return int(text)
    except ValueError:
        return text
