"""The only place that sums turn metrics up: what a report of turns says, for all of them or group by group.

What never occurred in any turn is None, not zero: a sum of costs where no turn carried a usage, a rate without
observations. Percentiles are nearest rank, so that each is a value that was recorded.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.turn_sums import By, Key, Model, RangeSums, TurnSums, sum_files

Floats = NDArray[np.float64]
UNNAMED = "not recorded"
NO_ARM = "no declared session"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_DAY = (datetime.max.replace(tzinfo=UTC) - _EPOCH).days


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSummary:
    """One tool.

    Attributes:
        name: Its name.
        calls: How often it was called, at least 1.
        failures: How many of these calls failed.
        failure_rate: failures / calls, in [0, 1].
        p50_ms: Median duration by nearest rank, milliseconds.
        p95_ms: 95th percentile by nearest rank, milliseconds.
        total_ms: Sum of all durations, milliseconds.
    """

    name: str
    calls: int
    failures: int
    failure_rate: float
    p50_ms: float
    p95_ms: float
    total_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenTotals:
    """Sums over the turns that carried a usage.

    Attributes:
        input: Prompt tokens that no cache held.
        output: Generated tokens.
        cache_read: Prompt tokens read from a cache.
        cache_write: Prompt tokens written to a cache.
        cost_usd: US dollars.
    """

    input: int
    output: int
    cache_read: int
    cache_write: int
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSummary:
    """What the turns say together; None where the field never occurred.

    Attributes:
        turns: How many.
        sessions: How many different sessions.
        models: `provider/model`, or the model alone, sorted.
        totals: Tokens and cost.
        duration_p50_ms: Median turn duration, milliseconds.
        duration_p95_ms: 95th percentile, milliseconds.
        first_chunk_p50_ms: Median time to the first chunk, milliseconds.
        cache_read_share: Cache reads over inputs plus cache reads, in [0, 1].
        compactions: Turns with a compaction.
        failovers: Provider failovers.
        plan_hit_rate: Share of prompt builds whose plan was in the cache, in [0, 1].
        mismatch_turns: Turns answered by another model than the selected one.
        tools: By total duration, longest first.
        malformed: Malformed lines.
        reasons: How many lines were malformed for which reason, most frequent first.
    """

    turns: int
    sessions: int
    models: tuple[str, ...]
    totals: TokenTotals | None
    duration_p50_ms: float | None
    duration_p95_ms: float | None
    first_chunk_p50_ms: float | None
    cache_read_share: float | None
    compactions: int | None
    failovers: int | None
    plan_hit_rate: float | None
    mismatch_turns: int | None
    tools: tuple[ToolSummary, ...]
    malformed: int
    reasons: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReport:
    """The turns of some files.

    Attributes:
        whole: All turns.
        groups: (key, its turns), sorted by key; empty when nothing was grouped.
        durations_ms: Every turn's duration, milliseconds, shape (n_turns,).
    """

    whole: TurnSummary
    groups: tuple[tuple[str, TurnSummary], ...]
    durations_ms: Floats


def summarise(
    paths: Iterable[Path],
    executor: Executor | None = None,
    *,
    by: By | None = None,
    arms: Mapping[str, str] | None = None,
) -> TurnReport:
    """Sum up the turns of some files.

    Args:
        paths: The files, in order.
        executor: Reads ranges elsewhere; None reads here.
        by: What to group by; None groups nothing.
        arms: Session to arm, for grouping by arm.

    Raises:
        TurnFileError: When a file cannot be opened.
    """
    return report(sum_files(paths, executor, by), by=by, arms=arms)


def report(parts: Iterable[RangeSums], *, by: By | None = None, arms: Mapping[str, str] | None = None) -> TurnReport:
    """Put sums together.

    Args:
        parts: The sums of all ranges, in order, by what `by` says.
        by: What to group by; None groups nothing.
        arms: Session to arm, for grouping by arm.
    """
    cells: dict[str, list[TurnSums]] = {}
    refused: Counter[str] = Counter()
    for part in parts:
        refused.update(part.refused)
        for key, sums in part.cells.items():
            cells.setdefault(_label(key, by, arms or {}), []).append(sums)
    everything = [sums for key in cells for sums in cells[key]]
    groups = {} if by is None else cells
    return TurnReport(
        whole=_summary(everything, refused),
        groups=tuple((key, _summary(groups[key], Counter())) for key in sorted(groups)),
        durations_ms=_joined(sums.durations for sums in everything),
    )


def nearest_ranks(values: Floats, shares: Sequence[float]) -> tuple[float, ...]:
    """Return by share the smallest value that at least this share of the values does not exceed.

    Args:
        values: Finite, shape (n,), n at least 1.
        shares: Each in (0, 1].
    """
    places = [max(1, math.ceil(share * values.size)) - 1 for share in shares]
    parted = np.partition(values, places)
    return tuple(float(parted[place]) for place in places)


def _label(key: Key, by: By | None, arms: Mapping[str, str]) -> str:
    if by == "arm":
        return arms.get(str(key), NO_ARM)
    if isinstance(key, tuple):
        return _model_label(key)
    if isinstance(key, int):
        return "beyond year 9999" if key > _LAST_DAY else (_EPOCH + timedelta(days=key)).date().isoformat()
    return key or ""


def _model_label(key: Model) -> str:
    provider, model = key
    if model is None:
        return UNNAMED
    return model if provider is None else f"{provider}/{model}"


def _summary(parts: Sequence[TurnSums], refused: Counter[str]) -> TurnSummary:
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part.counts)
    durations, first_chunks = _joined(part.durations for part in parts), _joined(part.first_chunks for part in parts)
    p50, p95 = nearest_ranks(durations, (0.5, 0.95)) if durations.size else (None, None)
    totals = _totals(parts, counts)
    prompt = None if totals is None else totals.input + totals.cache_read
    return TurnSummary(
        turns=durations.size,
        sessions=len(frozenset[str]().union(*(part.sessions for part in parts))),
        models=tuple(sorted({_model_label(key) for part in parts for key in part.models if key[1] is not None})),
        totals=totals,
        duration_p50_ms=p50,
        duration_p95_ms=p95,
        first_chunk_p50_ms=nearest_ranks(first_chunks, (0.5,))[0] if first_chunks.size else None,
        cache_read_share=totals.cache_read / prompt if totals and prompt else None,
        compactions=counts["compactions"] if counts["compacted"] else None,
        failovers=counts["failovers"] if counts["failing_over"] else None,
        plan_hit_rate=counts["plan_hits"] / counts["planned"] if counts["planned"] else None,
        mismatch_turns=counts["mismatches"] if counts["traced"] else None,
        tools=_tool_summaries(parts),
        malformed=refused.total(),
        reasons=tuple(sorted(refused.items(), key=lambda item: (-item[1], item[0]))),
    )


def _totals(parts: Sequence[TurnSums], counts: Counter[str]) -> TokenTotals | None:
    costs = [cost for part in parts for cost in part.costs]
    if not costs:
        return None
    return TokenTotals(
        input=counts["input"],
        output=counts["output"],
        cache_read=counts["cache_read"],
        cache_write=counts["cache_write"],
        cost_usd=_sum_or_largest(costs),
    )


def _tool_summaries(parts: Sequence[TurnSums]) -> tuple[ToolSummary, ...]:
    failures: Counter[str] = Counter()
    calls: dict[str, list[bytes]] = {}
    for part in parts:
        failures.update(part.failures)
        for name, durations in part.calls.items():
            calls.setdefault(name, []).append(durations)
    found = [_tool_summary(name, _joined(own), failures[name]) for name, own in calls.items()]
    return tuple(sorted(found, key=lambda tool: (-tool.total_ms, tool.name)))


def _tool_summary(name: str, values: Floats, failures: int) -> ToolSummary:
    p50, p95 = nearest_ranks(values, (0.5, 0.95))
    return ToolSummary(
        name=name,
        calls=values.size,
        failures=failures,
        failure_rate=failures / values.size,
        p50_ms=p50,
        p95_ms=p95,
        total_ms=_quick_sum(values),
    )


def _joined(parts: Iterable[bytes]) -> Floats:
    return np.frombuffer(b"".join(parts), dtype=np.float64)


def _quick_sum(values: Floats) -> float:
    """Return the sum; whole milliseconds are summed exactly. Beyond the largest double, that double."""
    with np.errstate(over="ignore"):
        return min(float(values.sum()), float(np.finfo(np.float64).max))


def _sum_or_largest(values: Sequence[float]) -> float:
    """Return the correctly rounded sum; beyond the largest double, that double."""
    largest = float(np.finfo(np.float64).max)
    try:
        return min(math.fsum(values), largest)
    except OverflowError:
        return largest
