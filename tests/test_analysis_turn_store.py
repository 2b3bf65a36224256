"""A load adds what is new and nothing else, one that dies changes nothing, and a view has null without evidence."""

import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from analysis import turn_store
from analysis.evidence.sessions import DeclaredSession
from analysis.evidence.turn_block import TurnBlock
from analysis.turn_store import TurnSource, load_turns
from analysis.warehouse import DIMENSION_VIEWS, connect, fetch, open_read_only
from evenhand.cli import run
from evenhand.exits import Exit
from evenhand.turn_loading import public_names
from tests.turn_lines import MISSING, bare, call, line, recorded, write_lines
from tests.turn_studies import HarborStudy, harbor_study

ROOT = Path(__file__).resolve().parents[1]
Json = dict[str, Any]


class Loader:
    """Loads one folder into one warehouse, again and again."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.db = folder.parent / "warehouse.duckdb"
        self._capsys = capsys
        self.said = ""

    def load(self, *arguments: str) -> Json:
        """Return what the load said it did with turns."""
        self._capsys.readouterr()
        code = run(["load", str(self.folder), "--study", "s", "--db", str(self.db), "--json", *arguments])
        captured = self._capsys.readouterr()
        assert code == Exit.DONE, captured.err
        self.said = captured.err
        turns = json.loads(captured.out)["turns"]
        assert isinstance(turns, dict)
        return turns

    def rows(self, statement: str) -> list[dict[str, object]]:
        """Return the rows of a query."""
        with open_read_only(self.db) as connection:
            return fetch(connection, statement)

    def turns(self) -> list[int]:
        """Return the turn indices in the order of the files' lines."""
        return [int(str(row["turn_index"])) for row in self.rows("select turn_index from turns order by file, line")]


def numbered(*numbers: int) -> list[Json]:
    return [recorded(turnIndex=number) for number in numbers]


@pytest.fixture
def loader(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Loader:
    (tmp_path / "run").mkdir()
    return Loader(tmp_path / "run", capsys)


def test_the_same_file_twice_changes_nothing(loader: Loader) -> None:
    write_lines(loader.folder / "turns.jsonl", *numbered(0, 1, 2), b"{")
    first = loader.load()
    assert (first["new_turns"], first["malformed_lines"], first["new_files"]) == (3, 1, 1)
    rows = loader.rows("select * from turns order by turn")
    again = loader.load()
    assert (again["new_turns"], again["malformed_lines"], again["new_files"], again["grown_files"]) == (0, 0, 0, 0)
    assert loader.rows("select * from turns order by turn") == rows


def test_a_grown_file_adds_only_its_new_lines(loader: Loader) -> None:
    path = write_lines(loader.folder / "turns.jsonl", *numbered(0, 1))
    loader.load()
    with path.open("ab") as file:
        file.write(line(recorded(turnIndex=2)) + b"\nbroken\n")
    grown = loader.load()
    assert (grown["new_turns"], grown["malformed_lines"], grown["grown_files"]) == (1, 1, 1)
    assert loader.turns() == [0, 1, 2]
    assert loader.rows("select line, reason from turn_rejects") == [{"line": 4, "reason": "no JSON"}]


def test_a_line_that_had_not_ended_is_read_again_once_it_has(loader: Loader) -> None:
    whole = line(recorded(turnIndex=1))
    path = loader.folder / "turns.jsonl"
    path.write_bytes(line(recorded(turnIndex=0)) + b"\n" + whole[:50])
    assert loader.load()["malformed_lines"] == 1
    path.write_bytes(line(recorded(turnIndex=0)) + b"\n" + whole + b"\n")
    assert loader.load()["new_turns"] == 1
    assert loader.turns() == [0, 1]
    assert loader.rows("select * from turn_rejects") == []


def test_a_line_too_long_to_be_held_is_one_line_once_it_has_ended(loader: Loader) -> None:
    path = loader.folder / "turns.jsonl"
    path.write_bytes(line(recorded(turnIndex=0)) + b"\n" + b" " * (20 << 20))
    assert loader.load()["malformed_lines"] == 1
    with path.open("ab") as file:
        file.write(b"\n" + line(recorded(turnIndex=1)) + b"\n")
    assert loader.load()["new_turns"] == 1
    assert [(row["line"], row["turn_index"]) for row in loader.rows("select * from turns order by line")] == [
        (1, 0),
        (3, 1),
    ]
    assert loader.rows("select line, reason from turn_rejects") == [{"line": 2, "reason": "longer than 8388608 bytes"}]


@pytest.mark.parametrize("packed", [False, True])
def test_a_rotated_file_is_recognised(loader: Loader, packed: bool) -> None:
    path = write_lines(loader.folder / "turns.jsonl", *numbered(0, 1))
    loader.load()
    if packed:
        (loader.folder / "turns.jsonl.1.gz").write_bytes(gzip.compress(path.read_bytes()))
    else:
        path.rename(loader.folder / "turns.jsonl.1")
    write_lines(path, *numbered(2))
    rotated = loader.load()
    assert (rotated["new_turns"], rotated["new_files"], rotated["turns"]) == (1, 1, 3)
    assert sorted(loader.turns()) == [0, 1, 2]


def test_a_file_that_grew_before_it_was_rotated_loses_nothing(loader: Loader) -> None:
    path = write_lines(loader.folder / "turns.jsonl", *numbered(0, 1))
    loader.load()
    write_lines(loader.folder / "turns.jsonl.1", *numbered(0, 1, 2))
    write_lines(path, *numbered(3))
    assert loader.load()["new_turns"] == 2
    assert sorted(loader.turns()) == [0, 1, 2, 3]


def test_a_file_whose_loaded_part_was_changed_is_read_again_and_said(loader: Loader) -> None:
    path = write_lines(loader.folder / "turns.jsonl", *(recorded(turnIndex=number) for number in range(300)))
    loader.load()
    data = path.read_bytes()
    assert len(data) > 70_000
    at_the_end = data[:-20] + data[-20:].replace(b"1}", b"2}")
    at_the_beginning = at_the_end.replace(b'"turnIndex":0', b'"turnIndex":9', 1)
    for edited in (at_the_end, at_the_beginning):
        path.write_bytes(edited)
        changed = loader.load()
        assert (changed["changed_files"], changed["new_files"]) == (1, 0)
        assert changed["turns"] == 300
        assert loader.rows("select count(*) as n from turns") == [{"n": 300}]
        assert loader.load()["changed_files"] == 0
    assert loader.turns()[:2] == [9, 1]


def test_every_value_stands_in_its_column(loader: Loader) -> None:
    provenance = {"requestedModel": "r", "selectedModel": "s", "responseModel": "t", "effectiveThinking": "high"}
    write_lines(loader.folder / "turns.jsonl", recorded(runtimeProvenance=provenance), bare(sessionId="empty"))
    loader.load()
    full, empty = loader.rows("select * from turns order by turn")
    expected = {
        "session_id": "session-7",
        "turn_index": 4,
        "provider": "some-lab",
        "model": "some-model-1",
        "duration_ms": 2500,
        "first_chunk_ms": 310,
        "input_tokens": 70,
        "output_tokens": 12,
        "cache_read_tokens": 500,
        "cache_write_tokens": 30,
        "stop_reason": "toolUse",
        "calls": 2,
        "failed_calls": 1,
        "compacted": False,
        "failovers": 0,
        "plan_hit": True,
        "cache_hits": 3,
        "cache_misses": 1,
        "requested_model": "r",
        "selected_model": "s",
        "response_model": "t",
        "effective_thinking": "high",
    }
    assert {name: full[name] for name in expected} == expected
    assert float(str(full["cost_usd"])) == 0.0125
    measured = {"session_id", "turn_index", "duration_ms", "calls", "failed_calls"}
    assert {name for name in expected if empty[name] is not None} == measured
    assert empty["cost_usd"] is None
    assert loader.rows("select call, tool, duration_ms, ok, error_class from tool_calls order by call") == [
        {"call": 0, "tool": "bash", "duration_ms": 120, "ok": True, "error_class": None},
        {"call": 1, "tool": "edit", "duration_ms": 40, "ok": False, "error_class": "not_found"},
    ]


def test_a_load_says_that_identifiers_are_metadata_and_that_version_1_wants_review(loader: Loader) -> None:
    write_lines(loader.folder / "turns.jsonl", recorded())
    loader.load()
    assert "not anonymised" in loader.said
    assert "version 1" not in loader.said
    old = recorded(schemaVersion="omk-turn-metrics-1", toolCalls=[call("bash", 1)], toolCallCount=1, toolFailureCount=0)
    write_lines(loader.folder / "old" / "turns.jsonl", old)
    assert loader.load()["version_1_turns"] == 1
    assert "review them before you share them" in loader.said


def joined_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[HarborStudy, Loader]:
    study = harbor_study(tmp_path)
    return study, Loader(study.folder, capsys)


def test_turns_join_trials_by_declared_sessions_and_never_by_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, loader = joined_study(tmp_path, capsys)
    study.declare(turns_each=2)
    stranger = study.results[0].parent / "agent" / "turns.jsonl"
    write_lines(stranger, recorded(sessionId="nobody's"))
    done = loader.load()
    assert (done["turns"], done["joined_turns"]) == (13, 12)
    counts = loader.rows("select trial, count(*) as n from turn_trials group by trial order by n")
    assert [row["n"] for row in counts] == [1, 2, 2, 2, 2, 2, 2]
    assert counts[0]["trial"] is None


def arm_rows(loader: Loader, view: str) -> list[dict[str, object]]:
    return loader.rows(f"select * from {view} order by arm")  # noqa: S608  # a name of ours


def test_there_are_nine_dimensions_and_each_answers_without_any_turn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, loader = joined_study(tmp_path, capsys)
    assert run(["load", str(study.folder), "--study", "s", "--db", str(loader.db)]) == Exit.DONE
    assert len(DIMENSION_VIEWS) == 9
    for view in DIMENSION_VIEWS:
        assert arm_rows(loader, view)
    for view in ("dimension_tool_reliability", "dimension_context_efficiency", "dimension_orchestration"):
        for row in arm_rows(loader, view):
            assert all(row[name] is None for name in row if name not in {"study", "arm", "solved", "trials"})


def test_the_dimensions_of_turns_against_hand_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, loader = joined_study(tmp_path, capsys)
    study.declare(turns_each=2)
    loader.load()
    solved = int(str(loader.rows("select sum(solved) as n from dimension_task_success")[0]["n"]))
    assert solved > 0
    (reliability,) = arm_rows(loader, "dimension_tool_reliability")
    assert (reliability["calls"], reliability["failure_rate"], reliability["refusal_rate"]) == (24, 0.5, 0)
    assert reliability["retry_rate"] is None
    assert reliability["intervention_rate"] is None
    (cost,) = arm_rows(loader, "dimension_cost_efficiency")
    assert float(str(cost["turn_cost_usd_per_solved"])) == pytest.approx(12 * 0.0125 / solved)
    assert float(str(cost["turn_tokens_per_solved"])) == pytest.approx(12 * 612 / solved)
    (paths,) = arm_rows(loader, "dimension_orchestration")
    assert float(str(paths["critical_path_ms_per_solved"])) == pytest.approx(6 * 2 * 2500 / solved)
    assert paths["useful_concurrency"] == 1


def test_a_load_without_turns_files_still_replaces_what_the_trials_declare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, loader = joined_study(tmp_path, capsys)
    study.declare()
    loader.load()
    assert {row["trial"] is None for row in loader.rows("select trial from turn_trials")} == {False}
    for result in study.results:
        (result.parent / "agent" / ".omk" / "metrics" / "turns.jsonl").unlink()
        study.change(result, {"agent_result": {"metadata": {"session_id": "another"}}})
    assert run(["load", str(study.folder), "--study", "s", "--db", str(loader.db)]) == Exit.DONE
    assert {row["trial"] for row in loader.rows("select trial from turn_trials")} == {None}


def test_one_trial_without_turns_makes_the_sums_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, loader = joined_study(tmp_path, capsys)
    study.declare()
    (study.results[0].parent / "agent" / ".omk" / "metrics" / "turns.jsonl").unlink()
    loader.load()
    (cost,) = arm_rows(loader, "dimension_cost_efficiency")
    assert cost["turn_cost_usd_per_solved"] is None
    (paths,) = arm_rows(loader, "dimension_orchestration")
    assert paths["critical_path_ms_per_solved"] is None


def test_a_turn_longer_than_any_sum_holds_makes_the_sums_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, loader = joined_study(tmp_path, capsys)
    study.declare()
    place = study.results[0].parent / "agent" / ".omk" / "metrics" / "turns.jsonl"
    endless = {"startedAtEpochMs": 0, "endedAtEpochMs": 1e300, "durationMs": 1e300}
    calls = {"toolCalls": [call("x", 1e300)], "toolCallCount": 1, "toolFailureCount": 0}
    write_lines(place, recorded(sessionId="session-0", **endless, **calls))
    loader.load()
    (paths,) = arm_rows(loader, "dimension_orchestration")
    assert paths["critical_path_ms_per_solved"] is None
    assert paths["useful_concurrency"] is None
    (tool,) = loader.rows("select * from public_tool_calls where tool = 'x'")
    assert tool["duration_ms_sum"] is None


def test_one_turn_without_usage_makes_the_sum_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, loader = joined_study(tmp_path, capsys)
    study.declare()
    place = study.results[0].parent / "agent" / ".omk" / "metrics" / "turns.jsonl"
    write_lines(place, recorded(sessionId="session-0", usage=MISSING))
    loader.load()
    (cost,) = arm_rows(loader, "dimension_cost_efficiency")
    assert cost["turn_cost_usd_per_solved"] is None
    assert cost["turn_tokens_per_solved"] is None


def test_a_name_that_the_privacy_scan_would_flag_is_withheld_from_public_views(loader: Loader) -> None:
    key = "sk-" + "ant-api03-" + "Zq7" * 31 + "AA"
    write_lines(
        loader.folder / "turns.jsonl",
        recorded(model=key, sessionId="/home/someone/secret"),
        recorded(toolCalls=[call("bash", 1), call("some.one" + "@" + "mailhost.io", 1)], toolFailureCount=0),
    )
    loader.load()
    turns = loader.rows("select * from public_turns order by turn_index")
    calls = loader.rows("select * from public_tool_calls")
    text = json.dumps([turns, calls], default=str)
    assert key not in text
    assert "/home/someone" not in text
    assert "mailhost" not in text
    assert "[withheld]" in text
    assert {"session_id", "file", "line", "started_at_epoch_ms"}.isdisjoint(turns[0])
    assert "bash" in text


def test_names_of_studies_and_arms_are_scanned_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, loader = joined_study(tmp_path, capsys)
    study.declare()
    mail = "some.one" + "@" + "mailhost.io"
    folder = study.folder.rename(tmp_path / mail)
    assert run(["load", str(folder), "--db", str(loader.db)]) == Exit.DONE
    assert loader.rows("select study from studies") == [{"study": mail}]
    arms = {"alpha": "first-arm", "beta": mail}
    connection = connect(str(loader.db))
    for agent, arm in arms.items():
        connection.execute("update trials set arm = $arm where agent = $agent", {"agent": agent, "arm": arm})
    declared = [
        DeclaredSession(trial_id=str(row["trial"]), session_id=str(row["session_id"]), source="result", unique=True)
        for row in fetch(connection, "select trial, session_id from trial_sessions")
    ]
    load_turns(
        connection,
        TurnSource(study=mail, files=(), sessions=declared, public=lambda names: public_names(names, frozenset())),
    )
    connection.close()
    for view in ("public_turns", "public_tool_calls"):
        rows = loader.rows(f"select * from {view}")  # noqa: S608  # a name of ours
        assert {(row["study"], row["arm"]) for row in rows} == {
            ("[withheld]", "first-arm"),
            ("[withheld]", "[withheld]"),
        }
        assert mail not in json.dumps(rows, default=str)


def test_a_load_beside_another_one_says_so_and_loses_nothing_of_it(
    loader: Loader, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(loader.folder / "turns.jsonl", *numbered(0, 1))
    insert = turn_store._Load._insert  # a moment in the middle of a load

    def beside(load: turn_store._Load, block: TurnBlock, file: int, lines: int) -> None:
        insert(load, block, file, lines)
        monkeypatch.setattr(turn_store._Load, "_insert", insert)  # as above
        # In a process the pid tells the private copies apart.
        monkeypatch.setattr("os.getpid", lambda: 1)
        assert run(["load", str(loader.folder), "--study", "other", "--db", str(loader.db)]) == Exit.DONE

    monkeypatch.setattr(turn_store._Load, "_insert", beside)  # as above
    assert run(["load", str(loader.folder), "--study", "s", "--db", str(loader.db)]) == Exit.UNREADABLE
    assert "another load changed it" in capsys.readouterr().err
    assert loader.rows("select study from studies") == [{"study": "other"}]
    assert loader.load()["new_turns"] == 2
    assert loader.rows("select study from studies order by study") == [{"study": "other"}, {"study": "s"}]


_DIES = """
import os, signal, sys
from pathlib import Path
from analysis import turn_store
from analysis.evidence.sessions import DeclaredSession
from evenhand.cli import run
kept = turn_store._Load._insert
def dying(self, block, file, lines):
    kept(self, block, file, lines)
    os.kill(os.getpid(), signal.SIGKILL)
turn_store._Load._insert = dying
run(["load", sys.argv[1], "--study", "s", "--db", sys.argv[2]])
"""


def test_a_load_that_is_killed_in_the_middle_leaves_the_old_state(loader: Loader) -> None:
    path = write_lines(loader.folder / "turns.jsonl", *numbered(0, 1))
    loader.load()
    before = hashlib.sha256(loader.db.read_bytes()).hexdigest()
    with path.open("ab") as file:
        file.write(line(recorded(turnIndex=2)) + b"\n")
    command = [sys.executable, "-P", "-c", _DIES, str(loader.folder), str(loader.db)]
    died = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False, timeout=60
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert hashlib.sha256(loader.db.read_bytes()).hexdigest() == before
    assert loader.turns() == [0, 1]
    assert loader.load()["new_turns"] == 1
    assert loader.turns() == [0, 1, 2]


@pytest.mark.parametrize("then", [(0,), (0, 1, 2, 3, 4, 5)], ids=["shorter", "longer"])
def test_a_file_that_is_rotated_while_it_is_read_is_refused_and_loads_whole_the_next_time(
    loader: Loader, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], then: tuple[int, ...]
) -> None:
    path = write_lines(loader.folder / "turns.jsonl", *numbered(10, 11, 12))
    insert = turn_store._Load._insert  # the moment between reading a block and keeping it

    def rotating(load: turn_store._Load, block: TurnBlock, file: int, lines: int) -> None:
        insert(load, block, file, lines)
        path.rename(path.with_name("turns.jsonl.1"))
        write_lines(path, *numbered(*then))

    with monkeypatch.context() as patched:
        patched.setattr(turn_store._Load, "_insert", rotating)  # as above
        code = run(["load", str(loader.folder), "--study", "s", "--db", str(loader.db)])
    assert code == Exit.UNREADABLE
    assert "load again" in capsys.readouterr().err
    assert not loader.db.exists()
    assert loader.load()["new_turns"] == 3 + len(then)
    assert loader.turns() == [10, 11, 12, *then]


def test_a_reader_keeps_what_it_has_open_while_another_load_replaces_the_file(loader: Loader) -> None:
    path = write_lines(loader.folder / "turns.jsonl", *numbered(0, 1))
    loader.load()
    question = [sys.executable, "-P", "-c", _READS, str(loader.db)]
    with subprocess.Popen(question, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as reader:
        assert reader.stdout is not None
        assert reader.stdin is not None
        assert reader.stdout.readline() == "2\n"
        with path.open("ab") as file:
            file.write(line(recorded(turnIndex=2)) + b"\n")
        assert loader.load()["new_turns"] == 1
        reader.stdin.write("again\n")
        reader.stdin.close()
        assert reader.stdout.readline() == "2\n"
        assert reader.wait(timeout=60) == 0
    assert loader.turns() == [0, 1, 2]


_READS = """
import sys
import duckdb
with duckdb.connect(sys.argv[1], read_only=True) as connection:
    for _ in range(2):
        print(connection.execute("select count(*) from turns").fetchall()[0][0], flush=True)
        sys.stdin.readline()
"""


def test_a_folder_that_holds_turns_alone_is_evidence_enough(loader: Loader) -> None:
    write_lines(loader.folder / "turns.jsonl", *numbered(0))
    assert loader.load()["turns"] == 1


def test_an_unreadable_warehouse_is_left_as_it_is(loader: Loader, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(loader.folder / "turns.jsonl", *numbered(0))
    loader.db.write_bytes(b"years of other work")
    assert run(["load", str(loader.folder), "--db", str(loader.db)]) == Exit.UNREADABLE
    assert "not a DuckDB warehouse" in capsys.readouterr().err
    assert loader.db.read_bytes() == b"years of other work"
