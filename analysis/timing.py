"""The only place that judges recorded timing: does a turn's wall clock add up, and what may be compared between arms.

A turn's head, generation, tool union and tail must fill its wall clock from both sides: a bucket that claims too much
and time that no bucket holds are both faults. The union is computed here once more, by another method than the
recorder's. First-turn heads and later heads of a dialogue are never pooled: a later one holds a session's replay.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from analysis.arm_clocks import Bucket, Spread
from analysis.buckets import accounted_ms, arm_buckets, residual_ms
from analysis.evidence.timed_run import TimedEvidence, TimedMessage, TimedSpan, TimedTrial, TimedTurn, TimingQuality

DEFAULT_MAX_RESIDUAL_PCT = 1.0
SHORT_TURN_MS = 1000.0
UNION_TOLERANCE_MS = 1e-6
SAME_EMISSION_GAP_MS = 100.0
SLOW_GENERATION_MS = 10_000.0
CAP_FLAG_SHARE = 0.05


class Skip(StrEnum):
    """Why a turn is not gated; a turn may have several reasons."""

    CRASHED = "crashed"
    NO_ENDS = "head and tail not measured"
    SHORT = "shorter than 1 s"
    NOT_TIMED = "no duration recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCheck:
    """One turn's wall clock, decomposed and checked.

    Attributes:
        where: Place of the task document.
        arm: The recorder's variant.
        harness: The recorder's agent type.
        simulated: The recorder says that no real model ran.
        turn: The turn as read.
        accounted_ms: head + generation + tool union + tail, skipping what was not measured; None when nothing was.
        residual_ms: Duration minus accounted_ms; negative when the buckets hold more than the turn. None when untimed.
        residual_share: |residual| as a share of the duration, in [0, inf); None when untimed.
        union_ms: The tool union computed again from the spans; None when no span is bounded.
        union_agrees: False when it differs from the stored one.
        skips: Why the turn is not gated; empty for a gated one.
    """

    where: str
    arm: str
    harness: str
    simulated: bool
    turn: TimedTurn
    accounted_ms: float | None
    residual_ms: float | None
    residual_share: float | None
    union_ms: float | None
    union_agrees: bool
    skips: tuple[Skip, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The verdict over all turns.

    Attributes:
        max_residual_pct: The bound, percent of a turn's duration, on either side.
        checks: Every turn, in order.
        beyond: Gated turns whose residual is beyond the bound.
        disagreeing: Turns whose stored union is not the union of their spans.
        gated: How many turns were gated.
    """

    max_residual_pct: float
    checks: tuple[TurnCheck, ...]
    beyond: tuple[TurnCheck, ...]
    disagreeing: tuple[TurnCheck, ...]
    gated: int

    def passed(self) -> bool:
        """Tell whether something was gated and nothing failed."""
        return self.gated > 0 and not self.beyond and not self.disagreeing

    def reasons(self) -> tuple[str, ...]:
        """Return why it did not pass, in words; none when it did."""
        found = []
        if not self.gated:
            found.append("no turn could be gated")
        if self.beyond:
            found.append(f"{len(self.beyond)} turn(s) with a residual beyond {self.max_residual_pct:g} percent")
        if self.disagreeing:
            found.append(f"{len(self.disagreeing)} turn(s) whose stored tool union is not the union of their spans")
        return tuple(found)


def gate(evidence: TimedEvidence, *, max_residual_pct: float) -> Gate:
    """Check every turn of every trial against a bound on both sides."""
    checks = tuple(check_turn(trial, turn) for trial in evidence.trials for turn in trial.turns)
    gated = [check for check in checks if not check.skips]
    limit = max_residual_pct / 100
    return Gate(
        max_residual_pct=max_residual_pct,
        checks=checks,
        beyond=tuple(check for check in gated if check.residual_share is not None and check.residual_share > limit),
        disagreeing=tuple(check for check in checks if not check.union_agrees),
        gated=len(gated),
    )


def check_turn(trial: TimedTrial, turn: TimedTurn) -> TurnCheck:
    """Decompose one turn and compute its tool union again."""
    residual = residual_ms(turn)
    union = sweep_union_ms(turn.spans)
    return TurnCheck(
        where=trial.where,
        arm=trial.arm,
        harness=trial.harness,
        simulated=trial.simulated,
        turn=turn,
        accounted_ms=accounted_ms(turn),
        residual_ms=residual,
        residual_share=None if residual is None or not turn.duration_ms else abs(residual) / turn.duration_ms,
        union_ms=union,
        union_agrees=_agree(turn.tool_union_ms, union),
        skips=tuple(_skips(turn)),
    )


def _skips(turn: TimedTurn) -> Iterable[Skip]:
    if turn.crashed:
        yield Skip.CRASHED
    if turn.head_ms is None and turn.tail_ms is None:
        yield Skip.NO_ENDS
    if turn.duration_ms is None:
        yield Skip.NOT_TIMED
    elif turn.duration_ms < SHORT_TURN_MS:
        yield Skip.SHORT


def _agree(stored: float | None, again: float | None) -> bool:
    if stored is None or again is None:
        return stored is again
    return abs(stored - again) <= UNION_TOLERANCE_MS


def sweep_union_ms(spans: Iterable[TimedSpan]) -> float | None:
    """Return the union of the bounded main-thread spans by counting open calls from edge to edge; None without one."""
    edges: list[tuple[int, int]] = []
    for span in spans:
        bounded = span.start_us is not None and span.end_us is not None and span.end_us >= span.start_us
        if bounded and span.main_thread and span.start_us is not None and span.end_us is not None:
            edges += [(span.start_us, 1), (span.end_us, -1)]
    if not edges:
        return None
    edges.sort()
    busy, running, since = 0, 0, edges[0][0]
    for at, step in edges:
        busy += at - since if running > 0 else 0
        running, since = running + step, at
    return busy / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Emissions:
    """The messages of some turns, grouped as one emission of the model each.

    Attributes:
        messages: Grouped emissions.
        slow: Those with more than 10 s of net generation.
        by_id: How many neighbours were compared by message id.
        by_gap: How many were compared by a gap of at most 100 ms, because one of them has no id.
    """

    messages: int
    slow: int
    by_id: int
    by_gap: int

    def rule(self) -> str:
        """Return the grouping rule that was used, in words."""
        if not self.by_gap:
            return "message id"
        return f"message id; gap of at most {SAME_EMISSION_GAP_MS:g} ms for {self.by_gap} pair(s) without one"


def emissions(turns: Iterable[TimedTurn]) -> Emissions:
    """Group the main thread's neighbouring messages that are parts of one emission."""
    groups: list[float] = []
    by_id = by_gap = 0
    for turn in turns:
        before: TimedMessage | None = None
        for message in (message for message in turn.messages if message.parent is None):
            with_ids = before is not None and before.message_id is not None and message.message_id is not None
            by_id += with_ids
            by_gap += before is not None and not with_ids
            if before is not None and _same_emission(before, message):
                groups[-1] += message.generation_ms or 0.0
            else:
                groups.append(message.generation_ms or 0.0)
            before = message
    return Emissions(
        messages=len(groups), slow=sum(net > SLOW_GENERATION_MS for net in groups), by_id=by_id, by_gap=by_gap
    )


def _same_emission(before: TimedMessage, after: TimedMessage) -> bool:
    if before.message_id is not None and after.message_id is not None:
        return before.message_id == after.message_id
    if before.close_us is None or after.start_us is None:
        return False
    return abs(after.start_us - before.close_us) <= SAME_EMISSION_GAP_MS * 1000


# What a call's duration covers; a mean over calls compares across harnesses no better than this.
TOOL_TIME_COVERS = {
    "claude-code": "from the arrival of the request to the arrival of the result, queueing included",
    "codex": "an item's lifecycle, approval and queueing included; starts are stamped about 0.14 s late",
    "antigravity": "from first sight to done, queueing included: parallel calls run one after another",
    "opencode": "the harness's own bounds of each call",
    "pi": "from the arrival of the start line to the arrival of the end line",
}


def spread(values: Iterable[float | None]) -> Spread:
    """Return the median of what was measured and how many turns that was."""
    known = [value for value in values if value is not None]
    return Spread(n=len(known), median=median(known) if known else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmTiming:
    """Where one arm's wall clock goes, per turn, and what may be compared.

    Attributes:
        arm: The recorder's variant.
        harness: Its harness.
        trials: Attempts.
        turns: Turns.
        cap_units: What the turn cap counts; several when trials differ.
        cap_limits: The caps.
        capped: Attempts that ended at the turn cap.
        cap_flagged: More than 5 percent of the attempts did: the cap shapes the result.
        head_first, head_later: Heads of first and of later turns, never pooled.
        to_first_delta_first, to_first_delta_later: Turn start to the first model delta, likewise apart.
        generation, tool_union, tail: Per turn.
        tool_calls: Calls with a measured duration.
        mean_tool_ms: Their mean; None without one.
        emissions: Its grouped messages.
        buckets: Totals and medians of every bucket, of the turns and around them.
        notes: What a reader must know before comparing this arm with another.
    """

    arm: str
    harness: str
    trials: int
    turns: int
    cap_units: tuple[str, ...]
    cap_limits: tuple[int, ...]
    capped: int
    cap_flagged: bool
    head_first: Spread
    head_later: Spread
    to_first_delta_first: Spread
    to_first_delta_later: Spread
    generation: Spread
    tool_union: Spread
    tail: Spread
    tool_calls: int
    mean_tool_ms: float | None
    emissions: Emissions
    buckets: tuple[Bucket, ...]
    notes: tuple[str, ...]


def arm_timings(evidence: TimedEvidence) -> tuple[ArmTiming, ...]:
    """Return each arm's timing, sorted by arm and harness."""
    groups: dict[tuple[str, str], list[TimedTrial]] = {}
    for trial in evidence.trials:
        groups.setdefault((trial.arm, trial.harness), []).append(trial)
    return tuple(_arm(arm, harness, trials) for (arm, harness), trials in sorted(groups.items()))


def _arm(arm: str, harness: str, trials: Sequence[TimedTrial]) -> ArmTiming:
    turns = [turn for trial in trials for turn in trial.turns]
    whole = [turn for turn in turns if not turn.crashed]
    first, later = [t for t in whole if t.first_turn], [t for t in whole if not t.first_turn]
    separated = [turn for turn in first if TimingQuality.LEGACY_CLAMPED not in turn.quality]
    durations = [s.duration_ms for t in turns for s in t.spans if s.main_thread and s.duration_ms is not None]
    capped = sum(trial.capped for trial in trials)
    units = {trial.cap_unit or "unknown" for trial in trials if trial.cap_limit is not None}
    return ArmTiming(
        arm=arm,
        harness=harness,
        trials=len(trials),
        turns=len(turns),
        cap_units=tuple(sorted(units)),
        cap_limits=tuple(sorted({trial.cap_limit for trial in trials if trial.cap_limit is not None})),
        capped=capped,
        cap_flagged=capped > CAP_FLAG_SHARE * len(trials),
        head_first=spread(turn.head_ms for turn in separated),
        head_later=spread(turn.head_ms for turn in later if TimingQuality.LEGACY_CLAMPED not in turn.quality),
        to_first_delta_first=spread(turn.turn_to_first_delta_ms for turn in first),
        to_first_delta_later=spread(turn.turn_to_first_delta_ms for turn in later),
        generation=spread(turn.generation_ms for turn in whole),
        tool_union=spread(turn.tool_union_ms for turn in whole),
        tail=spread(turn.tail_ms for turn in whole),
        tool_calls=len(durations),
        mean_tool_ms=sum(durations) / len(durations) if durations else None,
        emissions=emissions(turns),
        buckets=arm_buckets(trials),
        notes=tuple(_arm_notes(harness, trials, turns)),
    )


QUALITY_NOTES = {
    TimingQuality.LEGACY_CLAMPED: "head recorded as 0 before it was separated: left out, it is inside the generation",
    TimingQuality.HEAD_NOT_SEPARATED: "no sign of first output: the head is inside the first generation",
    TimingQuality.WINDOW_BEFORE_REQUEST: "the first window opens before the request: head and first generation differ",
    TimingQuality.SPANS_WITHOUT_BOUNDS: "calls with a duration and no bounds: their time is in no bucket",
    TimingQuality.START_LATE: "tool starts stamped about 0.14 s late: short calls read 0, generation takes the rest",
    TimingQuality.UNMEASURED_WINDOW: "messages without a measured window",
    TimingQuality.ARRIVAL_BRIDGED: "lines without their own stamp placed by their arrival",
    TimingQuality.MIXED_ZONES: "times with and without a zone in one turn: the rarer form was left out",
}


def _arm_notes(harness: str, trials: Sequence[TimedTrial], turns: Sequence[TimedTurn]) -> Iterable[str]:
    for quality, words in QUALITY_NOTES.items():
        touched = sum(quality in turn.quality for turn in turns)
        if touched:
            yield f"{words} ({touched} of {len(turns)} turns)"
    if turns and all(turn.turn_to_first_delta_ms is None for turn in turns):
        yield "turn_to_first_delta is not recorded"
    assumed = sum(trial.cap_unit_source == "assumed" and trial.cap_limit is not None for trial in trials)
    if assumed:
        yield f"cap unit assumed from the parity contract ({assumed} of {len(trials)} attempts)"
    covers = TOOL_TIME_COVERS.get(harness, "not known for this harness")
    yield f"a call's duration covers: {covers}"


ACROSS_HARNESSES = (
    "across harnesses only turn_to_first_delta compares: every other bucket opens and closes at other events on each "
    "harness and describes its own arm"
)
ONE_HARNESS = "one harness on every side: its buckets open and close at the same events"


def comparison_notes(arms: Sequence[ArmTiming]) -> tuple[str, ...]:
    """Return what must be said beside any comparison of these arms' timing."""
    if len(arms) < 2:
        return ()
    notes = [ONE_HARNESS] if len({arm.harness for arm in arms}) == 1 else [ACROSS_HARNESSES]
    notes += [
        "a call's duration covers other things on each harness; of the same work the unions differ by 0.1-0.6 s a run"
    ]
    units = {unit for arm in arms for unit in arm.cap_units}
    if len(units) > 1:
        listed = ", ".join(f"{arm.arm}: {'/'.join(arm.cap_units) or 'none'}" for arm in arms)
        notes.append(f"the turn cap counts different things, so the same number is not the same budget ({listed})")
    notes += [
        f"{arm.arm}: {arm.capped} of {arm.trials} attempts ended at the turn cap, more than 5 percent"
        for arm in arms
        if arm.cap_flagged
    ]
    return tuple(notes)
