"""The only place where the live tier runs one turn of a program through the real driver, and looks for what is left.

What a program leaves behind is found by a mark in its environment, which every descendant inherits, whatever session,
group or parent it moves to. So the driver's own sweep is judged by a witness that shares nothing with it.
"""

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.caps import CapMeter
from harness.clock import NS_PER_US
from harness.drive import TurnLimits, drive_turn
from harness.events import AgentEnd, Event
from harness.facts import DEFAULT_CAPS
from harness.kinds import Harness
from harness.launch import Conversation, Launch, Say
from harness.programs.vocabulary import KINDS_OF
from harness.record import TurnRecord

MARK = "EVENHAND_LIVE_TURN"
# A killed process may need a moment to leave the process table.
LEAVING_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTurn:
    """A turn that was run.

    Attributes:
        record: Its record.
        terminal_events: How many terminal events were emitted.
        exit_code: The program's exit; None when it was never seen.
        overshoot_s: Time between the deadline and the end; None when it was kept.
        survivors: Processes that were still there after the driver's sweep.
        crash: Why the turn counts as crashed; None when it does not.
        kinds: Kinds of lines that its stream held.
        wall_us: Wall clock of the start and the end, microseconds since 1970.
    """

    record: TurnRecord
    terminal_events: int
    exit_code: int | None
    overshoot_s: float | None
    survivors: int
    crash: str | None
    wall_us: tuple[int, int]
    kinds: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Heard:
    """A conversation that also notes the kinds of the program's lines; it says what the other says."""

    harness: Harness
    conversation: Conversation
    kinds: set[str] = field(default_factory=set)

    def opening(self) -> Say:
        return self.conversation.opening()

    def answer(self, line: Mapping[str, object], /) -> Say:
        self.kinds.update(KINDS_OF[self.harness](line))
        return self.conversation.answer(line)

    def interrupt(self) -> Say:
        return self.conversation.interrupt()


def run_turn(
    harness: Harness, launch: Launch, *, mark: str, timeout_s: float, cap: int | None = None, turn: int = 1
) -> LiveTurn:
    """Run one turn to its end, its cap or its deadline.

    Args:
        harness: Whose stream it is.
        launch: How it is started.
        mark: A word that no other turn on this machine carries.
        timeout_s: The turn's limit.
        cap: The turn cap; None means none.
        turn: Number of the dialogue's turn, from 1.
    """
    ends: list[Event] = []
    heard = _Heard(harness, launch.conversation)
    began_us = _wall_us()
    driven = drive_turn(
        harness,
        replace(launch, env={**launch.env, MARK: mark}, conversation=heard),
        meter=CapMeter(DEFAULT_CAPS[harness], limit=cap),
        wall_us=_wall_us,
        monotonic_ns=time.monotonic_ns,
        limits=TurnLimits(timeout_s=timeout_s),
        listeners=(lambda event: ends.append(event) if isinstance(event, AgentEnd) else None,),
        turn=turn,
    )
    ended_us = _wall_us()
    return LiveTurn(
        record=driven.record,
        terminal_events=len(ends),
        exit_code=driven.exit_code,
        overshoot_s=None if driven.overshoot_us is None else driven.overshoot_us / 1e6,
        survivors=_still_there(mark),
        crash=driven.crash,
        wall_us=(began_us, ended_us),
        kinds=frozenset(heard.kinds),
    )


def _wall_us() -> int:
    return time.time_ns() // NS_PER_US


def _still_there(mark: str) -> int:
    end = time.monotonic() + LEAVING_S
    while marked(mark) and time.monotonic() < end:
        time.sleep(0.05)
    return len(marked(mark))


def marked(mark: str) -> tuple[int, ...]:
    """Return the processes that carry a mark in their environment."""
    wanted = f"{MARK}={mark}".encode()
    return tuple(int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and wanted in _environ(path))


def _environ(process: Path) -> list[bytes]:
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def sweep(mark: str) -> int:
    """Kill what carries a mark, until nothing does; return how many there were."""
    killed: set[int] = set()
    for _ in range(20):
        found = marked(mark)
        if not found:
            break
        for pid in found:
            _kill(pid)
        killed.update(found)
        time.sleep(0.05)
    return len(killed)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def spans_of(folder: Path) -> tuple[tuple[int, int], ...]:
    """Return what the tools stamped themselves, (start, end) in microseconds since 1970; unfinished ones are absent."""
    rows = [path.read_text(encoding="ascii").split() for path in sorted(folder.glob("*.times"))]
    return tuple((int(row[0]) // NS_PER_US, int(row[1]) // NS_PER_US) for row in rows if len(row) == 2)


def union_us(spans: tuple[tuple[int, int], ...]) -> int:
    """Return the length of the union of spans."""
    total, reached = 0, 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total
