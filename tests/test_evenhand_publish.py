"""From recorded jobs to a published, verified folder, by the very commands that docs/publishing.md prints."""

import json
import os
import re
import select
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from reports.approval import CHECKLIST

ROOT = Path(__file__).resolve().parents[1]
FOLDER = "2026-11-30-pi-vs-thinharness"
CTRL_C = "\x03"
# A program whose first three files are a terminal takes it for its own, so that Ctrl-C reaches it.
# Whoever started the tests in the background made them ignore Ctrl-C; a person on a terminal does not.
OWN_TERMINAL = (
    "import fcntl, os, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "signal.signal(signal.SIGINT, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])"
)
# A person each: what version control knows on the machine of the author and on that of the reviewer.
AUTHOR, REVIEWER = "quillfeather", "marrowgate"


class Machine:
    """A folder in which commands run as one person."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        shim = self.bin / "evenhand"
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m evenhand "$@"\n')
        shim.chmod(0o755)

    def run(self, script: str, *, person: str = AUTHOR, **more: str) -> subprocess.CompletedProcess[str]:
        words = ["bash", "-eu", "-c", script]
        return subprocess.run(
            words,
            cwd=self.folder,
            env={**self.environment(person), **more},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    def environment(self, person: str) -> dict[str, str]:
        config = self.folder / f"{person}.gitconfig"
        config.write_text(f"[user]\n\temail = {person}@example.invalid\n")
        return {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "GIT_CONFIG_GLOBAL": str(config),
            "GIT_CEILING_DIRECTORIES": str(self.folder),
        }

    def type(self, script: str, answers: list[str], *, person: str) -> tuple[int, str]:
        """Run a script on a terminal of its own, answer each of its questions in turn; return its code and its screen.

        A question is what ends in a colon and a blank; the answers are typed only when it stands there. Ctrl-C is
        typed again while nothing happens: one that comes just before the program listens is heard late.
        """
        terminal, other_side = os.openpty()
        words = [sys.executable, "-c", OWN_TERMINAL, "bash", "-eu", "-c", script]
        child = subprocess.Popen(
            words,
            cwd=self.folder,
            env=self.environment(person),
            stdin=other_side,
            stdout=other_side,
            stderr=other_side,
            start_new_session=True,
        )
        os.close(other_side)
        shown, left, last, again = "", list(answers), "", 0
        try:
            while True:
                if not select.select([terminal], [], [], 2.0 if last == CTRL_C else 120.0)[0]:
                    again += 1
                    assert last == CTRL_C, shown
                    assert again < 30, shown
                    os.write(terminal, CTRL_C.encode())
                    continue
                shown += os.read(terminal, 4096).decode(errors="replace")
                if left and re.search(r": \Z", shown):
                    last = left.pop(0)
                    os.write(terminal, last.encode() if last == CTRL_C else f"{last}\n".encode())
                    shown += "\n"
        except OSError:  # Linux says so when the other side has gone
            return child.wait(timeout=60), shown
        finally:
            os.close(terminal)
            child.kill()
            child.wait()


def commands() -> list[str]:
    return re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "publishing.md").read_text(), re.DOTALL)


def jobs(shared: Path | None, machine: Machine) -> Path:
    """Return the real study, or the same arms simulated where this checkout stands alone."""
    if shared is not None:
        return shared / "evidence" / "tb21-pi-vs-thinharness"
    done = machine.run("evenhand demo --out simulated --tasks 6 --attempts 1")
    assert done.returncode == 0, done.stderr
    return machine.folder / "simulated" / "jobs"


def typed(block: str, shared: Path | None) -> str:
    if shared is not None:
        return block
    return block.replace("kwarg.harness=thinharness", "agent=alpha").replace("kwarg.harness=pi", "agent=beta")


@pytest.fixture(scope="module")
def machine(shared: Path | None, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Return a machine on which every command of the document was typed in order."""
    machine = Machine(tmp_path_factory.mktemp("way-out"))
    evidence = jobs(shared, machine)
    setting_up, drafting, reviewing, publishing = commands()
    for block, person in ((setting_up, REVIEWER), (drafting, AUTHOR)):
        done = machine.run(typed(block, shared), person=person, JOBS=str(evidence))
        assert done.returncode == 0, done.stderr
    own = machine.run(reviewing)
    assert own.returncode == 1
    assert "whoever made a draft cannot approve it" in own.stderr
    for block, person in ((reviewing, REVIEWER), (publishing, "anybody")):
        done = machine.run(block, person=person)
        assert done.returncode == 0, done.stderr
    return machine


def published(machine: Machine) -> Path:
    return machine.folder / "published" / FOLDER


def test_the_commands_of_the_document_publish_a_folder_that_verifies(machine: Machine, tmp_path: Path) -> None:
    copy = shutil.copytree(published(machine), tmp_path / FOLDER)
    done = machine.run(f"evenhand verify '{copy}' --json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["schema"], found["approvers"], found["signers"]) == ("evenhand-verify-1", ["reviewer-a"], "in_folder")
    assert not found["logged"]


def test_no_published_byte_tells_who_or_where(machine: Machine, shared: Path | None) -> None:
    files = {path: path.read_bytes() for path in published(machine).rglob("*") if path.is_file()}
    assert len(files) > 14
    private = [
        AUTHOR,
        REVIEWER,
        "/home/",
        "/Users/",
        "/root",
        str(machine.folder),
        str(ROOT),
        "instruction",
        "reviewer-key",
    ]
    private += sorted(private_words(shared / "evidence" / "tb21-pi-vs-thinharness")) if shared else []
    for path, data in files.items():
        for word in private:
            assert word.encode() not in data, path.name
            assert word.encode("utf-16-le") not in data, path.name


def private_words(evidence: Path) -> set[str]:
    """Return the users, home folders and places on a machine that stand in the recorded files."""
    text = "\n".join(path.read_text(errors="replace") for path in evidence.rglob("*.json"))
    homes = set(re.findall(r"/(?:home|Users)/[A-Za-z0-9._-]+", text)) | set(re.findall(r"file://[^\"\s]+", text))
    assert homes
    return homes


def test_a_changed_byte_is_found_by_the_command(machine: Machine, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(published(machine), tmp_path / FOLDER))
    (copy / "report.md").write_bytes((copy / "report.md").read_bytes() + b"\n")
    done = machine.run(f"evenhand verify '{copy}'")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"evenhand: {FOLDER}: report.md is changed\n"


def test_nothing_is_published_twice_or_approved_without_a_person(machine: Machine) -> None:
    again = machine.run(commands()[3])
    assert again.returncode == 1
    assert "never written again" in again.stderr
    options = "--principal reviewer-a --allowed-signers allowed_signers --key reviewer-key"
    alone = machine.run(f"evenhand approve draft {options}", person=REVIEWER)
    assert alone.returncode == 2
    assert "a person decides" in alone.stderr
    assert machine.run(f"yes | evenhand approve draft {options} --yes", person=REVIEWER).returncode == 2


def test_a_release_is_scanned_by_the_independent_scanner_and_verifies(machine: Machine) -> None:
    options = "--allowed-signers allowed_signers --shelf releases --date 2026-11-30"
    done = machine.run(f"evenhand publish draft --release {options}")
    assert done.returncode == 0, done.stderr
    said = json.loads((machine.folder / "releases" / FOLDER / "publication.json").read_bytes())
    assert said["release"]
    assert f"kingfisher {version('kingfisher-secret-scanner')}" in said["engines"]
    checked = machine.run(f"evenhand verify releases/{FOLDER} --json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["release"]


def test_a_release_without_the_independent_scanner_is_neither_published_nor_verified(machine: Machine) -> None:
    absent = "import sys; sys.modules['kingfisher_sdk'] = None; from evenhand.cli import main; sys.exit(main())"
    alone = f'"{sys.executable}" -P -c "{absent}"'
    options = "--allowed-signers allowed_signers --shelf elsewhere --date 2026-11-30"
    done = machine.run(f"{alone} publish draft --release {options}")
    assert done.returncode == 3
    assert "install the extra [scan]" in done.stderr
    assert not list((machine.folder / "elsewhere").glob("2026*"))
    assert not (machine.folder / "elsewhere" / "log.jsonl").exists()
    published_one = machine.run("evenhand publish draft --release --shelf more --allowed-signers allowed_signers")
    assert published_one.returncode == 0, published_one.stderr
    checked = machine.run(f"{alone} verify more/2*")
    assert checked.returncode == 3
    assert "independent engine" in checked.stderr
    assert machine.run("evenhand verify no-such-folder").returncode == 3


def test_a_person_on_a_terminal_answers_every_point_and_signs(machine: Machine, tmp_path: Path) -> None:
    draft = shutil.copytree(machine.folder / "draft", tmp_path / "draft")
    assert machine.run(f"evenhand review '{draft}'", person=REVIEWER).returncode == 0
    digest = json.loads((tmp_path / "draft" / "contents.json").read_bytes())["bundle"]
    options = "--principal reviewer-a --allowed-signers allowed_signers --key reviewer-key"
    command = f"evenhand approve '{draft}' {options}"
    answers = ["y"] * len(CHECKLIST)
    for wrong in ([*answers[1:], "n"], [*answers, "00000000" if digest[:8] != "00000000" else "1"]):
        code, shown = machine.type(command, wrong, person=REVIEWER)
        assert code in {1, 130}, shown
        assert not list((tmp_path / "draft.decisions").glob("*.sig"))
    code, shown = machine.type(command, ["", *answers, digest[:8]], person=REVIEWER)
    assert code == 0, shown
    assert all(text in shown for text in CHECKLIST.values())
    (kept,) = (tmp_path / "draft.decisions").glob("*.sig")
    assert json.loads(kept.with_suffix("").read_bytes())["predicate"]["checklist"] == dict.fromkeys(CHECKLIST, True)


def test_ctrl_c_on_the_terminal_signs_nothing(machine: Machine, tmp_path: Path) -> None:
    draft = shutil.copytree(machine.folder / "draft", tmp_path / "draft")
    assert machine.run(f"evenhand review '{draft}'", person=REVIEWER).returncode == 0
    options = "--principal reviewer-a --allowed-signers allowed_signers --key reviewer-key"
    code, shown = machine.type(f"exec evenhand approve '{draft}' {options}", ["y", CTRL_C], person=REVIEWER)
    assert code == 130, shown
    assert not list((tmp_path / "draft.decisions").glob("*.sig"))


def test_a_retraction_is_told_by_verify(machine: Machine, tmp_path: Path) -> None:
    shelf = Path(shutil.copytree(machine.folder / "published", tmp_path / "published"))
    leaky = machine.run(f"evenhand retract '{shelf / FOLDER}' --reason 'see /home/zebulon/notes'")
    assert leaky.returncode == 1
    assert "zebulon" not in leaky.stderr
    assert machine.run(f"evenhand retract '{shelf / FOLDER}' --reason 'an arm was mislabelled'").returncode == 0
    done = machine.run(f"evenhand verify '{shelf / FOLDER}'")
    assert done.returncode == 1
    assert "was retracted on" in done.stderr


def test_a_refusal_is_signed_kept_and_final(machine: Machine, tmp_path: Path) -> None:
    draft = tmp_path / "draft"
    shutil.copytree(machine.folder / "draft", draft)
    options = "--principal reviewer-a --allowed-signers allowed_signers"
    said = tmp_path / "refusal.json"
    script = f"""
    evenhand review '{draft}' --shelf published
    evenhand refuse '{draft}' {options} --reason 'the label is too small' --prepare '{said}'
    ssh-keygen -q -Y sign -f reviewer-key -n evenhand-approval '{said}'
    evenhand refuse '{draft}' {options} --statement '{said}' --json
    """
    done = machine.run(script, person=REVIEWER)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "draft.decisions").glob("*-refused-*.json"))) == 1
    after = machine.run(f"evenhand approve '{draft}' {options} --prepare '{said}.2'", person=REVIEWER)
    assert after.returncode == 1
    assert "the bundle is refused" in after.stderr


def test_claims_are_found_by_the_command(machine: Machine) -> None:
    (machine.folder / "claim.md").write_text("# The best harness\n\nSOTA is not verified.\n")
    done = machine.run("evenhand claims claim.md")
    assert done.returncode == 1
    expected = "claim.md:1: best: 'best' (heading): names no published report that covers it\n"
    assert done.stdout == expected
    (machine.folder / "claim.md").write_text("It targets state-of-the-art quality.\n")
    assert machine.run("evenhand claims claim.md").returncode == 0


def test_the_hook_for_other_repositories_runs_the_command() -> None:
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text()
    assert "- id: evenhand-claims\n" in hook
    assert "  entry: evenhand claims\n" in hook
    assert "  types_or: [markdown, html, plain-text]\n" in hook


def test_no_document_of_this_repository_claims_without_cover(machine: Machine) -> None:
    documents = " ".join(
        f"'{path}'" for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")] if path.name != "publishing.md"
    )
    done = machine.run(f"evenhand claims {documents}")
    assert done.returncode == 0, done.stdout
