"""Sums of turns against sums written down here in plain Python; what never occurred is None."""

import statistics
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.evidence import turns as reading
from analysis.turn_stats import NO_ARM, UNNAMED, TurnSummary, nearest_ranks, summarise
from analysis.turn_sums import By
from tests.turn_lines import MISSING, bare, call, recorded, write_lines

DAY_MS = 86_400_000


def turn(number: int, ms: float, **changes: object) -> dict[str, Any]:
    """Return a turn that lasted so many milliseconds."""
    return recorded(**{"turnIndex": number, "endedAtEpochMs": 1000 + ms, "durationMs": ms, **changes})


def summary_of(tmp_path: Path, *turns: dict[str, Any] | bytes) -> TurnSummary:
    return summarise([write_lines(tmp_path / "turns.jsonl", *turns)]).whole


def test_nearest_rank_against_enumeration() -> None:
    for size in range(1, 40):
        values = np.arange(size, dtype=np.float64)[::-1].copy()
        shares = (0.5, 0.95, 1.0)
        expected = tuple(min(x for x in range(size) if (x + 1) / size >= share) for share in shares)
        assert nearest_ranks(values, shares) == expected


def test_the_sums_are_those_of_the_lines(tmp_path: Path) -> None:
    usages = [(100, 10, 300, 5, 0.25), (50, 20, 0, 0, 0.125), (0, 1, 100, 7, 0.5)]
    turns = [
        turn(
            number,
            ms,
            sessionId=f"session-{number % 2}",
            usage=dict(zip(("input", "output", "cacheRead", "cacheWrite", "costUsd"), usage, strict=True)),
            compacted=number == 1,
            failovers=number,
            contextCache={"planHit": number != 2, "hits": 1, "misses": 0},
            runtimeProvenance={"selectedModel": "a", "responseModel": "a" if number else "b"},
        )
        for number, (ms, usage) in enumerate(zip((900, 100, 500), usages, strict=True))
    ]
    found = summary_of(tmp_path, *turns, b"{")
    assert (found.turns, found.sessions, found.models) == (3, 2, ("some-lab/some-model-1",))
    assert found.totals is not None
    assert (found.totals.input, found.totals.output) == (150, 31)
    assert (found.totals.cache_read, found.totals.cache_write, found.totals.cost_usd) == (400, 12, 0.875)
    assert (found.duration_p50_ms, found.duration_p95_ms) == (500, 900)
    assert found.cache_read_share == 400 / 550
    assert (found.compactions, found.failovers) == (1, 3)
    assert found.plan_hit_rate == 2 / 3
    assert found.mismatch_turns == 1
    assert found.malformed == 1


def test_tools_are_sorted_by_total_time(tmp_path: Path) -> None:
    calls = [call("read", 1), call("bash", 50, ok=False, errorClass="timeout"), call("bash", 10), call("edit", 30)]
    found = summary_of(tmp_path, recorded(toolCalls=calls, toolCallCount=4, toolFailureCount=1))
    assert [(one.name, one.calls, one.failures, one.total_ms) for one in found.tools] == [
        ("bash", 2, 1, 60),
        ("edit", 1, 0, 30),
        ("read", 1, 0, 1),
    ]
    bash = found.tools[0]
    assert (bash.failure_rate, bash.p50_ms, bash.p95_ms) == (0.5, 10, 50)


def test_what_never_occurred_is_not_measured_and_never_zero(tmp_path: Path) -> None:
    found = summary_of(tmp_path, bare())
    assert found.turns == 1
    assert found.models == ()
    for value in (
        found.totals,
        found.first_chunk_p50_ms,
        found.cache_read_share,
        found.compactions,
        found.failovers,
        found.plan_hit_rate,
        found.mismatch_turns,
    ):
        assert value is None
    assert found.tools == ()


def test_what_occurred_as_zero_is_zero(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "costUsd"), 0)
    found = summary_of(tmp_path, recorded(usage=nothing, compacted=False, failovers=0))
    assert found.totals is not None
    assert (found.totals.cost_usd, found.compactions, found.failovers) == (0, 0, 0)
    assert found.cache_read_share is None


def test_no_turn_at_all(tmp_path: Path) -> None:
    found = summarise([write_lines(tmp_path / "turns.jsonl", b"{")]).whole
    assert (found.turns, found.sessions, found.duration_p50_ms, found.malformed) == (0, 0, None, 1)
    assert summarise([]).whole.turns == 0


def test_groups_part_the_whole(tmp_path: Path) -> None:
    turns = [
        recorded(model="m1", sessionId="a"),
        recorded(model="m2", sessionId="b", startedAtEpochMs=DAY_MS, endedAtEpochMs=DAY_MS, durationMs=0),
        bare(sessionId="c"),
    ]
    path = write_lines(tmp_path / "turns.jsonl", *turns)
    arms = {"a": "one", "b": "two"}
    keys = {
        "model": [UNNAMED, "some-lab/m1", "some-lab/m2"],
        "session": ["a", "b", "c"],
        "day": ["1970-01-01", "1970-01-02"],
        "arm": [NO_ARM, "one", "two"],
    }
    for by, expected in keys.items():
        assert by in {"model", "session", "day", "arm"}
        report = summarise([path], by=by, arms=arms)  # type: ignore[arg-type]  # the assertion above narrows it
        assert [key for key, _ in report.groups] == sorted(expected)
        assert sum(summary.turns for _, summary in report.groups) == report.whole.turns == 3
    assert report.durations_ms.size == 3


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 10**7), st.integers(0, 2**40), st.floats(0, 1e6), st.booleans()),
        min_size=1,
        max_size=30,
    )
)
def test_any_turns_sum_up_as_they_would_by_hand(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, float, bool]]
) -> None:
    turns = [
        turn(
            number,
            ms,
            usage={"input": tokens, "output": 0, "cacheRead": 0, "cacheWrite": 0, "costUsd": cost} if used else MISSING,
        )
        for number, (ms, tokens, cost, used) in enumerate(rows)
    ]
    found = summary_of(tmp_path_factory.mktemp("turns"), *turns)
    used = [(tokens, cost) for _, tokens, cost, used in rows if used]
    assert (found.totals is None) == (not used)
    if found.totals is not None:
        assert found.totals.input == sum(tokens for tokens, _ in used)
        assert found.totals.cost_usd == pytest.approx(sum(cost for _, cost in used), rel=1e-12)
    durations = sorted(ms for ms, *_ in rows)
    assert found.duration_p50_ms == statistics.median_low(durations)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=40), st.integers(300, 3000))
def test_costs_sum_up_exactly_however_the_file_is_cut_against_fractions(
    tmp_path_factory: pytest.TempPathFactory, costs: list[float], range_bytes: int
) -> None:
    usage = {"input": 1, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    turns = [turn(number, 1, usage={**usage, "costUsd": cost}) for number, cost in enumerate(costs)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "RANGE_BYTES", range_bytes)
        found = summary_of(tmp_path_factory.mktemp("turns"), *turns)
    assert found.totals is not None
    assert found.totals.input == len(costs)
    assert found.totals.cost_usd == float(sum(map(Fraction, costs)))


_CALLS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.booleans()), max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.lists(_CALLS, max_size=12), st.integers(300, 3000), st.sampled_from([None, "model", "session", "day"]))
def test_calls_sum_up_by_tool_however_the_file_is_cut_by_hand(
    tmp_path_factory: pytest.TempPathFactory,
    calls: list[list[tuple[str, int, bool]]],
    range_bytes: int,
    by: By | None,
) -> None:
    turns = [
        recorded(
            sessionId=f"session-{number % 3}",
            toolCalls=[call(name, ms, ok=ok) for name, ms, ok in own],
            toolCallCount=len(own),
            toolFailureCount=sum(not ok for _, _, ok in own),
        )
        for number, own in enumerate(calls)
    ]
    path = write_lines(tmp_path_factory.mktemp("turns") / "turns.jsonl", *turns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "RANGE_BYTES", range_bytes)
        found = summarise([path], by=by).whole
    expected = []
    for tool in "abc":
        own = [(ms, ok) for made in calls for name, ms, ok in made if name == tool]
        if own:
            expected.append((-sum(ms for ms, _ in own), tool, len(own), sum(not ok for _, ok in own)))
    assert [(-one.total_ms, one.name, one.calls, one.failures) for one in found.tools] == sorted(expected)


def test_sums_beyond_a_double_stay_finite(tmp_path: Path) -> None:
    usage = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "costUsd": 1.7e308}
    found = summary_of(tmp_path, recorded(usage=usage), recorded(usage=usage))
    assert found.totals is not None
    assert found.totals.cost_usd == np.finfo(np.float64).max
