"""A decision on a terminal: the first line tells, the rest is short, and nothing unknown is called zero."""

from dataclasses import replace

import pytest

from analysis.decision import ContrastInterval, EndpointResult, FindingCount, Ungraded, Verdict
from manifests.conditions import Condition, Status
from reports.figure_frontier import frontier_words
from reports.terminal import render_text
from reports.terminal_frontier import render_frontier
from reports.words import WordsError
from tests.builders_reports import descriptive, simulated


def test_the_first_line_says_label_and_verdict() -> None:
    assert render_text(descriptive()).splitlines()[0].startswith("NON-COMPARATIVE: run order differs")
    first = render_text(simulated()).splitlines()[0]
    assert first.startswith("SIMULATED: ")
    assert first.endswith("Verdict: inconclusive.")


def test_the_numbers_are_those_of_the_decision() -> None:
    text = render_text(descriptive())
    for said in (
        "14 of 20 solved (70.0%); 2 ungraded, counted as unsolved",
        "17 of 20 solved (85.0%)",
        "0 / 3 / 17",
        "−15.0 pp, treatment minus control",
        "[−36.04, +1.88] pp (95%, tango)",
        "p = 0.25, mid-p = 0.125",
        "not measured against not measured",
        "unknown, neither shown nor declared: hardware\n",
        "excluded task-00 (exploratory): declared in the plan: needs a network",
        "ungraded thinharness, AgentTimeoutError (1): task-09\n",
        "not selected: smoke/job-0",
    ):
        assert said in text, said


def test_a_tiny_p_value_is_also_written_in_powers_of_ten() -> None:
    assert "p < 0.001 (3.93e-10)" in render_text(replace(descriptive(), p_exact=3.93e-10))


def test_a_verdict_comes_with_its_sentence_and_those_that_co_occur() -> None:
    decision = replace(simulated(), verdict=Verdict.SUPERIOR_SIZE_UNPROVEN, also=(Verdict.NONINFERIOR,))
    lines = render_text(decision).splitlines()
    assert lines[0].endswith("Verdict: superior, size unproven.")
    assert lines[1].startswith("steady solved more than plain, but it is not shown")
    assert lines[2].startswith("steady loses less than the margin")


def test_every_ungraded_trial_is_listed_by_arm_and_task_with_its_count() -> None:
    many = tuple(Ungraded(arm="pi", task=f"task-{number // 2}", exception_type=None) for number in range(29))
    text = render_text(replace(descriptive(), ungraded=many))
    named = ", ".join([*(f"task-{number} \u00d7 2" for number in range(14)), "task-14"])
    assert f"  ungraded pi, no exception (29): {named}\n" in text
    assert "more ungraded" not in text


def test_a_finding_says_where_it_was_made() -> None:
    mostly = FindingCount(
        code="mostly_ungraded_job", count=1, where=("pi/job-7",), detail="pi: 63 of 80 trials ungraded"
    )
    many = FindingCount(code="missing_cost", count=4, where=("j/1", "j/2", "j/3", "j/4"))
    text = render_text(replace(descriptive(), findings=(mostly, many)))
    assert "  finding mostly_ungraded_job (1): pi: 63 of 80 trials ungraded, in pi/job-7\n" in text
    assert "  finding missing_cost (4), in j/1, j/2, j/3, and more\n" in text


def test_what_is_unknown_stands_in_one_line_and_keeps_its_gap() -> None:
    details = {
        "hardware": "neither shown nor declared",
        "region": "neither shown nor declared (shown by 3 of 9 trials)",
    }
    conditions = tuple(Condition(factor=name, status=Status.UNKNOWN, detail=detail) for name, detail in details.items())
    text = render_text(replace(descriptive(), conditions=conditions))
    assert "  unknown, neither shown nor declared: hardware, region (shown by 3 of 9 trials)\n" in text


def test_no_verdict_has_a_line_too() -> None:
    assert render_text(descriptive()).splitlines()[1] == "Verdict: none; no conclusion may be drawn."
    assert "Verdict: none" not in render_text(simulated())


def test_a_ratio_of_typical_tasks_says_that_it_is_not_one_of_totals() -> None:
    row = EndpointResult(
        name="wall_time",
        role="exploratory",
        unit="ms",
        treatment=1.0,
        control=2.0,
        ratio=0.8,
        p=0.02,
        test="log_ratio_t",
    )
    assert "\u00d7 0.8, geometric mean of the tasks' ratios, p = 0.02" in render_text(
        replace(descriptive(), endpoints=(row,))
    )
    of_totals = replace(row, test="ratio_of_sums")
    assert "geometric" not in render_text(replace(descriptive(), endpoints=(of_totals,)))


def test_a_row_that_is_only_bounded_or_stopped_the_sequence_is_said_too() -> None:
    row = EndpointResult(
        name="cost_per_solved",
        role="secondary",
        unit="usd",
        treatment=None,
        control=0.99,
        interval=ContrastInterval(scale="ratio", low=0.346, high=None, level=0.975, method="binomial and t"),
        note="alpha solved nothing: at least 1.171 US dollars per solved task",
    )
    text = render_text(replace(descriptive(), endpoints=(row,)))
    assert "0.346 or more (97.5%), no test (alpha solved nothing: at least 1.171 US dollars per solved task)" in text
    stopped = replace(row, interval=None, gate="stopped", label="confirmatory", note="alpha solved nothing")
    assert "no test (alpha solved nothing); confirmatory, stopped here" in render_text(
        replace(descriptive(), endpoints=(stopped,))
    )
    described = replace(row, interval=None)
    assert "cost per solved" not in render_text(replace(descriptive(), endpoints=(described,)))


def test_a_frontier_without_a_conclusion_is_descriptive() -> None:
    frontier = simulated().frontier
    assert frontier is not None
    loose = replace(descriptive(), frontier=frontier)
    assert "(Where it would stand; descriptive)" in render_text(loose)
    assert "\nWhere it would stand; descriptive:\n" in render_frontier(loose)
    assert "would be on the frontier" in frontier_words(loose, frontier)
    assert all("descriptive" not in said for said in (render_text(simulated()), render_frontier(simulated())))


def test_there_are_no_blanks_at_line_ends_and_one_newline_at_the_end() -> None:
    text = render_text(simulated())
    assert all(line == line.rstrip() for line in text.splitlines())
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_unequal_attempts_and_a_missing_interval_are_said() -> None:
    text = render_text(replace(descriptive(), attempts=None, interval=None))
    assert "20, unequal attempts" in text
    assert "no interval: the data allow none" in text


def test_a_forbidden_verdict_is_not_printed() -> None:
    with pytest.raises(WordsError):
        render_text(replace(descriptive(), verdict=Verdict.INFERIOR))


def test_every_tested_row_says_what_it_may_be_used_for_and_how_far_it_came() -> None:
    text = render_text(simulated())
    tested = [row for row in simulated().endpoints if row.p is not None and row.name != "success"]
    assert tested
    lines = text.splitlines()
    for row in tested:
        line = next(line for line in lines if line.startswith(f"  {row.name.replace('_', ' ')}"))
        assert f"; {row.label}" in line
    gated = replace(tested[0], label="confirmatory", gate="not_tested")
    assert "; confirmatory, not tested\n" in render_text(replace(simulated(), endpoints=(gated,)))


def test_every_reason_that_broke_the_promise_stands_below_the_first() -> None:
    reasons = ("post hoc: the plan was late", "post hoc: amendment 1 changed endpoint:success")
    decision = simulated()
    late = replace(
        decision,
        label=replace(decision.label, confirmatory=False, reasons=reasons),
        digests=replace(decision.digests, plan="0" * 64),
    )
    text = render_text(late)
    assert "(and 1 more reason, below)" in text.splitlines()[0]
    assert all(f"\n  {reason}\n" in text for reason in reasons)


def test_what_is_only_declared_is_listed_as_not_verified() -> None:
    declared = Condition(factor="region", status=Status.DECLARED, detail="declared, not verified: eu")
    decision = replace(descriptive(), conditions=(*descriptive().conditions, declared))
    line = next(
        line for line in render_text(decision).splitlines() if line.startswith("  declared only, not verified: ")
    )
    assert line.endswith(", region")
