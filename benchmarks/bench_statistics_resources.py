"""The only place that times the whole statistics pass and the joint bootstrap, and measures their memory.

The pass is everything a comparison computes: success with its sensitivity rows, cost, tokens, latency, rates, missing
bounds, drift and the frontier from one joint bootstrap. The goals are those of the project; one that is missed is
printed as such and ends with 1.
"""

import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from analysis.statistics.axes import Axis, Direction, Sums, TrialQuantile, prepare_axes
from analysis.statistics.bootstrap import ideal_percentile
from analysis.statistics.contrast import Scale
from analysis.statistics.drift import find_trend, order_pairs
from analysis.statistics.durations import ArmDurations
from analysis.statistics.estimands import fixed_suite, similar_tasks
from analysis.statistics.latency import compare_restricted_means, compare_typical_time, describe_solved
from analysis.statistics.latency_quantiles import compare_quantiles
from analysis.statistics.log_mean_ratio import log_mean_ratio
from analysis.statistics.missing import ArmOutcomes, bound_missing
from analysis.statistics.paired_t import paired_t
from analysis.statistics.placement import place_on_frontier
from analysis.statistics.rates import ArmCounts, Kind, compare_rates
from analysis.statistics.ratios import ArmSums, compare_cost_per_solved
from analysis.statistics.sample import FloatArray
from analysis.statistics.signflip import sign_flip
from analysis.statistics.success_sample import SuccessSample, success_sample
from analysis.statistics.task_bootstrap import count_blocks
from analysis.statistics.trial_values import TrialValues

SEED = 7
RESAMPLES = 10_000
LEVEL = 0.95
PASS_GOAL_MS = 500.0
MEMORY_GOAL_MB = 500.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Two arms, treatment first.

    Attributes:
        n: Tasks.
        solved: Trials solved, shape (2, n).
        trials: Trials, shape (n,).
        cost: Cost per trial, shape (2, n, attempts).
        wall: Duration per trial in milliseconds, same shape.
    """

    n: int
    solved: NDArray[np.int64]
    trials: NDArray[np.int64]
    cost: FloatArray
    wall: FloatArray


def main() -> int:
    """Print the ratios, the pass and the memory; return 1 when a goal is missed."""
    small, large = make_evidence(89, attempts=3), make_evidence(10_000, attempts=5)
    ours, peer = median_ms(lambda: joint_means(small), repeats=9), median_ms(lambda: scipy_means(small), repeats=3)
    whole = median_ms(lambda: statistics_pass(small, resamples=RESAMPLES), repeats=5)
    peak = peak_megabytes(large)
    print(f"joint bootstrap of 6 sums, n=89     ours {ours:7.1f} ms  scipy {peer:7.1f} ms  {peer / ours:5.1f}x")
    print(f"whole statistics pass, 2 x 89 x 3   ours {whole:7.1f} ms  goal {PASS_GOAL_MS:g} ms")
    print(f"peak memory at 2 x 10,000 x 5       ours {peak:7.0f} MB  goal {MEMORY_GOAL_MB:g} MB")
    met = whole <= PASS_GOAL_MS and peak <= MEMORY_GOAL_MB
    print("goals met" if met else "a goal is MISSED")
    return 0 if met else 1


def peak_megabytes(evidence: Evidence) -> float:
    """Return the most memory that a pass holds at once; resamples come in blocks, so a tenth of them will do."""
    tracemalloc.start()
    statistics_pass(evidence, resamples=RESAMPLES // 10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def make_evidence(n: int, *, attempts: int) -> Evidence:
    """Return two arms over n tasks."""
    rng = np.random.default_rng(SEED)
    chance = rng.beta(0.5, 0.25, n)
    trials = np.full(n, attempts)
    shape = (2, n, attempts)
    return Evidence(
        n=n,
        solved=rng.binomial(trials, chance, (2, n)),
        trials=trials,
        cost=rng.lognormal(1 - chance[:, None], 0.6, shape),
        wall=np.minimum(rng.lognormal(12, 0.8, shape), 900_000.0),
    )


def statistics_pass(evidence: Evidence, *, resamples: int) -> None:
    """Compute everything that a comparison computes."""
    rng = np.random.default_rng(SEED)
    _success(evidence)
    _resources(evidence, resamples=resamples, rng=rng)
    axes = _axes(evidence)
    place_on_frontier(["treatment", "control"], axes, alpha=0.05, resamples=resamples, rng=rng)


def _success(evidence: Evidence) -> None:
    sample = _sample(evidence, np.ones(evidence.n, dtype=np.bool_))
    similar_tasks(sample, level=LEVEL)
    fixed_suite(sample, level=LEVEL)
    sign_flip(sample.change)
    ideal_percentile(sample.change, scale=sample.scale, level=LEVEL)
    # Eight rows of the sensitivity table: each is the estimate and its test on other tasks.
    for task in range(8):
        kept = _sample(evidence, np.arange(evidence.n) != task)
        similar_tasks(kept, level=LEVEL)
        sign_flip(kept.change)
    find_trend(sample.difference_by_task, np.arange(float(evidence.n)))
    order_pairs(np.arange(float(evidence.n)), np.arange(float(evidence.n)) + 1)
    arms = [_outcomes(evidence, arm) for arm in (0, 1)]
    bound_missing(*arms, estimate=lambda change: paired_t(change, level=LEVEL).interval)


def _sample(evidence: Evidence, keep: NDArray[np.bool_]) -> SuccessSample:
    solved, trials = evidence.solved[:, keep], evidence.trials[keep]
    return success_sample(solved[0], trials, control_solved=solved[1], control_trials=trials)


def _outcomes(evidence: Evidence, arm: int) -> ArmOutcomes:
    solved = evidence.solved[arm]
    return ArmOutcomes(solved=solved, unsolved=evidence.trials - solved, missing=np.zeros_like(solved))


def _resources(evidence: Evidence, *, resamples: int, rng: np.random.Generator) -> None:
    sums = evidence.cost.sum(axis=2)
    arms = [ArmSums(cost_usd=sums[i], solved=evidence.solved[i], trials=evidence.trials) for i in (0, 1)]
    compare_cost_per_solved(*arms, level=LEVEL)
    task = np.repeat(np.arange(evidence.n), evidence.trials)
    for values in (evidence.cost, evidence.wall):
        tokens = [TrialValues(values=arm.ravel(), task=task) for arm in values]
        log_mean_ratio(*tokens, level=LEVEL, name="tokens")
    for _ in range(4):
        counts = [
            ArmCounts(events=evidence.solved[i].astype(np.float64), exposure=evidence.trials.astype(np.float64))
            for i in (0, 1)
        ]
        compare_rates(*counts, kind=Kind.SHARE, level=LEVEL)
    walls = [_durations(arm.ravel(), task) for arm in evidence.wall]
    compare_typical_time(*walls, level=LEVEL)
    compare_restricted_means(*walls, level=LEVEL)
    describe_solved(*walls)
    compare_quantiles(*walls, level=LEVEL, resamples=resamples, rng=rng)


def _durations(wall: FloatArray, task: NDArray[np.int64]) -> ArmDurations:
    cut = wall >= 900_000.0
    return ArmDurations(duration_ms=wall, task=task, timed_out=cut, solved=~cut)


def _axes(evidence: Evidence) -> list[Axis]:
    """Return success, cost per solved task, mean duration and p95."""
    task = np.repeat(np.arange(evidence.n), evidence.trials)
    cost, wall = evidence.cost.sum(axis=2), evidence.wall.sum(axis=2)
    solved = evidence.solved.astype(np.float64)
    p95 = TrialQuantile(trials=[TrialValues(values=arm.ravel(), task=task) for arm in evidence.wall], probability=0.95)
    lower: dict[str, Sums | TrialQuantile] = {
        "cost_per_solved": Sums(numerator=list(cost), denominator=list(solved)),
        "wall": Sums(numerator=list(wall)),
        "p95": p95,
    }
    success = Sums(numerator=list(solved / evidence.trials))
    return [
        Axis(name="success", measure=success, direction=Direction.HIGHER, scale=Scale.DIFFERENCE, epsilon=0.02),
        *(
            Axis(name=name, measure=measure, direction=Direction.LOWER, scale=Scale.RATIO, epsilon=0.05)
            for name, measure in lower.items()
        ),
    ]


def joint_means(evidence: Evidence) -> FloatArray:
    """Return the bootstrap of all sums of both arms at once: counts, and one matrix product."""
    prepared = prepare_axes(_axes(evidence)[:3])
    blocks = count_blocks(evidence.n, resamples=RESAMPLES, rng=np.random.default_rng(SEED))
    return np.concatenate([prepared.values(counts) for counts in blocks], axis=2)


def scipy_means(evidence: Evidence) -> list[object]:
    """Return scipy's bootstrap of the same six sums, one after the other."""
    sums = [*evidence.solved.astype(np.float64), *evidence.cost.sum(axis=2), *evidence.wall.sum(axis=2)]
    return [
        stats.bootstrap((values,), np.mean, method="percentile", n_resamples=RESAMPLES, rng=SEED) for values in sums
    ]


def median_ms(call: Callable[[], object], *, repeats: int) -> float:
    """Return the median processor time of a call in milliseconds: what else the machine does is not counted."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1_000 * float(np.median(times))


if __name__ == "__main__":
    sys.exit(main())
