"""The gate looks at both sides of a residual, and arms are compared only with what is comparable."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.evidence.coder_eval import read_timed_runs
from analysis.evidence.timed_run import (
    Layout,
    TimedEvidence,
    TimedMessage,
    TimedSpan,
    TimedTrial,
    TimedTurn,
    TimingQuality,
)
from analysis.timing import (
    ArmTiming,
    Skip,
    arm_timings,
    check_turn,
    comparison_notes,
    emissions,
    gate,
    sweep_union_ms,
)
from harness.clock import Stamp
from harness.intervals import Span, span_set
from harness.kinds import EndStatus, Harness
from tests.timed_folders import current, task, turn, write_current, write_ours

GOOD = TimedTurn(
    index=0, first_turn=True, duration_ms=6000, head_ms=1000, generation_ms=3500, tool_union_ms=None, tail_ms=1500
)


def evidence(*turns: TimedTurn, **fields: str | int | bool | None) -> TimedEvidence:
    return TimedEvidence(trials=(trial(*turns, **fields),))


def trial(*turns: TimedTurn, **fields: str | int | bool | None) -> TimedTrial:
    values: dict[str, object] = {"arm": "a", "harness": "pi", "task": "t", "where": "r/a/t/00/task.json", **fields}
    base = TimedTrial(trial_id="x", layout=Layout.OURS, sha256="0", turns=turns, where="", arm="", harness="", task="")
    return replace(base, **values)  # type: ignore[arg-type]  # a builder takes what the test names


def only(found: TimedEvidence) -> ArmTiming:
    (arm,) = arm_timings(found)
    return arm


@pytest.mark.parametrize(
    ("generation", "passes"), [(3500, True), (3441, True), (3439, False), (3559, True), (3561, False)]
)
def test_a_residual_fails_on_either_side_of_the_bound(generation: float, passes: bool) -> None:
    verdict = gate(evidence(replace(GOOD, generation_ms=generation)), max_residual_pct=1)
    assert verdict.passed() is passes
    assert bool(verdict.beyond) is not passes


def test_the_kept_record_of_an_old_defect_is_noticed() -> None:
    # Tool time that was never taken out of the windows: the buckets hold 481.233 ms more than the turn.
    old = replace(GOOD, duration_ms=17_889.6, head_ms=0, generation_ms=16_000.0, tool_union_ms=1370.833, tail_ms=1000)
    verdict = gate(evidence(old), max_residual_pct=1)
    (check,) = verdict.beyond
    assert check.residual_ms == pytest.approx(-481.233)
    assert check.residual_share == pytest.approx(0.0269, abs=1e-4)


@pytest.mark.parametrize(
    ("turn_", "skips"),
    [
        (replace(GOOD, crashed=True), {Skip.CRASHED}),
        (replace(GOOD, head_ms=None, tail_ms=None), {Skip.NO_ENDS}),
        (replace(GOOD, duration_ms=999.0), {Skip.SHORT}),
        (replace(GOOD, duration_ms=None), {Skip.NOT_TIMED}),
        (
            replace(GOOD, crashed=True, head_ms=None, tail_ms=None, duration_ms=5.0),
            {Skip.CRASHED, Skip.NO_ENDS, Skip.SHORT},
        ),
        (replace(GOOD, head_ms=None), set()),
    ],
)
def test_a_turn_is_skipped_for_each_reason_that_holds(turn_: TimedTurn, skips: set[Skip]) -> None:
    assert set(check_turn(trial(), turn_).skips) == skips


def test_nothing_gateable_fails() -> None:
    for found in (TimedEvidence(trials=()), evidence(), evidence(replace(GOOD, crashed=True))):
        verdict = gate(found, max_residual_pct=100)
        assert not verdict.passed()
        assert verdict.reasons() == ("no turn could be gated",)


def test_a_stored_union_that_is_not_the_union_of_its_spans_fails_even_on_a_skipped_turn() -> None:
    spans = tuple(
        TimedSpan(call_id=str(n), sequence=n, tool="b", start_us=start, end_us=start + 2_050_000)
        for n, start in enumerate((1_000_000, 1_050_000))
    )
    summed = replace(GOOD, spans=spans, tool_union_ms=4100, generation_ms=0, crashed=True)
    verdict = gate(evidence(GOOD, summed), max_residual_pct=100)
    (check,) = verdict.disagreeing
    assert (check.union_ms, verdict.passed()) == (2100, False)
    right = replace(summed, tool_union_ms=2100.0000005)
    assert gate(evidence(GOOD, right), max_residual_pct=100).passed()


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=10))
def test_the_union_computed_again_is_the_cores_against_itself(pairs: list[tuple[int, int]]) -> None:
    spans = [TimedSpan(call_id=str(n), sequence=n, tool="b", start_us=a, end_us=b) for n, (a, b) in enumerate(pairs)]
    core = span_set([Span(start=Stamp(us=a), end=Stamp(us=b)) for a, b in pairs]).union_us()
    assert sweep_union_ms(spans) == (None if core is None else core / 1000)


def test_a_sub_agents_span_and_an_open_one_are_in_no_union_degenerate() -> None:
    spans = [
        TimedSpan(call_id="s", sequence=0, tool="b", start_us=0, end_us=9, main_thread=False),
        TimedSpan(call_id="o", sequence=1, tool="b", start_us=0),
    ]
    assert sweep_union_ms(spans) is None


def message(index: int, message_id: str | None, start: int, close: int, net: float) -> TimedMessage:
    return TimedMessage(index=index, message_id=message_id, start_us=start, close_us=close, generation_ms=net)


def test_messages_are_grouped_by_id_and_by_gap_only_where_an_id_is_missing() -> None:
    with_ids = replace(
        GOOD, messages=(message(0, "a", 0, 5, 6000.0), message(1, "a", 5, 9, 5000.0), message(2, "b", 9, 12, 1.0))
    )
    without = replace(
        GOOD,
        messages=(
            message(0, "a", 0, 5, 1.0),
            message(1, None, 100_005, 200_000, 1.0),
            message(2, None, 300_001, 400_000, 1.0),
        ),
    )
    assert (emissions([with_ids]).messages, emissions([with_ids]).slow) == (2, 1)
    assert emissions([with_ids]).rule() == "message id"
    assert emissions([without]).messages == 2
    assert "gap of at most 100 ms for 2 pair(s)" in emissions([without]).rule()


def test_a_sub_agents_message_and_two_turns_are_never_one_emission() -> None:
    own = replace(GOOD, messages=(message(0, "a", 0, 5, 1.0), replace(message(1, "a", 5, 6, 1.0), parent="t")))
    assert emissions([own, own]).messages == 2


def test_first_and_later_heads_are_never_pooled_and_a_clamped_head_is_left_out() -> None:
    later = replace(GOOD, index=1, first_turn=False, head_ms=9000.0)
    clamped = replace(GOOD, head_ms=0.0, quality=(TimingQuality.LEGACY_CLAMPED,))
    arm = only(evidence(GOOD, later, clamped))
    assert (arm.head_first.n, arm.head_first.median) == (1, 1000)
    assert (arm.head_later.n, arm.head_later.median) == (1, 9000)
    assert any("head recorded as 0" in note for note in arm.notes)


def test_a_crashed_turn_is_in_no_median() -> None:
    arm = only(evidence(GOOD, replace(GOOD, crashed=True, head_ms=1.0)))
    assert (arm.turns, arm.head_first.n) == (2, 1)


@pytest.mark.parametrize(("capped", "flagged"), [(0, False), (1, False), (2, True)])
def test_an_arm_with_more_than_five_percent_at_the_cap_is_flagged(capped: int, flagged: bool) -> None:
    trials = tuple(trial(GOOD, capped=place < capped, cap_limit=9, cap_unit="steps") for place in range(20))
    arm = only(TimedEvidence(trials=trials))
    assert (arm.capped, arm.cap_flagged, arm.cap_units) == (capped, flagged, ("steps",))


def test_arms_whose_caps_count_different_things_are_told_apart_in_words() -> None:
    found = TimedEvidence(
        trials=(
            trial(GOOD, arm="a", cap_limit=9, cap_unit="steps"),
            trial(GOOD, arm="b", harness="codex", cap_limit=9, cap_unit="tool_calls", capped=True),
        )
    )
    notes = comparison_notes(arm_timings(found))
    assert any("a: steps, b: tool_calls" in note for note in notes)
    assert any(note.startswith("b: 1 of 1 attempts ended at the turn cap") for note in notes)
    assert any("only turn_to_first_delta compares" in note for note in notes)
    assert comparison_notes(arm_timings(evidence(GOOD))) == ()


@pytest.mark.parametrize("harness", Harness)
def test_a_generated_run_of_each_harness_passes_and_its_mean_tool_time_says_what_it_covers(
    tmp_path: Path, harness: Harness
) -> None:
    write_ours(tmp_path, harness)
    found = read_timed_runs([tmp_path])
    verdict = gate(found, max_residual_pct=0.000_001)
    assert verdict.passed()
    arm = only(found)
    assert (arm.tool_calls, arm.mean_tool_ms) == (1, 400)
    assert any(note.startswith("a call's duration covers") for note in arm.notes)


def test_a_recorder_without_first_deltas_and_an_assumed_cap_unit_are_said(tmp_path: Path) -> None:
    document = current(task(Harness.CODEX, [turn(Harness.CODEX)]), version="0.1")
    write_current(tmp_path / "run", document)
    notes = only(read_timed_runs([tmp_path / "run"])).notes
    assert "turn_to_first_delta is not recorded" in notes
    assert any("cap unit assumed" in note for note in notes)


def test_a_turn_that_ended_at_the_cap_makes_its_attempt_capped(tmp_path: Path) -> None:
    write_ours(tmp_path, Harness.PI, turns=[turn(Harness.PI, status=EndStatus.MAX_TURNS_EXHAUSTED)])
    assert read_timed_runs([tmp_path]).trials[0].capped
