"""The only place that starts claude-code: print mode, prompt on stdin, everything that would phone out off."""

from harness.kinds import Harness
from harness.launch import Launch, Prompt, TurnRequest
from harness.programs.capability import PluginDelivery
from harness.programs.locate import locate
from harness.programs.plugins import inspect_plugins, plugin_notes
from harness.programs.program import Program
from harness.programs.request import checked, credential, environment, ignored, secrets

DELIVERY = PluginDelivery.WHOLE
OWN_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
STREAM = ("-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages")
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    # Ten retries of a refused credential would take minutes; a repetition is the runner's to decide.
    "CLAUDE_CODE_MAX_RETRIES": "2",
    # Asking nobody is refused to root unless the surroundings are said to be a sandbox.
    "IS_SANDBOX": "1",
}


class ClaudeCodeProgram:
    """Starts claude-code."""

    harness = Harness.CLAUDE_CODE

    def launch(self, request: TurnRequest) -> Launch:
        """Return how a turn is started.

        Raises:
            LaunchError: When the program is missing or the request holds a value that must be refused.
        """
        command = locate(self.harness, checked(request).environment)
        plugins = inspect_plugins(request.plugins)
        return Launch(
            argv=(*command, *STREAM, *_options(request)),
            env=_environment(request),
            cwd=request.workdir,
            conversation=Prompt(request.prompt),
            secrets=secrets(request, *OWN_KEYS),
            ignored=ignored(request, "context_tokens"),
            notes=plugin_notes(plugins, self.harness, DELIVERY),
        )


PROGRAM: Program = ClaudeCodeProgram()


def _environment(request: TurnRequest) -> dict[str, str]:
    own = {**QUIET, "CLAUDE_CONFIG_DIR": str(request.home / "claude")}
    if request.max_output_tokens is not None:
        own["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(request.max_output_tokens)
    if request.route is None:
        return environment(request, *OWN_KEYS, "ANTHROPIC_BASE_URL", **own)
    key = credential(request, request.route)
    return environment(request, **own, ANTHROPIC_BASE_URL=request.route.base_url, ANTHROPIC_API_KEY=key)


def _options(request: TurnRequest) -> tuple[str, ...]:
    valued = (
        ("--model", request.model),
        ("--resume", request.session),
        ("--max-turns", request.max_turns),
        ("--effort", request.effort),
        ("--permission-mode", request.permission_mode),
        ("--append-system-prompt", request.system_prompt),
        ("--max-budget-usd", request.native_budget_usd),
        # Its --allowedTools only spares a question; with nobody asked, --tools alone takes the others away.
        ("--tools", None if request.allowed_tools is None else ",".join(request.allowed_tools)),
        ("--disallowedTools", ",".join(request.disallowed_tools) or None),
        *(("--plugin-dir", str(root)) for root in request.plugins),
    )
    words = tuple(word for name, value in valued if value is not None for word in (name, str(value)))
    return words if request.permission_mode is not None else (*words, "--dangerously-skip-permissions")
