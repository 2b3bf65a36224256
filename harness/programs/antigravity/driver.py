"""The only place that drives antigravity's Python API; it runs under that library's own interpreter and prints steps.

One turn is read from stdin as a JSON object; each step is a line, with the conversation's cumulative usage and id
beside it. It imports nothing of ours: the other interpreter has none of it.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any  # the interface of a library that is not installed beside this one

USAGE = {"prompt": "prompt", "cached": "cached_content", "candidates": "candidates", "thoughts": "thoughts"}


def configuration(turn: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return the agent's configuration for a turn; the credential comes from the environment by name."""
    api, types = import_module("google.antigravity"), import_module("google.antigravity.types")
    policy = import_module("google.antigravity.hooks.policy")
    key = os.environ.get(turn["key_name"], "")
    endpoint = types.GeminiAPIEndpoint(base_url=turn["base_url"], api_key=key)
    optional = {
        "model": types.ModelTarget(name=turn["model"], types=[types.ModelType.TEXT], endpoint=endpoint)
        if turn["base_url"]
        else turn["model"],
        "conversation_id": turn["conversation"],
        "system_instructions": turn["system"],
        "skills_paths": turn["skills"] or None,
        "capabilities": capabilities(types, turn["allowed"], turn["denied"]),
    }
    return api.LocalAgentConfig(
        api_key=key,
        policies=[policy.allow_all()],
        workspaces=[turn["workdir"]],
        save_dir=f"{turn['home']}/antigravity/save",
        app_data_dir=f"{turn['home']}/antigravity/data",
        **{name: value for name, value in optional.items() if value is not None},
    )


def capabilities(types: Any, allowed: Sequence[str] | None, denied: Sequence[str]) -> Any:  # noqa: ANN401
    """Return which tools are offered; None leaves the library's own choice, since it takes one of the two lists."""
    if allowed is not None:
        return types.CapabilitiesConfig(enabled_tools=[name for name in allowed if name not in denied])
    return types.CapabilitiesConfig(disabled_tools=list(denied)) if denied else None


async def drive(turn: Mapping[str, Any]) -> None:
    """Run one turn and print its steps."""
    async with import_module("google.antigravity").Agent(configuration(turn)) as agent:
        conversation = agent.conversation
        await conversation.send(turn["prompt"])
        async for step in conversation.receive_steps():
            say({**described(step), **beside(conversation)})
        say({"type": "UNKNOWN", "source": "SYSTEM", **beside(conversation)})


def described(step: Any) -> dict[str, object]:  # noqa: ANN401
    """Return a step as plain values; enumerations by name."""
    row = step.model_dump(mode="json", exclude={"usage_metadata", "structured_output", "workflow_progress"})
    return {**row, "type": step.type.name, "status": step.status.name, "source": step.source.name}


def beside(conversation: Any) -> dict[str, object]:  # noqa: ANN401
    """Return what stands beside a step: the conversation's id and its usage so far."""
    usage = conversation.total_usage
    counts = {name: getattr(usage, f"{field}_token_count", None) or 0 for name, field in USAGE.items()}
    return {"_cumulative": counts, "_conversation": conversation.conversation_id}


def say(line: Mapping[str, object]) -> None:
    """Print one line at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def failures() -> tuple[type[Exception], ...]:
    """Return the kinds of failure that the library raises."""
    kinds = vars(import_module("google.antigravity.types")).values()
    own = tuple(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Exception))
    # A tool of an unknown name or a model without one is refused as a value.
    return (*own, ValueError)


def main() -> int:
    """Run the turn on stdin; a failure is a line of its own and a non-zero exit."""
    known = failures()
    try:
        asyncio.run(drive(json.load(sys.stdin)))
    except known as fault:
        code = getattr(fault, "http_code", None)
        say({"type": "FINISH", "source": "SYSTEM", "status": "ERROR", "error": type(fault).__name__, "http_code": code})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
