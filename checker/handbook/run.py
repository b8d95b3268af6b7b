"""Commands of the product, run for the book, and what they print."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from checker.verdict import Disagreement

Shell = Callable[[Sequence[str]], tuple[int, str]]  # arguments -> exit code and standard output

TIMES = re.compile(r"\d+\.\d s \([\d,]+ states/s\)")  # differ from run to run
SECONDS = re.compile(r"\b\d+\.\d s\b")


class Drift(Disagreement):
    """The text of the book and what the product prints have come apart."""


@dataclass(frozen=True)
class Ran:
    """A command with its exit code and what it printed, without times."""

    command: str
    code: int
    lines: tuple[str, ...]


def ran(shell: Shell, command: str) -> Ran:
    """Run `schedproof ...`."""
    program, *arguments = shlex.split(command)
    if program != "schedproof":
        raise Drift(f"the handbook can only run schedproof, not {command!r}; write the command of the product there.")
    code, printed = shell(arguments)
    return Ran(command, code, tuple(timeless(printed).rstrip("\n").split("\n")))


def timeless(printed: str) -> str:
    """What a command printed without how long it took."""
    return SECONDS.sub("… s", TIMES.sub("… s", printed))


def expected(one: Ran, says: Sequence[str], code: int, where: str) -> None:
    """Hold a command against what the text beside it rests on. Drift if it prints something else."""
    if one.code != code:
        raise Drift(
            f"{where}: `{one.command}` ends with {one.code}, and the text rests on {code}; mend the one or the other."
        )
    printed = _plain("\n".join(one.lines))
    for part in says:
        if _plain(part) not in printed:
            raise Drift(
                f"{where}: `{one.command}` no longer prints {part!r}, on which the text rests; mend the one or the other."
            )


def _plain(text: str) -> str:
    """Text with single blanks: how wide the columns of a table are is no matter of the book's."""
    return re.sub(" +", " ", text)


def shown(one: Ran, head: int | None = None) -> str:
    """The command and its output as HTML; of a long output the first `head` lines."""
    lines = (
        one.lines
        if head is None or len(one.lines) <= head
        else (*one.lines[:head], f"… {len(one.lines) - head} lines more")
    )
    text = escape("\n".join(lines))
    return (
        f'<pre class="run" tabindex="0" data-command="{escape(one.command)}"><kbd>$ {escape(one.command)}</kbd>\n'
        f"<samp>{text}</samp></pre>"
    )
