"""Jobs in processes of their own, some at once.

Each job begins with what was made before it, and leaves nothing behind: no answer of the solver depends on what was asked
before, and memory goes back. Where processes cannot be forked, the jobs are done one after another.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from checker.verdict import Unusable

Result = TypeVar("Result")


def processors() -> int:
    """How many processes this one may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def done(jobs: Sequence[Callable[[], Result]], processes: int) -> Iterator[tuple[int, Result]]:
    """What each job comes to, with its number, as soon as it is known; at most `processes` are at work at once.

    What a job raises is raised here, and the others are ended.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        yield from ((number, job()) for number, job in enumerate(jobs))
        return
    context = multiprocessing.get_context("fork")
    left = list(reversed(list(enumerate(jobs))))
    running: dict[Connection, tuple[int, Any]] = {}
    try:
        while left or running:
            while left and len(running) < processes:
                number, job = left.pop()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_one, args=(job, theirs))
                running[ours] = number, process
                process.start()
                theirs.close()
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                yield running[ready][0], _received(ready)
                running.pop(ready)[1].join()
    finally:
        for _, process in running.values():
            process.terminate()
            process.join()


def _one(job: Callable[[], Any], to: Connection) -> None:
    try:
        to.send((True, job()))
    except Exception as error:
        to.send((False, error))


def _received(ready: Connection) -> Any:
    try:
        fine, result = ready.recv()
    except EOFError:
        raise Unusable(
            "a process of the proof was ended from outside, perhaps for want of memory; use fewer --processes."
        ) from None
    if not fine:
        raise result
    return result
