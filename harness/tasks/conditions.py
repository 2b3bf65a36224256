"""The only place that says under which conditions an attempt was made, as far as the runner knows them.

The names are those of the factors that a comparison must hold. What the runner cannot know (region, prompt caches of
the provider, who serves the model) is not named, so that nobody takes it for held. Values have no blanks: that is how a
reader tells a label from free text.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import PurePath

from harness.launch import TurnRequest
from harness.retry import RULES
from harness.tasks.task import Task

ASKS_NOBODY = "asks-nobody"
ALL_TOOLS = "every-tool"


def task_digest(task: Task) -> str:
    """Return the SHA-256 of everything that a task is, 64 hex digits; of a plugin only its name."""
    return _digest(asdict(task))


def conditions(task: Task, request: TurnRequest) -> dict[str, str]:
    """Return what is known of an attempt's conditions, by factor.

    Args:
        task: What is asked and checked.
        request: What is asked of the program, the task's wishes included.
    """
    given = {name: getattr(request, name) for name in ("max_output_tokens", "context_tokens", "effort")}
    settings = [f"{name}={value}" for name, value in given.items() if value is not None]
    return {
        **({"model_configuration": ",".join(settings)} if settings else {}),
        **({} if request.route is None else {"provider": f"endpoint-{_short(request.route.base_url)}"}),
        "prompt_digest": _short([task.turns, request.system_prompt, [path.name for path in request.plugins]]),
        "tool_permissions": _permissions(request),
        "network_policy": "as-the-host" if task.image is None else "engine-default",
        "container_image": task.image or "none",
        "environment_type": "host-folder" if task.image is None else "container",
        "retry_policy": _short({name: rule.delays_s for name, rule in RULES.items()}),
        "working_directory": "fresh-folder",
    }


def _permissions(request: TurnRequest) -> str:
    allowed = ALL_TOOLS if request.allowed_tools is None else "only:" + ",".join(sorted(request.allowed_tools))
    without = "".join(f",not:{name}" for name in sorted(request.disallowed_tools))
    return f"{allowed}{without};{request.permission_mode or ASKS_NOBODY}"


def _short(value: object) -> str:
    return f"sha256:{_digest(value)[:16]}"


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=_plain)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    # A plugin's place on this machine is not what the task is.
    return value.name if isinstance(value, PurePath) and value.is_absolute() else str(value)
