"""`schedproof`: reads the command line, runs the command, and turns its verdict into the exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from checker.cli import check, drive, export, handbook, markov, mutate, prove, replay, show
from checker.report import machine_text
from checker.report.output import Output
from checker.verdict import Disagreement, Unusable, Verdict, exit_code_table
from checker.version import VERSION
from model.language.errors import LanguageError

COMMANDS = {
    "check": check,
    "drive": drive,
    "export": export,
    "handbook": handbook,
    "markov": markov,
    "mutate": mutate,
    "prove": prove,
    "replay": replay,
    "show": show,
}


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
        return no_result(output, arguments, Verdict.ERROR, f"error: {error}")
    except Disagreement as error:
        return no_result(output, arguments, Verdict.DISAGREEMENT, f"internal disagreement: {error}")
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone; there is nobody left to tell
        return Verdict.UNDETERMINED
    except KeyboardInterrupt:
        return no_result(output, arguments, Verdict.UNDETERMINED, "interrupted")
    except Exception as error:
        if os.environ.get("SCHEDPROOF_TRACEBACK"):
            raise
        said = (
            f"internal error: {type(error).__name__}: {error}; please report this with the command you ran "
            "(SCHEDPROOF_TRACEBACK=1 shows where it happened)."
        )
        return no_result(output, arguments, Verdict.DISAGREEMENT, said)


def no_result(output: Output, arguments: Sequence[str], verdict: Verdict, sentence: str) -> Verdict:
    """Say why there is no result: on standard error, and as a document where one was asked for."""
    output.error(sentence)
    if "--json" in arguments:
        command = next((a for a in arguments if a in COMMANDS), None)
        output.lines([machine_text.error_json(verdict, VERSION, command, sentence)])
    return verdict


def main() -> None:
    sys.exit(run(sys.argv[1:]).value)


if __name__ == "__main__":
    main()
