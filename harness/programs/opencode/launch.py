"""The only place that starts opencode: `run` in JSON, prompt on stdin, a generated configuration, folders of its own.

A title is always given: without one, opencode makes a model call for it that its stream does not report.
"""

import json
from pathlib import Path

from harness.kinds import Harness
from harness.launch import Launch, Prompt, TurnRequest
from harness.programs.capability import PluginDelivery
from harness.programs.locate import locate
from harness.programs.plugins import inspect_plugins, plugin_notes
from harness.programs.program import Program
from harness.programs.request import checked, credential, environment, ignored, secrets

DELIVERY = PluginDelivery.SKILLS
OWN_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "OPENCODE_API_KEY")
IGNORED = ("permission_mode", "native_budget_usd")
FOLDERS = ("CONFIG", "DATA", "STATE", "CACHE")
OFF = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
PROVIDER = "evenhand"
INSTRUCTIONS = Path("opencode-instructions.md")
CONTEXT, OUTPUT = 200_000, 32_000


class OpenCodeProgram:
    """Starts opencode."""

    harness = Harness.OPENCODE

    def launch(self, request: TurnRequest) -> Launch:
        """Return how a turn is started.

        Raises:
            LaunchError: When the program is missing or the request holds a value that must be refused.
        """
        path = request.home / "opencode.json"
        command = locate(self.harness, checked(request).environment)
        words = (*command, "run", "--format", "json", "--title", "evenhand", *_options(request))
        limited = () if request.route is not None else ("max_output_tokens", "context_tokens")
        plugins = inspect_plugins(request.plugins)
        return Launch(
            argv=words,
            env=_environment(request, str(path)),
            cwd=request.workdir,
            conversation=Prompt(request.prompt),
            files={path: json.dumps(_configuration(request)), **_instructions(request)},
            secrets=secrets(request, *OWN_KEYS),
            ignored=ignored(request, *IGNORED, *limited),
            notes=plugin_notes(plugins, self.harness, DELIVERY),
            priced=request.route is None,
        )


PROGRAM: Program = OpenCodeProgram()


def _instructions(request: TurnRequest) -> dict[Path, str]:
    return {} if request.system_prompt is None else {request.home / INSTRUCTIONS: request.system_prompt}


def _environment(request: TurnRequest, path: str) -> dict[str, str]:
    folders = {f"XDG_{name}_HOME": str(request.home / name.lower()) for name in FOLDERS}
    switches = {f"OPENCODE_DISABLE_{name}": "1" for name in OFF}
    own = {**folders, **switches, "OPENCODE_CONFIG": path}
    if request.route is None:
        return environment(request, *OWN_KEYS, **own)
    credential(request, request.route)
    return environment(request, request.route.key_name, **own)


def _options(request: TurnRequest) -> tuple[str, ...]:
    named = request.model if request.route is None or request.model is None else f"{PROVIDER}/{request.model}"
    valued = (("-m", named), ("--session", request.session), ("--variant", request.effort))
    return tuple(word for name, value in valued if value is not None for word in (name, value))


def _permission(request: TurnRequest) -> dict[str, str]:
    """Return what each tool may do without a question; one that is denied is not offered to the model at all."""
    others = "allow" if request.allowed_tools is None else "deny"
    allowed, denied = request.allowed_tools or (), request.disallowed_tools
    return {"*": others, **dict.fromkeys(allowed, "allow"), **dict.fromkeys(denied, "deny")}


def _configuration(request: TurnRequest) -> dict[str, object]:
    found: dict[str, object] = {"autoupdate": False, "share": "disabled", "permission": _permission(request)}
    if request.plugins:
        found["skills"] = {"paths": [str(root / "skills") for root in request.plugins]}
    if request.system_prompt is not None:
        found["instructions"] = [str(request.home / INSTRUCTIONS)]
    if request.route is not None:
        # The key itself is in no file: opencode reads it from its environment.
        options = {"baseURL": request.route.base_url + "/v1", "apiKey": f"{{env:{request.route.key_name}}}"}
        limit = {"context": request.context_tokens or CONTEXT, "output": request.max_output_tokens or OUTPUT}
        effort = {} if request.effort is None else {request.effort: {"reasoningEffort": request.effort}}
        models = {str(request.model): {"limit": limit, "reasoning": bool(effort), "variants": effort}}
        found["provider"] = {PROVIDER: {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}}
    return found
