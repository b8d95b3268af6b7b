"""How the tests look at a refusal: its sentence, and the line that it names."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from model.language import LanguageError
from model.language.errors import shorten


def refused(function: Callable[[], object]) -> tuple[str, int]:
    """The sentence with which the function is refused, and the line of its file, counted from its own first line."""
    with pytest.raises(LanguageError) as error:
        function()
    place, sentence = str(error.value).split(": ", 1)
    file, line = place.rsplit(":", 1)
    assert file == shorten(function.__code__.co_filename)
    return sentence, int(line) - first_line(function)


def first_line(function: Callable[..., object]) -> int:
    """Where the function, or the line that holds it, begins."""
    return inspect.getsourcelines(function)[1]
