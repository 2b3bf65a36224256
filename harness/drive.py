"""The only place that runs one turn of a program: started, read, held to its limits, ended on every path, and recorded.

The verdict is the terminal event's and never the exit code's. The line that reaches a cap is handled whole and no line
after it. When several reasons to stop hold, a timeout outranks a deliberate stop, that the cap, and that a crash.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from harness.background import BackgroundBound, BackgroundWait
from harness.caps import CapMeter
from harness.clock import NS_PER_US, Deadline, Stamp, TurnClock
from harness.events import Event, ToolEnd, TurnEnd, TurnStart
from harness.invocation import Invocation, Listener
from harness.kinds import EndStatus, Harness, StreamEnd, ToolStatus, settle
from harness.launch import Launch
from harness.process import GRACE_S, Child, exit_stamp, start
from harness.record import Ending, TurnRecord
from harness.rollout import recovered

_TICK_S = 0.05
_NS_PER_S = 1_000_000_000
Clock = Callable[[], int]
Watch = Callable[[Event], bool]
Stop = Callable[[], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLimits:
    """What holds a turn.

    Attributes:
        timeout_s: Seconds from the turn's start; None means no limit.
        grace_s: Seconds between the polite request to end and the kill.
        drain_s: Seconds that a program's last lines may take after its exit while something else holds its pipe.
        background: How long a command that the program moved to the background is waited for; None for ever.
    """

    timeout_s: float | None = None
    grace_s: float = GRACE_S
    drain_s: float = 2.0
    background: BackgroundBound | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenTurn:
    """A turn that is over.

    Attributes:
        record: What was measured; partial where the turn was stopped.
        exit_code: The program's own; negative is a signal, None when it was never seen.
        overshoot_us: How long after its limit a timed-out turn was over, microseconds; None when it kept it.
        swept: Processes that the program left behind and that were killed; None when that is not known.
        skipped: Lines that were no JSON object.
        stderr_bytes: What the program wrote to its error output.
        crash: Why the turn counts as crashed, in words of ours; None when it does not.
        interrupted: The runner itself was told to stop.
    """

    record: TurnRecord
    exit_code: int | None
    overshoot_us: int | None
    swept: int | None
    skipped: int
    stderr_bytes: int
    crash: str | None
    interrupted: bool


def drive_turn(
    harness: Harness,
    launch: Launch,
    *,
    meter: CapMeter,
    wall_us: Clock,
    monotonic_ns: Clock,
    limits: TurnLimits | None = None,
    watch: Watch | None = None,
    listeners: Iterable[Listener] = (),
    turn: int = 1,
    stop: Stop | None = None,
) -> DrivenTurn:
    """Run one turn to its end.

    Args:
        harness: Which harness it is.
        launch: How its program is started.
        meter: Counts steps and calls, and says when the cap is reached; a fresh one for each turn and retry.
        wall_us: The wall clock, microseconds since 1970; read once.
        monotonic_ns: The monotonic clock of this system, nanoseconds.
        limits: What holds the turn; None holds it to nothing.
        watch: Told every event; returns True to stop the turn early after the line that made it.
        listeners: Told every event of the invocation.
        turn: Number of the turn in its dialogue, from 1.
        stop: Asked again and again; True ends the turn as an interrupt does. A thread hears no Ctrl-C of its own.

    Raises:
        StartError: When the program cannot be started.
    """
    zero_ns = monotonic_ns()
    clock = TurnClock(wall_us=wall_us, monotonic_ns=monotonic_ns)
    bounds = limits if limits is not None else TurnLimits()
    driver = _Driver(Invocation(harness, clock.anchor, turn=turn, listeners=listeners), meter, watch=watch, stop=stop)
    driver.background = BackgroundWait(bounds.background, monotonic_ns=monotonic_ns)
    limit_ns = None if bounds.timeout_s is None else round(bounds.timeout_s * _NS_PER_S)
    deadline = None if limit_ns is None else Deadline(limit_ns=limit_ns, monotonic_ns=monotonic_ns)
    driver.invocation.begin(clock.now())
    child = start(launch, now=clock.now)
    try:
        driver.read(child, launch, deadline=deadline, limits=bounds)
    except KeyboardInterrupt:
        driver.interrupted = True
    finally:
        driver.end(child, launch, bounds)
    end = clock.now()
    if child.exit is not None and not driver.reasons and not driver.interrupted:
        end = min(end, exit_stamp(child.exit, zero_ns=zero_ns))
    return driver.result(child, end, launch=launch, deadline=deadline)


class _Driver:
    """One turn while it goes on."""

    def __init__(self, invocation: Invocation, meter: CapMeter, *, watch: Watch | None, stop: Stop | None) -> None:
        self.invocation = invocation
        self.reasons: set[EndStatus] = set()
        self.interrupted = False
        self.background: BackgroundWait | None = None
        self._given_up: tuple[str, ...] = ()
        self._meter = meter
        self._watch = watch
        self._stop = stop
        self._skipped = 0
        self._overshoot_us: int | None = None
        self._swept: int | None = None
        self._generations: set[str] = set()
        self._resolved: set[str] = set()

    def read(self, child: Child, launch: Launch, *, deadline: Deadline | None, limits: TurnLimits) -> None:
        """Take line after line until the stream is over or something stops it."""
        drained_s = 0.0
        while not self.reasons and not child.ended:
            if self._stop is not None and self._stop():
                self.interrupted = True
                return
            if deadline is not None and deadline.passed():
                self.reasons.add(EndStatus.TIMEOUT)
                return
            left_s = _TICK_S if deadline is None else min(_TICK_S, max(deadline.remaining_ns() / _NS_PER_S, 0))
            line = child.next_line(left_s)
            if line is not None and _said_after(child.exit_heard, line.at, drain_s=limits.drain_s):
                return
            if line is not None and not (deadline is not None and deadline.passed()):
                self._take(child, launch, line.at, data=line.data)
                drained_s = 0.0
            elif line is None and child.exit is not None:
                drained_s += left_s
                if drained_s >= limits.drain_s:
                    return
            elif line is None and self._gives_up():
                return

    def end(self, child: Child, launch: Launch, limits: TurnLimits) -> None:
        """Stop the program where it still runs, and leave nothing of it behind."""
        try:
            if child.exit is None:
                child.say(launch.conversation.interrupt())
                if self.reasons or self._given_up or self.interrupted or child.wait(limits.drain_s) is None:
                    child.stop(limits.grace_s)
        finally:
            self._swept = child.sweep()

    def result(self, child: Child, end: Stamp, *, launch: Launch, deadline: Deadline | None) -> DrivenTurn:
        """Close the record and say how the turn ended."""
        crash = self._crash()
        status = settle(frozenset(self.reasons | ({EndStatus.CRASHED} if crash is not None else set())))
        if status is EndStatus.TIMEOUT and deadline is not None:
            self._overshoot_us = max(-deadline.remaining_ns() // NS_PER_US, 0)
        record = self.invocation.finish(end, status, duration_us=end - Stamp(us=0))
        deliberate = status in {EndStatus.TIMEOUT, EndStatus.STOPPED_EARLY, EndStatus.MAX_TURNS_EXHAUSTED}
        if launch.rollouts is not None and status is not EndStatus.STOPPED_EARLY:
            record = recovered(record, launch.rollouts)
        ending = Ending(
            exit_code=None if child.exit is None else child.exit.code,
            overshoot_us=self._overshoot_us,
            swept=self._swept,
            skipped=self._skipped,
            stderr_bytes=child.stderr_bytes,
            given_up=self._given_up,
        )
        return DrivenTurn(
            record=replace(record if launch.priced else _unpriced(record), ending=ending),
            exit_code=ending.exit_code,
            overshoot_us=ending.overshoot_us,
            swept=ending.swept,
            skipped=ending.skipped,
            stderr_bytes=ending.stderr_bytes,
            crash=None if deliberate else crash,
            interrupted=self.interrupted,
        )

    def _gives_up(self) -> bool:
        """Tell whether the turn no longer waits for what runs in the background; what that is, is kept."""
        waiting = self.invocation.summary().background
        if self.background is None or not self.background.over(waiting):
            return False
        self._given_up = waiting
        return True

    def _take(self, child: Child, launch: Launch, at: Stamp, *, data: bytes) -> None:
        line = _object(data)
        if line is None:
            self._skipped += bool(data.strip())
            return
        events = self.invocation.feed(at, line)
        child.say(launch.conversation.answer(line))
        # Every event of the line is counted: what reaches the cap is handled whole.
        reached = [self._counts(event) for event in events]
        if any(reached):
            self.reasons.add(EndStatus.MAX_TURNS_EXHAUSTED)
        wanted = [] if self._watch is None else [self._watch(event) for event in events]
        if any(wanted):
            self.reasons.add(EndStatus.STOPPED_EARLY)

    def _counts(self, event: Event) -> bool:
        """Count what an event is worth; tell whether the cap is reached."""
        match event:
            case TurnStart():
                name = event.message_id
                if name is not None and name in self._generations:
                    return False
                self._generations.update(() if name is None else (name,))
                return self._meter.step_started()
            case TurnEnd() if any(message.parent is None for message in event.messages):
                return self._meter.step_finished(final=self.invocation.summary().end is not StreamEnd.OPEN)
            case ToolEnd() if event.call.status is not ToolStatus.UNRESOLVED and event.call.parent is None:
                if event.call.call_id in self._resolved:
                    return False
                self._resolved.add(event.call.call_id)
                return self._meter.tool_resolved()
            case _:
                return False

    def _crash(self) -> str | None:
        """Say why the stream is no completed turn; None when its terminal event says that it is one."""
        summary = self.invocation.summary()
        if self.interrupted:
            return "the runner was interrupted"
        if summary.end is StreamEnd.CAPPED:
            self.reasons.add(EndStatus.MAX_TURNS_EXHAUSTED)
            return None
        if summary.end is StreamEnd.CLEAN:
            return None
        if summary.end is StreamEnd.FAILED:
            return "the program says that it failed"
        if summary.recognised == 0:
            named = f": {', '.join(summary.unknown)}" if summary.unknown else ""
            return f"no line of a known kind (vocabulary drift){named}"
        return "the stream ended without its terminal event"


def _said_after(exit_heard: Stamp | None, at: Stamp, *, drain_s: float) -> bool:
    """Tell whether a line came too late to be the program's own: something that it left behind holds its pipe.

    A line is stamped when it is read. Where this process itself was held up, what the program said before its end is
    read late, and so is the end; hence the time counts from when the end was heard of.
    """
    return exit_heard is not None and at - exit_heard > round(drain_s * _NS_PER_S) // NS_PER_US


def _unpriced(record: TurnRecord) -> TurnRecord:
    """Return the record without a cost: without a price the program's own figure is a zero that nobody measured."""
    return replace(record, summary=replace(record.summary, cost_usd=None))


def _object(data: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
