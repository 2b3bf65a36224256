"""Task and experiment files that no author means: one clear error, and nothing written; the referee is the schema."""

from pathlib import Path

import pytest

from evenhand.cli import run
from evenhand.experiment_file import ExperimentFileError, is_experiment, read_experiment
from evenhand.task_file import TaskFileError, parse_task
from evenhand.yaml_fields import YamlFileError

TASK = "task_id: a/b\nprompt: x\n"
CHECK = "criteria: [{type: json_check, path: a, equals: %s}]\n"
COMMAND = "criteria: [{type: run_command, command: x, timeout: %s}]\n"
ARMS = "study: s\nsimulated: true\nattempts: 1\narms: [{name: pi, harness: pi, model: m}]\n"
LAYERS = "".join(f"b{n}: &b{n} [{', '.join([f'*b{n - 1}'] * 9)}]\n" for n in range(1, 12))
BOMB = "b0: &b0 [x, x, x]\n" + LAYERS


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x: 2024-13-45\n", "no YAML"),
        ("x: !!int foo\n", "no YAML"),
        ("x: !!bool foo\n", "no YAML"),
        ("x: !!timestamp foo\n", "no YAML"),
        ("x: !!int ''\n", "no YAML"),
        (f"run_limits: {{max_turns: {'9' * 400}}}\n", "a number of 400 characters"),
        (BOMB, "an alias"),
        ("criteria: &a [*a]\n", "an alias"),
        (CHECK % "&a {b: *a}", "an alias"),
        (CHECK % "2024-01-01", "a value that JSON knows"),
        (CHECK % "{1: a, b: c}", "a value that JSON knows"),
        (CHECK % ".nan", "a value that JSON knows"),
        (CHECK % "!!set {a, b}", "a value that JSON knows"),
        (CHECK % "!!binary aGk=", "a value that JSON knows"),
        (CHECK % "1, at: [-1]", "positions from 0"),
        (COMMAND % "1e+99", "at most"),
        (COMMAND % ".inf", "at most"),
        (COMMAND % ("1" + "0" * 400), "a number of 401 characters"),
        ('criteria: [{type: file_exists, path: "a\\0b"}]\n', "a text that a file can hold"),
        ('system_prompt: "\\ud800"\n', "a text that a file can hold"),
        ('pre_run: ["a\\0b"]\n', "a text that a file can hold"),
        ('plugins: [{path: "a\\0b"}]\n', "a text that a file can hold"),
        (f"plugins: [{{path: {'a' * 300}}}]\n", "a folder that can be opened"),
    ],
)
def test_a_line_that_breaks_readers_is_a_fault_with_its_line(line: str, said: str) -> None:
    with pytest.raises(TaskFileError) as told:
        parse_task(TASK + line, name="t.yaml")
    assert said in str(told.value)
    assert all(part.startswith("t.yaml:") for part in str(told.value).splitlines())
    assert len(str(told.value)) < 1000


@pytest.mark.parametrize("name", ['"."', '"a\\nb"', '"a\\tb"', "a" * 300, f"a/{'ü' * 150}"])
def test_a_name_that_no_folder_can_have_is_refused(name: str) -> None:
    with pytest.raises(TaskFileError, match=r"task_id: found .* expected a name"):
        parse_task(f"task_id: {name}\nprompt: x\n", name="t.yaml")


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse_task("\ufeff" + TASK, name="t.yaml").task_id == "a/b"


@pytest.mark.parametrize("item", ['"a\\0b"', '"\\ud800"', "a" * 300, ".", "missing.yaml", "*a", "''"])
def test_a_task_that_cannot_be_opened_is_a_fault_of_the_experiment(tmp_path: Path, item: str) -> None:
    (tmp_path / "e.yaml").write_text(f"{ARMS}tasks: [{item}]\n", encoding="utf-8")
    with pytest.raises(ExperimentFileError, match=r"e\.yaml:5"):
        read_experiment(tmp_path / "e.yaml")


def test_prices_beyond_any_number_are_a_fault(tmp_path: Path) -> None:
    line = f"prices: {{input: 1{'0' * 400}, output: 1, cache_read: 1, cache_write: 1}}\n"
    (tmp_path / "e.yaml").write_text(f"{ARMS}{line}tasks: [t.yaml]\n", encoding="utf-8")
    with pytest.raises(YamlFileError, match=r"prices\.input: found 'a number of 401 characters'"):
        read_experiment(tmp_path / "e.yaml")


def test_what_cannot_be_read_is_taken_for_a_task() -> None:
    assert not is_experiment("x: !!timestamp foo\n")


def test_the_command_ends_as_usage_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.yaml").write_text(TASK + BOMB, encoding="utf-8")
    assert run(["run", str(tmp_path / "t.yaml"), "--harness", "pi", "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err == (
        "evenhand: t.yaml:4: found an alias, expected every value written out where it stands\n"
    )
    assert not (tmp_path / "out").exists()
