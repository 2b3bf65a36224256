"""The only place for what a timed run is once it was read: trials, turns, messages, tool spans, and what they mean.

Two recorders write such runs, coder_eval and our own harness package. Times inside a turn are microseconds from the
turn's earliest recorded stamp, because a recorder's wall clock may have no time zone and only differences within one
turn are safe. None means that it was not measured, 0 that it was and took no measurable time.
"""

from dataclasses import dataclass
from enum import StrEnum

from manifests.finding import Finding


class Layout(StrEnum):
    """The recorded layouts of a task document."""

    CURRENT = "coder_eval"
    LEGACY = "coder_eval_legacy"
    OURS = "evenhand_harness"


class TimingQuality(StrEnum):
    """What a reader of a turn's times must know before comparing them."""

    LEGACY_CLAMPED = "legacy_clamped"
    SPANS_WITHOUT_BOUNDS = "spans_without_bounds"
    UNION_DERIVED = "union_derived"
    UNMEASURED_WINDOW = "unmeasured_window"
    INVERTED_SPAN = "inverted_span"
    MIXED_ZONES = "mixed_zones"
    BRIDGED = "bridged"
    ARRIVAL_BRIDGED = "arrival_bridged"
    START_LATE = "start_late"
    HEAD_NOT_SEPARATED = "head_not_separated"
    WINDOW_BEFORE_REQUEST = "window_before_request"


class CapUnitSource(StrEnum):
    """Where a trial's cap unit comes from."""

    RECORDED = "recorded"
    VERSION = "version"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedMessage:
    """One assistant message; column meanings in analysis/sql/timing_schema.sql."""

    index: int
    message_id: str | None = None
    parent: str | None = None
    start_us: int | None = None
    close_us: int | None = None
    raw_ms: float | None = None
    generation_ms: float | None = None
    first_delta_latency_ms: float | None = None
    uncached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_read_tokens: int | None = None
    output_tokens: int | None = None
    tool_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedSpan:
    """One tool call; column meanings in analysis/sql/timing_schema.sql."""

    call_id: str
    sequence: int
    tool: str
    status: str | None = None
    main_thread: bool = True
    start_us: int | None = None
    end_us: int | None = None
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedTurn:
    """One turn; column meanings in analysis/sql/timing_schema.sql."""

    index: int
    iteration: int | None = None
    session_id: str | None = None
    first_turn: bool
    crashed: bool = False
    max_turns_exhausted: bool = False
    duration_ms: float | None = None
    head_ms: float | None = None
    generation_ms: float | None = None
    tool_union_ms: float | None = None
    tail_ms: float | None = None
    turn_to_first_delta_ms: float | None = None
    orphan_wait_ms: float | None = None
    model_calls: int | None = None
    tool_calls: int | None = None
    uncached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_read_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    start_us: int | None = None
    end_us: int | None = None
    quality: tuple[TimingQuality, ...] = ()
    messages: tuple[TimedMessage, ...] = ()
    spans: tuple[TimedSpan, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedTrial:
    """One attempt of one arm at one task; column meanings in analysis/sql/timing_schema.sql."""

    trial_id: str
    where: str
    layout: Layout
    arm: str
    harness: str
    task: str
    attempt: int | None = None
    model: str | None = None
    started_at: str | None = None
    duration_ms: float | None = None
    setup_ms: float | None = None
    grading_ms: float | None = None
    retry_wait_ms: float | None = None
    probe_ms: float | None = None
    agent_wall_ms: float | None = None
    unaccounted_ms: float | None = None
    final_status: str | None = None
    category: str | None = None
    time_limited: bool = False
    capped: bool = False
    cap_unit: str | None = None
    cap_unit_source: CapUnitSource = CapUnitSource.ASSUMED
    cap_limit: int | None = None
    score: float | None = None
    ignored_fields: tuple[str, ...] | None = None
    max_output_tokens: int | None = None
    output_limit_standing: str | None = None
    jobs: int | None = None
    at_once: int | None = None
    limits: tuple[tuple[str, str], ...] = ()
    simulated: bool = False
    sha256: str
    turns: tuple[TimedTurn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedEvidence:
    """Every timed trial below the given folders.

    Attributes:
        trials: Sorted by place.
        findings: What could not be read, or was read with doubt.
    """

    trials: tuple[TimedTrial, ...]
    findings: tuple[Finding, ...] = ()
