"""The run journal: what a chain shows, and which record is named first when it is broken."""

import hashlib
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from harness.journal import GENESIS, Event, Journal, JournalError, verify


def journal_of(path: Path) -> Journal:
    """Write the journal of a run that timed out once, was recovered and finished, and of one that began."""
    journal = Journal(path, fsync=False)
    journal.append(Event.STARTED, "run-1", at_epoch_ms=1, facts={"harness": "pi"})
    journal.append(Event.TOOL_TIMEOUT, "run-1", at_epoch_ms=2, facts={"tool": "bash", "limitMs": 5000})
    journal.append(Event.STARTED, "run-2", at_epoch_ms=3)
    journal.append(Event.RECOVERED, "run-1", at_epoch_ms=4)
    journal.append(Event.FINISHED, "run-1", at_epoch_ms=5)
    return journal


def test_the_first_record_carries_64_zeros_and_each_next_the_digest_before(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal.jsonl"
    journal_of(path)
    records = [json.loads(one) for one in path.read_text(encoding="utf-8").splitlines()]
    assert GENESIS == "0" * 64
    assert records[0]["previous"] == GENESIS
    assert [one["previous"] for one in records[1:]] == [one["digest"] for one in records[:-1]]
    assert [one["sequence"] for one in records] == [0, 1, 2, 3, 4]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_whole_journal_verifies_and_answers(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal_of(path)
    found = verify(path)
    assert found.broken is None
    assert len(found.entries) == 5
    one = found.answer("run-1")
    assert (one.finished, one.abandoned, one.recoveries, one.tool_timeouts, one.altered) == (True, False, 1, 1, None)
    two = found.answer("run-2")
    assert (two.finished, two.abandoned) == (False, True)
    assert not found.answer("run-2", running={"run-2"}).abandoned
    assert not found.answer("run-9").known


def test_an_abandoned_run_may_be_recorded_as_such(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = journal_of(path)
    journal.append(Event.ABANDONED, "run-2", at_epoch_ms=6)
    assert verify(path).answer("run-2", running={"run-2"}).abandoned


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("edit", "its content is not the one that its digest names"),
        ("space", "its content is not the one that its digest names"),
        ("garbage", "not a record: no JSON"),
        ("remove", "record"),
        ("repeat", "record"),
        ("swap", "record"),
        ("schema", "not a record of this schema"),
    ],
)
def test_verification_names_the_first_broken_record(tmp_path: Path, number: int, change: str, reason: str) -> None:
    path = tmp_path / "journal.jsonl"
    journal_of(path)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    first = number + 1
    if change == "edit":
        lines[number] = lines[number].replace('atEpochMs":', 'atEpochMs":1')
    elif change == "space":
        lines[number] = lines[number].replace("{", "{ ", 1)
    elif change == "garbage":
        lines[number] = "garbage\n"
    elif change == "schema":
        lines[number] = '{"schema":"another"}\n'
    elif change == "remove" and number < 4:
        del lines[number]
    elif change == "repeat":
        lines.insert(number, lines[number])
        first += 1
    elif change == "swap" and number < 4:
        lines[number], lines[number + 1] = lines[number + 1], lines[number]
    else:
        return
    path.write_text("".join(lines), encoding="utf-8")
    broken = verify(path).broken
    assert broken is not None
    assert broken.line == first
    assert reason in broken.reason
    assert len(verify(path).entries) == first - 1
    answer = verify(path).answer("run-1")
    assert answer.altered == broken
    assert not answer.abandoned


def test_a_rewritten_chain_and_a_cut_end_show_only_against_the_head_that_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = journal_of(path)
    head = journal.append(Event.ABANDONED, "run-2", at_epoch_ms=6)
    assert verify(path, expected_head=head).broken is None
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    assert verify(path).broken is None
    broken = verify(path, expected_head=head).broken
    assert broken is not None
    assert broken.line == 6


def test_a_torn_end_is_refused_until_the_run_is_recovered(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = journal_of(path)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"schema":"even')
    broken = verify(path).broken
    assert broken is not None
    assert (broken.line, "torn" in broken.reason) == (6, True)
    with pytest.raises(JournalError, match="torn"):
        journal.append(Event.FINISHED, "run-2", at_epoch_ms=7)
    journal.recover("run-2", at_epoch_ms=8)
    found = verify(path)
    assert found.broken is None
    assert found.entries[-1].event is Event.RECOVERED
    assert path.read_bytes().startswith(whole)
    assert b'"tornBytes":15' in path.read_bytes()


def test_nothing_is_chained_onto_a_broken_end(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = journal_of(path)
    path.write_bytes(path.read_bytes() + b"not a record\n")
    for append in (journal.append,):
        with pytest.raises(JournalError, match="broken"):
            append(Event.FINISHED, "run-2", at_epoch_ms=7)
    with pytest.raises(JournalError, match="broken"):
        journal.recover("run-2", at_epoch_ms=7)


@pytest.mark.parametrize(
    ("run_id", "at", "facts", "message"),
    [
        ("", 1, {}, "runId"),
        ("a\nb", 1, {}, "runId"),
        ("run", -1, {}, "atEpochMs"),
        ("run", 2**53, {}, "atEpochMs"),
        ("run", 1, {"text": "x" * 20_000}, "larger"),
    ],
)
def test_what_is_no_record_is_not_written(
    tmp_path: Path, run_id: str, at: int, facts: dict[str, str], message: str
) -> None:
    path = tmp_path / "journal.jsonl"
    with pytest.raises(JournalError, match=message):
        Journal(path).append(Event.STARTED, run_id, at_epoch_ms=at, facts=facts)
    assert not path.exists() or path.read_bytes() == b""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("event", "run_started"),
        ("event", None),
        ("run_id", 5),
        ("at_epoch_ms", 1.5),
        ("at_epoch_ms", True),
        ("at_epoch_ms", float("nan")),
        ("facts", {"share": float("nan")}),
        ("facts", {"list": [1]}),
        ("facts", {1: "a", "b": 2}),
        ("facts", [1]),
    ],
)
def test_a_value_of_the_wrong_type_is_a_journal_error(tmp_path: Path, name: str, value: object) -> None:
    path = tmp_path / "journal.jsonl"
    append: Any = Journal(path).append
    values = {"event": Event.STARTED, "run_id": "run", "at_epoch_ms": 1, "facts": {}, name: value}
    with pytest.raises(JournalError):
        append(values.pop("event"), values.pop("run_id"), **values)
    assert not path.exists() or path.read_bytes() == b""


@pytest.mark.parametrize(
    ("name", "value"),
    [("runId", []), ("sequence", False), ("sequence", 0.0), ("atEpochMs", "x"), ("atEpochMs", -1), ("facts", 3)],
)
def test_a_right_digest_over_a_wrong_type_is_no_record(tmp_path: Path, name: str, value: object) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path, fsync=False).append(Event.STARTED, "run-1", at_epoch_ms=1)
    body = {**json.loads(path.read_bytes()), name: value}
    del body["digest"]
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    body["digest"] = hashlib.sha256(text.encode("ascii")).hexdigest()
    path.write_text(json.dumps(body, sort_keys=True, separators=(",", ":")) + "\n", encoding="ascii")
    found = verify(path)
    assert found.entries == ()
    assert found.broken is not None
    assert found.broken.reason == "not a record of this schema"


def test_a_long_record_is_found_again_from_the_end(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, fsync=False)
    for number in range(3):
        journal.append(Event.STARTED, f"run-{number}", at_epoch_ms=number, facts={"text": "x" * 15_000})
    assert verify(path).broken is None
    path.write_bytes(path.read_bytes() + b"x" * 100_000)
    journal.recover("run-1", at_epoch_ms=9)
    assert len(verify(path).entries) == 4


def test_an_endless_line_is_broken_and_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"[" * 1_000_000 + b"\n")
    broken = verify(path).broken
    assert broken is not None
    assert broken.reason == "longer than any record"
