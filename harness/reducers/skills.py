"""The only place that reads off a tool call which skills it used: the skill tool's argument, or a SKILL.md it reads.

Only what the agent asked for is read, never what a tool printed: a list of all skills is no use of one.
"""

import re
from collections.abc import Iterator, Mapping

from harness.reducers.fields import Line, text

_FILE = re.compile(r"([A-Za-z0-9][\w.-]*)[/\\]+SKILL\.md\b")
# Tools that write files: to write a skill is not to use it.
WRITERS = frozenset(
    {"write", "edit", "multiedit", "write_to_file", "replace_file_content", "apply_patch", "filechange"}
)
MAX_SKILLS = 16
_DEEPEST = 4


def used_skills(tool: str, arguments: Line) -> tuple[str, ...]:
    """Return the names of the skills that a call uses, in order of first sight.

    Args:
        tool: The tool's name as the harness prints it.
        arguments: What the agent asks of it.
    """
    if tool.lower() == "skill":
        named = text(arguments, "skill") or text(arguments, "name")
        return () if not named else (bare_name(named),)
    if tool.lower() in WRITERS:
        return ()
    found = [name for words in _texts(arguments, 0) for name in _FILE.findall(words)]
    return tuple(dict.fromkeys(found))[:MAX_SKILLS]


def bare_name(name: str) -> str:
    """Return a skill's name without the plugin that some programs put before it, "plugin:skill"."""
    return name.lstrip("/").rpartition(":")[2]


def _texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < _DEEPEST and isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part, depth + 1)
    elif depth < _DEEPEST and isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part, depth + 1)
