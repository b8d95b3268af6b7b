"""Stories: the shipped ones give the record they were accepted with, and a broken one says where."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import run
from checker.replay.story import Story, read_story, tell
from checker.verdict import Unusable, Verdict
from model.language.edits import Drop, changed
from model.lifecycle import LIFECYCLE
from specs.properties import PROPERTIES
from specs.stories import story_files

FIXTURE = next(p for p in story_files() if p.stem == "four-on-two-seats")

SHORT = """dials requests=1 prompt=1 limit=1 blocks=1 block_size=1 budget=1 seats=1
submit r0
admit r0
acquire r0
select r0 1
launch
execute
retire_length r0
recycle
"""


def story(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "short.txt"
    path.write_text(text)
    return path


def told(path: Path) -> list[str]:
    return tell(read_story(path), LIFECYCLE, PROPERTIES).failures


@pytest.mark.parametrize("path", story_files(), ids=lambda p: p.stem)
def test_shipped_stories_give_their_accepted_record(path: Path) -> None:
    read = read_story(path)
    result = tell(read, LIFECYCLE, PROPERTIES)
    assert result.failures == []
    assert tuple(result.lines) == read.golden


def test_fixture_frees_a_seat_and_answers_before_the_longest_ends() -> None:
    lines = read_story(FIXTURE).golden
    second = lines.index("boundary 2 (step done): running r1, r2")
    r0, r1, r2 = (lines[second + 2 + r].split() for r in range(3))
    assert r0[1:3] == ["FINISHED", "LENGTH"], "the first finisher is done"
    assert r0[7] == "1", "and its client has the terminal message"
    assert r1[1] == "RUNNING", "while the longest still runs"
    assert r2[1] == "RUNNING", "and the queued arrival has the seat"


def test_fixture_resumes_instead_of_starting_again() -> None:
    lines = read_story(FIXTURE).golden
    r2 = [line.split() for line in lines if line.strip().startswith("r2")]
    before, last = r2[2], r2[-1]
    assert (before[1], before[3], before[5], before[6]) == ("PREEMPTED", "1", "1", "1")
    assert (last[1], last[3], last[5], last[6]) == ("FINISHED", "2", "2", "2"), "a new epoch, the output goes on"
    assert last[9] == "1", "one token's context was computed again"


def test_removing_a_guard_lets_the_story_fail() -> None:
    """The story is told by the rules: without the seat guard, what it expects to be refused is not."""
    broken = changed(LIFECYCLE, Drop("admit.seat"))
    failures = tell(read_story(FIXTURE), broken, PROPERTIES).failures
    assert len(failures) == 1
    assert failures[0].endswith("admit(r2) should be refused by seat, but is refused not at all")


def test_violations_on_the_way_are_named(tmp_path: Path) -> None:
    broken = changed(LIFECYCLE, Drop("notify.once"))
    path = story(tmp_path, SHORT + "deliver r0\nnotify r0\nnotify r0\n")
    failures = tell(read_story(path), broken, PROPERTIES).failures
    assert [f.rpartition(": ")[2] for f in failures] == ["notify(r0) violates delivery.message-once"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("select r0 1", "the rules refuse select(r0, 1): select.running is false"),
        ("refused notify r0 by once", "notify(r0) should be refused by once, but is refused at delivered"),
        ("expect r0 committed=2", "r0 has committed=1, not 2"),
    ],
)
def test_what_does_not_hold_is_a_failure(tmp_path: Path, line: str, sentence: str) -> None:
    path = story(tmp_path, SHORT + line + "\n")
    assert told(path) == [f"{path}:10: {sentence}"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("selekt r0 1", "there is no rule selekt; did you mean select."),
        ("select r7 1", "select r7 1 is nothing that can happen here; select takes r, k."),
        ("refused select r0", "write refused EVENT by GUARD, such as refused select r0 1 by running."),
        ("expect r9 phase=NEW", "write expect REQUEST KEY=VALUE, with one of r0."),
        (
            "expect r0 fase=NEW",
            "fase=NEW is no expectation; the keys are id, phase, reason, epoch, prompt, committed, delivered, notified, "
            "blocks, recomputed.",
        ),
    ],
)
def test_what_cannot_be_understood_is_refused(tmp_path: Path, line: str, sentence: str) -> None:
    path = story(tmp_path, SHORT + line + "\n")
    with pytest.raises(Unusable) as refused:
        told(path)
    assert str(refused.value) == f"{path}:10: {sentence}"


def test_a_story_begins_with_its_world(tmp_path: Path) -> None:
    path = story(tmp_path, "submit r0\n")
    with pytest.raises(Unusable, match="a story begins with its world"):
        told(path)


def test_a_world_that_cannot_be_is_refused(tmp_path: Path) -> None:
    path = story(tmp_path, "dials requests=1 prompt=0 limit=1 blocks=1 block_size=1 budget=1 seats=1\n")
    with pytest.raises(Unusable, match="prompt is 0, but must be at least 1"):
        told(path)


def test_rewrite_accepts_and_keeps_the_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = story(tmp_path, "# why\n" + SHORT)
    assert run(["replay", str(path)]) is Verdict.VIOLATED
    assert run(["replay", str(path), "--rewrite"]) is Verdict.HOLDS
    assert path.read_text().startswith("# why\n" + SHORT)
    assert run(["replay", str(path)]) is Verdict.HOLDS
    path.write_text(path.read_text().replace("FINISHED", "FINNISHED"))
    capsys.readouterr()
    assert run(["replay", str(path)]) is Verdict.VIOLATED
    assert "it gives another record than the accepted one" in capsys.readouterr().out


def test_a_failing_story_is_not_accepted(tmp_path: Path) -> None:
    path = story(tmp_path, SHORT + "expect r0 committed=2\n")
    text = path.read_text()
    assert run(["replay", str(path), "--rewrite"]) is Verdict.VIOLATED
    assert path.read_text() == text


def test_a_missing_story_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none.txt"
    assert run(["replay", str(path)]) is Verdict.ERROR
    expected = f"error: {path} cannot be read (No such file or directory); give the path of a story.\n"
    assert capsys.readouterr().err == expected


def test_a_story_is_plain_data() -> None:
    read = read_story(FIXTURE)
    assert isinstance(read, Story)
    assert read.script[0][1].startswith("dials requests=4")
