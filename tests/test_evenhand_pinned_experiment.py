"""An experiment of our own can be promised before its first attempt: manifest, plan, schedule, then the run."""

import json
import shutil
from pathlib import Path

import pytest

from evenhand.cli import run
from evenhand.exits import Exit
from evenhand.experiment_file import read_experiment
from harness.tasks.conditions import task_digest
from manifests.manifest import read_manifest

EXAMPLE = Path(__file__).resolve().parents[1] / "docs" / "example" / "experiment"
ARMS = ("--treatment", "kwarg.variant=pi", "--control", "kwarg.variant=codex")
STUDY = ("--study", "scripted-example")


def build(out: Path, *options: str, experiment: Path = EXAMPLE / "experiment.yaml") -> int:
    return run(["manifest", "build", "--experiment", str(experiment), "--out", str(out), *options])


def test_tasks_attempts_and_digests_are_those_that_the_run_is_going_to_record(tmp_path: Path) -> None:
    out = tmp_path / "manifest.json"
    assert build(out, *STUDY, *ARMS) == Exit.DONE
    pinned = read_manifest(out).manifest
    experiment = read_experiment(EXAMPLE / "experiment.yaml")
    expected = {task.task_id.rpartition("/")[2]: task_digest(task) for task in experiment.tasks}
    assert {task.name: task.digest for task in pinned.tasks} == expected
    assert {task.digest_kind for task in pinned.tasks} == {"task_checksum"}
    assert (pinned.attempts, pinned.evidence) == (2, ())
    assert [(arm.name, arm.role) for arm in pinned.arms] == [("pi", "treatment"), ("codex", "control")]


def test_a_task_that_changes_after_the_promise_has_another_digest(tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLE, tmp_path / "example")
    assert build(tmp_path / "one.json", *STUDY, *ARMS, experiment=folder / "experiment.yaml") == Exit.DONE
    task = folder / "tasks" / "total.yaml"
    task.write_text(task.read_text(encoding="utf-8") + "post_run: [echo changed]\n", encoding="utf-8")
    assert build(tmp_path / "two.json", *STUDY, *ARMS, experiment=folder / "experiment.yaml") == Exit.DONE
    digests = [
        {task.name: task.digest for task in read_manifest(tmp_path / f"{name}.json").manifest.tasks}
        for name in ("one", "two")
    ]
    assert {name for name in digests[0] if digests[0][name] != digests[1][name]} == {"total"}


def test_plan_and_schedule_follow_from_the_pinned_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert build(Path("m.json"), *STUDY, *ARMS) == Exit.DONE
    sha = capsys.readouterr().out.strip()
    assert run(["plan", "new", "--out", "plan.toml"]) == Exit.DONE
    text = Path("plan.toml").read_text(encoding="utf-8")
    for empty, filled in (
        ('study = ""', 'study = "scripted-example"'),
        ('question = ""', 'question = "Does one solve more?"'),
        ("attempts = 1", "attempts = 2"),
        ('name = ""', 'name = "scripted"'),
        ('inclusion = ""', 'inclusion = "both"'),
    ):
        text = text.replace(f"\n{empty}", f"\n{filled}", 1)
    Path("plan.toml").write_text(text, encoding="utf-8")
    pin = ["--manifest", "m.json", "--expect-manifest-sha256", sha]
    assert run(["plan", "freeze", "plan.toml", *pin]) == Exit.DONE
    (plan,) = Path("preregistration/registered").glob("*-scripted-example.json")
    assert run(["schedule", str(plan), *pin, "--out", "order"]) == Exit.DONE
    order = json.loads(Path("order/schedule.json").read_text(encoding="utf-8"))
    assert sorted(order["arms"]) == ["codex", "pi"]
    assert len(order["slots"]) == 6 * 2 * 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--study", "another", *ARMS), "is the study 'scripted-example', expected 'another'"),
        ((*STUDY, "--treatment", "agent=gemini", "--control", "kwarg.variant=codex"), "names none of"),
        ((*STUDY, "--treatment", "model=scripted-model", "--control", "kwarg.variant=codex"), "codex, pi"),
        ((*STUDY, *ARMS, "--attempts", "3"), "says tasks and attempts itself"),
        ((*STUDY, *ARMS, "--tasks", "terminal-bench-2.1"), "says tasks and attempts itself"),
    ],
)
def test_a_manifest_that_the_run_could_not_keep_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], words: str
) -> None:
    assert build(tmp_path / "m.json", *options) == Exit.USAGE
    assert words in capsys.readouterr().err
    assert not (tmp_path / "m.json").exists()


def test_an_arm_left_out_and_a_missing_file_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shutil.copytree(EXAMPLE, tmp_path / "example")
    file = folder / "experiment.yaml"
    third = "arms:\n  - {name: third, harness: opencode, model: scripted-model}\n"
    file.write_text(file.read_text(encoding="utf-8").replace("arms:\n", third), encoding="utf-8")
    assert build(tmp_path / "m.json", *STUDY, *ARMS, experiment=file) == Exit.USAGE
    assert "arms left out: third" in capsys.readouterr().err
    assert build(tmp_path / "m.json", *STUDY, *ARMS, "--arm", "kwarg.variant=third", experiment=file) == Exit.DONE
    assert build(tmp_path / "n.json", *STUDY, *ARMS, experiment=tmp_path / "gone.yaml") == Exit.UNREADABLE
