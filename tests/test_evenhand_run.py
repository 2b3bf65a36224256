"""`evenhand run` of an experiment: its file, its order, its folder, and how it ends, with a fake program."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evenhand.cli import run
from evenhand.experiment import mismatches, order_of, study_seed
from evenhand.experiment_file import ExperimentFileError, is_experiment, read_experiment
from evenhand.progress import MOST_LINES, RunProgress
from harness.kinds import Harness
from harness.prices import Prices
from harness.scripts import script_lines
from preregistration.schedule import Schedule, schedule_value
from preregistration.schedule_file import ScheduleMismatchError

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "docs" / "example" / "experiment"
GOOD = """study: tiny
simulated: true
attempts: 2
arms:
  - {name: a, harness: pi, model: m, base_url: "http://127.0.0.1:9", key_name: FAKE_KEY, max_output_tokens: 64}
  - {name: b, harness: pi, base_url: "http://127.0.0.1:9", key_name: FAKE_KEY, model: m}
tasks: [one.yaml, two.yaml]
"""


def write(folder: Path, text: str = GOOD) -> Path:
    """Write an experiment of two tasks."""
    for name in ("one", "two"):
        (folder / f"{name}.yaml").write_text(f"task_id: folder/{name}\nprompt: Do it.\n", encoding="utf-8")
    path = folder / "experiment.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(ExperimentFileError) as caught:
        read_experiment(write(folder, text))
    return str(caught.value).splitlines()


def fake_pi(folder: Path, *, stays_s: float) -> Path:
    """Make a program that prints a turn of pi and stays for a while before it ends it."""
    lines = [dict(line) for _, line in script_lines(Harness.PI, [[0, "turn_start"], [1, "delta"], [2, "turn_end"]])]
    lines[-1]["message"] = {"role": "assistant", "stopReason": "stop", "responseId": "r1"}
    said = [json.dumps({"type": "session", "id": "s1"}), *(json.dumps(line) for line in lines)]
    bin_ = folder / "bin"
    bin_.mkdir()
    program = bin_ / "pi"
    program.write_text(
        f"#!{sys.executable} -IS\nimport time\nsaid = {said!r}\nfor line in said[:-1]: print(line, flush=True)\n"
        f"time.sleep({stays_s})\nprint(said[-1], flush=True)\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return bin_


def environment(bin_: Path) -> dict[str, str]:
    return {"PATH": f"{bin_}:/usr/bin:/bin", "HOME": str(bin_), "FAKE_KEY": "absent", "PYTHONPATH": str(ROOT)}


def start(folder: Path, bin_: Path, *words: str) -> "subprocess.Popen[str]":
    """Start the command on an experiment."""
    argv = [
        sys.executable,
        "-P",
        "-m",
        "evenhand",
        "run",
        str(folder / "experiment.yaml"),
        "--out",
        str(folder / "out"),
    ]
    return subprocess.Popen(
        [*argv, *words],
        env=environment(bin_),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def documents(folder: Path) -> list[Path]:
    return sorted((folder / "out").glob("*/*/*/*/task.json"))


def until(condition: "object", *, seconds: float = 30) -> None:
    """Wait until a condition holds."""
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


def test_an_experiment_file_is_read_whole(tmp_path: Path) -> None:
    found = read_experiment(
        write(tmp_path, GOOD + "jobs: 3\nprices: {input: 1, output: 2, cache_read: 0, cache_write: 0.5}\n")
    )
    assert (found.study, found.simulated, found.attempts, found.jobs) == ("tiny", True, 2, 3)
    assert [arm.name for arm in found.arms] == ["a", "b"]
    assert found.arms[0].max_output_tokens == 64
    assert [task.task_id for task in found.tasks] == ["folder/one", "folder/two"]
    assert found.prices == Prices(input=1, output=2, cache_read=0, cache_write=0.5)


def test_every_fault_is_told_at_once_with_its_line_and_those_of_the_tasks_too(tmp_path: Path) -> None:
    text = GOOD.replace("attempts: 2", "attempts: 0").replace("name: b, harness: pi", "name: a, harness: nobody")
    found = faults(tmp_path, text.replace("two.yaml]", "two.yaml, one.yaml, none.yaml]\ncolour: red"))
    assert [line.split(": ")[:2] for line in found] == [
        ["experiment.yaml:3", "attempts"],
        ["experiment.yaml:6", "arms[1].harness"],
        ["experiment.yaml:7", "tasks[2]"],
        ["experiment.yaml:7", "tasks[3]"],
        ["experiment.yaml:8", "colour"],
    ]
    write(tmp_path)
    (tmp_path / "two.yaml").write_text("task_id: t\n", encoding="utf-8")
    with pytest.raises(ExperimentFileError, match=r"two\.yaml:1: prompt"):
        read_experiment(tmp_path / "experiment.yaml")


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("study: tiny", "study: Tiny Study", "study"),
        ("simulated: true\n", "", "simulated"),
        ("name: b", "name: a", "arms[1].name"),
        ("name: b", "name: ../b", "arms[1].name"),
        ("max_output_tokens: 64", "max_output_tokens: 0", "arms[0].max_output_tokens"),
        (", key_name: FAKE_KEY, max", ", max", "arms[0].key_name"),
        ("key_name: FAKE_KEY, max", "key_name: a-b, max", "arms[0].key_name"),
        ('http://127.0.0.1:9", key_name: FAKE_KEY, max', 'ftp://x", key_name: FAKE_KEY, max', "arms[0].base_url"),
        ("tasks: [one.yaml, two.yaml]", "tasks: []", "tasks"),
        ("attempts: 2", "attempts: 2\nprices: {input: -1, output: 1, cache_read: 1, cache_write: 1}", "prices.input"),
        ("attempts: 2", "attempts: 2\njobs: many", "jobs"),
    ],
)
def test_a_field_that_is_not_as_expected_is_named(tmp_path: Path, before: str, after: str, place: str) -> None:
    assert GOOD.count(before) == 1
    (fault,) = faults(tmp_path, GOOD.replace(before, after))
    assert fault.startswith("experiment.yaml:")
    assert f": {place}: found " in fault


def test_what_was_meant_as_the_name_of_a_variable_is_not_repeated(tmp_path: Path) -> None:
    key = "-".join(["sk", "fake", "1"])
    assert key not in faults(tmp_path, GOOD.replace("key_name: FAKE_KEY, max", f"key_name: {key}, max"))[0]


def test_a_task_file_is_no_experiment() -> None:
    assert is_experiment(GOOD)
    assert not is_experiment("task_id: t\nprompt: p\n")
    assert not is_experiment("a: [")


def test_the_example_is_an_experiment_of_six_tasks() -> None:
    found = read_experiment(EXAMPLE / "experiment.yaml")
    assert (len(found.arms), len(found.tasks), found.attempts, found.simulated) == (2, 6, 2, True)


def test_without_a_schedule_the_order_is_interleaved_and_the_studys_own(tmp_path: Path) -> None:
    experiment = read_experiment(write(tmp_path))
    order = order_of(experiment, None)
    assert (order.kind, order.seed) == ("seeded", study_seed("tiny"))
    assert order == order_of(experiment, None)
    pairs = [order.planned[at : at + 2] for at in range(0, 8, 2)]
    assert all({one.arm, two.arm} == {"a", "b"} and one.task_id == two.task_id for one, two in pairs)
    assert [planned.attempt for planned in order.planned] == [0] * 4 + [1] * 4


def schedule_of(folder: Path) -> Schedule:
    """Return a schedule of the experiment, in an order of its own."""
    experiment = read_experiment(folder / "experiment.yaml")
    from preregistration.schedule import interleaved_slots

    slots = interleaved_slots(["one", "two"], ["a", "b"], attempts=2, seed=7)
    digest = "0" * 64
    study = experiment.study
    return Schedule(study=study, plan_sha256=digest, manifest_sha256=digest, seed=7, arms=("a", "b"), slots=slots)


def test_a_schedule_of_the_experiment_is_its_order(tmp_path: Path) -> None:
    experiment = read_experiment(write(tmp_path))
    schedule = schedule_of(tmp_path)
    order = order_of(experiment, schedule)
    assert (order.kind, order.seed) == ("schedule", 7)
    assert [(planned.arm, planned.task_id, planned.attempt) for planned in order.planned] == [
        (slot.arm, f"folder/{slot.task}", slot.round - 1) for slot in schedule.slots
    ]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("study: tiny", "study: other", "study 'tiny' is in the schedule and not in the experiment"),
        ("name: b", "name: c", "arm 'c' is in the experiment and not in the schedule"),
        ("one.yaml, two.yaml", "one.yaml", "task 'two' is in the schedule and not in the experiment"),
        ("attempts: 2", "attempts: 3", "attempts: found 2 rounds in the schedule, expected 3"),
    ],
)
def test_a_schedule_of_something_else_is_refused(tmp_path: Path, before: str, after: str, said: str) -> None:
    schedule = schedule_of(write(tmp_path).parent)
    experiment = read_experiment(write(tmp_path, GOOD.replace(before, after)))
    assert said in mismatches(experiment, schedule)
    with pytest.raises(ScheduleMismatchError):
        order_of(experiment, schedule)


def test_a_schedule_that_lacks_an_attempt_is_refused(tmp_path: Path) -> None:
    experiment = read_experiment(write(tmp_path))
    whole = schedule_of(tmp_path)
    part = Schedule(
        study=whole.study,
        plan_sha256=whole.plan_sha256,
        manifest_sha256=whole.manifest_sha256,
        seed=7,
        arms=whole.arms,
        slots=whole.slots[:-1],
    )
    assert mismatches(experiment, part) == ("slots: found 7 in the schedule, expected 8",)


def test_an_experiment_runs_in_the_schedules_order_and_prints_json(tmp_path: Path) -> None:
    write(tmp_path)
    schedule = schedule_of(tmp_path)
    (tmp_path / "schedule.json").write_text(json.dumps(schedule_value(schedule)), encoding="utf-8")
    bin_ = fake_pi(tmp_path, stays_s=0)
    child = start(tmp_path, bin_, "--schedule", "schedule.json", "--jobs", "2", "--json")
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    found = json.loads(out)
    assert (found["schema"], found["counts"], found["jobs"]) == ("evenhand-run-1", {"made": 8}, 2)
    assert [(row["arm"], row["task"]) for row in found["attempts"]] == [
        (slot.arm, f"folder/{slot.task}") for slot in schedule.slots
    ]
    stands = [tmp_path / "out" / row["place"] / "task.json" for row in found["attempts"]]
    starts = [json.loads(path.read_text("utf-8"))["started_at"] for path in stands]
    assert starts == sorted(starts)
    assert {row["status"] for row in found["attempts"]} == {"NOT_GRADED"}
    assert all(row["duration_ms"] > 0 and row["concurrency"]["jobs"] == 2 for row in found["attempts"])
    assert "[8/8]" in err
    again = start(tmp_path, bin_)
    assert again.communicate(timeout=60)[1].endswith("undo the change, or give a new folder\n")
    assert again.returncode == 1


def test_ctrl_c_ends_what_goes_on_and_the_same_command_makes_it_again(tmp_path: Path) -> None:
    write(tmp_path)
    # Long enough that a busy machine is not done before the signal.
    bin_ = fake_pi(tmp_path, stays_s=1.2)
    child = start(tmp_path, bin_, "--jobs", "2")
    until(lambda: len(documents(tmp_path)) >= 2)
    before = {path: path.stat().st_mtime_ns for path in documents(tmp_path)}
    os.kill(child.pid, signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 130, err
    assert "run again to go on" in err
    assert not _alive(bin_)
    again = start(tmp_path, bin_, "--json")
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0, err
    assert len(documents(tmp_path)) == 8
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in before.items())
    assert json.loads(out)["counts"] == {"made": 8 - json.loads(out)["counts"]["written_before"], **_before(out)}


def _before(out: str) -> dict[str, int]:
    return {"written_before": json.loads(out)["counts"]["written_before"]}


def _alive(bin_: Path) -> list[int]:
    """Return the processes of the fake program that are still there."""
    found = []
    for entry in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if os.fsencode(bin_ / "pi") in words:
            found.append(int(entry.name))
    return found


def test_a_killed_command_leaves_no_process_and_is_gone_on_with(tmp_path: Path) -> None:
    write(tmp_path)
    bin_ = fake_pi(tmp_path, stays_s=0.4)
    child = start(tmp_path, bin_, "--jobs", "2")
    until(lambda: len(documents(tmp_path)) >= 2 and _alive(bin_) != [])
    os.kill(child.pid, signal.SIGKILL)
    child.communicate(timeout=30)
    until(lambda: not _alive(bin_))
    again = start(tmp_path, bin_, "--jobs", "2")
    _, err = again.communicate(timeout=120)
    assert again.returncode == 0, err
    found = [json.loads(path.read_text("utf-8")) for path in documents(tmp_path)]
    assert len({(row["variant_id"], row["task_id"], row["replicate_index"]) for row in found}) == 8
    assert "an earlier try of this attempt was lost" in [word for row in found for word in row["findings"]]


def test_two_commands_on_one_folder_make_each_attempt_once(tmp_path: Path) -> None:
    write(tmp_path)
    bin_ = fake_pi(tmp_path, stays_s=0.2)
    runners = [start(tmp_path, bin_, "--json") for _ in range(2)]
    ended = [(runner.communicate(timeout=120), runner.returncode) for runner in runners]
    counts = [json.loads(out)["counts"] for (out, _), _ in ended]
    assert sum(count.get("made", 0) for count in counts) == 8
    assert len(documents(tmp_path)) == 8
    assert {code for _, code in ended} <= {0, 1}


def test_what_an_experiment_says_itself_is_no_option_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    words = ["run", str(tmp_path / "experiment.yaml"), "--out", str(tmp_path / "out")]
    assert run([*words, "--harness", "pi", "--simulated"]) == 2
    assert "--harness, --simulated: experiment.yaml is an experiment" in capsys.readouterr().err
    assert run(["run", str(tmp_path / "one.yaml"), "--out", str(tmp_path / "out")]) == 2
    assert "--harness: one.yaml is a task" in capsys.readouterr().err


def test_a_missing_program_is_told_once_for_every_arm_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVENHAND_PROGRAMS", str(tmp_path / "none"))
    write(tmp_path)
    assert run(["run", str(tmp_path / "experiment.yaml"), "--out", str(tmp_path / "out"), "--jobs", "64"]) == 3
    said = capsys.readouterr().err
    assert said.count("not installed") == 1
    assert "64 attempts at a time on" in said
    assert not (tmp_path / "out").exists()


def test_progress_is_bounded_and_says_how_long_it_will_take() -> None:
    said: list[str] = []
    shown = RunProgress(2, terminal=False, write=said.append)
    for done in range(1, 1001):
        shown.tell(done - 1, 1000, running=1, ended=None, took_s=None)
        shown.tell(done, 1000, running=1, ended="t", took_s=3.0)
    assert len(said) == MOST_LINES
    assert said[0] == "[20/1000] t; 1 running, about 24 min left\n"
    assert said[-1] == "[1000/1000] t; 1 running\n"


def test_progress_on_a_terminal_rewrites_its_line() -> None:
    said: list[str] = []
    shown = RunProgress(1, terminal=True, write=said.append)
    shown.tell(0, 2, running=1, ended=None, took_s=None)
    shown.tell(1, 2, running=0, ended="t", took_s=60.0)
    assert said == [
        "\r\x1b[K0/2 done, 1 running",
        "\r\x1b[K[1/2] t; 0 running, about 60 s left\n",
        "\r\x1b[K1/2 done, 0 running, about 60 s left",
    ]


def test_a_limit_above_the_models_contract_starts_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVENHAND_PROGRAMS", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", f"{fake_pi(tmp_path, stays_s=0)}:/usr/bin:/bin")
    monkeypatch.setenv("FAKE_KEY", "nothing")
    path = write(tmp_path, GOOD.replace("max_output_tokens: 64", "max_output_tokens: 64, model_max_output_tokens: 63"))
    assert run(["run", str(path), "--out", str(tmp_path / "out")]) == 2
    assert "max_output_tokens=64 must not exceed model_max_output_tokens=63" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
