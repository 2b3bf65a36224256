"""The doctor: what is found, of which version, what is missing; and the one table of what each harness honours."""

import json
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from evenhand.cli import run
from harness.capabilities import CAPABILITIES, capability_document, capability_lines
from harness.doctor import diagnose, diagnosis_lines
from harness.kinds import Harness
from harness.programs.capability import FIELDS, PluginDelivery, Support
from harness.programs.locate import COMMANDS, VARIABLE

CREDENTIAL = "".join(["fa", "ke", "-", "credential"])


def cache(folder: Path, harness: Harness, *, says: str) -> dict[str, str]:
    """Put a program that runs a shell line into a cache folder, and return the environment that names it."""
    first, *rest = COMMANDS[harness]
    for path in (first, *rest):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / first).write_text(f"#!/bin/sh\n{says}\n", encoding="ascii")
    (folder / first).chmod(0o755)
    for path in rest:
        (folder / path).touch()
    return {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", VARIABLE: str(folder)}


@pytest.mark.parametrize("harness", Harness)
def test_a_program_of_the_measured_version_is_usable(harness: Harness, tmp_path: Path) -> None:
    newest = CAPABILITIES[harness].newest
    found = diagnose(harness, cache(tmp_path, harness, says=f"echo 'a name {newest} (x)'"))
    assert (found.version, found.missing) == (newest, ())
    assert found.place == f"${VARIABLE}/{COMMANDS[harness][-1]}"


def test_a_version_that_was_not_measured_is_a_finding(tmp_path: Path) -> None:
    found = diagnose(Harness.CODEX, cache(tmp_path, Harness.CODEX, says="echo codex-cli 0.1.0"))
    assert found.missing == (f"version 0.1.0 was not measured; expected {CAPABILITIES[Harness.CODEX].newest}",)


@pytest.mark.parametrize(
    ("harness", "says", "expected"),
    [
        (Harness.PI, "exit 3", "it printed no version and ended with 3; it needs Node.js 22.19 or later beside it"),
        (Harness.ANTIGRAVITY, "exit 1", "ended with 1; its interpreter needs the package google-antigravity"),
        (Harness.CODEX, "echo hello", "it printed no version and ended with 0; reinstall it"),
    ],
)
def test_a_program_without_a_version_says_what_it_needs(
    harness: Harness, says: str, expected: str, tmp_path: Path
) -> None:
    (fault,) = diagnose(harness, cache(tmp_path, harness, says=says)).missing
    assert fault.endswith(expected)


def test_a_program_that_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    before = time.monotonic()
    found = diagnose(Harness.PI, cache(tmp_path, Harness.PI, says="sleep 60"), longest_s=0.3)
    assert found.missing == ("it printed no version within 0.3 s",)
    assert time.monotonic() - before < 20


def test_a_file_that_may_not_be_executed_is_missing_a_program(tmp_path: Path) -> None:
    environment = cache(tmp_path, Harness.CODEX, says="echo 0.171.0")
    (tmp_path / COMMANDS[Harness.CODEX][0]).chmod(0o600)
    assert diagnose(Harness.CODEX, environment).missing == (
        "it is there and cannot be started; expected a program that may be executed",
    )


def test_each_missing_part_is_named_with_its_place(tmp_path: Path) -> None:
    found = diagnose(Harness.PI, {"PATH": "/usr/bin", VARIABLE: str(tmp_path)})
    assert [fault.partition(" is not at ")[0] for fault in found.missing] == ["Node.js", "pi"]
    assert found.place is None
    assert found.install.endswith(" pi")


def test_a_program_on_the_path_is_found_there(tmp_path: Path) -> None:
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\necho codex-cli 0.171.0\n", encoding="ascii")
    program.chmod(0o755)
    found = diagnose(Harness.CODEX, {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path / "none")})
    assert (found.place, found.version, found.missing) == ("codex on PATH", "0.171.0", ())


def test_a_program_that_is_nowhere_names_no_home(tmp_path: Path) -> None:
    found = diagnose(Harness.CODEX, {"PATH": "/usr/bin", "HOME": str(tmp_path)})
    assert str(tmp_path) not in "\n".join(diagnosis_lines(found))
    assert found.missing[0].endswith("nor is codex on PATH")


def test_a_credential_is_asked_for_by_name_and_never_shown(tmp_path: Path) -> None:
    environment = cache(tmp_path, Harness.CODEX, says="env; echo 0.171.0")
    assert "OPENAI_API_KEY" in diagnose(Harness.CODEX, environment).notes[0]
    found = diagnose(Harness.CODEX, {**environment, "OPENAI_API_KEY": CREDENTIAL})
    assert found.notes == ()
    assert CREDENTIAL not in repr(found)


def test_the_program_is_asked_in_an_empty_home_without_the_callers_credentials(tmp_path: Path) -> None:
    says = 'test -z "$OPENAI_API_KEY" && test -z "$(ls -A "$HOME")" && echo 0.171.0'
    environment = cache(tmp_path, Harness.CODEX, says=says)
    assert diagnose(Harness.CODEX, {**environment, "OPENAI_API_KEY": CREDENTIAL}).version == "0.171.0"


def test_the_verb_ends_with_1_when_a_program_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert run(["doctor", "pi", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "evenhand-doctor-1"
    assert [(row["harness"], row["usable"], row["found"]) for row in document["harnesses"]] == [("pi", False, False)]


def test_the_verb_ends_with_0_when_all_are_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = cache(tmp_path, Harness.CODEX, says="echo codex-cli 0.171.0")
    monkeypatch.setenv(VARIABLE, environment[VARIABLE])
    assert run(["doctor", "codex"]) == 0
    assert capsys.readouterr().out.startswith("codex        0.171.0    usable")


def test_every_row_says_something_of_every_field() -> None:
    assert set(CAPABILITIES) == set(Harness)
    assert all(set(row.fields) == set(FIELDS) for row in CAPABILITIES.values())


def test_the_table_holds_what_a_reader_of_two_arms_needs(capsys: pytest.CaptureFixture[str]) -> None:
    rows = capability_document()["harnesses"]
    assert isinstance(rows, list)
    for row in rows:
        assert isinstance(row, Mapping)
        assert {"turn_cap", "usage", "plugins", "measured", "fields", "ignored"} <= set(row)
    assert len({len(line.split("  ")) > 1 for line in capability_lines()}) == 1
    assert run(["harnesses"]) == 0
    assert capsys.readouterr().out.count("\n") == len(capability_lines())
    assert run(["harnesses", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "evenhand-harnesses-1"


def test_a_version_is_compared_number_by_number() -> None:
    row = CAPABILITIES[Harness.CODEX]
    assert row.covers(row.newest)
    assert not row.covers("0.1710.0")
    assert not row.covers("0.20.0")


def test_only_claude_code_takes_a_plugin_whole() -> None:
    whole = [harness for harness, row in CAPABILITIES.items() if row.plugins is PluginDelivery.WHOLE]
    assert whole == [Harness.CLAUDE_CODE]
    assert all(row.fields["plugins"] is Support.NATIVE for row in CAPABILITIES.values())
