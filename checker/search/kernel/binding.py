"""The C search as ctypes sees it: its struct, its functions and its answers."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from functools import cache
from importlib import resources

from checker.search.kernel.compiler import library
from checker.search.kernel.problem import CProblem

PARTS = 8  # of the table


class CFound(ctypes.Structure):
    _fields_ = [("source", c_int64), ("depth", c_int32), ("instance", c_int32)]


class CSearch(ctypes.Structure):
    """As in search.h."""

    _fields_ = [
        ("problem", POINTER(CProblem)),
        ("states", c_void_p),
        ("parents", c_void_p),
        ("via", c_void_p),
        ("count", c_uint64),
        ("room", c_uint64),
        ("slots", c_void_p),
        ("bits", c_uint32),
        ("keep", c_int),
        ("first_edge", c_void_p),
        ("targets", c_void_p),
        ("taken", c_void_p),
        ("edges", c_uint64),
        ("edge_room", c_uint64),
        ("done", c_uint64),
        ("transitions", c_uint64),
        ("beyond", c_uint64),
        ("depth", c_int32),
        ("stopped", c_int),
        ("most", c_uint64),
        ("more", c_uint64),
        ("broken_at", c_int64),
        ("found", c_void_p),
        ("fired", c_void_p),
        ("alone", c_void_p),
        ("watched", c_uint32),
        ("watched_steps", c_uint32),
        ("watch", c_void_p),
        ("met", c_void_p),
        ("threads", c_uint32),
        ("chunks", c_uint32),
        ("chunk", c_void_p),
        ("todo", c_void_p),
        ("todo_room", c_uint64),
        ("todo_first", c_uint64 * (PARTS + 1)),
        ("judged", c_uint64),
        ("worker", c_void_p),
        ("team", c_void_p),
    ]


GOES_ON, MOST_STATES, AFTER_VIOLATION, NO_MEMORY = range(4)
NO_MEMORY_FOR_IT = -2  # what `lost` answers then


HEADERS = ("lanes.h", "problem.h", "normal.h", "search.h", "step.h", "team.h")


@cache
def _text(name: str) -> str:
    return (resources.files("checker.search.kernel") / "c" / name).read_text()


def options(words: int, lane: str) -> tuple[str, ...]:
    """What lanes.h has to be told: how many words a state takes, and the type of a lane, `int8_t` or a wider one."""
    return f"-DWORDS={words}", f"-DLANE={lane}", f"-DUNSIGNED_LANE=u{lane}"


def world(source: str, words: int, lane: str) -> ctypes.CDLL:
    """A world's functions, compiled. NoCompiler if nothing can be."""
    return library(source, "-O1", *options(words, lane), include={"lanes.h": _text("lanes.h")})


@cache
def engine(words: int, lane: str) -> ctypes.CDLL:
    """The search for states of so many words, and cells of that type. NoCompiler if there is none."""
    headers = {name: _text(name) for name in HEADERS}
    loaded = library(_text("search.c"), "-O2", "-pthread", *options(words, lane), include=headers)
    for name, result, arguments in (
        ("problem_size", c_uint64, []),
        ("search_size", c_uint64, []),
        ("growth_needs", c_uint64, [POINTER(CSearch)]),
        ("begin", c_int, [POINTER(CSearch)]),
        ("advance", c_int, [POINTER(CSearch), c_uint64, c_uint64]),
        ("dead_ends", c_int, [POINTER(CSearch)]),
        ("finish", None, [POINTER(CSearch)]),
        ("lost", c_int64, [POINTER(CSearch), c_uint32, c_void_p]),
        ("normal_form", None, [POINTER(CProblem), c_void_p]),
    ):
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    assert loaded.problem_size() == ctypes.sizeof(CProblem)
    assert loaded.search_size() == ctypes.sizeof(CSearch)
    return loaded
