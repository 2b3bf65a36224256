"""The only place that starts pi: print mode in JSON, prompt on stdin, sessions and models in a folder of its own."""

import json

from harness.kinds import Harness
from harness.launch import Launch, Prompt, TurnRequest
from harness.programs.capability import PluginDelivery
from harness.programs.locate import locate
from harness.programs.plugins import inspect_plugins, plugin_notes
from harness.programs.program import Program
from harness.programs.request import checked, credential, environment, ignored, secrets

DELIVERY = PluginDelivery.SKILLS
OWN_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY")
IGNORED = ("permission_mode", "native_budget_usd")
PROVIDER = "evenhand"
CONTEXT, OUTPUT = 200_000, 32_000
FREE = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}


class PiProgram:
    """Starts pi."""

    harness = Harness.PI

    def launch(self, request: TurnRequest) -> Launch:
        """Return how a turn is started.

        Raises:
            LaunchError: When the program is missing or the request holds a value that must be refused.
        """
        folder = request.home / "pi"
        command = locate(self.harness, checked(request).environment)
        limited = () if request.route is not None else ("max_output_tokens", "context_tokens")
        plugins = inspect_plugins(request.plugins)
        return Launch(
            argv=(*command, "-p", "--mode", "json", *_options(request)),
            env=_environment(request, str(folder)),
            cwd=request.workdir,
            conversation=Prompt(request.prompt),
            files={} if request.route is None else {folder / "models.json": json.dumps(_models(request))},
            secrets=secrets(request, *OWN_KEYS),
            ignored=ignored(request, *IGNORED, *limited),
            notes=plugin_notes(plugins, self.harness, DELIVERY),
            priced=request.route is None,
        )


PROGRAM: Program = PiProgram()


def _environment(request: TurnRequest, folder: str) -> dict[str, str]:
    own = {"PI_CODING_AGENT_DIR": folder, "PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}
    if request.route is None:
        return environment(request, *OWN_KEYS, **own)
    credential(request, request.route)
    return environment(request, request.route.key_name, **own)


def _options(request: TurnRequest) -> tuple[str, ...]:
    valued = (
        ("--provider", PROVIDER if request.route is not None else None),
        ("--model", request.model),
        ("--session-dir", str(request.home / "pi-sessions")),
        ("--session-id", request.session),
        ("--thinking", request.effort),
        ("--append-system-prompt", request.system_prompt),
        ("--tools", None if request.allowed_tools is None else ",".join(request.allowed_tools)),
        ("--exclude-tools", ",".join(request.disallowed_tools) or None),
        *(("--skill", str(root / "skills")) for root in request.plugins),
    )
    return tuple(word for name, value in valued if value is not None for word in (name, value))


def _models(request: TurnRequest) -> dict[str, object]:
    assert request.route is not None
    model = {
        "id": request.model,
        "name": request.model,
        "reasoning": request.effort is not None,
        "input": ["text"],
        "contextWindow": request.context_tokens or CONTEXT,
        "maxTokens": request.max_output_tokens or OUTPUT,
        "cost": FREE,
    }
    # The key itself is in no file: pi reads the variable of this name.
    provider = {
        "baseUrl": request.route.base_url + "/v1",
        "api": "openai-completions",
        "apiKey": request.route.key_name,
        "models": [model],
    }
    return {"providers": {PROVIDER: provider}}
