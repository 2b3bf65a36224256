"""The only place that makes many attempts: in the order given, several at a time, each written once.

A thread makes one attempt after another. They are started one at a time and in order: the next begins only when the one
before has read its clock. A stop is an event that every attempt looks at, because a thread hears no Ctrl-C.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from enum import Enum

from harness.attempt import Surroundings
from harness.experiment.claim import TRY, Claim, claimed
from harness.experiment.gauge import Gauge
from harness.kinds import Harness
from harness.run_folder import DOCUMENT, attempt_folder
from harness.tasks.attempt import Attempt, Labels
from harness.tasks.run_log import RunLog, Written

# How long a signal may go unnoticed, in seconds.
_LOOK_S = 0.2


class State(Enum):
    """What became of a planned attempt in this run."""

    MADE = "made"  # written by this run
    BEFORE = "written_before"
    ELSEWHERE = "elsewhere"  # another runner is at it
    INTERRUPTED = "interrupted"  # begun and not written; to be made again
    OPEN = "not_begun"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """An attempt that is to be made.

    Attributes:
        position: Its place in the order of starts, from 1.
        arm: Name of the arm.
        task_id: Public task name.
        attempt: Attempt number from 0.
        harness: Which program makes it.
    """

    position: int
    arm: str
    task_id: str
    attempt: int
    harness: Harness

    @property
    def labels(self) -> Labels:
        """What it is filed under."""
        return Labels(arm=self.arm, attempt=self.attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a planned attempt.

    Attributes:
        planned: Which.
        state: What this run did about it.
        made: The attempt; None when this run made none.
        written: What was written of it; None when nothing was.
    """

    planned: Planned
    state: State
    made: Attempt | None = None
    written: Written | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a run is.

    Attributes:
        done: Planned attempts whose documents stand, those written before included.
        total: Planned attempts.
        running: Attempts that go on.
        last: What has just become of an attempt; None when one has just begun.
    """

    done: int
    total: int
    running: int
    last: Outcome | None


Make = Callable[[Planned, Surroundings], Attempt]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a run goes about its attempts.

    Attributes:
        jobs: Attempts at a time, at least 1.
        keep_interrupted: Whether an attempt that an interrupt ended is written and stands; else it is made again.
    """

    jobs: int = 1
    keep_interrupted: bool = False


def run_planned(
    planned: Sequence[Planned],
    make: Make,
    log: RunLog,
    *,
    around: Surroundings,
    stop: threading.Event,
    rules: Rules,
    tell: Callable[[Standing], None],
) -> tuple[Outcome, ...]:
    """Make every planned attempt that is not written yet.

    Args:
        planned: The attempts, in the order of their starts.
        make: Makes one; called in a thread of its own.
        log: The record of the run folder.
        around: Clocks and chance; its sleep and its stop are replaced by the event's.
        stop: Set from outside, it ends what goes on and begins nothing more; an attempt that fails sets it.
        rules: How many at a time, and what an interrupt leaves.
        tell: Told how far the run is, one call at a time, from any thread.

    Returns:
        What became of each, in the order given.

    Raises:
        LaunchError: When a program cannot be started as asked; what was written stands.
        StartError: When a process cannot be started.
        JournalError: When the run folder's journal was altered.
        OSError: When an attempt cannot be written.
    """
    run = _Run(planned, make, log, around=around, stop=stop, rules=rules, tell=tell)
    with ThreadPoolExecutor(rules.jobs, thread_name_prefix="attempts") as pool:
        threads = [pool.submit(run.work) for _ in range(rules.jobs)]
        try:
            # A signal may reach another thread than this one, which runs its handler only when it wakes.
            while wait(threads, timeout=_LOOK_S).not_done:
                pass
        finally:
            # Only an interrupt of the caller's own thread leaves the wait before they are done.
            if not all(thread.done() for thread in threads):
                stop.set()
    for thread in threads:
        thread.result()
    return run.result()


class _Run:
    """A run while it goes on; its threads share it."""

    def __init__(
        self,
        planned: Sequence[Planned],
        make: Make,
        log: RunLog,
        *,
        around: Surroundings,
        stop: threading.Event,
        rules: Rules,
        tell: Callable[[Standing], None],
    ) -> None:
        self._planned = planned
        self._make = make
        self._log = log
        self._around = around
        self._stop = stop
        self._rules = rules
        self._tell = tell
        self._gauge = Gauge(rules.jobs)
        self._queue = deque(planned)
        self._starting = threading.Lock()
        self._telling = threading.Lock()
        self._outcomes: dict[int, Outcome] = {}

    def work(self) -> None:
        """Make attempts until none is left or the run is told to stop; what fails ends the run."""
        whole = False
        try:
            while self._next():
                pass
            whole = True
        finally:
            if not whole:
                self._stop.set()

    def result(self) -> tuple[Outcome, ...]:
        """Return what became of each attempt."""
        return tuple(
            self._outcomes.get(planned.position, Outcome(planned=planned, state=State.OPEN))
            for planned in self._planned
        )

    def _next(self) -> bool:
        """Take the next attempt and see it through; False when there is none to take."""
        turn = _Turn(self._starting)
        try:
            if self._stop.is_set() or not self._queue:
                return False
            planned = self._queue.popleft()
            self._book(self._seen_through(planned, turn))
        finally:
            turn.over()
        return True

    def _seen_through(self, planned: Planned, turn: "_Turn") -> Outcome:
        folder = attempt_folder(self._log.run, planned.arm, planned.task_id, attempt=planned.attempt)
        if (folder / DOCUMENT).exists() and not (folder / TRY).exists():
            return Outcome(planned=planned, state=State.BEFORE)
        with claimed(folder, pause=self._pause) as claim:
            if claim is None:
                there = (folder / DOCUMENT).exists()
                return Outcome(planned=planned, state=State.BEFORE if there else State.ELSEWHERE)
            if claim.done:
                self._log.confirm(planned.task_id, planned.labels)
                claim.clear()
                return Outcome(planned=planned, state=State.BEFORE)
            return self._made(planned, claim, turn)

    def _made(self, planned: Planned, claim: Claim, turn: "_Turn") -> Outcome:
        around = replace(self._around, sleep=self._pause, stop=self._stop.is_set, wall_us=turn.ending(self._around))
        findings = claim.begin()
        again = claim.number > 1
        self._log.begin(planned.task_id, planned.labels, harness=planned.harness.value, again=again)
        self._gauge.enter(planned.position)
        self._say(None)
        try:
            made = self._make(planned, around)
        finally:
            concurrency = self._gauge.leave(planned.position)
        found = (*made.record.findings, *findings)
        made = replace(made, record=replace(made.record, findings=found, concurrency=concurrency))
        if made.undecided or (made.interrupted and not self._rules.keep_interrupted):
            self._log.abandon(made, number=claim.number)
            claim.interrupted()
            return Outcome(planned=planned, state=State.INTERRUPTED, made=made)
        written = self._log.finish(made)
        claim.clear()
        state = State.INTERRUPTED if made.interrupted else State.MADE
        return Outcome(planned=planned, state=state, made=made, written=written)

    def _book(self, outcome: Outcome) -> None:
        self._outcomes[outcome.planned.position] = outcome
        self._say(outcome)

    def _say(self, last: Outcome | None) -> None:
        with self._telling:
            running = self._gauge.running
            done = sum(outcome.state in {State.MADE, State.BEFORE} for outcome in tuple(self._outcomes.values()))
            self._tell(Standing(done=done, total=len(self._planned), running=running, last=last))

    def _pause(self, seconds: float) -> None:
        self._stop.wait(seconds)


class _Turn:
    """The right to start an attempt: held until the attempt has read its clock, so that starts keep their order."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock
        self._lock.acquire()
        self._held = True

    def over(self) -> None:
        """Let the next attempt start; may be called again."""
        if self._held:
            self._held = False
            self._lock.release()

    def ending(self, around: Surroundings) -> Callable[[], int]:
        """Return the wall clock whose first reading gives the turn away."""

        def read() -> int:
            now = around.wall_us()
            self.over()
            return now

        return read
