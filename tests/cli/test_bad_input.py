"""Input that cannot be used: one sentence on standard error that says where and what to do, exit code 2, no traceback."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from model.lifecycle import LIFECYCLE
from specs.faults import FAULTS
from specs.worlds import world_files
from tests.cli.conftest import Cli

DIALS = ", ".join(d.name for d in LIFECYCLE.dials)
RULES = ", ".join(r.name for r in LIFECYCLE.rules)
WORLDS = ", ".join(world_files())
NAMES = ", ".join(f.name for f in FAULTS)
SOLO = world_files()["solo"].read_text()


def refused(cli: Cli, *arguments: str) -> str:
    """The sentence with which the command is refused; nothing else may be printed."""
    ran = cli(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert ran.err.endswith(".\n")
    assert "Traceback" not in ran.err
    return ran.err.removeprefix("error: ").removesuffix("\n")


# ------------------------------------------------------------------------------------------------ world files
def in_solo(old: str, new: str) -> str:
    assert old in SOLO
    return SOLO.replace(old, new)


WORLD_FILES: dict[str, tuple[str | bytes, str]] = {
    "malformed": ("requests = = 2", " is no TOML: Invalid value (at line 1, column 12); mend the file there."),
    "cut in half": (
        SOLO[: SOLO.index("requests") + 4],
        " is no TOML: Expected '=' after a key in a key/value pair (at end of document); mend the file there.",
    ),
    "empty": ("", ": the table [dials] is missing; it sets the world's sizes, such as requests = 2."),
    "without dials": (
        'about = "Nothing."\n',
        ": the table [dials] is missing; it sets the world's sizes, such as requests = 2.",
    ),
    "dials that are no table": (
        "dials = 3\n",
        ": the table [dials] is missing; it sets the world's sizes, such as requests = 2.",
    ),
    "a misspelt key": ('abuot = "x"\n' + SOLO, ": the key abuot is unknown; did you mean about."),
    "an unknown key": ("zzz = 1\n" + SOLO, ": the key zzz is unknown; there are about, normal_forms, expect, dials."),
    "a misspelt dial": (SOLO + "blcks = 2\n", ": dials.blcks: there is no dial blcks; did you mean blocks."),
    "an unknown dial": (SOLO + "xyzzy = 2\n", f": dials.xyzzy: there is no dial xyzzy; there are {DIALS}."),
    "no blocks": (
        in_solo("blocks = 2", "blocks = 0"),
        ": dials.blocks: blocks is 0, but must be at least 1: KV blocks in the pool.",
    ),
    "a prompt of 0 tokens": (
        in_solo("prompt = 2", "prompt = [0]"),
        ": dials.prompt: prompt is 0, but must be at least 1: prompt tokens of the request.",
    ),
    "a negative number": (
        in_solo("budget = 2", "budget = -2"),
        ": dials.budget: budget is -2, but must be at least 1: token budget of one step.",
    ),
    "half a token": (
        in_solo("budget = 2", "budget = 2.5"),
        ": dials.budget: budget is 2.5, but must be a whole number of at least 1.",
    ),
    "a word for a number": (
        in_solo("budget = 2", 'budget = "two"'),
        ": dials.budget: budget is 'two', but must be a whole number of at least 1.",
    ),
    "a switch for a number": (
        in_solo("budget = 2", "budget = true"),
        ": dials.budget: budget is True, but must be a whole number of at least 1.",
    ),
    "a list for a number": (
        in_solo("budget = 2", "budget = [2]"),
        ": dials.budget: budget is [2], but must be a whole number of at least 1.",
    ),
    "a list too long": (
        in_solo("requests = 1", "requests = 2").replace("prompt = 2", "prompt = [2, 2, 2]"),
        ": dials.prompt: prompt lists 3 values for 2 requests; give one for each, or one number for all.",
    ),
    "a missing dial": (
        in_solo("budget = 2\n", ""),
        ": dials.budget: the dial budget is missing; set it: token budget of one step.",
    ),
    "a number for a switch": (SOLO + "mixed = 1\n", ": dials.mixed: mixed is 1, but is switched with true or false."),
    "an expectation that is no list": (
        'expect = "rest.no-dead-end"\n' + SOLO,
        ": expect is 'rest.no-dead-end'; write a list of property names, such as [\"rest.no-dead-end\"].",
    ),
    "an unknown property": (
        'expect = ["rest.no-ded-end"]\n' + SOLO,
        ": expect names rest.no-ded-end, which is no property; did you mean rest.no-dead-end.",
    ),
    "a number of states that is none": (
        in_solo("normal_forms = 621", 'normal_forms = "many"'),
        ": normal_forms is 'many'; write the number of states, or leave it out.",
    ),
    "a remark that is no sentence": (
        in_solo(SOLO.splitlines()[0], "about = 3"),
        ": about is 3; write a sentence in quotes.",
    ),
    "not UTF-8": (b'about = "\xff"\n', " is no text; a world is a TOML file in UTF-8."),
}


@pytest.mark.parametrize("what", WORLD_FILES)
def test_a_world_file(cli: Cli, tmp_path: Path, what: str) -> None:
    content, said = WORLD_FILES[what]
    path = tmp_path / "world.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert refused(cli, "check", "world.toml") == f"world.toml{said}"
    assert refused(cli, "check", str(path)) == f"{path}{said}"


def test_the_file_that_all_these_were_made_from_can_be_used(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "world.toml").write_text(SOLO)
    assert cli("check", "world.toml").code == 0


def test_a_violated_expectation_in_bounds_can_be_named(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "world.toml").write_text('expect = ["bounds.owed"]\n' + SOLO)
    ran = cli("check", "world.toml")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.startswith("world: FAILED: bounds.owed should be violated here, and is not\n")


def test_a_directory(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "dir.toml").mkdir()
    for path in ("./", "dir.toml", str(tmp_path)):
        assert refused(cli, "check", path) == (
            f"{path} cannot be read (Is a directory); give the path of a world's .toml file."
        )


# -------------------------------------------------------------------------------------------- names and options
COMMANDS: list[tuple[list[str], str]] = [
    (["check", "par"], "there is no world par; did you mean pair, or give the path of a .toml file."),
    (["check", "zzz"], f"there is no world zzz; there are {WORLDS}, or give the path of a .toml file."),
    (
        ["check", "no/such.toml"],
        "no/such.toml cannot be read (No such file or directory); give the path of a world's .toml file.",
    ),
    (["check", "solo", "solo"], "two worlds are named solo, and so would be their traces; check them one by one."),
    # --without
    (
        ["check", "--without", "realease.unpinned"],
        "--without realease.unpinned: there is no rule realease; did you mean release.",
    ),
    (["check", "--without", "zzz.y"], f"--without zzz.y: there is no rule zzz; there are {RULES}."),
    (
        ["check", "--without", "release.unpined"],
        "--without release.unpined: there is no such part; did you mean release.unpinned.",
    ),
    (
        ["check", "--without", "notify/notifed"],
        "--without notify/notifed: there is no such part; did you mean notify/notified.",
    ),
    (
        ["check", "--without", "release"],
        "--without release: write RULE.GUARD, such as release.unpinned, or RULE/FIELD for an update.",
    ),
    (
        ["check", "--without", "notify.once", "--without", "notify.once"],
        "--without notify.once: it is taken away already; name it once.",
    ),
    (
        ["check", "--fault", "notify-twice", "--without", "notify.once"],
        "--without notify.once: it is taken away already; name it once.",
    ),
    # --fault
    (["check", "--fault", "notify-twcie"], "there is no fault notify-twcie; did you mean notify-twice."),
    (["check", "--fault", "zzz"], f"there is no fault zzz; there are {NAMES}."),
    # --set
    (
        ["check", "--set", "nonsense"],
        "'nonsense' sets no dial; write DIAL=VALUE, such as preemption=off or prompt=5,1.",
    ),
    (["check", "--set", "=3"], "'=3' sets no dial; write DIAL=VALUE, such as preemption=off or prompt=5,1."),
    (["check", "--set", "budget="], "'budget=' sets no dial; write DIAL=VALUE, such as preemption=off or prompt=5,1."),
    (["check", "--set", "bugdet=3"], "--set: there is no dial bugdet; did you mean budget."),
    (["check", "--set", "zz=3"], f"--set: there is no dial zz; there are {DIALS}."),
    (
        ["check", "solo", "--set", "budget=two"],
        "--set budget in the world solo: budget is 'two', but must be a whole number of at least 1.",
    ),
    (
        ["check", "solo", "--set", "blocks=0"],
        "--set blocks in the world solo: blocks is 0, but must be at least 1: KV blocks in the pool.",
    ),
    (
        ["check", "solo", "--set", "mixed=maybe"],
        "--set mixed in the world solo: mixed is 'maybe', but is switched with true or false.",
    ),
    (
        ["check", "misfit", "--set", "requests=3"],
        "--set prompt in the world misfit: prompt lists 2 values for 3 requests; give one for each, or one number for all.",
    ),
    # numbers
    (
        ["check", "solo", "--states", "0"],
        "schedproof check: argument --states: 0 is no whole number of at least 1; see schedproof check --help.",
    ),
    (
        ["check", "solo", "--depth", "-1"],
        "schedproof check: argument --depth: -1 is no whole number of at least 0; see schedproof check --help.",
    ),
    (
        ["check", "solo", "--timeout", "nan"],
        "schedproof check: argument --timeout: nan is no number of seconds above 0; see schedproof check --help.",
    ),
    (
        ["check", "solo", "--memory", "lots"],
        "schedproof check: argument --memory: lots is no whole number of at least 1; see schedproof check --help.",
    ),
    (
        ["check", "solo", "--simulate", "0"],
        "schedproof check: argument --simulate: 0 is no whole number of at least 1; see schedproof check --help.",
    ),
    (
        ["check", "solo", "--seed", "x"],
        "schedproof check: argument --seed: invalid int value: 'x'; see schedproof check --help.",
    ),
    # options and commands
    (["check", "--bogus"], "schedproof: unrecognized arguments: --bogus; see schedproof --help."),
    (
        ["check", "solo", "--traces"],
        "schedproof check: argument --traces: expected one argument; see schedproof check --help.",
    ),
    ([], "schedproof: the following arguments are required: COMMAND; see schedproof --help."),
    (["show"], "schedproof show: say WHAT to show, or --names ENGINE; see schedproof show --help."),
    # show
    (["show", "rulse"], "there is nothing named rulse to show; did you mean rules."),
    (
        ["show", "zzzz"],
        "there is nothing named zzzz to show; try rules, properties, auxiliary, worlds, faults, policies, dials, "
        "or a trace file.",
    ),
    (["show", "notify.onec"], "notify has no part notify.onec; did you mean notify.once."),
    (["show", "notify/notifed"], "notify has no part notify/notifed; did you mean notify/notified."),
    (["show", "delivery.grow"], "there is nothing named delivery.grow to show; did you mean delivery.grows."),
    (["show", "no/such"], "no/such cannot be read (No such file or directory); give the path of a trace file."),
    (["show", "trace.json"], "trace.json cannot be read (No such file or directory); give the path of a trace file."),
    (["show", "/"], "/ cannot be read (Is a directory); give the path of a trace file."),
]


@pytest.mark.parametrize(("arguments", "said"), COMMANDS, ids=[" ".join(a) or "nothing" for a, _ in COMMANDS])
def test_a_command(cli: Cli, arguments: list[str], said: str) -> None:
    assert refused(cli, *arguments) == said


@pytest.mark.parametrize("arguments", [["chekc", "solo"], ["show", "rules", "--format", "pdf"]])
def test_a_choice_there_is_not(cli: Cli, arguments: list[str]) -> None:
    """Python words this in more than one way."""
    said = refused(cli, *arguments)
    assert re.match(
        r"schedproof( show)?: argument (COMMAND|--format): invalid choice: '(chekc|pdf)' \(choose from ", said
    )


# ------------------------------------------------------------------------------------------------ output places
@pytest.mark.parametrize("place", ["file", "file/below", "file/far/below"])
def test_traces_that_cannot_be_written(cli: Cli, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    said = refused(cli, "check", "solo", "--without", "notify.once", "--traces", place)
    assert said == f"traces cannot be written to {place} (file is no directory); give another --traces DIR."


@pytest.mark.parametrize("place", ["file/x.xml", "file/far/x.xml", "none/x.xml", "."])
def test_a_junit_file_that_cannot_be_written(cli: Cli, tmp_path: Path, place: str) -> None:
    """Said before the search, which may take long."""
    (tmp_path / "file").write_text("")
    said = refused(cli, "check", "solo", "--junit", place)
    assert said == f"the JUnit file cannot be written to {place}; give a file in a directory that exists."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--set", "blocks=100000000000000000000"], "blocks is 100000000000000000000, but must be at most 1,000,000"),
        (["--set", "blocks=200"], "the world solo is too large: written out, it has about "),
        (["--set", "prompt=3", "--set", "prompt=4"], "the dial prompt is set twice; set it once."),
        (["--seed", "3"], "--seed is for the walks of --simulate N; leave it out, or walk."),
        (["--without", "hit.next"], "the rule hit does not exist in solo, only where sharing; name such a world."),
        (["--without", "release.holding"], "this is an assumption about the environment, and no check of the engine."),
    ],
)
def test_what_would_mislead_is_refused(cli: Cli, arguments: list[str], sentence: str) -> None:
    assert sentence in refused(cli, "check", "solo", *arguments)


def test_what_only_a_picture_takes_is_refused_elsewhere(cli: Cli) -> None:
    said = refused(cli, "show", "pair", "--set", "depth=2")
    assert said == (
        "--set and --graph are for pictures of a world; name one and add --format graphml, dot, svg (or html, which takes --set)."
    )


def test_a_trace_file_cut_in_half(cli: Cli) -> None:
    cli("check", "solo", "--without", "notify.once")
    path = Path("schedproof-traces/solo.without-notify.once.bounds.notified.itf.json")
    content = path.read_text()
    path.write_text(content[: len(content) // 2])
    said = refused(cli, "show", str(path))
    assert said.startswith(f"{path} is no complete JSON (")
    assert said.endswith("); make the trace again with check.")


# --------------------------------------------------------------------------------------------- in a subprocess
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["check", "nowhere.toml"],
            "error: nowhere.toml cannot be read (No such file or directory); give the path of a world's .toml file.\n",
        ),
        (["check", "--set", "x"], "error: 'x' sets no dial; write DIAL=VALUE, such as preemption=off or prompt=5,1.\n"),
        ([], "error: schedproof: the following arguments are required: COMMAND; see schedproof --help.\n"),
    ],
)
def test_the_program_says_the_same(arguments: list[str], said: str) -> None:
    ran = subprocess.run([sys.executable, "-m", "checker", *arguments], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", said)
