"""The only place that runs an attempt's turns: each turn of the dialogue, its repetitions, and the limits of the whole.

Every turn and every repetition starts its count and its turn limit afresh; the task limit runs through all of them and
through the waits between. A turn that failed stays in the record beside its repetition.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from harness.background import background_bound
from harness.caps import CapMeter, CapPolicy
from harness.clock import NS_PER_US, Deadline
from harness.drive import DrivenTurn, TurnLimits, Watch, drive_turn
from harness.failures import Cause, failure_category
from harness.kinds import EndStatus, StreamEnd
from harness.launch import TurnRequest
from harness.limits import RunLimits, exceeded_budget
from harness.prices import Prices
from harness.programs.program import Program
from harness.record import TurnRecord
from harness.retry import JITTER_SHARE, retry_rule
from harness.statuses import Status
from harness.tokens import TokenBuckets

_NS_PER_S = 1_000_000_000
Ask = Callable[[str | None], TurnRequest]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What an attempt takes from outside.

    Attributes:
        wall_us: The wall clock, microseconds since 1970.
        monotonic_ns: The monotonic clock, nanoseconds.
        sleep: Waits for a number of seconds.
        jitter: Draws from [0, 1) for the spread of the waits.
        stop: Asked again and again; True ends what goes on as an interrupt does.
    """

    wall_us: Callable[[], int]
    monotonic_ns: Callable[[], int]
    sleep: Callable[[float], None]
    jitter: Callable[[], float]
    stop: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptTurns:
    """The turns of an attempt that is over.

    Attributes:
        turns: Every turn in order; a repetition follows the turn that failed and has its iteration.
        happened: Endings that running brought about, for `harness.statuses.final_status`.
        exhausted: Whether a turn ended at its cap.
        interrupted: The runner itself was told to stop.
        retry_wait_us: Waits before repetitions, microseconds; 0 when nothing was repeated.
        category: Category of the failure that stands; None when none does.
    """

    turns: tuple[DrivenTurn, ...]
    happened: frozenset[Status]
    exhausted: bool
    interrupted: bool
    retry_wait_us: int
    category: str | None


def run_turns(
    program: Program,
    asks: Sequence[Ask],
    *,
    limits: RunLimits,
    cap: CapPolicy,
    around: Surroundings,
    watch: Watch | None = None,
) -> AttemptTurns:
    """Run the dialogue until it is over or something ends it.

    Args:
        program: The harness's program.
        asks: One per turn; given the session of the turn before, None at first, it returns what to ask.
        limits: The attempt's limits.
        cap: What the turn cap counts.
        around: Clocks, sleep and chance.
        watch: Told every event; returns True to stop early. Not heard when the limits forbid early stops.

    Raises:
        LaunchError: When the program cannot be started as asked.
        StartError: When the program cannot be started.
    """
    heard = None if limits.stop_early is False else watch
    attempt = _Attempt(program, limits, cap, around=around, watch=heard)
    session: str | None = None
    for iteration, ask in enumerate(asks, start=1):
        turn = attempt.turn(ask(session), iteration)
        if turn.record.status is not EndStatus.COMPLETED or attempt.happened or attempt.interrupted:
            break
        session = turn.record.summary.session_id
    return attempt.result()


class _Attempt:
    """An attempt while it goes on."""

    def __init__(
        self, program: Program, limits: RunLimits, cap: CapPolicy, *, around: Surroundings, watch: Watch | None
    ) -> None:
        self.happened: set[Status] = set()
        self.interrupted = False
        self._program = program
        self._limits = limits
        self._cap = cap
        self._around = around
        self._watch = watch
        self._turns: list[DrivenTurn] = []
        self._waited_ns = 0
        self._category: str | None = None
        limit_s = limits.task_timeout_s
        self._deadline = (
            None if limit_s is None else Deadline(limit_ns=round(limit_s * _NS_PER_S), monotonic_ns=around.monotonic_ns)
        )

    def turn(self, request: TurnRequest, iteration: int) -> DrivenTurn:
        """Run one turn, repeated as its failure allows."""
        repeated = 0
        while True:
            turn = self._once(request, iteration)
            self._category = _category(turn)
            self._book(turn)
            delays_s = () if self._category is None else retry_rule(self._category).delays_s
            if self.happened or self.interrupted or repeated >= len(delays_s):
                break
            if not self._wait(delays_s[repeated]):
                self.happened.update(() if self.interrupted else (Status.TIMEOUT,))
                break
            repeated += 1
        if self._category is not None and Status.TIMEOUT not in self.happened and not self.interrupted:
            self.happened.add(Status.ERROR)
        return turn

    def result(self) -> AttemptTurns:
        """Return what is known at the end."""
        return AttemptTurns(
            turns=tuple(self._turns),
            happened=frozenset(self.happened),
            exhausted=any(turn.record.status is EndStatus.MAX_TURNS_EXHAUSTED for turn in self._turns),
            interrupted=self.interrupted,
            retry_wait_us=self._waited_ns // NS_PER_US,
            category=self._category,
        )

    def _once(self, request: TurnRequest, iteration: int) -> DrivenTurn:
        bounds = [self._limits.turn_timeout_s, self._left_s()]
        known = [bound for bound in bounds if bound is not None]
        turn = drive_turn(
            self._program.harness,
            self._program.launch(request),
            meter=CapMeter(self._cap, limit=self._limits.max_turns),
            wall_us=self._around.wall_us,
            monotonic_ns=self._around.monotonic_ns,
            limits=TurnLimits(
                timeout_s=min(known) if known else None, background=background_bound(self._limits.turn_timeout_s)
            ),
            watch=self._watch,
            turn=iteration,
            stop=self._around.stop,
        )
        if request.prices is not None:
            turn = replace(turn, record=_priced(turn.record, request.prices))
        self._turns.append(turn)
        self.interrupted = self.interrupted or turn.interrupted
        return turn

    def _book(self, turn: DrivenTurn) -> None:
        """Note what the turn brought about: the task's own limit, or a budget that is overspent."""
        if turn.record.status is EndStatus.TIMEOUT and self._deadline is not None and self._deadline.passed():
            self.happened.add(Status.TIMEOUT)
        usage, cost_usd = _spent(self._turns)
        overspent = exceeded_budget(self._limits, usage, cost_usd)
        if overspent is not None:
            self.happened.add(overspent)

    def _wait(self, delay_s: float) -> bool:
        """Wait before a repetition; False when the task's limit leaves no time for it, or an interrupt ended it."""
        wait_s = delay_s * (1 + JITTER_SHARE * self._around.jitter())
        left_s = self._left_s()
        if left_s is not None and wait_s >= left_s:
            return False
        before_ns = self._around.monotonic_ns()
        try:
            self._around.sleep(wait_s)
            self.interrupted = self._around.stop()
        except KeyboardInterrupt:
            # What ran before the wait is known and must not be lost with it.
            self.interrupted = True
        self._waited_ns += self._around.monotonic_ns() - before_ns
        return not self.interrupted

    def _left_s(self) -> float | None:
        return None if self._deadline is None else max(self._deadline.remaining_ns() / _NS_PER_S, 0.0)


def _category(turn: DrivenTurn) -> str | None:
    status = turn.record.status
    if status is None or turn.interrupted:
        return None
    summary = turn.record.summary
    drifted = summary.recognised == 0 and summary.end is StreamEnd.OPEN and turn.exit_code == 0
    return failure_category(
        Cause(
            status=status,
            vocabulary_drift=drifted,
            provider_status=summary.provider_status,
            provider_words=summary.provider_words,
        )
    )


def _priced(record: TurnRecord, prices: Prices) -> TurnRecord:
    """Return the record with the cost by the declared prices in place of the program's own figure."""
    return replace(record, summary=replace(record.summary, cost_usd=prices.cost_usd(record.summary.usage)))


def _spent(turns: Sequence[DrivenTurn]) -> tuple[TokenBuckets | None, float | None]:
    """Return tokens and cost of all turns; what one of them did not measure is unknown."""
    usages = [turn.record.summary.usage for turn in turns]
    costs = [turn.record.summary.cost_usd for turn in turns]
    known_usages = [usage for usage in usages if usage is not None]
    known_costs = [cost for cost in costs if cost is not None]
    usage = None
    if len(known_usages) == len(turns):
        usage = TokenBuckets(
            uncached_input=_sum([usage.uncached_input for usage in known_usages]),
            cache_write=_sum([usage.cache_write for usage in known_usages]),
            cache_read=_sum([usage.cache_read for usage in known_usages]),
            output=_sum([usage.output for usage in known_usages]),
        )
    return usage, sum(known_costs) if len(known_costs) == len(turns) else None


def _sum(parts: Sequence[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
