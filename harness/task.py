"""The only place for what a task run holds around its turns: set-up, grading, retry waits, and what is left over.

These buckets have another scope than the turn's four and are never added to them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from harness.caps import CapPolicy
from harness.clock import NS_PER_US
from harness.kinds import EndStatus, Harness
from harness.limits import RunLimits
from harness.record import Exact, TurnRecord, sum_measured


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyStop:
    """What the checks that may stop an attempt early decided.

    Attributes:
        armed: How many checks are armed, positive.
        passed: How many of them passed while the agent worked.
        disarmed: Whether a check that could not be made took the right to stop away.
        stopped: Whether the attempt was stopped early.
    """

    armed: int
    passed: int
    disarmed: bool = False
    stopped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Concurrency:
    """How many attempts shared the machine.

    Attributes:
        jobs: Attempts that the run was allowed to make at a time, at least 1.
        at_once: The most that went on at any instant of this attempt, itself included; of this run alone.
    """

    jobs: int
    at_once: int


class CostBasis(Enum):
    """Who reckoned the cost of an attempt's turns."""

    DECLARED = "declared-prices"  # tokens by the price list that the caller declared, the same for every harness
    PROGRAM = "harness-reported"  # the program's own figure


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """One attempt of one arm at one task.

    Attributes:
        task_id: Public task name; may hold slashes.
        arm: Name of the arm.
        harness: Which harness ran it.
        attempt: Attempt number from 0.
        model: Model label, or None.
        started_wall_us: Wall clock at the start, microseconds since 1970.
        duration_us: The whole attempt on the monotonic clock; None when not taken.
        setup_us: Work before the first turn, without version probing; None when not taken.
        grading_us: Sum of all checks; None when ungraded.
        retry_wait_us: Waits between a failed turn and its repetition; None when not taken.
        probe_us: Version probing that this attempt paid for; None when not taken.
        final_status: How the attempt ended, in coder_eval's words.
        score: Weighted score in [0, 1]; None when unmeasured.
        cap: What its turn cap counts; None without a cap.
        cap_limit: The cap; None without one.
        turns: Its turns in order; a retry is a further turn of the same iteration.
        simulated: True when no real model ran.
        category: Category of the failure that stands, a key of `harness.retry.RULES`; None when none does.
        limits: What bounded it; None when nobody says.
        conditions: Value by factor of what a comparison must hold, as far as the runner knows it.
        task_digest: SHA-256 of the task, 64 hex digits; None when not taken.
        harness_version: Version that the program prints; None when it was not asked or has no answer.
        cost_basis: Who reckoned the turns' costs; None when nobody says.
        ignored: Fields of the request that the program cannot honour, by name, sorted.
        findings: What a reader of the attempt must know, in words of ours; never a program's.
        output_limit: Output tokens that each request was asked to keep to; None leaves the provider's default,
            which nobody verified.
        concurrency: How many attempts shared the machine; None when that was not noted.
        early_stop: What the armed checks decided; None when none was armed.
    """

    task_id: str
    arm: str
    harness: Harness
    attempt: int = 0
    model: str | None = None
    started_wall_us: int
    duration_us: int | None = None
    setup_us: int | None = None
    grading_us: int | None = None
    retry_wait_us: int | None = None
    probe_us: int | None = None
    final_status: str
    score: float | None = None
    cap: CapPolicy | None = None
    cap_limit: int | None = None
    turns: tuple[TurnRecord, ...] = ()
    simulated: bool = False
    category: str | None = None
    limits: RunLimits | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    task_digest: str | None = None
    harness_version: str | None = None
    cost_basis: CostBasis | None = None
    ignored: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    output_limit: int | None = None
    concurrency: Concurrency | None = None
    early_stop: EarlyStop | None = None

    def agent_wall_us(self) -> int | None:
        """Return the sum of the turns' positive durations, or None when no turn has one."""
        known = [turn.duration_us for turn in self.turns if turn.duration_us is not None and turn.duration_us > 0]
        return sum(known) if known else None

    def unaccounted_us(self) -> Exact | None:
        """Return what no bucket holds; None when the attempt was not timed, and 0 is not a time."""
        if not self.duration_us:
            return None
        outside = (self.setup_us, self.grading_us, self.retry_wait_us, self.probe_us)
        held = sum_measured((*outside, *(turn.accounted_us() for turn in self.turns)))
        return self.duration_us - (held if held is not None else 0)

    def exhausted(self) -> bool:
        """Tell whether a turn ended at the cap."""
        return any(turn.status is EndStatus.MAX_TURNS_EXHAUSTED for turn in self.turns)


@dataclass(slots=True)
class ProbeCache:
    """Asks each program for its version once per run, so that an attempt's set-up is work.

    Attributes:
        probe: Asks a program; None means that it has no answer.
        monotonic_ns: The monotonic clock.
        cost_us: What asking has cost so far, in microseconds; it belongs to the run.
    """

    probe: Callable[[str], str | None]
    monotonic_ns: Callable[[], int]
    cost_us: int = 0
    _known: dict[str, str | None] = field(default_factory=dict)

    def version(self, program: str) -> str | None:
        """Return a program's version, asking at most once; None when it has no answer."""
        if program not in self._known:
            before = self.monotonic_ns()
            self._known[program] = self.probe(program)
            self.cost_us += (self.monotonic_ns() - before) // NS_PER_US
        return self._known[program]
