"""The only place for what a program can honour of a request: the words of a row; each program's folder fills one."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from harness.kinds import Harness


class Support(Enum):
    """What happens to a field of a request."""

    NATIVE = "native"  # the program itself takes it
    RUNNER = "runner"  # our supervisor enforces it; the program does not know it
    ROUTE = "with a route"  # only where the provider's route is given
    IGNORED = "ignored"  # it changes nothing; asking for it is a condition that differs


class PluginDelivery(Enum):
    """What of a plugin root reaches a program."""

    WHOLE = "whole plugin"  # skills, and agents, commands and hooks beside them
    SKILLS = "skills only"  # everything else of the root is dropped


Version = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """A program's row.

    Attributes:
        harness: Which harness.
        package: What is installed, in its registry's words.
        oldest: Oldest version that the row was measured on.
        newest: Newest version that the row was measured on; the pinned one.
        version_words: Arguments after the command that print the version.
        credentials: Names of environment variables of which one must be set when no route is given.
        plugins: What of a plugin root is delivered.
        fields: What happens to each optional field of a request, by name.
        skill_tool: Tool without which a program offers no skill to its model; None when it needs none.
        wants: A program that it fetches over the network where PATH lacks it, and what fails then; None when none.
        needs: What to look at when it is there and prints no version.
    """

    harness: Harness
    package: str
    oldest: str
    newest: str
    credentials: tuple[str, ...]
    plugins: PluginDelivery
    fields: Mapping[str, Support]
    version_words: tuple[str, ...] = ("--version",)
    skill_tool: str | None = None
    wants: tuple[str, str] | None = None
    needs: str = "reinstall it"

    def covers(self, version: str) -> bool:
        """Tell whether the row was measured around a version: oldest and newest included."""
        return parse_version(self.oldest) <= parse_version(version) <= parse_version(self.newest)

    def range_text(self) -> str:
        """Return the range of versions in words."""
        return self.newest if self.oldest == self.newest else f"{self.oldest} to {self.newest}"


def parse_version(text: str) -> Version:
    """Return the numbers of a dotted version; "2.1.332" gives (2, 1, 332)."""
    return tuple(int(part) for part in text.split("."))


def fields(**given: Support) -> Mapping[str, Support]:
    """Return a row's fields; one that is not given is native."""
    return {name: given.get(name, Support.NATIVE) for name in FIELDS}


# The optional fields of a request that a program may be unable to honour.
FIELDS = (
    "allowed_tools",
    "context_tokens",
    "disallowed_tools",
    "effort",
    "max_output_tokens",
    "max_turns",
    "model",
    "native_budget_usd",
    "permission_mode",
    "plugins",
    "session",
    "system_prompt",
)
