"""The port: an engine's adapter as a subprocess that answers questions, one JSON object a line (docs/port.md).

An adapter may crash, hang or talk nonsense. Each is noticed, named and bounded in time; none takes the run with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from checker.verdict import Unusable

PROTOCOL = 1
START_SECONDS = 120.0  # importing an engine takes long
STEP_SECONDS = 30.0
WATCH_SECONDS = 1.0  # between two words about a wait
END_SECONDS = 1.0  # for one that broke the protocol to end


class AdapterLost(Exception):
    """The adapter crashed, hung or broke the protocol: what happened, and the end of what it wrote to standard error."""


class EngineError(Exception):
    """An exception inside the engine: a finding. The adapter lives on, and the state it started from stays usable."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(f"{error.get('type')}: {error.get('message')}")
        self.type = str(error.get("type"))
        self.message = str(error.get("message"))
        self.traceback = str(error.get("traceback"))

    @property
    def place(self) -> str:
        """The last line of the engine's own code in the traceback, without the path in front of the package."""
        places = [line.strip() for line in self.traceback.splitlines() if line.strip().startswith("File ")]
        return places[-1].rpartition("site-packages/")[2].replace('"', "") if places else "?"


class Port:
    """One adapter process. Use it as a context manager. `watch` is told each second for what it waits, and for how long."""

    def __init__(
        self, command: list[str], step_seconds: float = STEP_SECONDS, watch: Callable[[str], None] | None = None
    ) -> None:
        self.command, self.step_seconds, self.watch = command, step_seconds, watch
        self.errors = tempfile.TemporaryFile()
        self.buffer = b""
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, bufsize=0
            )
        except OSError as error:
            raise Unusable(f"{command[0]} cannot be started ({error.strerror}); give a Python with --python.") from None
        assert self.process.stdout is not None
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ask the adapter to stop, and end it if it does not."""
        with contextlib.suppress(AdapterLost, EngineError):
            self.ask("stop", seconds=5.0)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self.selector.close()

    # ----------------------------------------------------------------------------------- questions
    def describe(self) -> dict[str, Any]:
        """The adapter's description of itself; AdapterLost if it speaks another protocol."""
        described = self.ask("describe", seconds=START_SECONDS)
        if described.get("protocol") != PROTOCOL:
            raise AdapterLost(f"the adapter speaks protocol {described.get('protocol')}, and this is {PROTOCOL}")
        return described

    def ask(self, call: str, seconds: float | None = None, **arguments: Any) -> dict[str, Any]:
        """Ask and wait. AdapterLost if there is no sound answer in time, EngineError if the engine raised."""
        answer = self._exchange({"call": call, **arguments}, self.step_seconds if seconds is None else seconds)
        if answer.get("ok") is True:
            return answer
        error = answer.get("error")
        if not isinstance(error, dict):
            raise AdapterLost(f"the adapter answered {call} with neither ok nor error")
        if error.get("where") == "engine":
            raise EngineError(error)
        raise AdapterLost(f"the adapter could not serve {call}: {error.get('type')}: {error.get('message')}")

    def _exchange(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(question).encode() + b"\n")
        except (BrokenPipeError, ValueError):
            raise self._lost("has ended") from None
        line = self._line(str(question["call"]), seconds)
        try:
            answer = json.loads(line)
        except ValueError:
            raise self._lost(f"wrote a line that is no JSON: {line[:80]!r}{self._ended()}") from None
        if not isinstance(answer, dict):
            raise self._lost(f"wrote {answer!r} instead of an object")
        return answer

    def _line(self, call: str, seconds: float) -> bytes:
        assert self.process.stdout is not None
        began = time.monotonic()
        while b"\n" not in self.buffer:
            spent = time.monotonic() - began
            if spent >= seconds:
                self.process.kill()
                raise self._lost(f"gave no answer within {seconds:g} s and was ended")
            if not self.selector.select(min(WATCH_SECONDS, seconds - spent)):
                if self.watch is not None:
                    self.watch(
                        f"waiting {time.monotonic() - began:.0f} of {seconds:g} s for the adapter to answer {call}"
                    )
                continue
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                raise self._lost(f"ended with exit code {self.process.wait()}")
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def _ended(self) -> str:
        """With what an adapter ended that has told something else before: that is often its last word."""
        try:
            return f", and ended with exit code {self.process.wait(timeout=END_SECONDS)}"
        except subprocess.TimeoutExpired:
            return ""

    def _lost(self, what: str) -> AdapterLost:
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").strip().splitlines()[-8:]
        return AdapterLost(f"the adapter {what}" + ("; it wrote: " + " | ".join(said) if said else ""))


def command_for(python: Path, adapter: Path) -> list[str]:
    """How an adapter written in Python is started: with nothing of our environment, but what lies beside it."""
    return [str(python), "-E", "-s", str(adapter)]
