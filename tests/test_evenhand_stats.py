"""The report of turns as it is read: text, JSON, groups and picture, and what a person gets on bad input."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.cli import run
from evenhand.exits import Exit
from harness.turn_metrics import TurnRecorder
from tests.turn_lines import MISSING, bare, call, given, recorded, write_lines
from tests.turn_studies import harbor_study

GOLD = Path(__file__).resolve().parent / "gold"
HOUR_MS = 3_600_000
KEYS = [
    "turns",
    "sessions",
    "models",
    "totalCostUsd",
    "totals",
    "turnDurationP50Ms",
    "turnDurationP95Ms",
    "timeToFirstChunkP50Ms",
    "cacheReadShare",
    "compactions",
    "failovers",
    "contextCachePlanHitRate",
    "provenanceMismatchTurns",
    "tools",
    "malformedLines",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of turns of several shapes: two models, one slow tool, a rotated part, malformed lines."""
    slow = [
        call("bash", 2 * HOUR_MS, ok=False, errorClass="timeout"),
        call("bash", 210),
        call("a tool of a long name", 0.2),
    ]
    older = [
        recorded(turnIndex=number, sessionId=f"session-{number % 3}", endedAtEpochMs=1000 + ms, durationMs=ms)
        for number, ms in enumerate((0, 400, 4200, 31_800, 75_000))
    ]
    newer: list[dict[str, object] | bytes] = [
        recorded(
            model="other-model",
            provider=MISSING,
            toolCalls=slow,
            toolCallCount=3,
            usage={"input": 91_204, "output": 22_880, "cacheRead": 1_904_551, "cacheWrite": 88_100, "costUsd": 4.8187},
            compacted=True,
            contextCache={"planHit": False, "hits": 0, "misses": 2},
            runtimeProvenance={"selectedModel": "other-model", "responseModel": "another"},
        ),
        bare(sessionId="session-9"),
        b"{",
        recorded(turnIndex=-1),
        b"{",
    ]
    write_lines(tmp_path / "turns.jsonl.1", *older)
    write_lines(tmp_path / "turns.jsonl", *newer)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    code = run(["stats", *arguments])
    captured = capsys.readouterr()
    assert code == Exit.DONE, captured.err
    return captured.out


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("stats.txt", ()), ("stats.json", ("--json",)), ("stats-by-model.txt", ("--by", "model"))],
)
def test_the_gold_report_is_the_same_text(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, arguments: tuple[str, ...]
) -> None:
    text = said(capsys, "--dir", str(folder), *arguments)
    if os.environ.get("EVENHAND_GOLD") == "write":
        (GOLD / name).write_text(text, encoding="utf-8")
    assert text == (GOLD / name).read_text(encoding="utf-8")


def test_the_json_has_the_keys_of_the_formats_own_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads(said(capsys, "--dir", str(folder), "--json"))
    assert list(report) == ["schema", *KEYS]
    assert list(report["totals"]) == ["input", "output", "cacheRead", "cacheWrite", "costUsd"]
    assert list(report["tools"][0]) == ["name", "calls", "failures", "failureRate", "p50Ms", "p95Ms", "totalMs"]
    assert report["totalCostUsd"] == report["totals"]["costUsd"] == pytest.approx(4.8812)
    assert report["malformedLines"] == 3


def test_not_measured_is_said_and_is_null(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(tmp_path / "turns.jsonl", bare())
    text = said(capsys, "--dir", str(tmp_path))
    assert text.count("not measured") == 7
    assert "$" not in text
    report = json.loads(said(capsys, "--dir", str(tmp_path), "--json"))
    assert {name for name in KEYS if report[name] is None} == {
        "totalCostUsd",
        "timeToFirstChunkP50Ms",
        "cacheReadShare",
        "compactions",
        "failovers",
        "contextCachePlanHitRate",
        "provenanceMismatchTurns",
    }
    assert set(report["totals"].values()) == {None}


@pytest.mark.parametrize("by", ["model", "session", "day"])
def test_groups_part_the_whole(folder: Path, capsys: pytest.CaptureFixture[str], by: str) -> None:
    report = json.loads(said(capsys, "--dir", str(folder), "--by", by, "--json"))
    assert report["by"] == by
    assert sum(group["turns"] for group in report["groups"]) == report["turns"]


def test_arms_are_those_of_the_trials_that_declare_the_sessions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = harbor_study(tmp_path)
    study.declare(turns_each=2)
    write_lines(study.folder / "turns.jsonl", recorded(sessionId="nobody's"))
    report = json.loads(said(capsys, "--dir", str(study.folder), "--by", "arm", "--json"))
    assert {group["key"]: group["turns"] for group in report["groups"]} == {
        "alpha": 6,
        "beta": 6,
        "no declared session": 1,
    }
    chosen = ("--by", "arm", "--arm", "agent=alpha", "--json")
    report = json.loads(said(capsys, "--dir", str(study.folder), *chosen))
    assert {group["key"]: group["turns"] for group in report["groups"]} == {"alpha": 6, "no declared session": 7}


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_a_picture_is_drawn_and_is_the_same_each_time(
    folder: Path, capsys: pytest.CaptureFixture[str], suffix: str, start: bytes
) -> None:
    files = [folder / f"{name}{suffix}" for name in ("first", "second")]
    for file in files:
        said(capsys, "--dir", str(folder), "--plot", str(file))
    first, second = (file.read_bytes() for file in files)
    assert first.startswith(start)
    assert first == second


@pytest.mark.parametrize(
    ("milliseconds", "labels"),
    [((1, 1000, 10_000_000), ("0.001", "1", "10000")), ((900, 30_000), ("1", "2", "20")), ((2100, 3900), ("2.5", "3"))],
    ids=["decades", "few of them", "less than one"],
)
def test_seconds_are_labelled_in_plain_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], milliseconds: tuple[int, ...], labels: tuple[str, ...]
) -> None:
    turns = [recorded(endedAtEpochMs=1000 + took, durationMs=took) for took in milliseconds]
    write_lines(tmp_path / "turns.jsonl", *turns)
    said(capsys, "--dir", str(tmp_path), "--plot", str(tmp_path / "p.svg"))
    text = (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert "mathdefault" not in text
    for label in labels:
        assert f">{label}</text>" in text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--plot", "picture.gif"), Exit.USAGE, ".svg, .png"),
        (("--by", "week"), Exit.USAGE, "model"),
        (("--arm", "agent=x"), Exit.USAGE, "--by arm"),
        (("--plot", "absent/picture.png"), Exit.UNREADABLE, "cannot be written"),
    ],
)
def test_bad_input_is_one_clear_error(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: Exit,
    words: str,
) -> None:
    monkeypatch.chdir(folder)
    assert run(["stats", "--dir", str(folder), *arguments]) == code
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
    assert not list(folder.glob("picture*"))


@pytest.mark.parametrize("by", ["model", "session"])
@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_names_that_cannot_be_shown_neither_steer_the_terminal_nor_stop_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], by: str, suffix: str
) -> None:
    hostile = "\x9b31m\u202e\u2028\ud83d"
    calls = [call(hostile, 3), call(r"$\frac$", 2)]
    turn = bare(sessionId=hostile, model=hostile, toolCalls=calls, toolCallCount=2)
    write_lines(tmp_path / "turns.jsonl", turn)
    picture = tmp_path / f"turns.{suffix}"
    assert run(["stats", "--dir", str(tmp_path), "--by", by, "--plot", str(picture)]) == Exit.DONE
    out = capsys.readouterr().out
    assert f"{by} \ufffd31m\ufffd\ufffd\ufffd\n" in out
    assert all(sign == "\n" or sign.isprintable() for sign in out)
    assert picture.stat().st_size > 1000


def test_a_folder_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stats", "--dir", str(tmp_path / "absent")]) == Exit.UNREADABLE
    assert "absent" in capsys.readouterr().err


def test_nothing_recorded_yet_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OMK_TURN_METRICS_DIR", raising=False)
    assert "No turn metrics recorded yet" in said(capsys)


def test_the_default_folder_is_the_recorders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OMK_TURN_METRICS_DIR", raising=False)
    TurnRecorder(tmp_path, {}).record(given())
    assert "1 turns across 1 session(s)" in said(capsys)
    monkeypatch.setenv("OMK_TURN_METRICS_DIR", str(tmp_path / "elsewhere"))
    assert "No turn metrics recorded yet" in said(capsys)


_WITHOUT_SOCKETS = """
import sys
from pathlib import Path
asked = []
def watch(event, arguments):
    # A library of the privacy scan makes a socket to learn whether there is IPv6; it speaks to nobody.
    if event.startswith("socket.") and event not in {"socket.__new__", "socket.bind"}:
        asked.append(event)
        raise OSError("no network here")
sys.addaudithook(watch)
import socket
try:
    socket.create_connection(("127.0.0.1", 9))
except OSError:
    asked.clear()
else:
    sys.exit("the watch does not work")
from evenhand.cli import run
from harness.turn_metrics import TurnRecorder
from tests.turn_lines import given
recorder = TurnRecorder(Path(), {})
assert recorder.record(given())
assert run(["stats", "--plot", "picture.svg"]) == 0
assert run(["load", ".omk", "--study", "s", "--db", "w.duckdb"]) == 0
assert run(["query", "select count(*) from turns", "--db", "w.duckdb"]) == 0
sys.exit(f"asked for {asked}" if asked else 0)
"""


def test_turns_are_recorded_read_and_loaded_without_a_socket(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-c", _WITHOUT_SOCKETS]
    environment = {**os.environ, "PYTHONPATH": str(GOLD.parents[1])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "w.duckdb").exists()
