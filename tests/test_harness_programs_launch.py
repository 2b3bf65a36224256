"""Each program is started with its prompt off the command line, its credential in no file, and its limits checked."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from harness.capabilities import CAPABILITIES
from harness.kinds import Harness
from harness.launch import Launch, Route, TurnRequest
from harness.model_contract import SAFE, Verification, check_contract, verify
from harness.programs.capability import Support
from harness.programs.locate import COMMANDS, VARIABLE
from harness.programs.program import LaunchError, RequestRefusedError
from harness.programs.registry import PROGRAMS

KEY = "".join(["fa", "ke", "-", "credential"])
PROMPT = "say nothing twice"


def installed(folder: Path) -> Path:
    """Return a cache folder in which every program lies, empty."""
    for path in (path for paths in COMMANDS.values() for path in paths):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    return folder


def asked(folder: Path, **changes: object) -> TurnRequest:
    """Return a request with a route and a limit, changed where told."""
    environment = {"PATH": "/usr/bin", "HOME": "/nowhere", "ROUTE_KEY": KEY, VARIABLE: str(installed(folder))}
    request = TurnRequest(
        prompt=PROMPT,
        workdir=folder / "work",
        home=folder / "home",
        environment=environment,
        model="model-1",
        route=Route(base_url="http://127.0.0.1:1", key_name="ROUTE_KEY"),
        max_output_tokens=4096,
    )
    return replace(request, **changes)  # type: ignore[arg-type]  # the fields are those of the request


def option(launch: Launch, name: str) -> str | None:
    """Return the word after an option; None when it is not given."""
    return launch.argv[launch.argv.index(name) + 1] if name in launch.argv else None


def document(launch: Launch) -> dict[str, object]:
    """Return the one generated JSON file."""
    (text,) = launch.files.values()
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("harness", Harness)
def test_the_prompt_and_the_credential_are_on_no_command_line_and_in_no_file(harness: Harness, tmp_path: Path) -> None:
    launch = PROGRAMS[harness].launch(asked(tmp_path))
    written = " ".join([*launch.argv, *launch.files.values()])
    assert PROMPT not in written
    assert KEY not in written
    assert KEY in launch.env.values()
    assert launch.secrets == (KEY,)
    assert KEY.encode() not in launch.conversation.opening().data


@pytest.mark.parametrize("harness", Harness)
def test_a_program_that_is_missing_is_named_with_the_command_that_installs_it(harness: Harness, tmp_path: Path) -> None:
    request = asked(tmp_path)
    bare = replace(request, environment={**request.environment, VARIABLE: str(tmp_path / "none")})
    with pytest.raises(LaunchError, match=f"{harness.value} is not installed.*harness.testing.install"):
        PROGRAMS[harness].launch(bare)


@pytest.mark.parametrize("harness", Harness)
@pytest.mark.parametrize("limit", [0, -1, SAFE + 1])
def test_a_limit_that_is_no_positive_safe_integer_is_refused(harness: Harness, limit: int, tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=f"max_output_tokens={limit} must be a whole number"):
        PROGRAMS[harness].launch(asked(tmp_path, max_output_tokens=limit))


@pytest.mark.parametrize("harness", Harness)
def test_a_route_whose_credential_is_not_set_is_refused_by_name(harness: Harness, tmp_path: Path) -> None:
    route = Route(base_url="http://127.0.0.1:1", key_name="OTHER_KEY")
    with pytest.raises(LaunchError, match="OTHER_KEY is not set"):
        PROGRAMS[harness].launch(asked(tmp_path, route=route))


@pytest.mark.parametrize("harness", Harness)
def test_mock_tools_come_first_on_the_path(harness: Harness, tmp_path: Path) -> None:
    launch = PROGRAMS[harness].launch(asked(tmp_path, path_prefix=(Path("/mocks"),)))
    assert launch.env["PATH"] == "/mocks:/usr/bin"


@pytest.mark.parametrize(
    ("harness", "expected"),
    [
        (Harness.CLAUDE_CODE, ()),
        (Harness.CODEX, ("disallowed_tools", "max_output_tokens", "permission_mode")),
        (Harness.ANTIGRAVITY, ("max_output_tokens", "permission_mode")),
        (Harness.OPENCODE, ("permission_mode",)),
        (Harness.PI, ("permission_mode",)),
    ],
)
def test_what_a_program_cannot_honour_is_said(harness: Harness, expected: tuple[str, ...], tmp_path: Path) -> None:
    request = asked(tmp_path, disallowed_tools=("Bash",), permission_mode="plan", system_prompt="Be brief.")
    assert PROGRAMS[harness].launch(request).ignored == expected


def test_claude_code_gets_its_cap_its_session_and_its_limits(tmp_path: Path) -> None:
    launch = PROGRAMS[Harness.CLAUDE_CODE].launch(asked(tmp_path, max_turns=3, session="s-1", native_budget_usd=0.5))
    assert (option(launch, "--max-turns"), option(launch, "--resume")) == ("3", "s-1")
    assert option(launch, "--max-budget-usd") == "0.5"
    assert launch.env["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "4096"
    assert "--dangerously-skip-permissions" in launch.argv
    assert launch.conversation.opening().close


def test_opencode_always_gets_a_title_and_its_limit_by_configuration(tmp_path: Path) -> None:
    launch = PROGRAMS[Harness.OPENCODE].launch(asked(tmp_path, session="s-1"))
    assert option(launch, "--title") is not None
    assert (option(launch, "-m"), option(launch, "--session")) == ("evenhand/model-1", "s-1")
    assert '"output": 4096' in json.dumps(document(launch))


def test_pi_gets_its_model_by_configuration_and_keeps_its_sessions(tmp_path: Path) -> None:
    launch = PROGRAMS[Harness.PI].launch(asked(tmp_path, session="s-1"))
    assert option(launch, "--session-id") == "s-1"
    assert "--no-session" not in launch.argv
    assert '"maxTokens": 4096' in json.dumps(document(launch))


def test_antigravitys_turn_goes_to_its_driver_on_stdin(tmp_path: Path) -> None:
    launch = PROGRAMS[Harness.ANTIGRAVITY].launch(asked(tmp_path, session="s-1"))
    turn = json.loads(launch.conversation.opening().data)
    assert (turn["prompt"], turn["conversation"], turn["key_name"]) == (PROMPT, "s-1", "ROUTE_KEY")
    assert Path(launch.argv[-1]).name == "driver.py"
    assert Path(launch.argv[-1]).is_file()


def codex_says(launch: Launch, line: Mapping[str, object]) -> tuple[list[str], bool]:
    """Return the methods that codex is told after a line, and whether its pipe is closed."""
    said = launch.conversation.answer(line)
    return [json.loads(row)["method"] for row in said.data.splitlines()], said.close


def test_codex_is_greeted_gets_a_thread_then_a_turn_and_then_the_end(tmp_path: Path) -> None:
    launch = PROGRAMS[Harness.CODEX].launch(asked(tmp_path))
    assert json.loads(launch.conversation.opening().data)["method"] == "initialize"
    assert codex_says(launch, {"id": 1, "result": {}}) == (["initialized", "thread/start"], False)
    assert codex_says(launch, {"id": 2, "result": {"thread": {"id": "t"}}}) == (["turn/start"], False)
    assert launch.conversation.interrupt().data == b""
    assert codex_says(launch, {"id": 3, "result": {"turn": {"id": "u"}}}) == ([], False)
    assert json.loads(launch.conversation.interrupt().data)["method"] == "turn/interrupt"
    assert codex_says(launch, {"method": "turn/completed", "params": {"threadId": "child"}}) == ([], False)
    assert codex_says(launch, {"method": "turn/completed", "params": {"threadId": "t"}}) == ([], True)


def test_codex_resumes_a_thread_and_a_refused_request_ends_it(tmp_path: Path) -> None:
    launch = PROGRAMS[Harness.CODEX].launch(asked(tmp_path, session="t"))
    assert codex_says(launch, {"id": 1, "result": {}}) == (["initialized", "thread/resume"], False)
    assert codex_says(launch, {"id": 2, "error": {"code": 1}}) == ([], True)


def test_a_request_limit_above_the_models_contract_is_refused() -> None:
    check_contract(request=None, contract=100)
    check_contract(request=100, contract=100)
    with pytest.raises(LaunchError, match="max_output_tokens=101 must not exceed"):
        check_contract(request=101, contract=100)


@pytest.mark.parametrize("harness", Harness)
def test_no_program_is_started_for_more_than_the_models_contract(harness: Harness, tmp_path: Path) -> None:
    folder = installed(tmp_path)
    PROGRAMS[harness].launch(asked(folder, max_output_tokens=100, model_max_output_tokens=100))
    with pytest.raises(RequestRefusedError, match="must not exceed model_max_output_tokens=99"):
        PROGRAMS[harness].launch(asked(folder, max_output_tokens=100, model_max_output_tokens=99))


@pytest.mark.parametrize("value", [True, 1.5, "9", 0])
def test_a_contract_that_is_no_positive_safe_integer_is_refused(value: object) -> None:
    with pytest.raises(LaunchError, match=r"model_max_output_tokens=.* must be a whole number"):
        check_contract(request=None, contract=value)


@pytest.mark.parametrize(
    ("wire", "limit", "expected"),
    [
        ([("m", 9), ("m", 9)], 9, Verification.WIRE_VERIFIED),
        ([("m", 9), ("m", None)], 9, Verification.CONFIGURATION_ONLY),
        ([("m", 9), ("small", 9)], 9, Verification.CONFIGURATION_ONLY),
        ([], 9, Verification.CONFIGURATION_ONLY),
        ([("m", 9)], None, Verification.NOT_VERIFIED),
    ],
)
def test_a_limit_is_verified_only_when_every_request_states_it(
    wire: list[tuple[str, int | None]], limit: int | None, expected: Verification
) -> None:
    assert verify(wire, model="m", output_limit=limit) is expected


@pytest.mark.parametrize("harness", Harness)
def test_a_request_at_fault_is_told_apart_from_a_missing_program(harness: Harness, tmp_path: Path) -> None:
    with pytest.raises(RequestRefusedError, match="a route needs a model name"):
        PROGRAMS[harness].launch(asked(installed(tmp_path), model=None))


@pytest.mark.parametrize("harness", [Harness.PI, Harness.OPENCODE])
def test_the_cost_of_a_route_whose_price_nobody_gave_is_no_measurement(harness: Harness, tmp_path: Path) -> None:
    folder = installed(tmp_path)
    assert not PROGRAMS[harness].launch(asked(folder)).priced
    assert PROGRAMS[harness].launch(asked(folder, route=None, model=None)).priced


ASKED: dict[str, object] = {
    "allowed_tools": ("bash",),
    "context_tokens": 1000,
    "disallowed_tools": ("read",),
    "effort": "low",
    "max_turns": 3,
    "native_budget_usd": 1.0,
    "permission_mode": "plan",
    "session": "s",
    "system_prompt": "Be brief.",
}


@pytest.mark.parametrize("harness", Harness)
def test_what_a_launch_ignores_is_what_the_table_says(harness: Harness, tmp_path: Path) -> None:
    fields = CAPABILITIES[harness].fields
    ignored = {name for name, support in fields.items() if support is Support.IGNORED}
    routed = {name for name, support in fields.items() if support is Support.ROUTE}
    request = asked(tmp_path, **ASKED)
    assert set(PROGRAMS[harness].launch(request).ignored) == ignored
    assert set(PROGRAMS[harness].launch(replace(request, route=None)).ignored) == ignored | routed


def test_tool_lists_reach_the_programs_that_can_take_tools_away(tmp_path: Path) -> None:
    request = asked(tmp_path, allowed_tools=("a", "b"), disallowed_tools=("b",))
    claude, pi = (PROGRAMS[harness].launch(request) for harness in (Harness.CLAUDE_CODE, Harness.PI))
    assert (option(claude, "--tools"), option(claude, "--disallowedTools")) == ("a,b", "b")
    assert (option(pi, "--tools"), option(pi, "--exclude-tools")) == ("a,b", "b")
    opencode = document(PROGRAMS[Harness.OPENCODE].launch(request))
    assert opencode["permission"] == {"*": "deny", "a": "allow", "b": "deny"}
    turn = json.loads(PROGRAMS[Harness.ANTIGRAVITY].launch(request).conversation.opening().data)
    assert (turn["allowed"], turn["denied"]) == (["a", "b"], ["b"])


def test_opencode_reads_the_system_prompt_from_a_file_of_its_own(tmp_path: Path) -> None:
    launch = PROGRAMS[Harness.OPENCODE].launch(asked(tmp_path, system_prompt="Be brief.", effort="low"))
    (text,) = [text for path, text in launch.files.items() if path.suffix == ".md"]
    assert text == "Be brief."
    (configuration,) = [json.loads(text) for path, text in launch.files.items() if path.suffix == ".json"]
    (model,) = configuration["provider"]["evenhand"]["models"].values()
    assert model["variants"] == {"low": {"reasoningEffort": "low"}}
