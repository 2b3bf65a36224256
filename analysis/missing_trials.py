"""The only place for what trials without a grade could have changed: bounds on the difference, and tipping points."""

from collections.abc import Iterator
from dataclasses import replace

from analysis.decision import SensitivityRow, Verdict
from analysis.measures import ArmMeasures
from analysis.sensitivity_rows import Bench, success_row, uncomputed
from analysis.statistics.missing import ArmOutcomes, TippingPoint, find_tipping_points
from analysis.statistics.sample import FloatArray, IntArray
from analysis.statistics.success_sample import SuccessSample, success_sample
from analysis.statistics.task_score import task_score
from analysis.statistics.verdict import verdict

KIND = "missing_bounds"


def missing_rows(bench: Bench) -> Iterator[SensitivityRow]:
    """Yield the worst and the best case, and where between them the interval comes to lie elsewhere."""
    missing = [_missing(bench, arm) for arm in bench.arms]
    if not any(counts.any() for counts in missing):
        yield replace(uncomputed(KIND, "every trial has a grade: nothing is missing"), n_tasks=bench.success.n_tasks)
        return
    a, b = (int(counts.sum()) for counts in missing)
    worst = _filled(bench.success, control=missing[1])
    best = _filled(bench.success, treatment=missing[0])
    said = f"{a} trials of the treatment and {b} of the control have no grade"
    yield success_row(
        f"{KIND}:worst", worst, bench, note=f"all of the control's solved, none of the treatment's; {said}"
    )
    yield success_row(f"{KIND}:best", best, bench, note=f"all of the treatment's solved, none of the control's; {said}")
    yield uncomputed(f"{KIND}:tipping_point", _tipping_words(bench, missing[0], missing[1]))


def _missing(bench: Bench, arm: ArmMeasures) -> IntArray:
    """Return each compared task's trials that have no grade and were not counted as solved."""
    return bench.measures.count(arm, arm.ungraded & ~arm.solved)[bench.compared]


def _filled(
    success: SuccessSample, *, treatment: IntArray | None = None, control: IntArray | None = None
) -> SuccessSample:
    """Return the counts with missing trials of one arm taken as solved; they count as unsolved already."""
    return success_sample(
        success.treatment_solved + (0 if treatment is None else treatment),
        success.treatment_trials,
        control_solved=success.control_solved + (0 if control is None else control),
        control_trials=success.control_trials,
    )


def _tipping_words(bench: Bench, treatment: IntArray, control: IntArray) -> str:
    """Say how many of the missing trials must have been solved before the interval lies elsewhere."""
    success = bench.success
    observed = _conclusion(bench, success.difference_by_task)
    points = find_tipping_points(
        _outcomes(success.treatment_solved, success.treatment_trials, treatment),
        _outcomes(success.control_solved, success.control_trials, control),
        conclusion=lambda change: _conclusion(bench, change) == observed,
    )
    ends = [points[0]] if len(points) == 1 else [points[0], points[-1]]
    words = [_turn(point, bench, (treatment, control), observed=observed) for point in ends]
    return f"the score interval of the tasks {_position(bench, observed)}: {'; '.join(words)}"


def _position(bench: Bench, observed: Verdict) -> str:
    """Say where the interval lies, in numbers alone: the row stands in reports too that may draw no conclusion."""
    protocol = bench.comparison.protocol
    effect, margin = _points(protocol.minimum_effect), _points(protocol.noninferiority_margin)
    match observed:
        case Verdict.SUPERIOR:
            return f"lies above {effect}"
        case Verdict.INFERIOR:
            return f"lies below \u2212{effect}"
        case Verdict.SUPERIOR_SIZE_UNPROVEN:
            return "excludes zero from above" + (f" and does not lie above {effect}" if effect else "")
        case Verdict.WORSE_SIZE_UNPROVEN:
            return "excludes zero from below" + (f" and does not lie below \u2212{effect}" if effect else "")
        case Verdict.EQUIVALENT:
            return f"holds zero and lies within {effect} of it"
        case Verdict.NONINFERIOR:
            return f"holds zero and lies above \u2212{margin}"
    reaches = (
        f"reaches {effect} or more from it" if effect else "",
        f"goes down to \u2212{margin} or less" if margin else "",
    )
    return " and ".join(("does not exclude zero", *(part for part in reaches if part)))


def _points(proportion: float | None) -> str:
    return "" if proportion is None else f"{100 * proportion:g} pp"


def _turn(point: TippingPoint, bench: Bench, missing: tuple[IntArray, IntArray], *, observed: Verdict) -> str:
    """Say what becomes of the interval's place at one share of the control's missing trials."""
    success = bench.success
    change = (success.treatment_solved + missing[0]) / success.treatment_trials
    change = change - (success.control_solved + point.control_rate * missing[1]) / success.control_trials
    holds = _conclusion(bench, change) == observed
    given = f"with {point.control_rate:.0%} of the control's missing trials solved " if missing[1].any() else ""
    if point.treatment_rate is None:
        return f"{given}this {'holds' if holds else 'does not hold'} whatever the treatment's missing trials were"
    share = f"{point.treatment_rate:.0%} of the treatment's missing trials are solved"
    return f"{given}this {'holds only' if holds else 'no longer holds'} where more than {share}"


def _conclusion(bench: Bench, change: FloatArray) -> Verdict:
    """Return what the interval says; shares of a solve need an interval that takes them."""
    found = task_score(change, level=bench.level)
    protocol = bench.comparison.protocol
    first, _ = verdict(
        found.low, found.high, minimum_effect=protocol.minimum_effect, margin=protocol.noninferiority_margin
    )
    return first


def _outcomes(solved: IntArray, trials: IntArray, missing: IntArray) -> ArmOutcomes:
    return ArmOutcomes(solved=solved, unsolved=trials - solved - missing, missing=missing)
