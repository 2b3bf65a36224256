"""Task files and `evenhand run`: every fault at once, with its line, before anything starts."""

import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from evenhand.cli import run
from evenhand.task_file import TaskFileError, parse_task, read_task
from harness.limits import RunLimits
from harness.tasks.task import JsonCheck, RunCommand, SkillTriggered

GOOD = """task_id: folder/one
prompt: Write the answer.
criteria:
  - type: json_check
    path: answer.json
    at: [n, 0]
    equals: 4
  - type: run_command
    command: "true"
run_limits:
  max_turns: 5
  stop_early: false
"""


def faults(text: str) -> list[str]:
    with pytest.raises(TaskFileError) as caught:
        parse_task(text, name="t.yaml")
    return str(caught.value).splitlines()


def test_the_task_that_the_document_shows_is_one(tmp_path: Path) -> None:
    text = (Path(__file__).resolve().parents[1] / "docs" / "runners.md").read_text(encoding="utf-8")
    shown = next(part for part in text.split("```") if part.startswith("yaml\ntask_id"))
    task = parse_task(shown.removeprefix("yaml\n"), name="t.yaml", folder=tmp_path)
    assert {type(one).__name__ for one in task.criteria} == {
        *("FileExists", "FileContains", "JsonCheck", "RunCommand", "SkillTriggered")
    }
    assert task.limits == RunLimits()
    assert task.wishes() == {}


def test_a_task_file_is_read_whole() -> None:
    task = parse_task(GOOD, name="t.yaml")
    assert task.task_id == "folder/one"
    assert task.turns == ("Write the answer.",)
    assert task.criteria == (
        JsonCheck(path=PurePosixPath("answer.json"), at=("n", 0), equals=4),
        RunCommand(command="true"),
    )
    assert (task.limits.max_turns, task.limits.turn_timeout_s) == (5, 300.0)


def test_every_fault_is_told_at_once_with_its_line() -> None:
    text = GOOD.replace("max_turns: 5", "max_turns: 0").replace("answer.json", "../answer.json") + "colour: red\n"
    found = faults(text)
    assert [line.split(": ")[0] for line in found] == ["t.yaml:5", "t.yaml:11", "t.yaml:13"]
    assert "criteria[0].path" in found[0]
    assert found[1].endswith("found 0, expected a whole number of at least 1")
    assert "colour: found 'an unknown key'" in found[2]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("task_timeout: 29", "at least 30 seconds"),
        ("turn_timeout: 9", "at least 10 seconds"),
        ("stop_early: true", "false or absent"),
        ("max_turns: many", "a number or null"),
    ],
)
def test_the_bounds_of_the_contract_are_held(limit: str, expected: str) -> None:
    (fault,) = faults(f"task_id: t\nprompt: p\nrun_limits:\n  {limit}\n")
    assert fault.startswith("t.yaml:4: run_limits.")
    assert expected in fault


@pytest.mark.parametrize("text", ["", "- a", "a: [", "task_id: t", "task_id: t\nturns: []", "task_id: ../t\nprompt: p"])
def test_what_is_no_task_is_refused_with_a_line(text: str) -> None:
    assert all(line.startswith("t.yaml:") for line in faults(text))


@pytest.mark.parametrize("name", ["nothing", "file_contains"])
def test_a_check_that_nobody_knows_or_that_lacks_a_field_is_refused(name: str) -> None:
    found = faults(f"task_id: t\nprompt: p\ncriteria:\n  - type: {name}\n")
    assert found
    assert all(line.startswith("t.yaml:4: criteria[0].") for line in found)


def test_a_faulty_task_file_ends_the_command_as_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.yaml").write_text("task_id: t\n", encoding="utf-8")
    arguments = ["run", str(tmp_path / "t.yaml"), "--harness", "pi", "--out", str(tmp_path / "out")]
    assert run(arguments) == 2
    assert "t.yaml:1: prompt" in capsys.readouterr().err
    assert run(["run", str(tmp_path / "absent.yaml"), *arguments[2:]]) == 3


def test_a_missing_program_is_told_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVENHAND_PROGRAMS", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "t.yaml").write_text(GOOD, encoding="utf-8")
    arguments = ["run", str(tmp_path / "t.yaml"), "--harness", "pi", "--out", str(tmp_path / "out")]
    assert run(arguments) == 3
    assert "pi" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_key_that_stands_twice_is_a_fault_with_both_lines() -> None:
    assert faults(GOOD + "prompt: Write another.\n") == [
        "t.yaml:13: prompt: found 'the key a second time', expected it once; it stands in line 2 too"
    ]


def with_plugin(folder: Path) -> Path:
    """Put a plugin root of one skill beside a task file."""
    skill = folder / "plug" / "skills" / "polish"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: polish\ndescription: Polishes.\n---\n", encoding="utf-8")
    return folder / "plug"


def test_what_a_task_asks_of_the_program_is_read(tmp_path: Path) -> None:
    root = with_plugin(tmp_path)
    more = "system_prompt: Be brief.\nallowed_tools: [bash]\ndisallowed_tools: [read]\npermission_mode: plan\n"
    (tmp_path / "t.yaml").write_text(GOOD + more + "effort: low\nplugins: [{path: plug}]\n", encoding="utf-8")
    task = read_task(tmp_path / "t.yaml")
    assert task.wishes() == {
        "system_prompt": "Be brief.",
        "allowed_tools": ("bash",),
        "disallowed_tools": ("read",),
        "permission_mode": "plan",
        "effort": "low",
        "plugins": (root.resolve(),),
    }
    assert parse_task(GOOD, name="t.yaml").wishes() == {}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("system_prompt: 4", "t.yaml:13: system_prompt: found 4, expected a text that is not empty"),
        ("effort: ''", "t.yaml:13: effort: found '', expected a text that is not empty"),
        ("allowed_tools: []", "allowed_tools: found [], expected at least one tool; without the key all are allowed"),
        ("disallowed_tools: bash", "disallowed_tools: found 'bash', expected a list of texts"),
        ("plugins: plug", "t.yaml:13: plugins: found 'plug', expected a list of {path: DIR}"),
        ("plugins: [plug]", "t.yaml:13: plugins[0]: found 'plug', expected {path: DIR}"),
        ("plugins: [{root: plug}]", "plugins[0].root: found 'an unknown key', expected one of path"),
        ("plugins: [{path: /plug}]", "found '/plug', expected a path that starts from the task file's folder"),
        ("plugins: [{path: nowhere}]", "plugins[0].path: found 'nowhere, no folder', expected a plugin root"),
        (
            "plugins: [{path: plug/skills}]",
            "found 'plug/skills, a bare folder of skills', expected the plugin root. Write its parent, 'plug'",
        ),
        ("plugins: [{path: plug}, {path: plug}]", "plugins: found \"the skill 'polish' that plug holds too\""),
    ],
)
def test_a_fault_in_what_is_asked_of_the_program_names_its_line(line: str, expected: str, tmp_path: Path) -> None:
    with_plugin(tmp_path)
    with pytest.raises(TaskFileError) as caught:
        parse_task(GOOD + line + "\n", name="t.yaml", folder=tmp_path)
    assert expected in str(caught.value)


def test_a_skill_check_is_read_and_needs_its_skill() -> None:
    checks = "task_id: t\nprompt: p\ncriteria:\n  - {type: skill_triggered, skill: polish}\n"
    assert parse_task(checks, name="t.yaml").criteria == (SkillTriggered(skill="polish"),)
    (fault,) = faults(checks.replace(", skill: polish", ""))
    assert fault == "t.yaml:4: criteria[0].skill: found None, expected a text that is not empty"


@pytest.mark.parametrize(
    "task_id",
    [".", "a/./b", "a/", "a//b", "/a", "../a", ".try", "a b", "a\\nb", "\u00e9", "a" * 129, "a/" * 8 + "a"],
)
def test_a_task_is_called_as_its_evidence_is_going_to_be(task_id: str) -> None:
    (fault,) = faults(f'task_id: "{task_id}"\nprompt: x\n')
    assert fault.startswith("t.yaml:1: task_id: found ")
    assert "expected a name: at most 8 parts joined by /" in fault


@pytest.mark.parametrize("image", ["--privileged", "-v", "a b", "a;b"])
def test_an_image_is_no_option_of_the_engine(image: str) -> None:
    (fault,) = faults(f'task_id: t\nprompt: x\nimage: "{image}"\n')
    assert fault.startswith("t.yaml:3: image: found ")


@pytest.mark.parametrize("text", ["\\ud800", "a\\0b"])
@pytest.mark.parametrize("field", ["prompt: {}", "turns: [{}]", "prompt: x\npre_run: [{}]"])
def test_a_text_that_cannot_be_written_is_refused(field: str, text: str) -> None:
    value = f'"{text}"'
    (fault,) = faults(f"task_id: t\n{field.format(value)}\n")
    assert "expected a text that a file can hold" in fault


@pytest.mark.parametrize("value", ["2020-01-01", ".nan", "!!set {a}"])
def test_a_value_that_json_lacks_is_nothing_to_compare_with(value: str) -> None:
    (fault,) = faults(f"task_id: t\nprompt: x\ncriteria:\n  - {{type: json_check, path: a, equals: {value}}}\n")
    assert "criteria[0].equals" in fault


@pytest.mark.parametrize("text", ["task_id: &x [*x]\nprompt: y\n", "a: &a [b]\ntask_id: t\nprompt: x\nturns: *a\n"])
def test_references_are_refused_before_anything_is_made_of_them(text: str) -> None:
    (fault,) = faults(text)
    assert fault.endswith("found an alias, expected every value written out where it stands")


def test_a_value_is_not_shown_at_length() -> None:
    (fault,) = faults(f"task_id: {'a' * 5000}\nprompt: x\n")
    assert "(5002 characters)" in fault
    assert len(fault) < 400


def test_a_date_that_is_none_is_no_yaml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.yaml"
    path.write_text("task_id: 2020-13-45\nprompt: x\n", encoding="utf-8")
    assert run(["run", str(path), "--harness", "pi", "--out", str(tmp_path / "out")]) == 2
    assert "no YAML that can be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.mkdir(), "is no regular file"),
        (os.mkfifo, "is no regular file"),
        (lambda path: path.write_bytes(b"task_id: t\nprompt: \xff\n"), "is no text in UTF-8"),
        (lambda path: path.write_bytes(b"#" * (4 * 1024 * 1024 + 1)), "expected a YAML file of at most"),
        (str, "cannot be read: No such file or directory"),
    ],
)
def test_what_is_no_file_of_text_is_said_with_its_name(
    make: Callable[[Path], object], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.yaml"
    make(path)
    assert run(["run", str(path), "--harness", "pi", "--out", str(tmp_path / "out")]) == 3
    said = capsys.readouterr().err
    assert said.startswith("evenhand: t.yaml ")
    assert words in said


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text("\ufefftask_id: t\nprompt: x\n", encoding="utf-8")
    assert read_task(path).task_id == "t"
