"""Many attempts: each once, in order, several at a time, taken up again after a kill, ended by a stop."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.attempt import Surroundings
from harness.experiment.claim import TRY, claimed
from harness.experiment.gauge import Gauge
from harness.experiment.running import Outcome, Planned, Rules, Standing, State, run_planned
from harness.journal import verify
from harness.kinds import Harness
from harness.task import Concurrency, TaskRecord
from harness.tasks.attempt import Attempt
from harness.tasks.run_log import JOURNAL, RunLog

ROOT = Path(__file__).resolve().parents[1]


def plan(count: int, *, arm: str = "a") -> tuple[Planned, ...]:
    return tuple(
        Planned(position=at + 1, arm=arm, task_id=f"t{at}", attempt=0, harness=Harness.PI) for at in range(count)
    )


def record(planned: Planned, started_us: int) -> TaskRecord:
    return TaskRecord(
        task_id=planned.task_id,
        arm=planned.arm,
        attempt=planned.attempt,
        harness=Harness.PI,
        started_wall_us=started_us,
        final_status="SUCCESS",
        simulated=True,
    )


@dataclass
class Making:
    """Attempts that last until they are over or a stop comes."""

    lasts_s: float = 0.0
    undecided: bool = False
    made: list[str] = field(default_factory=list)
    failing: str | None = None

    def __call__(self, planned: Planned, around: Surroundings) -> Attempt:
        started_us = around.wall_us()
        self.made.append(planned.task_id)
        if planned.task_id == self.failing:
            raise RuntimeError("no such program")
        until = time.monotonic() + self.lasts_s
        while time.monotonic() < until and not around.stop():
            time.sleep(0.005)
        return Attempt(
            record=record(planned, started_us), crash=None, interrupted=around.stop(), undecided=self.undecided
        )


def go(
    out: Path,
    making: Making,
    planned: tuple[Planned, ...],
    *,
    rules: Rules | None = None,
    stop: threading.Event | None = None,
    tell: Callable[[Standing], None] = lambda _: None,
) -> tuple[Outcome, ...]:
    around = Surroundings(
        wall_us=lambda: time.time_ns() // 1000,
        monotonic_ns=time.monotonic_ns,
        sleep=time.sleep,
        jitter=lambda: 0.0,
    )
    event = threading.Event() if stop is None else stop
    log = RunLog(out, {}, wall_us=around.wall_us)
    return run_planned(planned, making, log, around=around, stop=event, rules=rules or Rules(), tell=tell)


def document(out: Path, task: str) -> dict[str, object]:
    found = json.loads((out / "a" / task / "00" / "task.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def test_every_attempt_is_written_once_and_not_again(tmp_path: Path) -> None:
    making = Making()
    assert [found.state for found in go(tmp_path, making, plan(3))] == [State.MADE] * 3
    assert [found.state for found in go(tmp_path, making, plan(4))] == [State.BEFORE] * 3 + [State.MADE]
    assert making.made == ["t0", "t1", "t2", "t3"]
    assert not list(tmp_path.rglob(TRY))


def test_starts_keep_their_order_whatever_the_jobs(tmp_path: Path) -> None:
    planned = plan(12)
    go(tmp_path, Making(lasts_s=0.02), planned, rules=Rules(jobs=4))
    starts = [str(document(tmp_path, found.task_id)["started_at"]) for found in planned]
    assert starts == sorted(starts)


def test_concurrency_is_what_it_was_and_not_what_was_allowed(tmp_path: Path) -> None:
    go(tmp_path, Making(lasts_s=0.2), plan(3), rules=Rules(jobs=3))
    assert {str(document(tmp_path, f"t{at}")["concurrency"]) for at in range(3)} == {"{'jobs': 3, 'at_once': 3}"}
    go(tmp_path / "one", Making(), plan(1), rules=Rules(jobs=3))
    assert document(tmp_path / "one", "t0")["concurrency"] == {"jobs": 3, "at_once": 1}


def test_the_gauge_knows_the_most_of_each_attempt() -> None:
    gauge = Gauge(9)
    gauge.enter("first")
    gauge.enter("second")
    assert (gauge.running, gauge.leave("first")) == (2, Concurrency(jobs=9, at_once=2))
    gauge.enter("third")
    gauge.leave("second")
    gauge.enter("fourth")
    gauge.enter("fifth")
    assert gauge.leave("fourth") == Concurrency(jobs=9, at_once=3)
    assert gauge.leave("third") == Concurrency(jobs=9, at_once=3)


def test_a_stop_begins_nothing_more_and_what_it_ended_is_made_again(tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    making = Making(lasts_s=30)
    found = go(tmp_path, making, plan(4), rules=Rules(jobs=2), stop=stop)
    assert [outcome.state for outcome in found] == [State.INTERRUPTED] * 2 + [State.OPEN] * 2
    assert not list(tmp_path.glob("a/*/00/task.json"))
    assert len(list(tmp_path.rglob("interrupted-01.json"))) == 2
    again = go(tmp_path, Making(), plan(4), rules=Rules(jobs=2))
    assert [outcome.state for outcome in again] == [State.MADE] * 4
    words = "an earlier try of this attempt was interrupted and not counted"
    assert [document(tmp_path, f"t{at}")["findings"] for at in range(4)] == [[words], [words], [], []]


def test_an_attempt_that_is_kept_though_interrupted_stands(tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    rules = Rules(keep_interrupted=True)
    (found,) = go(tmp_path, Making(lasts_s=30), plan(1), rules=rules, stop=stop)
    assert found.state is State.INTERRUPTED
    assert document(tmp_path, "t0")["task_id"] == "t0"


def test_an_attempt_that_was_ended_without_a_result_is_not_kept_whatever_the_rules(tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    making = Making(lasts_s=30, undecided=True)
    (found,) = go(tmp_path, making, plan(1), rules=Rules(keep_interrupted=True), stop=stop)
    assert found.state is State.INTERRUPTED
    assert not list(tmp_path.rglob("task.json"))
    assert len(list(tmp_path.rglob("interrupted-01.json"))) == 1


def test_an_attempt_that_fails_ends_the_run_and_what_was_written_stands(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no such program"):
        go(tmp_path, Making(failing="t1"), plan(4))
    assert [path.parent.parent.name for path in tmp_path.glob("a/*/00/task.json")] == ["t0"]


def test_who_listens_hears_of_every_attempt(tmp_path: Path) -> None:
    told: list[Standing] = []
    go(tmp_path, Making(), plan(2), tell=told.append)
    assert [(standing.done, standing.running, standing.last is None) for standing in told] == [
        (0, 1, True),
        (1, 0, False),
        (1, 1, True),
        (2, 0, False),
    ]


def test_what_another_runner_holds_is_left_to_it(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "t0" / "00"
    making = Making()
    with claimed(folder, pause=time.sleep) as claim:
        assert claim is not None
        assert [found.state for found in go(tmp_path, making, plan(2))] == [State.ELSEWHERE, State.MADE]
    assert making.made == ["t1"]


def test_two_runs_of_one_folder_at_once_make_each_attempt_once(tmp_path: Path) -> None:
    making = Making(lasts_s=0.01)
    runs = [threading.Thread(target=go, args=(tmp_path, making, plan(20))) for _ in range(4)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert sorted(making.made) == sorted(f"t{at}" for at in range(20))
    assert len(list(tmp_path.glob("a/*/00/task.json"))) == 20
    assert not list(tmp_path.rglob(TRY))


RUNNER = f"""
import sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
from pathlib import Path
from test_harness_experiment import Making, Rules, go, plan
go(Path(sys.argv[1]), Making(lasts_s=0.05), plan(12), rules=Rules(jobs=3))
"""


def runner(out: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", RUNNER, str(out)], stdin=subprocess.DEVNULL)


def test_a_runner_that_is_killed_at_any_moment_loses_and_repeats_nothing(tmp_path: Path) -> None:
    stamps: dict[Path, int] = {}
    for kill in range(6):
        child = runner(tmp_path)
        until = time.monotonic() + 20
        while len(list(tmp_path.glob("a/*/00/task.json"))) <= 2 * kill and time.monotonic() < until:
            time.sleep(0.003)
        os.kill(child.pid, signal.SIGKILL)
        child.wait(10)
        for path in tmp_path.glob("a/*/00/task.json"):
            assert stamps.setdefault(path, path.stat().st_mtime_ns) == path.stat().st_mtime_ns
    assert runner(tmp_path).wait(30) == 0
    documents = [json.loads(path.read_text("utf-8")) for path in tmp_path.glob("a/*/00/task.json")]
    assert sorted(found["task_id"] for found in documents) == sorted(f"t{at}" for at in range(12))
    assert any("lost" in word for found in documents for word in found["findings"])
    assert not list(tmp_path.rglob("*.partial"))
    assert not list(tmp_path.rglob(TRY))
    for path, stamp in stamps.items():
        assert path.stat().st_mtime_ns == stamp
    journal = verify(tmp_path / JOURNAL)
    assert journal.broken is None
    answers = [journal.answer(f"a/t{at}/00") for at in range(12)]
    assert all(answer.finished and not answer.abandoned for answer in answers)
    assert any(answer.recoveries for answer in answers)
