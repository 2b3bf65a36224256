"""The recorder: what it writes, what it drops, and that it never stands in a turn's way."""

import json
import multiprocessing
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as all_of
from hypothesis import settings
from hypothesis import strategies as st

from analysis.evidence.turn_reference import check_line
from analysis.evidence.turn_shape import DECODER
from harness.locking import LockedError, locked
from harness.turn_metrics import Dropped, TurnRecorder, encode_line, metrics_folder
from harness.turn_projection import TurnInputError, turn_record
from harness.turn_rules import STOP_REASONS, is_identifier
from tests.turn_lines import MISSING, USAGE, call, given, line, recorded

ROOT = Path(__file__).resolve().parents[1]


def lines_of(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(one) for one in data.split(b"\n")[:-1]]


def test_a_turn_becomes_the_line_of_the_format() -> None:
    assert turn_record(given()) == recorded()
    assert list(turn_record(given())) == list(recorded())
    assert encode_line(turn_record(given())) == line(recorded()) + b"\n"


def test_the_file_lies_below_the_project_and_is_the_owners_alone(tmp_path: Path) -> None:
    recorder = TurnRecorder(tmp_path, {})
    assert recorder.record(given())
    assert recorder.path == tmp_path / ".omk" / "metrics" / "turns.jsonl"
    assert stat.S_IMODE(recorder.path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / ".omk").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / ".omk" / "metrics").stat().st_mode) == 0o700
    assert lines_of(recorder.path) == [recorded()]


def test_a_file_with_wider_permissions_is_narrowed(tmp_path: Path) -> None:
    recorder = TurnRecorder(tmp_path, {})
    recorder.record(given())
    recorder.path.chmod(0o644)
    recorder.record(given())
    assert stat.S_IMODE(recorder.path.stat().st_mode) == 0o600


def test_the_environment_given_at_construction_disables_or_moves(tmp_path: Path) -> None:
    disabled = TurnRecorder(tmp_path, {"OMK_TURN_METRICS": "0"})
    assert not disabled.record(given())
    assert disabled.counts.total_dropped == 0
    assert list(tmp_path.iterdir()) == []
    moved = TurnRecorder(tmp_path, {"OMK_TURN_METRICS": "1", "OMK_TURN_METRICS_DIR": str(tmp_path / "else" / "where")})
    assert moved.record(given())
    assert (tmp_path / "else" / "where" / "turns.jsonl").is_file()
    assert metrics_folder(tmp_path, {"OMK_TURN_METRICS_DIR": "inside"}) == tmp_path / "inside"


def test_duration_is_end_minus_start_and_never_negative() -> None:
    assert turn_record(given(startedAtEpochMs=5000, endedAtEpochMs=1000))["durationMs"] == 0
    assert turn_record(given(startedAtEpochMs=0.1, endedAtEpochMs=0.4))["durationMs"] == 0.4 - 0.1


def test_counts_are_derived_and_never_taken_over() -> None:
    record = turn_record(given(toolCallCount=9, toolFailureCount=9, durationMs=9, schemaVersion="x"))
    assert record == recorded()


def test_nothing_is_copied_that_the_format_does_not_name() -> None:
    extra = given(
        prompt="a prompt",
        usage={**USAGE, "text": "nested"},
        contextCache={"planHit": True, "hits": 3, "misses": 1, "key": "nested"},
        toolCalls=[
            {**call("bash", 120), "arguments": "secret", "error": "dropped"},
            {**call("edit", 40, ok=False, error="ENOENT: a path"), "output": "o"},
        ],
    )
    assert turn_record(extra) == recorded()


class Loud(dict[str, Any]):
    """A dictionary that would say more of itself than it holds."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("iterated")

    def get(self, *_: object) -> object:
        raise AssertionError("asked")

    def __getitem__(self, _: str) -> object:
        raise AssertionError("asked")

    def toJSON(self) -> str:  # noqa: N802  # the name that JavaScript's serialiser calls
        raise AssertionError("serialised")


class LoudText(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise AssertionError("spelled")

    def __repr__(self) -> str:
        raise AssertionError("spelled")


def test_a_custom_serialiser_is_neither_called_nor_kept() -> None:
    turn = Loud(given(sessionId=LoudText("session-7"), usage=Loud(USAGE)))
    record = turn_record(turn)
    assert record == recorded()
    assert type(record["sessionId"]) is str


class LoudKey(LoudText):
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, _: object) -> bool:
        raise AssertionError("compared")


def _raises(_: object) -> type:
    raise AssertionError("asked what it is")


# isinstance asks a value for its class; these lie, or fail.
LIARS = [
    type("Liar", (), {"__class__": property(lambda _: str)})(),
    type("Loud", (), {"__class__": property(_raises)})(),
]


def test_no_code_of_a_key_or_of_a_value_runs(tmp_path: Path) -> None:
    recorder = TurnRecorder(tmp_path, {})
    rest = given()
    session = rest.pop("sessionId")
    assert turn_record({LoudKey("sessionId"): session, **rest}) == recorded()
    traced = {"selectedModel": "some-model-1", LoudKey("responseModel"): "some-model-1"}
    for label in LIARS:
        assert recorder.record(given(runtimeProvenance={**traced, "requestedModel": label}))
    for name in ("sessionId", "stopReason", "turnIndex", "usage", "toolCalls", "compacted"):
        for value in LIARS:
            assert not recorder.record(given(**{name: value}))
    lines = [json.loads(one) for one in recorder.path.read_text(encoding="utf-8").splitlines()]
    assert [one["runtimeProvenance"]["requestedModel"] for one in lines] == [None, None]
    assert [one["runtimeProvenance"]["responseModel"] for one in lines] == ["some-model-1"] * 2


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"sessionId": MISSING}, "sessionId"),
        ({"sessionId": ""}, "sessionId"),
        ({"sessionId": "x" * 513}, "sessionId"),
        ({"sessionId": "a\nb"}, "sessionId"),
        ({"sessionId": 5}, "sessionId"),
        ({"turnIndex": MISSING}, "turnIndex"),
        ({"turnIndex": -1}, "turnIndex"),
        ({"turnIndex": 1.5}, "turnIndex"),
        ({"turnIndex": True}, "turnIndex"),
        ({"turnIndex": 2**53}, "turnIndex"),
        ({"provider": " "}, "provider"),
        ({"model": 7}, "model"),
        ({"startedAtEpochMs": -1}, "startedAtEpochMs"),
        ({"startedAtEpochMs": float("nan")}, "startedAtEpochMs"),
        ({"endedAtEpochMs": float("inf")}, "endedAtEpochMs"),
        ({"endedAtEpochMs": 10**400}, "endedAtEpochMs"),
        ({"endedAtEpochMs": "3500"}, "endedAtEpochMs"),
        ({"timeToFirstChunkMs": -1}, "timeToFirstChunkMs"),
        ({"usage": []}, "usage"),
        ({"usage": {**USAGE, "input": None}}, "usage.input"),
        ({"usage": {**USAGE, "costUsd": -0.1}}, "usage.costUsd"),
        ({"stopReason": "pause"}, "stopReason"),
        ({"toolCalls": "bash"}, "toolCalls"),
        ({"toolCalls": [call("bash", 1)] * 10_001}, "toolCalls"),
        ({"toolCalls": [call("", 1)]}, "toolCalls.name"),
        ({"toolCalls": [call("bash", float("nan"))]}, "toolCalls.durationMs"),
        ({"toolCalls": [{"name": "bash", "durationMs": 1, "ok": 1}]}, "toolCalls.ok"),
        ({"toolCalls": [call("bash", 1, ok=False, error=b"raw")]}, "toolCalls.error"),
        ({"toolCalls": ["bash"]}, "toolCalls"),
        ({"compacted": 1}, "compacted"),
        ({"failovers": 0.5}, "failovers"),
        ({"contextCache": {"planHit": 1, "hits": 0, "misses": 0}}, "contextCache.planHit"),
        ({"contextCache": {"planHit": True, "hits": 0}}, "contextCache.misses"),
    ],
)
def test_an_invalid_turn_is_counted_and_dropped(tmp_path: Path, changes: dict[str, object], field: str) -> None:
    with pytest.raises(TurnInputError, match=rf"^{field}: "):
        turn_record(given(**changes))
    recorder = TurnRecorder(tmp_path, {})
    assert not recorder.record(given(**changes))
    assert recorder.counts.dropped[Dropped.INVALID] == 1
    assert not recorder.path.exists()


@pytest.mark.parametrize("turn", [None, "text", 5, [], object()])
def test_what_is_no_turn_at_all_is_dropped_too(tmp_path: Path, turn: object) -> None:
    recorder = TurnRecorder(tmp_path, {})
    assert not recorder.record(turn)
    assert recorder.counts.dropped[Dropped.INVALID] == 1


def test_absent_fields_stay_absent() -> None:
    record = turn_record({"sessionId": "s", "turnIndex": 0, "startedAtEpochMs": 1, "endedAtEpochMs": 2})
    assert set(record) == {
        "schemaVersion",
        "sessionId",
        "turnIndex",
        "startedAtEpochMs",
        "endedAtEpochMs",
        "durationMs",
        "toolCalls",
        "toolCallCount",
        "toolFailureCount",
    }


def test_the_raw_error_text_never_reaches_the_file(tmp_path: Path) -> None:
    recorder = TurnRecorder(tmp_path, {})
    recorder.record(given(toolCalls=[call("bash", 1, ok=False, error="EACCES: cannot open the secret thing")]))
    data = recorder.path.read_bytes()
    assert b"secret" not in data
    assert b'"errorClass":"permission"' in data


def test_a_harness_that_classified_its_errors_itself_is_believed() -> None:
    def classes(**more: object) -> object:
        record = turn_record(given(toolCalls=[call("bash", 1, ok=False, **more)]))
        return json.loads(encode_line(record))["toolCalls"][0]["errorClass"]

    assert classes(errorClass="aborted") == "aborted"
    assert classes(errorClass="boom") == "unknown"
    assert classes() == "unknown"
    assert classes(errorClass="aborted", error="timed out") == "timeout"


def test_the_provenance_keeps_what_can_be_trusted_and_drops_the_rest() -> None:
    seen = {"selectedModel": " lab/one ", "responseModel": "lab/two", "extra": 1, "requestedThinking": "two words"}
    record = turn_record(given(runtimeProvenance=seen))
    assert record["runtimeProvenance"] == {
        "schemaVersion": "omk-runtime-provenance-1",
        "requestedModel": None,
        "selectedModel": "lab/one",
        "responseModel": "lab/two",
        "requestedThinking": None,
        "effectiveThinking": None,
        "source": "session",
    }
    assert "runtimeProvenance" not in turn_record(given(runtimeProvenance="lab/one"))
    assert "runtimeProvenance" not in turn_record(given(runtimeProvenance={"selectedModel": "Bearer abc"}))


def test_an_oversized_record_is_dropped_whatever_the_file_holds(tmp_path: Path) -> None:
    recorder = TurnRecorder(tmp_path, {}, max_bytes=200)
    assert not recorder.record(given())
    assert recorder.counts.dropped[Dropped.OVERSIZED] == 1
    assert not recorder.path.exists()


def test_the_file_is_rotated_once_past_its_bound(tmp_path: Path) -> None:
    size = len(line(recorded())) + 1
    recorder = TurnRecorder(tmp_path, {}, max_bytes=3 * size)
    for index in range(8):
        assert recorder.record(given(turnIndex=index))
    assert sorted(entry.name for entry in recorder.folder.iterdir()) == ["turns.jsonl", "turns.jsonl.1"]
    assert [turn["turnIndex"] for turn in lines_of(recorder.path)] == [6, 7]
    assert [turn["turnIndex"] for turn in lines_of(recorder.folder / "turns.jsonl.1")] == [3, 4, 5]
    assert (recorder.counts.rotations, recorder.counts.replaced) == (2, 1)
    assert stat.S_IMODE(recorder.path.stat().st_mode) == 0o600


def test_a_line_that_fits_exactly_is_not_rotated(tmp_path: Path) -> None:
    size = len(line(recorded())) + 1
    recorder = TurnRecorder(tmp_path, {}, max_bytes=2 * size)
    recorder.record(given())
    recorder.record(given())
    assert recorder.counts.rotations == 0


def test_an_unusable_folder_is_counted_and_not_raised(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    for place in ("file", "file/below", "nul\0byte"):
        recorder = TurnRecorder(tmp_path, {"OMK_TURN_METRICS_DIR": place})
        assert not recorder.record(given())
        assert recorder.counts.dropped[Dropped.UNWRITABLE] == 1


def test_a_link_or_a_device_in_the_files_place_is_not_written_through(tmp_path: Path) -> None:
    folder = tmp_path / ".omk" / "metrics"
    folder.mkdir(parents=True)
    (tmp_path / "target").touch()
    (folder / "turns.jsonl").symlink_to(tmp_path / "target")
    recorder = TurnRecorder(tmp_path, {})
    assert not recorder.record(given())
    (folder / "turns.jsonl").unlink()
    (folder / "turns.jsonl").mkdir()
    assert not recorder.record(given())
    assert recorder.counts.dropped[Dropped.UNWRITABLE] == 2
    assert (tmp_path / "target").read_bytes() == b""


def test_a_full_disk_drops_the_turn_and_leaves_whole_lines(tmp_path: Path) -> None:
    recorder = TurnRecorder(tmp_path, {})
    size = len(line(recorded())) + 1
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        # The third line is cut by the limit: the write comes back short.
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * size + 10, before[1]))
        done = [recorder.record(given(turnIndex=index)) for index in range(4)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, previous)
    assert done == [True, True, False, False]
    assert recorder.counts.dropped[Dropped.UNWRITABLE] == 2
    assert [turn["turnIndex"] for turn in lines_of(recorder.path)] == [0, 1]
    assert recorder.record(given(turnIndex=9))
    assert [turn["turnIndex"] for turn in lines_of(recorder.path)] == [0, 1, 9]


def test_what_a_killed_writer_left_spoils_no_line_but_its_own(tmp_path: Path) -> None:
    recorder = TurnRecorder(tmp_path, {})
    recorder.record(given())
    with recorder.path.open("ab") as file:
        file.write(line(recorded())[:40])
    assert recorder.record(given(turnIndex=5))
    first, torn, last = recorder.path.read_bytes().splitlines()
    assert first == line(recorded())
    assert torn == line(recorded())[:40]
    assert last == line(recorded(turnIndex=5))


def test_a_lock_that_others_keep_drops_the_turn_after_a_bounded_wait(tmp_path: Path) -> None:
    recorder = TurnRecorder(tmp_path, {}, lock_timeout_s=0.02)
    recorder.record(given())
    with locked(recorder.folder, timeout_s=1, pause=time.sleep):
        assert not recorder.record(given())
        with pytest.raises(LockedError), locked(recorder.folder, timeout_s=0, pause=time.sleep):
            pass
    assert recorder.counts.dropped[Dropped.BUSY] == 1
    assert recorder.record(given())


def test_fsync_is_an_option(tmp_path: Path) -> None:
    size = len(line(recorded())) + 1
    recorder = TurnRecorder(tmp_path, {}, fsync=True, max_bytes=2 * size)
    for index in range(3):
        assert recorder.record(given(turnIndex=index))
    assert recorder.counts.written == 3


def _write_many(folder: str, writer: int, number: int, max_bytes: int) -> None:
    recorder = TurnRecorder(Path(folder), {}, max_bytes=max_bytes, lock_timeout_s=600)
    turn: dict[str, object] = {"sessionId": f"writer-{writer}", "startedAtEpochMs": 1, "endedAtEpochMs": 2}
    for index in range(number):
        recorder.record({**turn, "turnIndex": index})
    assert recorder.counts.written == number, recorder.counts


def run_writers(folder: Path, *, writers: int, number: int, max_bytes: int) -> None:
    context = multiprocessing.get_context("spawn")
    running = [
        context.Process(target=_write_many, args=(str(folder), writer, number, max_bytes)) for writer in range(writers)
    ]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0] * writers


def test_eight_writers_lose_and_tear_no_line(tmp_path: Path) -> None:
    run_writers(tmp_path, writers=8, number=10_000, max_bytes=1 << 30)
    found = lines_of(tmp_path / ".omk" / "metrics" / "turns.jsonl")
    assert len(found) == 80_000
    by_writer: dict[str, list[int]] = {}
    for turn in found:
        by_writer.setdefault(turn["sessionId"], []).append(turn["turnIndex"])
    assert by_writer == {f"writer-{writer}": list(range(10_000)) for writer in range(8)}


def test_writers_that_rotate_leave_two_whole_generations_without_a_gap(tmp_path: Path) -> None:
    run_writers(tmp_path, writers=4, number=300, max_bytes=20_000)
    folder = tmp_path / ".omk" / "metrics"
    found = lines_of(folder / "turns.jsonl.1") + lines_of(folder / "turns.jsonl")
    assert len(found) > 100
    by_writer: dict[str, list[int]] = {}
    for turn in found:
        by_writer.setdefault(turn["sessionId"], []).append(turn["turnIndex"])
    # What stands there is the end of each writer's row, without a hole: only whole generations are given up.
    for indexes in by_writer.values():
        assert indexes == list(range(indexes[0], 300))


KILLED = """
import sys
from pathlib import Path
from harness.turn_metrics import TurnRecorder
recorder = TurnRecorder(Path(sys.argv[1]), {}, max_bytes=2000)
print("ready", flush=True)
index = 0
while True:
    recorder.record({"sessionId": "victim", "turnIndex": index, "startedAtEpochMs": 1, "endedAtEpochMs": 2})
    index += 1
"""


def test_a_kill_in_the_middle_of_rotations_leaves_whole_lines_and_no_lock(tmp_path: Path) -> None:
    for attempt in range(5):
        victim = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert victim.stdout is not None
        assert victim.stdout.readline() == "ready\n"
        # Rotations come every twelve lines or so: any moment is as good as another.
        time.sleep(0.02 + 0.013 * attempt)
        victim.kill()
        victim.wait()
        victim.stdout.close()
        recorder = TurnRecorder(tmp_path, {}, max_bytes=2000)
        assert recorder.record(given(sessionId="next"))
        folder = recorder.folder
        assert {entry.name for entry in folder.iterdir()} <= {"turns.jsonl", "turns.jsonl.1"}
        indexes = [
            turn["turnIndex"]
            for name in ("turns.jsonl.1", "turns.jsonl")
            if (folder / name).exists()
            for turn in lines_of(folder / name)
            if turn["sessionId"] == "victim"
        ]
        assert indexes == list(range(indexes[0], indexes[0] + len(indexes))) if indexes else True
        for entry in folder.iterdir():
            entry.unlink()


def _open_files() -> int:
    """Count this process's descriptors, where the system tells."""
    place = Path("/proc/self/fd")
    return sum(1 for _ in place.iterdir()) if place.is_dir() else 0


def test_no_lock_file_is_left_and_the_descriptors_are_closed(tmp_path: Path) -> None:
    recorder = TurnRecorder(tmp_path, {})
    recorder.record(given())
    before = _open_files()
    for _ in range(20):
        recorder.record(given())
    assert _open_files() == before
    assert [entry.name for entry in recorder.folder.iterdir()] == ["turns.jsonl"]


TEXT = st.text(max_size=40)
NUMBERS = st.one_of(
    st.integers(-5, 2**54),
    st.floats(allow_nan=True, allow_infinity=True),
    st.booleans(),
    st.none(),
    st.text(max_size=3),
)
CALLS = st.lists(
    st.fixed_dictionaries(
        {"name": TEXT, "durationMs": st.floats(-10, 1e6), "ok": st.booleans()}, optional={"error": TEXT, "more": TEXT}
    ),
    max_size=4,
)
TURNS = st.fixed_dictionaries(
    {
        "sessionId": TEXT,
        "turnIndex": st.integers(0, 2**53 - 1),
        "startedAtEpochMs": st.floats(0, 1e13),
        "endedAtEpochMs": st.one_of(st.floats(0, 1e13), st.integers(0, 2**53)),
    },
    optional={
        "provider": TEXT,
        "model": TEXT,
        "timeToFirstChunkMs": st.floats(0, 1e6),
        "usage": st.fixed_dictionaries(
            {name: st.integers(0, 2**53 - 1) for name in ("input", "output", "cacheRead", "cacheWrite")}
            | {"costUsd": st.floats(0, 1e6)}
        ),
        "stopReason": st.sampled_from(STOP_REASONS),
        "toolCalls": CALLS,
        "compacted": st.booleans(),
        "failovers": st.integers(0, 9),
        "contextCache": st.fixed_dictionaries(
            {"planHit": st.booleans(), "hits": st.integers(0, 9), "misses": st.integers(0, 9)}
        ),
        "runtimeProvenance": st.fixed_dictionaries({"selectedModel": TEXT, "responseModel": TEXT}),
        "unknown": TEXT,
    },
)


@settings(max_examples=400, deadline=None)
@all_of(TURNS)
def test_what_the_recorder_writes_always_reads_back_equal(turn: dict[str, Any]) -> None:
    try:
        record = turn_record(turn)
    except TurnInputError:
        names = [turn["sessionId"], *(turn[key] for key in ("provider", "model") if key in turn)]
        names += [one["name"] for one in turn.get("toolCalls", ())]
        assert not all(map(is_identifier, names))
        return
    written = encode_line(record)
    assert written.isascii()
    assert written.count(b"\n") == 1
    read = check_line(written[:-1])
    assert json.loads(written) == record
    assert read.session_id == record["sessionId"]
    assert read.duration_ms == record["durationMs"]
    assert [(one.name, one.duration_ms, one.ok) for one in read.tool_calls] == [
        (one["name"], one["durationMs"], one["ok"]) for one in json.loads(written)["toolCalls"]
    ]
    usage = record.get("usage")
    if isinstance(usage, dict):
        assert [read.usage.input, read.usage.output, read.usage.cost_usd] == [
            usage["input"],
            usage["output"],
            usage["costUsd"],
        ]
    if not any("\ud800" <= sign <= "\udfff" for sign in json.dumps(record, ensure_ascii=False)):
        assert DECODER.decode(written) == read


@settings(max_examples=300, deadline=None)
@all_of(
    st.dictionaries(st.sampled_from([*given(), "error"]), NUMBERS | CALLS | st.dictionaries(TEXT, NUMBERS, max_size=3))
)
def test_whatever_is_given_the_recorder_raises_nothing_but_its_own_error(turn: dict[str, Any]) -> None:
    with suppress(TurnInputError):
        encode_line(turn_record({**given(), **turn}))
