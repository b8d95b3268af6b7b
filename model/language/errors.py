"""What the language says when a declaration cannot mean what it seems to say.

Each mistake has one sentence: where it is, what was written, and what to write instead.
"""

from __future__ import annotations

import sys
from pathlib import Path

_LANGUAGE = str(Path(__file__).resolve().parent)


class LanguageError(Exception):
    """A declaration the language refuses. The message is one sentence that ends with the remedy."""


def here() -> str:
    """The `file:line` being executed outside the language itself: the author's line, not ours."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LANGUAGE):
        frame = frame.f_back
    return f"{shorten(frame.f_code.co_filename)}:{frame.f_lineno}"


def shorten(filename: str) -> str:
    """A path as a reader would type it: from the house of `model/` if it is inside, else as it is."""
    house = Path(_LANGUAGE).parent.parent
    path = Path(filename)
    return path.relative_to(house).as_posix() if path.is_relative_to(house) else filename


def refuse(sentence: str) -> LanguageError:
    """The error for the author's current line; the caller raises it."""
    return LanguageError(f"{here()}: {sentence}")
