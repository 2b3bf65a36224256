"""What the runner knows of an attempt's conditions: the same asked twice is the same, another wish is another value."""

from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from harness.launch import Route, TurnRequest
from harness.limits import RunLimits
from harness.tasks.conditions import conditions, task_digest
from harness.tasks.task import FileExists, Task

TASK = Task(task_id="t", turns=("Do it.",), criteria=(FileExists(path=PurePosixPath("a")),))


def request(**more: object) -> TurnRequest:
    plain = TurnRequest(prompt="", workdir=Path("/w"), home=Path("/h"), environment={})
    return replace(plain, **more)  # type: ignore[arg-type]  # the fields are those of a request


def test_what_the_runner_cannot_know_is_not_named() -> None:
    found = conditions(TASK, request())
    assert not {"region", "cache_state", "provider", "task_set", "model_configuration"} & found.keys()
    assert all(value and " " not in value for value in found.values())


def test_an_endpoint_is_known_by_a_digest_and_never_by_its_address() -> None:
    one, other = (
        conditions(TASK, request(route=Route(base_url=url, key_name="K"))) for url in ("http://a", "http://b")
    )
    assert one["provider"] != other["provider"]
    assert "//" not in one["provider"]


@pytest.mark.parametrize(
    ("wish", "factor"),
    [
        ({"system_prompt": "Be brief."}, "prompt_digest"),
        ({"allowed_tools": ("Read",)}, "tool_permissions"),
        ({"disallowed_tools": ("Bash",)}, "tool_permissions"),
        ({"permission_mode": "plan"}, "tool_permissions"),
        ({"effort": "high"}, "model_configuration"),
        ({"max_output_tokens": 9}, "model_configuration"),
    ],
)
def test_each_wish_shows_in_its_factor_alone(wish: dict[str, object], factor: str) -> None:
    before, after = conditions(TASK, request()), conditions(TASK, request(**wish))
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} == {factor}


def test_an_image_is_another_place() -> None:
    found = conditions(replace(TASK, image="python:3.11"), request())
    assert (found["container_image"], found["environment_type"]) == ("python:3.11", "container")


def test_a_tasks_digest_moves_with_all_it_asks_and_not_with_where_a_plugin_lies() -> None:
    changes: list[dict[str, object]] = [{"turns": ("x",)}, {"criteria": ()}, {"limits": RunLimits(max_turns=3)}]
    others = [replace(TASK, **change) for change in changes]  # type: ignore[arg-type]  # the fields are those of a task
    assert len({task_digest(task) for task in (TASK, *others)}) == 4
    here, there = (replace(TASK, plugins=(Path(place) / "tools",)) for place in ("/one", "/two"))
    assert task_digest(here) == task_digest(there) != task_digest(TASK)
    assert len(task_digest(TASK)) == 64
