"""The only place that starts antigravity: a library, so a driver of ours runs under the interpreter that has it."""

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
OWN_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
IGNORED = (
    "effort",
    "permission_mode",
    "max_output_tokens",
    "context_tokens",
    "native_budget_usd",
)
DRIVER = Path(__file__).with_name("driver.py")
# Nobody is there to press a key.
OVERLAY = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "DEBIAN_FRONTEND": "noninteractive"}


class AntigravityProgram:
    """Starts antigravity."""

    harness = Harness.ANTIGRAVITY

    def launch(self, request: TurnRequest) -> Launch:
        """Return how a turn is started; the turn itself goes to the driver on stdin.

        Raises:
            LaunchError: When the program is missing or the request holds a value that must be refused.
        """
        command = locate(self.harness, checked(request).environment)
        route = request.route
        if route is not None:
            credential(request, route)
        turn = {
            "prompt": request.prompt,
            "model": request.model,
            "base_url": None if route is None else route.base_url,
            "key_name": OWN_KEYS[0] if route is None else route.key_name,
            "workdir": str(request.workdir),
            "home": str(request.home),
            "conversation": request.session,
            "system": request.system_prompt,
            "allowed": request.allowed_tools,
            "denied": request.disallowed_tools,
            "skills": [str(root / "skills") for root in request.plugins],
        }
        names = OWN_KEYS if route is None else (route.key_name,)
        plugins = inspect_plugins(request.plugins)
        return Launch(
            argv=(*command, "-P", str(DRIVER)),
            env=environment(request, *names, **OVERLAY),
            cwd=request.workdir,
            conversation=Prompt(json.dumps(turn)),
            secrets=secrets(request, *OWN_KEYS),
            ignored=ignored(request, *IGNORED),
            notes=plugin_notes(plugins, self.harness, DELIVERY),
        )


PROGRAM: Program = AntigravityProgram()
