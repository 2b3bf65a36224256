"""The only place that applies a protocol, frozen or stated, to a paired sample: estimate, interval, exact test.

It decides nothing: analysis/claims.py turns its numbers into words.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.decision import Discordance, IntervalEstimate
from analysis.pairs import PairedSample
from analysis.statistics.discordance import low_discordance
from analysis.statistics.interval_methods import IntervalMethod, default_method, interval_method
from analysis.statistics.signflip import sign_flip
from analysis.statistics.success_sample import SuccessSample, success_sample

AUTOMATIC = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How the primary endpoint is analysed.

    Attributes:
        test: Name of the test.
        alpha: Two-sided significance level in (0, 1).
        interval: Interval method, or auto: tango for one trial per task, task_score for several.
        level: Confidence level in (0, 1).
        minimum_effect: Proportion > 0; None when none was frozen.
        noninferiority_margin: Proportion > 0; None when none was frozen.
        extra_intervals: Methods to add beside the primary interval.
    """

    test: str = "sign_flip"
    alpha: float = 0.05
    interval: str = AUTOMATIC
    level: float = 0.95
    minimum_effect: float | None = None
    noninferiority_margin: float | None = None
    extra_intervals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A paired sample in numbers.

    Attributes:
        sample: What was compared.
        success: Its success counts, checked.
        protocol: How.
        difference: Mean over tasks of treatment minus control in proportion solved, in [-1, 1].
        interval: The primary interval.
        extra: The intervals asked for beside it.
        p_exact, p_mid: Two-sided p-values of the exact task-level sign-flip test.
        discordance: Tasks ahead, behind, tied.
        notes: Sentences a reader needs.
    """

    sample: PairedSample
    success: SuccessSample
    protocol: Protocol
    difference: float
    interval: IntervalEstimate
    extra: tuple[IntervalEstimate, ...]
    p_exact: float
    p_mid: float
    discordance: Discordance
    notes: tuple[str, ...]


def compare(sample: PairedSample, protocol: Protocol) -> Comparison:
    """Apply a protocol to a paired sample.

    Args:
        sample: Two arms on the same tasks.
        protocol: Test, interval and thresholds.

    Raises:
        SampleError: When a method that was asked for does not exist or is not for this number of trials per task.
    """
    success = success_sample(
        sample.treatment_solved,
        sample.treatment_trials,
        control_solved=sample.control_solved,
        control_trials=sample.control_trials,
    )
    test = sign_flip(success.change)
    method = default_method(success) if protocol.interval == AUTOMATIC else interval_method(protocol.interval)
    return Comparison(
        sample=sample,
        success=success,
        protocol=protocol,
        difference=success.difference,
        interval=_estimate(method, success, level=protocol.level),
        extra=tuple(
            _estimate(interval_method(name), success, level=protocol.level) for name in protocol.extra_intervals
        ),
        p_exact=test.p_exact,
        p_mid=test.p_mid,
        discordance=Discordance(
            ahead=int((success.change > 0).sum()),
            behind=int((success.change < 0).sum()),
            ties=int((success.change == 0).sum()),
        ),
        notes=tuple(_notes(success)),
    )


def _notes(success: SuccessSample) -> Iterator[str]:
    """Yield what a reader must know before taking the interval at its word."""
    if not low_discordance(success.change):
        return
    differing = int((success.change != 0).sum())
    smallest = min(1.0, 2.0 ** (1 - differing))
    yield (
        f"low discordance: the arms differ on {differing} of {success.n_tasks} tasks; the interval may cover less than "
        f"its level, and no such data can give an exact p below {smallest:.3g}"
    )


def _estimate(method: IntervalMethod, success: SuccessSample, *, level: float) -> IntervalEstimate:
    found = method.interval(success, level=level)
    return IntervalEstimate(low=found.low, high=found.high, level=level, method=method.name)
