"""The only place for what starts a program: what a turn asks for, and the command, environment and files that answer.

A launch is data. Whoever makes one touches no file, no clock and no process; `harness.process` alone starts programs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Protocol

from harness.prices import Prices


class WireApi(Enum):
    """The provider protocol that a route speaks."""

    ANTHROPIC_MESSAGES = "anthropic-messages"
    OPENAI_RESPONSES = "openai-responses"
    OPENAI_CHAT = "openai-chat"
    GEMINI = "gemini"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where a program's model requests go.

    Attributes:
        base_url: Root of the endpoint, without the protocol's own path ("http://127.0.0.1:4000").
        key_name: Name of the caller's environment variable that holds the credential; never the credential.
    """

    base_url: str
    key_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """What one turn of a task asks of any program.

    Attributes:
        prompt: The user's words of this turn; given on stdin or over the protocol, never as an argument.
        workdir: Absolute folder that the agent works in.
        home: Absolute private folder for the program's configuration and sessions; it lives as long as the attempt.
        environment: The caller's environment, handed in; a launch takes what it needs by name.
        model: Model name as the route knows it; None means the program's own default.
        route: Where model requests go; None means the program's own provider and credentials.
        max_output_tokens: Explicit output limit of a request; None means the provider's default, not verified.
        model_max_output_tokens: The model's contract, `maxOutputTokens`, that a request's limit may not exceed; None
            means that the caller does not know it.
        context_tokens: The model's context window where the program must be told; None means its default.
        session: The program's session to go on with; None starts a new one.
        max_turns: The task's turn cap, for programs with a native one; None means uncapped.
        effort: Reasoning effort in the program's own words; None means its default.
        permission_mode: Permission mode in the program's own words; None means "ask nobody".
        allowed_tools: Tools that the task allows; None means that it does not say.
        disallowed_tools: Tools that the task forbids.
        system_prompt: Text appended to the program's system prompt; None means none.
        plugins: Absolute plugin roots to deliver natively.
        path_prefix: Folders put before PATH, mock tools first.
        native_budget_usd: Cost limit for programs with a native one; None means none.
        prices: Declared prices that every turn's cost is reckoned by; None keeps the program's own figure.
    """

    prompt: str
    workdir: Path
    home: Path
    environment: Mapping[str, str]
    model: str | None = None
    route: Route | None = None
    max_output_tokens: int | None = None
    model_max_output_tokens: int | None = None
    context_tokens: int | None = None
    session: str | None = None
    max_turns: int | None = None
    effort: str | None = None
    permission_mode: str | None = None
    allowed_tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    system_prompt: str | None = None
    plugins: tuple[Path, ...] = ()
    path_prefix: tuple[Path, ...] = ()
    native_budget_usd: float | None = None
    prices: Prices | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """What is written to a program's stdin.

    Attributes:
        data: Bytes to write; empty means nothing.
        close: Whether stdin ends after them.
    """

    data: bytes = b""
    close: bool = False


class Conversation(Protocol):
    """The pure half of a protocol on stdin and stdout; a program that only takes its prompt says it and closes."""

    def opening(self) -> Say:
        """Return what is said at once after the start."""

    def answer(self, line: Mapping[str, object], /) -> Say:
        """Return what is said after a line of the program."""

    def interrupt(self) -> Say:
        """Return the protocol's polite request to stop; nothing where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A program ready to be started.

    Attributes:
        argv: Absolute program and its arguments; holds no prompt and no credential.
        env: The whole environment of the program; nothing is inherited beside it.
        cwd: Folder that it starts in.
        files: Generated files by absolute path, written 0600 before the start.
        conversation: What is said on its stdin.
        secrets: Values that are taken out of everything that is recorded.
        ignored: Fields of the request that this program cannot honour, by name.
        rollouts: Folder below which the program writes what its threads did, sub-agents' too; None where it does not.
        links: Symbolic links to make before the start: absolute link to absolute target.
        notes: What a reader of the attempt must know of how it was started, in words of ours.
        priced: Whether the program knows what the route costs; else a cost that it prints is no measurement.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    conversation: Conversation
    files: Mapping[Path, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    rollouts: Path | None = None
    links: Mapping[Path, Path] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    priced: bool = True


@dataclass(frozen=True, slots=True)
class Prompt:
    """The conversation of a program that reads its prompt from stdin until the end of file."""

    text: str

    def opening(self) -> Say:
        """Return the prompt and the end of file."""
        return Say(data=self.text.encode(), close=True)

    def answer(self, _line: Mapping[str, object], /) -> Say:
        """Return nothing: the program asks nothing."""
        return Say()

    def interrupt(self) -> Say:
        """Return nothing: only a signal stops it."""
        return Say()
