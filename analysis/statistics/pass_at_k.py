"""The only place for pass@k (any of k trials solves) and pass^k (all of k trials solve), paired over tasks."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.statistics.interval import Interval
from analysis.statistics.sample import FloatArray, IntArray, SampleError
from analysis.statistics.success_sample import SuccessSample
from analysis.statistics.task_score import task_score

Kind = Literal["pass_at_k", "pass_hat_k"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassComparison:
    """Two arms compared by pass@k or pass^k.

    Attributes:
        kind: Which of the two.
        k: Trials looked at.
        treatment, control: Mean over tasks of the unbiased estimate, in [0, 1].
        difference: Treatment minus control.
        interval: Task-level interval of the difference.
    """

    kind: Kind
    k: int
    treatment: float
    control: float
    difference: float
    interval: Interval


def pass_at_k(solved: IntArray, trials: IntArray, *, k: int) -> FloatArray:
    """Return the unbiased chance, per task, that at least one of k trials solves it: 1 - C(n-c, k) / C(n, k).

    Args:
        solved: Trials solved per task c, shape (n_tasks,).
        trials: Trials per task n >= k.
        k: Trials drawn without replacement, >= 1.

    Raises:
        SampleError: Fewer than k trials in a task.

    References:
        Chen et al. (2021), Evaluating Large Language Models Trained on Code, equation 1.
    """
    return 1 - _share_without(trials - solved, trials, k=k)


def pass_hat_k(solved: IntArray, trials: IntArray, *, k: int) -> FloatArray:
    """Return the unbiased chance, per task, that all of k trials solve it: C(c, k) / C(n, k).

    Args:
        solved: As for `pass_at_k`.
        trials: As for `pass_at_k`.
        k: As for `pass_at_k`.

    Raises:
        SampleError: Fewer than k trials in a task.

    References:
        Yao et al. (2024), tau-bench.
    """
    return _share_without(solved, trials, k=k)


def compare_pass(sample: SuccessSample, *, k: int, kind: Kind, level: float) -> PassComparison:
    """Compare two arms over the same tasks.

    Raises:
        SampleError: Fewer than k trials in a task.
    """
    estimate = pass_at_k if kind == "pass_at_k" else pass_hat_k
    treatment = estimate(sample.treatment_solved, sample.treatment_trials, k=k)
    control = estimate(sample.control_solved, sample.control_trials, k=k)
    change = np.clip(treatment - control, -1, 1)
    return PassComparison(
        kind=kind,
        k=k,
        treatment=float(treatment.mean()),
        control=float(control.mean()),
        difference=float(change.mean()),
        interval=task_score(change, level=level),
    )


def _share_without(kept: IntArray, trials: IntArray, *, k: int) -> FloatArray:
    """Return C(kept, k) / C(trials, k): the chance that k draws all fall among the kept."""
    if isinstance(k, bool) or k < 1 or k > int(trials.min()):
        raise SampleError(f"k={k!r} must lie in 1..{int(trials.min())}, the fewest trials of a task")
    share = np.ones(kept.size)
    for i in range(k):
        share *= np.maximum(0, kept - i) / (trials - i)
    return share
