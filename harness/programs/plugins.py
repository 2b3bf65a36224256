"""The only place that looks at a plugin root before a launch: what is refused, what rides along, what is dropped.

A bare folder of skills works on some programs and loads nothing on others, without an error; so it is refused for all.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.kinds import Harness
from harness.programs.capability import Capability, PluginDelivery
from harness.programs.program import LaunchError

BESIDE = ("agents", "commands", "hooks", ".mcp.json")


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
        LaunchError: When it is no plugin root; the message says which folder to name instead.
    """
    root = path.resolve()
    if not root.is_dir():
        raise LaunchError(
            f"plugin {path.name}: no folder there; expected a plugin root that holds skills/NAME/SKILL.md"
        )
    skills = _skills(root / "skills")
    if not skills and _skills(root):
        raise LaunchError(_bare(root))
    if not skills:
        raise LaunchError(f"plugin {root.name}: no skill found; expected {root.name}/skills/NAME/SKILL.md")
    beside = tuple(sorted(name for name in BESIDE if (root / name).exists()))
    return Plugin(root=root, skills=skills, beside=beside)


def plugin_warnings(plugins: Iterable[Plugin], row: Capability) -> tuple[str, ...]:
    """Return what a reader must know of a delivery: what rides along with the skills, or is dropped."""
    whole = row.plugins is PluginDelivery.WHOLE
    fate = "loaded beside the skills" if whole else "dropped; only skills are delivered"
    return tuple(
        f"plugin {plugin.root.name}: {', '.join(plugin.beside)} {fate} on {row.harness.value}"
        for plugin in plugins
        if plugin.beside
    )


def stage_skills(plugins: Iterable[Plugin], *, harness: Harness, home: Path) -> None:
    """Put skills where a program looks for them by itself; needed for codex alone, the others are told the root.

    Raises:
        LaunchError: When two plugins hold a skill of the same name.
    """
    if harness is not Harness.CODEX:
        return
    folder = home / "codex" / "skills"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for plugin in plugins:
        for name in plugin.skills:
            _link(folder / name, plugin.root / "skills" / name)


def _link(link: Path, target: Path) -> None:
    if link.is_symlink() and link.readlink() == target:
        return
    if link.exists() or link.is_symlink():
        raise LaunchError(f"skill {link.name} comes from two plugins; expected one. Rename it in one of them")
    link.symlink_to(target, target_is_directory=True)


def _skills(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(found.parent.name for found in folder.glob("*/SKILL.md")))


def _bare(root: Path) -> str:
    if root.name == "skills":
        parent = root.parent.name
        return f"plugin {root.name}: a bare folder of skills; expected the plugin root. Write {parent!r}, its parent"
    return f"plugin {root.name}: a bare folder of skills; expected a plugin root. Move them to {root.name}/skills/"
