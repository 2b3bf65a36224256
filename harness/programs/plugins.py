"""The only place that looks at a plugin root before a launch: what is refused, what rides along, what is dropped.

A bare folder of skills works on some programs and loads nothing on others, without an error; so it is refused for all.
So is a skill whose file does not name it: some programs leave it out in silence, others load it under another name.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.kinds import Harness
from harness.programs.capability import PluginDelivery
from harness.programs.program import RequestRefusedError

BESIDE = ("agents", "commands", "hooks", ".mcp.json")
_HEAD = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_KEY = re.compile(r"^(name|description):[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)


class PluginError(RequestRefusedError):
    """A folder is no plugin root that can be delivered.

    Attributes:
        found: What lies there, in words without its path.
        expected: What must lie there, and the next step.
    """

    def __init__(self, name: str, *, found: str, expected: str) -> None:
        super().__init__(f"plugin {name}: found {found}, expected {expected}")
        self.found = found
        self.expected = expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A plugin root that may be delivered.

    Attributes:
        root: Absolute folder that holds `skills/`.
        skills: Names of the skills that load, sorted.
        beside: What else of a plugin lies in the root, sorted.
    """

    root: Path
    skills: tuple[str, ...]
    beside: tuple[str, ...]


def inspect_plugin(path: Path) -> Plugin:
    """Return what a plugin root holds.

    Raises:
        PluginError: When it is no plugin root; the message says which folder to name instead.
    """
    root = path.resolve()
    if not root.is_dir():
        raise PluginError(path.name, found="no folder", expected="a plugin root that holds skills/NAME/SKILL.md")
    skills = _skills(root / "skills")
    if not skills:
        raise _without_skills(root)
    for name in skills:
        _check_skill(root, name)
    beside = tuple(sorted(name for name in BESIDE if (root / name).exists()))
    return Plugin(root=root, skills=skills, beside=beside)


def inspect_plugins(paths: Iterable[Path]) -> tuple[Plugin, ...]:
    """Return what several plugin roots hold.

    Raises:
        PluginError: When one is no plugin root, or two hold a skill of one name.
    """
    plugins = tuple(inspect_plugin(path) for path in paths)
    owner: dict[str, str] = {}
    for plugin in plugins:
        for name in plugin.skills:
            if name in owner:
                found = f"the skill {name!r} that {owner[name]} holds too"
                raise PluginError(plugin.root.name, found=found, expected="it once. Rename it in one of them")
            owner[name] = plugin.root.name
    return plugins


def plugin_notes(plugins: Iterable[Plugin], harness: Harness, delivery: PluginDelivery) -> tuple[str, ...]:
    """Return what a reader must know of a delivery: what rides along with the skills, or is dropped."""
    whole = delivery is PluginDelivery.WHOLE
    fate = "loaded beside the skills" if whole else "dropped: only skills are delivered"
    return tuple(
        f"plugin {plugin.root.name}: {', '.join(plugin.beside)} {fate} on {harness.value}"
        for plugin in plugins
        if plugin.beside
    )


def skill_links(plugins: Iterable[Plugin], folder: Path) -> Mapping[Path, Path]:
    """Return the links that put skills into the folder where a program looks for them by itself."""
    return {folder / name: plugin.root / "skills" / name for plugin in plugins for name in plugin.skills}


def _skills(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(found.parent.name for found in folder.glob("*/SKILL.md")))


def _without_skills(root: Path) -> PluginError:
    """Say what to name instead of a folder that holds no skill where a plugin root has them."""
    bare = "a bare folder of skills"
    if (root / "SKILL.md").is_file():
        owner = root.parent.parent.name if root.parent.name == "skills" else None
        fix = f"its plugin root. Write {owner!r}" if owner else f"a plugin root. Move it to ROOT/skills/{root.name}/"
        return PluginError(root.name, found="one skill", expected=fix)
    if _skills(root) and root.name == "skills":
        fix = f"the plugin root. Write its parent, {root.parent.name!r}"
        return PluginError(root.name, found=bare, expected=fix)
    if _skills(root):
        fix = f"a plugin root. Move the skills to {root.name}/skills/"
        return PluginError(root.name, found=bare, expected=fix)
    return PluginError(root.name, found="no skill", expected=f"{root.name}/skills/NAME/SKILL.md")


def _check_skill(root: Path, name: str) -> None:
    place = f"skills/{name}/SKILL.md"
    try:
        text = (root / place).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise PluginError(root.name, found=f"{place} that cannot be read", expected="a text file") from fault
    head = _HEAD.match(text)
    keys = {} if head is None else {key: value.strip("'\"") for key, value in _KEY.findall(head.group(1))}
    for key in ("name", "description"):
        if key not in keys:
            fix = f"a line `{key}: ...` between two lines `---` at its top"
            raise PluginError(root.name, found=f"{place} without a {key}", expected=fix)
    if keys["name"] != name:
        fix = f"`name: {name}`, the name of its folder"
        raise PluginError(root.name, found=f"{place} with name {keys['name']!r}", expected=fix)
