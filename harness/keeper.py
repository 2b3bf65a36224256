"""The only place that keeps a program and everything it starts in reach, so that nothing of it survives a stop.

Run as a script by `harness.process`, one small process per turn. Tools of a coding agent live in sessions of their own,
where no process group reaches them; here they stay descendants, because an orphan below becomes a child of this process
(Linux: PR_SET_CHILD_SUBREAPER). Elsewhere descendants are those of a snapshot that is taken before each kill.

It listens on one pipe (`t` ends the program politely, `k` kills it, `s` sweeps what is left and ends; the end of the
file, which is also the caller's death, is `s`) and answers on another, one line each: `pid N`, `failed ERRNO`,
`exit CODE MONOTONIC_NS`, `swept N`. It imports little, because a turn waits for its start.
"""

import os
import select
import signal
import sys
import time

_SUBREAPER = 36
_SWEEP_S = 5.0
_PAUSE_S = 0.01


def main(arguments: list[str]) -> int:
    """Run the program, keep it, and sweep; the arguments are two descriptors and the program's own."""
    control, status, argv = int(arguments[0]), int(arguments[1]), arguments[2:]
    os.setsid()
    for number in (control, status):
        # The program must neither take our orders nor speak in our name.
        os.set_inheritable(number, False)  # noqa: FBT003  # its only spelling
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(name, signal.SIG_IGN)
    reaping = _become_subreaper()
    leader = os.fork()
    if leader == 0:
        _become(argv, status)
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(quiet, number)
    _say(status, f"pid {leader}")
    _say(status, f"swept {_keep(leader, control, status, reaping=reaping)}")
    return 0


def _become(argv: list[str], status: int) -> None:
    """Turn the forked process into the program, in a session of its own."""
    try:
        os.setsid()
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(name, signal.SIG_DFL)
        os.execv(argv[0], argv)  # noqa: S606  # no shell is wanted
    except OSError as fault:
        _say(status, f"failed {fault.errno}")
    finally:
        os._exit(127)


def _keep(leader: int, control: int, status: int, *, reaping: bool) -> int:
    """Wait for the program and for orders; return how many processes the sweep killed."""
    alive = True
    while True:
        ready, _, _ = select.select([control], [], [], _PAUSE_S)
        alive = _reap(leader, status) and alive
        order = os.read(control, 1) if ready else b"-"
        if order == b"t" and alive:
            os.kill(leader, signal.SIGTERM)
        elif order == b"k" and alive:
            os.kill(leader, signal.SIGKILL)
        elif order in {b"s", b""}:
            return _sweep(leader, status, reaping=reaping)


def _reap(leader: int, status: int) -> bool:
    """Collect what has ended; return whether the program is still running, as far as this call saw."""
    running = True
    while True:
        try:
            ended, how = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return running
        if ended == 0:
            return running
        if ended == leader:
            running = False
            _say(status, f"exit {os.waitstatus_to_exitcode(how)} {time.monotonic_ns()}")


def _sweep(leader: int, status: int, *, reaping: bool) -> int:
    """Kill every descendant, again and again until there is none; return how many there were beside the program."""
    killed: set[int] = set()
    until = time.monotonic() + _SWEEP_S
    while time.monotonic() < until:
        found = descendants(os.getpid())
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed.add(pid)
        _reap(leader, status)
        if not found and (not reaping or not _has_children()):
            break
        time.sleep(_PAUSE_S)
    return len(killed - {leader})


def _has_children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def descendants(root: int) -> list[int]:
    """Return the living descendants of a process, the deepest last."""
    parents = _parents_from_proc() if sys.platform.startswith("linux") else _parents_from_ps()
    found, level = [], [root]
    while level:
        level = [pid for pid, parent in parents.items() if parent in level]
        found += level
    return found


def _parents_from_proc() -> dict[int, int]:
    with os.scandir("/proc") as entries:
        pids = [int(entry.name) for entry in entries if entry.name.isdigit()]
    return {pid: parent for pid in pids if (parent := _living_parent(pid)) is not None}


def _living_parent(pid: int) -> int | None:
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        # The name stands in brackets and may hold anything, brackets too.
        state, parent, *_ = os.read(file, 4096).rpartition(b")")[2].split()
    except (OSError, ValueError):
        return None
    finally:
        os.close(file)
    return None if state in {b"Z", b"X"} else int(parent)


def _parents_from_ps() -> dict[int, int]:
    with os.popen("ps -axo pid=,ppid=") as lines:  # noqa: S605, S607  # a fixed command, where there is no /proc
        return {int(pid): int(parent) for pid, parent in (line.split() for line in lines)}


def _become_subreaper() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    return bool(ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0) == 0)


def _say(status: int, line: str) -> None:
    try:
        os.write(status, line.encode() + b"\n")
    except OSError:
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
