"""Checks of a sandbox that holds what an agent should not have left; the referee is what the file system makes."""

import json
import os
from pathlib import Path, PurePosixPath

import pytest

from harness.tasks.criteria import MOST_JSON, passes
from harness.tasks.task import FileContains, FileExists, JsonCheck, WorkCriterion


def checks(name: str) -> tuple[WorkCriterion, ...]:
    path = PurePosixPath(name)
    return FileExists(path=path), FileContains(path=path, text="n"), JsonCheck(path=path, at=("n",), equals=4)


@pytest.mark.parametrize("name", ["ring", "pipe", "outside", "folder", "none\0", "n" * 300, "ring/below", "socket/x"])
def test_what_is_no_file_of_the_sandbox_fails_and_raises_nothing(tmp_path: Path, name: str) -> None:
    work = tmp_path / "work"
    (work / "folder").mkdir(parents=True)
    (work / "ring").symlink_to(work / "gnir")
    (work / "gnir").symlink_to(work / "ring")
    os.mkfifo(work / "pipe")
    (tmp_path / "secret.json").write_text('{"n": 4}', encoding="utf-8")
    (work / "outside").symlink_to(tmp_path / "secret.json")
    assert [passes(check, work, environment={}) for check in checks(name)] == [False, False, False]


@pytest.mark.parametrize(
    "text",
    ['{"n": 4, "n": 4}', '{"n": 4, "m": NaN}', '{"n": 4, "m": -Infinity}', '{"n": 4', "\ufeff{}", '{"n": "\\ud800"}'],
)
def test_a_file_that_readers_of_json_disagree_on_holds_no_value(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    assert not passes(JsonCheck(path=PurePosixPath("x.json"), at=("n",), equals=4), tmp_path, environment={})


def test_a_value_deeper_than_the_stack_is_not_the_expected_one(tmp_path: Path) -> None:
    for depth in (900, 980, 5_000, 200_000):
        (tmp_path / "x.json").write_text("[" * depth + "]" * depth, encoding="utf-8")
        assert not passes(JsonCheck(path=PurePosixPath("x.json"), equals=4), tmp_path, environment={})


def test_bytes_that_are_no_text_are_searched_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00n\x80")
    found = [passes(check, tmp_path, environment={}) for check in checks("x")]
    assert found == [True, True, False]


def test_a_file_larger_than_the_memory_is_searched_in_pieces_and_is_no_json(tmp_path: Path) -> None:
    with (tmp_path / "x").open("wb") as file:
        # The text lies across the boundary of two pieces.
        file.seek((64 << 20) - 3)
        file.write(b"needle")
        file.truncate(1 << 30)
    assert MOST_JSON < 1 << 30
    assert passes(FileContains(path=PurePosixPath("x"), text="needle"), tmp_path, environment={})
    assert not passes(FileContains(path=PurePosixPath("x"), text="needles"), tmp_path, environment={})
    assert not passes(JsonCheck(path=PurePosixPath("x"), equals=json.loads("null")), tmp_path, environment={})
