"""The only place that starts codex: its app-server, spoken to in JSON-RPC lines; one turn, then the pipe is closed.

Its stream has stamps, deltas and ids that `codex exec` has not. Plugins are off, since they look up hosts at the start.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.kinds import Harness
from harness.launch import Launch, Say, TurnRequest
from harness.programs.capability import PluginDelivery
from harness.programs.locate import locate
from harness.programs.plugins import inspect_plugins, plugin_notes, skill_links
from harness.programs.program import Program
from harness.programs.request import checked, credential, environment, ignored, secrets

DELIVERY = PluginDelivery.SKILLS
OWN_KEYS = ("OPENAI_API_KEY", "CODEX_API_KEY")
IGNORED = ("permission_mode", "allowed_tools", "disallowed_tools", "max_output_tokens", "native_budget_usd")
INITIALIZE, THREAD, TURN, INTERRUPT = 1, 2, 3, 4


class CodexProgram:
    """Starts codex."""

    harness = Harness.CODEX

    def launch(self, request: TurnRequest) -> Launch:
        """Return how a turn is started.

        Raises:
            LaunchError: When the program is missing or the request holds a value that must be refused.
        """
        folder = request.home / "codex"
        command = locate(self.harness, checked(request).environment)
        names = OWN_KEYS if request.route is None else (request.route.key_name,)
        if request.route is not None:
            credential(request, request.route)
        plugins = inspect_plugins(request.plugins)
        return Launch(
            argv=(*command, "app-server"),
            env=environment(request, *names, CODEX_HOME=str(folder)),
            cwd=request.workdir,
            conversation=AppServer(request),
            files={folder / "config.toml": _configuration(request)},
            secrets=secrets(request, *OWN_KEYS),
            ignored=ignored(request, *IGNORED),
            rollouts=folder / "sessions",
            links=skill_links(plugins, folder / "skills"),
            notes=plugin_notes(plugins, self.harness, DELIVERY),
        )


PROGRAM: Program = CodexProgram()


@dataclass(slots=True)
class AppServer:
    """What is said to the app-server in one turn: greeting, thread, turn, end.

    Attributes:
        request: The turn.
    """

    request: TurnRequest
    _thread: str | None = field(default=None)
    _turn: str | None = field(default=None)

    def opening(self) -> Say:
        """Return the greeting."""
        info = {"name": "evenhand", "title": "evenhand", "version": "0"}
        return _rpc(_call(INITIALIZE, "initialize", {"clientInfo": info}))

    def answer(self, line: Mapping[str, object], /) -> Say:
        """Return what follows a line; the end of the turn, or a refused request, closes the pipe."""
        if line.get("method") == "turn/completed" and _of(line, "params").get("threadId") in {None, self._thread}:
            return Say(close=True)
        number, result = line.get("id"), _of(line, "result")
        if "method" in line or number not in {INITIALIZE, THREAD, TURN}:
            return Say()
        if "error" in line:
            return Say(close=True)
        if number == INITIALIZE:
            return _rpc({"method": "initialized"}, self._open_thread())
        if number == THREAD:
            self._thread = str(_of(result, "thread").get("id"))
            words = [{"type": "text", "text": self.request.prompt}]
            return _rpc(_call(TURN, "turn/start", {"threadId": self._thread, "input": words}))
        self._turn = str(_of(result, "turn").get("id"))
        return Say()

    def interrupt(self) -> Say:
        """Return the request to stop the running turn; nothing before there is one."""
        if self._turn is None:
            return Say()
        return _rpc(_call(INTERRUPT, "turn/interrupt", {"threadId": self._thread, "turnId": self._turn}))

    def _open_thread(self) -> Mapping[str, object]:
        request = self.request
        asked = {
            "cwd": str(request.workdir),
            "model": request.model,
            "approvalPolicy": "never",
            "sandbox": "danger-full-access",
            "developerInstructions": request.system_prompt,
            "threadId": request.session,
        }
        method = "thread/start" if request.session is None else "thread/resume"
        return _call(THREAD, method, {name: value for name, value in asked.items() if value is not None})


def _configuration(request: TurnRequest) -> str:
    # A string of JSON is a string of TOML.
    rows = ["check_for_update_on_startup = false"]
    if request.model is not None:
        rows.append(f"model = {json.dumps(request.model)}")
    if request.effort is not None:
        rows.append(f"model_reasoning_effort = {json.dumps(request.effort)}")
    if request.context_tokens is not None:
        rows.append(f"model_context_window = {request.context_tokens}")
    if request.route is not None:
        route = request.route
        rows += ['model_provider = "evenhand"', "[model_providers.evenhand]", 'name = "evenhand"']
        rows += [f"base_url = {json.dumps(route.base_url + '/v1')}", f"env_key = {json.dumps(route.key_name)}"]
        rows += ['wire_api = "responses"', "request_max_retries = 2", "stream_max_retries = 2"]
    rows += ["[analytics]", "enabled = false", "[feedback]", "enabled = false", "[features]", "plugins = false"]
    return "\n".join(rows) + "\n"


def _call(number: int, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
    return {"id": number, "method": method, "params": params}


def _rpc(*messages: Mapping[str, object]) -> Say:
    return Say(data="".join(json.dumps(message) + "\n" for message in messages).encode())


def _of(found: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = found.get(name)
    return part if isinstance(part, dict) else {}
