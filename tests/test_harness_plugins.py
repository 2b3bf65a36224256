"""Plugins: what is refused before anything starts, what rides along, and how each program is told of the skills."""

import json
from pathlib import Path

import pytest

from harness.clock import Stamp
from harness.kinds import Harness
from harness.launch import Launch, Prompt, Route, TurnRequest
from harness.process import StartError, start
from harness.programs.locate import COMMANDS, VARIABLE
from harness.programs.plugins import PluginError, inspect_plugin, inspect_plugins
from harness.programs.program import LaunchError
from harness.programs.registry import PROGRAMS

HEAD = "---\nname: {name}\ndescription: Polishes.\n---\nBody.\n"


def plugin(folder: Path, *names: str, beside: tuple[str, ...] = ()) -> Path:
    """Write a plugin root that holds skills."""
    for name in names:
        (folder / "skills" / name).mkdir(parents=True)
        (folder / "skills" / name / "SKILL.md").write_text(HEAD.format(name=name), encoding="utf-8")
    for name in beside:
        (folder / name).mkdir()
    return folder


def launched(harness: Harness, folder: Path, *plugins: Path) -> Launch:
    for path in (path for paths in COMMANDS.values() for path in paths):
        (folder / "cache" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "cache" / path).touch()
    request = TurnRequest(
        prompt="Do it.",
        workdir=folder / "work",
        home=folder / "home",
        environment={"ROUTE_KEY": "x", VARIABLE: str(folder / "cache")},
        model="m",
        route=Route(base_url="http://127.0.0.1:1", key_name="ROUTE_KEY"),
        plugins=plugins,
    )
    return PROGRAMS[harness].launch(request)


def refusal(path: Path) -> str:
    with pytest.raises(PluginError) as caught:
        inspect_plugin(path)
    return str(caught.value)


def test_a_plugin_root_tells_its_skills_and_what_lies_beside(tmp_path: Path) -> None:
    found = inspect_plugin(plugin(tmp_path / "p", "b", "a", beside=("hooks", "agents", "docs")))
    assert (found.skills, found.beside) == (("a", "b"), ("agents", "hooks"))


@pytest.mark.parametrize("harness", Harness)
def test_a_bare_folder_of_skills_is_refused_for_every_harness_with_the_fix(harness: Harness, tmp_path: Path) -> None:
    root = plugin(tmp_path / "p", "a")
    expected = "plugin skills: found a bare folder of skills, expected the plugin root. Write its parent, 'p'"
    with pytest.raises(LaunchError) as caught:
        launched(harness, tmp_path, root / "skills")
    assert str(caught.value) == expected


def test_each_refusal_says_what_to_do(tmp_path: Path) -> None:
    root = plugin(tmp_path / "p", "a")
    loose = plugin(tmp_path / "q", "b") / "skills"
    loose = loose.rename(tmp_path / "loose")
    (tmp_path / "empty").mkdir()
    assert refusal(tmp_path / "none").endswith(
        "found no folder, expected a plugin root that holds skills/NAME/SKILL.md"
    )
    assert refusal(tmp_path / "empty").endswith("found no skill, expected empty/skills/NAME/SKILL.md")
    assert refusal(loose).endswith("expected a plugin root. Move the skills to loose/skills/")
    assert refusal(root / "skills" / "a").endswith("found one skill, expected its plugin root. Write 'p'")
    assert refusal(loose / "b").endswith("expected a plugin root. Move it to ROOT/skills/b/")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Body only.\n", "without a name, expected a line `name: ...`"),
        ("---\nname: a\n---\n", "without a description, expected a line `description: ...`"),
        (HEAD.format(name="other"), "with name 'other', expected `name: a`, the name of its folder"),
    ],
)
def test_a_skill_that_some_programs_would_leave_out_is_refused(text: str, expected: str, tmp_path: Path) -> None:
    root = plugin(tmp_path / "p", "a")
    (root / "skills" / "a" / "SKILL.md").write_text(text, encoding="utf-8")
    assert expected in refusal(root)


def test_a_quoted_name_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    root = plugin(tmp_path / "p", "a")
    text = HEAD.format(name='"a"').replace("\n", "\r\n")
    (root / "skills" / "a" / "SKILL.md").write_bytes(text.encode())
    assert inspect_plugin(root).skills == ("a",)


def test_two_plugins_with_one_skill_are_refused(tmp_path: Path) -> None:
    roots = (plugin(tmp_path / "p", "a"), plugin(tmp_path / "q", "a"))
    with pytest.raises(PluginError, match="plugin q: found the skill 'a' that p holds too, expected it once"):
        inspect_plugins(roots)


@pytest.mark.parametrize("harness", Harness)
def test_what_lies_beside_the_skills_is_told(harness: Harness, tmp_path: Path) -> None:
    (note,) = launched(harness, tmp_path, plugin(tmp_path / "p", "a", beside=("commands", "hooks"))).notes
    fate = "loaded beside the skills" if harness is Harness.CLAUDE_CODE else "dropped: only skills are delivered"
    assert note == f"plugin p: commands, hooks {fate} on {harness.value}"


@pytest.mark.parametrize("harness", Harness)
def test_a_plugin_of_skills_alone_needs_no_note(harness: Harness, tmp_path: Path) -> None:
    assert launched(harness, tmp_path, plugin(tmp_path / "p", "a")).notes == ()


def test_each_program_is_told_of_the_skills_in_its_own_way(tmp_path: Path) -> None:
    root = plugin(tmp_path / "p", "a")
    skills = str(root / "skills")
    made = {harness: launched(harness, tmp_path, root) for harness in Harness}
    claude, pi = made[Harness.CLAUDE_CODE].argv, made[Harness.PI].argv
    assert claude[claude.index("--plugin-dir") + 1] == str(root)
    assert pi[pi.index("--skill") + 1] == skills
    assert made[Harness.CODEX].links == {tmp_path / "home" / "codex" / "skills" / "a": root / "skills" / "a"}
    (configuration,) = made[Harness.OPENCODE].files.values()
    assert json.loads(configuration)["skills"] == {"paths": [skills]}
    assert json.loads(made[Harness.ANTIGRAVITY].conversation.opening().data)["skills"] == [skills]


def test_links_are_made_before_the_start_and_may_stand_already(tmp_path: Path) -> None:
    target = plugin(tmp_path / "p", "a") / "skills" / "a"
    link = tmp_path / "home" / "skills" / "a"
    launch = Launch(
        argv=("/bin/sh", "-c", f"cat {link}/SKILL.md"),
        env={},
        cwd=tmp_path,
        conversation=Prompt(""),
        links={link: target},
    )
    for _ in range(2):
        child = start(launch, now=lambda: Stamp(us=0))
        line = child.next_line(10)
        child.wait(10)
        child.sweep()
        assert line is not None
        assert line.data == b"---"


def test_a_link_that_stands_in_the_way_of_another_is_a_start_that_failed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    launch = Launch(
        argv=("/bin/true",), env={}, cwd=tmp_path, conversation=Prompt(""), links={tmp_path / "a": tmp_path / "p"}
    )
    with pytest.raises(StartError, match="a cannot be linked: FileExistsError"):
        start(launch, now=lambda: Stamp(us=0))
