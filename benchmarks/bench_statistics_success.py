"""The only place that times the success statistics against their peers in one run: ratios, not times, are the result.

The peers are scipy and, where it is installed, evalstats, which is no dependency. The goals are those of the project; a
ratio below its goal is printed as such and ends with 1.
"""

import importlib
import importlib.util
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from scipy import stats

from analysis.statistics.bootstrap import ideal_bca, ideal_percentile
from analysis.statistics.sample import IntArray
from analysis.statistics.signflip import sign_flip

SEED = 7
TRIALS = 3
RESAMPLES = 9_999
EVALSTATS = "evalstats"
EVALSTATS_RESAMPLES = 10_000
# All resamples at once would not fit in memory at 10,000 tasks.
BATCH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Our time and a peer's for the same question, and the ratio to reach; None where no goal is set."""

    name: str
    peer: str = "scipy"
    ours_ms: float
    peer_ms: float
    goal: float | None

    @property
    def ratio(self) -> float:
        """How many times faster ours is."""
        return self.peer_ms / self.ours_ms

    @property
    def met(self) -> bool:
        """Tell whether the goal is reached."""
        return self.goal is None or self.ratio >= self.goal


def main() -> int:
    """Run every comparison; return 1 when a goal is missed."""
    comparisons = [compare for n in (89, 1_000, 10_000) for compare in _compare(n)]
    comparisons += _compare_evalstats()
    for found in comparisons:
        goal = "" if found.goal is None else f"  goal {found.goal:g}x {'met' if found.met else 'MISSED'}"
        times = f"ours {found.ours_ms:9.3f} ms  {found.peer:9} {found.peer_ms:10.1f} ms"
        print(f"{found.name:34} {times}  {found.ratio:8.0f}x{goal}")
    peak = _peak_megabytes()
    print(f"peak memory of sign flip and bootstrap at 10,000 tasks x 5: {peak:.1f} MB  goal 500 MB")
    return 0 if all(found.met for found in comparisons) and peak <= 500 else 1


def _compare(n: int) -> list[Comparison]:
    change = _study(n, trials=TRIALS)
    once = n > 1_000
    flip = _median_ms(lambda: sign_flip(change), repeats=50)
    percentile = _median_ms(lambda: ideal_percentile(change, scale=TRIALS, level=0.95), repeats=50)
    bca = _median_ms(lambda: ideal_bca(change, scale=TRIALS, level=0.95), repeats=50)
    share = change / TRIALS
    repeats = 1 if once else 3
    return [
        Comparison(
            name=f"sign flip, n={n}, K={TRIALS}",
            ours_ms=flip,
            peer_ms=_median_ms(lambda: _scipy_permutation(share), repeats=repeats),
            goal=100 if n != 1_000 else None,
        ),
        Comparison(
            name=f"percentile bootstrap, n={n}",
            ours_ms=percentile,
            peer_ms=_median_ms(lambda: _scipy_bootstrap(share, "percentile"), repeats=repeats),
            goal=20,
        ),
        Comparison(
            name=f"BCa bootstrap, n={n}",
            ours_ms=bca,
            peer_ms=_median_ms(lambda: _scipy_bootstrap(share, "BCa"), repeats=repeats),
            goal=20,
        ),
    ]


def _compare_evalstats() -> list[Comparison]:
    """Return the comparison with evalstats' public call for a sign-flip p-value; none where it is not installed."""
    if importlib.util.find_spec(EVALSTATS) is None:
        print(f"{EVALSTATS} is not installed: not compared; docs/speed.md has a run that did")
        return []
    peer = importlib.import_module(EVALSTATS)
    return [_against_evalstats(peer, n, goal=goal) for n, goal in ((89, 1_000), (1_000, None))]


def _against_evalstats(peer: ModuleType, n: int, *, goal: float | None) -> Comparison:
    change = _study(n, trials=TRIALS)
    scores = _scores(change)

    def call() -> object:
        rng = np.random.default_rng(SEED)
        return peer.pairwise_differences(scores, 0, 1, method="permutation", n_bootstrap=EVALSTATS_RESAMPLES, rng=rng)

    return Comparison(
        name=f"sign flip, n={n}, K={TRIALS}",
        peer=EVALSTATS,
        ours_ms=_median_ms(lambda: sign_flip(change), repeats=50),
        peer_ms=_median_ms(call, repeats=3),
        goal=goal,
    )


def _scores(change: IntArray) -> np.ndarray:
    """Return trials with these differences, as evalstats takes them: shape (2 arms, n_tasks, trials)."""
    trial = np.arange(TRIALS)
    arms = [trial < np.maximum(sign * change, 0)[:, None] for sign in (1, -1)]
    return np.stack(arms).astype(np.float64)


def _study(n: int, *, trials: int) -> IntArray:
    rng = np.random.default_rng(SEED)
    chance = rng.beta(0.5, 0.25, n)
    return np.asarray(rng.binomial(trials, chance) - rng.binomial(trials, chance), dtype=np.int64)


def _scipy_permutation(share: np.ndarray) -> object:
    def mean_difference(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(np.mean(x - y, axis=axis))

    return stats.permutation_test(
        (share, np.zeros_like(share)),
        mean_difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=BATCH,
        rng=SEED,
    )


def _scipy_bootstrap(share: np.ndarray, method: str) -> object:
    data = (share.astype(np.float64),)
    if method == "BCa":
        return stats.bootstrap(data, np.mean, method="BCa", n_resamples=RESAMPLES, batch=BATCH, rng=SEED)
    return stats.bootstrap(data, np.mean, method="percentile", n_resamples=RESAMPLES, batch=BATCH, rng=SEED)


def _median_ms(call: Callable[[], object], *, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1_000 * float(np.median(times))


def _peak_megabytes() -> float:
    change = _study(10_000, trials=5)
    tracemalloc.start()
    sign_flip(change)
    ideal_percentile(change, scale=5, level=0.95)
    ideal_bca(change, scale=5, level=0.95)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


if __name__ == "__main__":
    sys.exit(main())
