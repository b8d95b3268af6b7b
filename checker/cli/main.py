"""`schedproof`: reads the command line, runs the command, and turns its verdict into the exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from checker.cli import check, drive, export, replay, show
from checker.report.output import Output
from checker.verdict import Disagreement, Unusable, Verdict, exit_code_table
from checker.version import VERSION
from model.language.errors import LanguageError

COMMANDS = {"check": check, "drive": drive, "export": export, "replay": replay, "show": show}


class Parser(argparse.ArgumentParser):
    """Reports misuse as one sentence, like everything else that cannot be used."""

    def error(self, message: str) -> NoReturn:
        raise Unusable(f"{self.prog}: {message}; see {self.prog} --help.")


def parser() -> Parser:
    top = Parser(
        prog="schedproof",
        description="A formal model of how LLM serving schedulers treat a request, and a checker for it.",
        epilog=exit_code_table(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"schedproof {VERSION}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name, module in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=module.HELP,
            description=module.DESCRIPTION,
            epilog=exit_code_table(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(sub)
    return top


def run(arguments: Sequence[str]) -> Verdict:
    """Run a command; whatever cannot be used becomes one sentence and ERROR."""
    output = Output()
    try:
        options = parser().parse_args(arguments)
        output.quiet = getattr(options, "quiet", False)
        verdict: Verdict = COMMANDS[options.command].run(options, output)
        return verdict
    except (Unusable, LanguageError) as error:
        output.error(f"error: {error}")
        return Verdict.ERROR
    except Disagreement as error:
        output.error(f"internal disagreement: {error}")
        return Verdict.DISAGREEMENT
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone; there is nobody left to tell
        return Verdict.UNDETERMINED
    except KeyboardInterrupt:
        output.error("interrupted")
        return Verdict.UNDETERMINED
    except Exception as error:
        if os.environ.get("SCHEDPROOF_TRACEBACK"):
            raise
        output.error(
            f"internal error: {type(error).__name__}: {error}; please report this with the command you ran "
            "(SCHEDPROOF_TRACEBACK=1 shows where it happened)."
        )
        return Verdict.DISAGREEMENT


def main() -> None:
    sys.exit(run(sys.argv[1:]).value)


if __name__ == "__main__":
    main()
