"""What a program can do to whoever runs it: hold pipes, ignore signals, flood, leave tools behind. Real processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.clock import Stamp, TurnClock
from harness.launch import Launch, Prompt, Say
from harness.process import Child, StartError, exit_stamp, start

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_S = 60.0


def launch_of(program: str, folder: Path, *, prompt: str = "", **env: str) -> Launch:
    """Return a launch of a Python program."""
    return Launch(
        argv=(sys.executable, "-I", "-S", "-c", program),
        env={"PATH": os.environ.get("PATH", ""), **env},
        cwd=folder,
        conversation=Prompt(prompt),
    )


@contextmanager
def running(program: str, folder: Path, *, prompt: str = "", **env: str) -> Iterator[Child]:
    clock = TurnClock(wall_us=lambda: time.time_ns() // 1000, monotonic_ns=time.monotonic_ns)
    child = start(launch_of(program, folder, prompt=prompt, **env), now=clock.now)
    try:
        yield child
    finally:
        child.sweep()


def lines_of(child: Child) -> list[bytes]:
    """Read until nothing more will come."""
    found, until = [], time.monotonic() + PATIENCE_S
    while not child.ended and time.monotonic() < until:
        line = child.next_line(1.0)
        if line is not None:
            found.append(line.data)
    assert child.ended
    return found


def marked(mark: str) -> list[int]:
    """Return the processes whose environment holds a mark of this test."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_the_prompt_is_read_from_stdin_to_its_end(tmp_path: Path) -> None:
    with running("import sys; print(len(sys.stdin.read())); print(sys.argv)", tmp_path, prompt="é" * 300_000) as child:
        assert lines_of(child) == [b"300000", b"['-c']"]
        exited = child.wait(PATIENCE_S)
        assert exited is not None
        assert exited.code == 0
        assert child.sweep() == 0


def test_the_environment_is_the_launchs_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_OTHER", "x")
    with running("import os; print(sorted(os.environ))", tmp_path, GIVEN="y") as child:
        (line,) = lines_of(child)
    assert b"GIVEN" in line
    assert b"EVENHAND_OTHER" not in line


@pytest.mark.parametrize("code", [0, 7])
def test_the_exit_code_is_the_programs_own(tmp_path: Path, code: int) -> None:
    with running(f"raise SystemExit({code})", tmp_path) as child:
        exited = child.wait(PATIENCE_S)
        assert exited is not None
        assert exited.code == code


def test_a_signal_that_ended_the_program_is_told(tmp_path: Path) -> None:
    with running("import os; os.kill(os.getpid(), 9)", tmp_path) as child:
        exited = child.wait(PATIENCE_S)
        assert exited is not None
        assert exited.code == -signal.SIGKILL


def test_a_line_of_50_mib_comes_whole(tmp_path: Path) -> None:
    program = "import sys; sys.stdout.write('x' * (50 << 20) + '\\nafter\\n')"
    with running(program, tmp_path) as child:
        long, after = lines_of(child)
    assert len(long) == 50 << 20
    assert after == b"after"


def test_what_follows_the_last_line_feed_is_a_line(tmp_path: Path) -> None:
    with running("import sys; sys.stdout.write('one\\n\\ntwo')", tmp_path) as child:
        assert lines_of(child) == [b"one", b"", b"two"]


def test_a_flood_of_errors_blocks_nothing_and_is_kept_to_its_end(tmp_path: Path) -> None:
    program = "import sys; sys.stderr.write('e' * 3_000_000 + 'the end'); print('done')"
    with running(program, tmp_path) as child:
        assert lines_of(child) == [b"done"]
        child.wait(PATIENCE_S)
        child.sweep()
        until = time.monotonic() + PATIENCE_S
        while child.stderr_bytes < 3_000_007 and time.monotonic() < until:
            time.sleep(0.01)
        assert child.stderr_bytes == 3_000_007
        assert child.stderr_tail.endswith(b"the end")
        assert len(child.stderr_tail) <= 64 * 1024


def test_a_line_is_stamped_when_it_is_read_and_not_when_it_is_asked_for(tmp_path: Path) -> None:
    clock = TurnClock(wall_us=lambda: 0, monotonic_ns=time.monotonic_ns)
    child = start(launch_of("print('now', flush=True)", tmp_path), now=clock.now)
    try:
        child.wait(PATIENCE_S)
        time.sleep(0.5)
        asked = clock.now()
        line = child.next_line(PATIENCE_S)
        assert line is not None
        assert asked - line.at >= 400_000
    finally:
        child.sweep()


def test_the_exit_is_seen_although_a_grandchild_holds_the_pipe(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "print('said', flush=True)"
    )
    zero = time.monotonic_ns()
    with running(program, tmp_path) as child:
        exited = child.wait(PATIENCE_S)
        assert exited is not None
        assert not child.ended
        assert Stamp(us=0) < exit_stamp(exited, zero_ns=zero) <= Stamp(us=(time.monotonic_ns() - zero) // 1000)
        assert child.sweep() == 1
        assert lines_of(child) == [b"said"]


_FAMILY = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
tool = "import os, time\\nos.setsid()\\nif os.fork(): time.sleep(600)\\nos.setsid()\\ntime.sleep(600)"
for _ in range(3):
    subprocess.Popen([sys.executable, "-c", tool])
print("ready", flush=True)
time.sleep(600)
"""


def test_nothing_survives_a_stop_whatever_session_it_is_in(tmp_path: Path) -> None:
    mark = f"mark-{os.getpid()}-stop"
    with running(_FAMILY, tmp_path, MARK=mark) as child:
        line = child.next_line(PATIENCE_S)
        assert line is not None
        assert line.data == b"ready"
        before = time.monotonic()
        exited = child.stop(grace_s=0.3)
        assert exited is not None
        assert exited.code == -signal.SIGKILL
        assert time.monotonic() - before >= 0.3
        swept = child.sweep()
    assert swept is not None
    assert swept >= 3
    assert marked(mark) == []


def test_a_program_that_listens_ends_politely(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys, time\n"
        "def bye(*_):\n    os.write(1, b'bye\\n')\n    sys.exit(3)\n"
        "signal.signal(signal.SIGTERM, bye)\nprint('ready', flush=True)\ntime.sleep(600)"
    )
    with running(program, tmp_path) as child:
        assert child.next_line(PATIENCE_S) is not None
        exited = child.stop(grace_s=PATIENCE_S)
        assert exited is not None
        assert exited.code == 3
        assert lines_of(child) == [b"bye"]


_RUNNER = """
import os, sys, time
from pathlib import Path
from tests.test_harness_process import _FAMILY, launch_of
from harness.process import start
child = start(launch_of(_FAMILY, Path(sys.argv[1]), MARK=sys.argv[2]), now=lambda: None)
assert child.next_line(60).data == b"ready"
print("running", flush=True)
time.sleep(600)
"""


def test_nothing_survives_the_death_of_the_runner_itself(tmp_path: Path) -> None:
    mark = f"mark-{os.getpid()}-death"
    command = [sys.executable, "-P", "-c", _RUNNER, str(tmp_path), mark]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment) as runner:
        assert runner.stdout is not None
        assert runner.stdout.readline() == b"running\n"
        assert marked(mark)
        runner.kill()
    until = time.monotonic() + PATIENCE_S
    while marked(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert marked(mark) == []


def test_a_second_sweep_repeats_the_first_answer(tmp_path: Path) -> None:
    with running("pass", tmp_path) as child:
        child.wait(PATIENCE_S)
        assert child.sweep() == 0
        assert child.sweep() == 0


def test_files_are_the_owners_alone_and_written_before_the_start(tmp_path: Path) -> None:
    config = tmp_path / "home" / "config.json"
    plain = launch_of(f"import os; print(oct(os.stat({str(config)!r}).st_mode & 0o777))", tmp_path)
    launch = Launch(argv=plain.argv, env=plain.env, cwd=plain.cwd, conversation=Prompt(""), files={config: "{}"})
    child = start(launch, now=lambda: Stamp(us=0))
    assert lines_of(child) == [b"0o600"]
    child.sweep()


def test_a_conversation_goes_on_until_it_is_closed(tmp_path: Path) -> None:
    program = "import sys\nfor line in sys.stdin: print('heard', line.strip(), flush=True)"

    class Talk:
        def opening(self) -> Say:
            return Say(data=b"one\n")

        def answer(self, _line: object, /) -> Say:
            return Say(data=b"two\n", close=True)

        def interrupt(self) -> Say:
            return Say()

    plain = launch_of(program, tmp_path)
    talk = Talk()
    child = start(Launch(argv=plain.argv, env=plain.env, cwd=plain.cwd, conversation=talk), now=lambda: Stamp(us=0))
    first = child.next_line(PATIENCE_S)
    assert first is not None
    child.say(talk.answer({}))
    assert [first.data, *lines_of(child)] == [b"heard one", b"heard two"]
    child.sweep()


@pytest.mark.parametrize(
    ("program", "folder", "words"),
    [("relative", None, "absolute"), ("/nowhere/at/all", None, "no program"), (sys.executable, "absent", "not there")],
)
def test_what_cannot_be_started_is_said(tmp_path: Path, program: str, folder: str | None, words: str) -> None:
    launch = Launch(argv=(program,), env={}, cwd=tmp_path / folder if folder else tmp_path, conversation=Prompt(""))
    with pytest.raises(StartError, match=words):
        start(launch, now=lambda: Stamp(us=0))


def test_a_program_inherits_its_three_pipes_and_nothing_of_the_runner(tmp_path: Path) -> None:
    with running("import os; print(len(os.listdir('/dev/fd')))", tmp_path) as child:
        # Listing the folder takes one descriptor itself.
        assert lines_of(child) == [b"4"]
