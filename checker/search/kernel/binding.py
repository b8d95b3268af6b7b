"""The C search as ctypes sees it: its struct, its functions and its answers."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from functools import cache
from importlib import resources

from checker.search.kernel.compiler import library
from checker.search.kernel.problem import CProblem


class CFound(ctypes.Structure):
    _fields_ = [("source", c_int64), ("depth", c_int32), ("instance", c_int32)]


class CSearch(ctypes.Structure):
    """As in search.c."""

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
        ("s", c_void_p),
        ("t", c_void_p),
        ("u", c_void_p),
        ("holds", c_void_p),
        ("enabled", c_void_p),
        ("waiting", c_void_p),
        ("waits", c_uint32),
    ]


GOES_ON, MOST_STATES, AFTER_VIOLATION, NO_MEMORY = range(4)
NO_MEMORY_FOR_IT = -2  # what `lost` answers then


@cache
def engine(words: int, guard_words: int, instance_words: int) -> ctypes.CDLL:
    """The search for states, and sets of guards and of instances, of so many words. NoCompiler if there is none."""
    place = resources.files("checker.search.kernel") / "c"
    headers = {name: (place / name).read_text() for name in ("problem.h", "normal.h")}
    sizes = {"WORDS": words, "GUARD_WORDS": guard_words, "INSTANCE_WORDS": instance_words}
    options = (f"-D{name}={size}" for name, size in sizes.items())
    loaded = library((place / "search.c").read_text(), "-O2", *options, include=headers)
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
