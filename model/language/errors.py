"""What the language says when a declaration cannot mean what it seems to say.

Each mistake has one sentence: where it is, what was written, and what to write instead.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

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


class Unapplied:
    """A function of indices written without them, which is no value; Python would take it for one and compare objects."""

    def signature(self) -> tuple[str, str]:
        """The function's name, and its indices as they are written in brackets."""
        raise NotImplementedError

    def refusal(self) -> LanguageError:
        name, indices = self.signature()
        return refuse(f"{name} is a function of [{indices}], not a value; write {name}[{indices}].")

    def _refused(self, *_: object) -> NoReturn:
        raise self.refusal()

    __hash__ = None  # type: ignore[assignment]
    __eq__ = __ne__ = __bool__ = _refused
    __lt__ = __le__ = __gt__ = __ge__ = _refused
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refused
    __and__ = __rand__ = __or__ = __ror__ = __invert__ = _refused

    def __iter__(self) -> NoReturn:
        raise refuse(f"{self.signature()[0]} cannot be iterated; write forall, exists, count or total over an index.")

    def __contains__(self, item: object) -> NoReturn:
        name, _ = self.signature()
        raise refuse(f"`in` cannot look into {name}; write exists(Index, lambda i: ...) or among(x, a, b).")
