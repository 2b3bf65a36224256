"""The only place for the coverage of several trials per task: simulated studies from known task difficulties."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import expit, logit, ndtri
from scipy.stats import beta

from analysis.statistics.estimands import fixed_suite_limits
from analysis.statistics.interval_methods import INTERVALS
from analysis.statistics.sample import FloatArray, IntArray
from analysis.statistics.signflip import sign_flip
from analysis.statistics.success_sample import SuccessSample, success_sample
from analysis.statistics.task_intervals import (
    Limits,
    mj_floor_limits,
    pseudo_task_limits,
    task_t_limits,
)
from analysis.statistics.task_score import task_score_limits

LEVEL = 0.95
TASKS = (24, 89)
# One study at a time instead of all at once: these are here for comparison, so fewer studies do.
SLOW_METHODS = ("yang_score", "percentile", "bca")
QUADRATURE = 1500

Draw = Callable[[int, np.random.Generator], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """How hard tasks are for each arm.

    Attributes:
        name: Name in the table.
        draw: Chances of success per task, treatment and control, for so many tasks.
        difference: True mean difference over such tasks.
    """

    name: str
    draw: Draw
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How many trials each task gets.

    Attributes:
        name: Name in the table.
        treatment, control: Trials of successive tasks, repeated over the suite.
        missing: Chance that a trial is missing at random; one per task and arm is always kept.
    """

    name: str
    treatment: tuple[int, ...]
    control: tuple[int, ...]
    missing: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A scenario, a design and a number of tasks."""

    scenario: Scenario
    design: Design
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a method does in one setting.

    Attributes:
        scenario, trials, n: The setting.
        method: Name of the interval.
        estimand: The truth it is held against: similar_tasks or fixed_suite.
        replicates: Simulated studies.
        difference: True difference over similar tasks.
        coverage, above, below, width: As for one trial.
        above_zero: Share of intervals entirely above zero.
    """

    scenario: str
    trials: str
    n: int
    method: str
    estimand: str
    replicates: int
    difference: float
    coverage: float
    above: float
    below: float
    width: float
    above_zero: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NullRow:
    """Type I error of the sign-flip test in one setting without a difference."""

    scenario: str
    trials: str
    n: int
    replicates: int
    exact: float
    mid_p: float


DESIGNS = (
    Design(name="3", treatment=(3,), control=(3,)),
    Design(name="5", treatment=(5,), control=(5,)),
    Design(name="5 against 3", treatment=(5,), control=(3,)),
    Design(name="2 to 4 mixed", treatment=(2, 3, 4), control=(4, 3, 3, 2)),
    Design(name="3, 10 % missing", treatment=(3,), control=(3,), missing=0.1),
)


def scenarios() -> tuple[Scenario, ...]:
    """Return the scenarios, each with its true difference by quadrature."""
    return (
        Scenario(name="bimodal, mean effect", draw=_bimodal, difference=_bimodal_difference()),
        Scenario(name="low discordance", draw=_low_discordance, difference=0.06 * (0.7 * 0.6 - 0.3 * 0.4)),
        Scenario(name="noisy", draw=_noisy, difference=_noisy_difference()),
        Scenario(name="null, homogeneous", draw=_homogeneous, difference=0.0),
        Scenario(name="null, task-by-arm SD 1", draw=_task_by_arm(1.0), difference=0.0),
        Scenario(name="null, task-by-arm SD 2", draw=_task_by_arm(2.0), difference=0.0),
        Scenario(name="null, task-by-arm SD 3", draw=_task_by_arm(3.0), difference=0.0),
        Scenario(name="A/A, labels permuted", draw=_permuted, difference=0.0),
    )


def settings() -> tuple[Setting, ...]:
    """Return every setting of the study."""
    return tuple(
        Setting(scenario=scenario, design=design, n=n) for scenario in scenarios() for design in DESIGNS for n in TASKS
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Studies:
    """Simulated studies, one a row, with the truth of each suite."""

    treatment_solved: IntArray
    treatment_trials: IntArray
    control_solved: IntArray
    control_trials: IntArray
    suite_difference: FloatArray

    @property
    def change(self) -> FloatArray:
        """Treatment minus control per task in proportion solved."""
        return self.treatment_solved / self.treatment_trials - self.control_solved / self.control_trials

    @property
    def harmonic_trials(self) -> FloatArray:
        """One K for each study."""
        inverse = (1 / self.treatment_trials).mean(axis=1) + (1 / self.control_trials).mean(axis=1)
        return np.asarray(2 / inverse, dtype=np.float64)


def simulate(setting: Setting, *, replicates: int, rng: np.random.Generator) -> Studies:
    """Draw studies, every one with its own tasks."""
    shape, design = (replicates, setting.n), setting.design
    chance_t, chance_c = (chance.reshape(shape) for chance in setting.scenario.draw(replicates * setting.n, rng))
    trials_t = _trials(design.treatment, design.missing, shape=shape, rng=rng)
    trials_c = _trials(design.control, design.missing, shape=shape, rng=rng)
    return Studies(
        treatment_solved=rng.binomial(trials_t, chance_t),
        treatment_trials=trials_t,
        control_solved=rng.binomial(trials_c, chance_c),
        control_trials=trials_c,
        suite_difference=(chance_t - chance_c).mean(axis=1),
    )


FAST_METHODS: Mapping[str, Callable[[Studies], Limits]] = {
    "task_score": lambda s: task_score_limits(s.change, level=LEVEL),
    "pseudo_task_t": lambda s: pseudo_task_limits(s.change, trials=s.harmonic_trials, level=LEVEL),
    "mj_floor": lambda s: mj_floor_limits(s.change, level=LEVEL),
    "task_t": lambda s: task_t_limits(s.change, level=LEVEL),
}


def rows(studies: Studies, setting: Setting, *, slow_replicates: int) -> Iterator[Row]:
    """Yield one row per method that is for the design."""
    similar = np.full(studies.suite_difference.size, setting.scenario.difference)
    for name, method in FAST_METHODS.items():
        yield measured(name, method(studies), setting=setting, truth=similar)
    for name in SLOW_METHODS:
        if INTERVALS[name].fits(_sample(studies, 0)) and not setting.design.missing:
            found = _one_by_one(studies, name, replicates=slow_replicates)
            yield measured(name, found, setting=setting, truth=similar[:slow_replicates])
    if min(studies.treatment_trials.min(), studies.control_trials.min()) >= 2:
        yield measured("fixed_suite", _fixed_suite(studies), setting=setting, truth=studies.suite_difference)


def type_one(studies: Studies, setting: Setting) -> NullRow:
    """Return how often the sign-flip test rejects at 0.05."""
    total = studies.suite_difference.size
    results = [sign_flip(_sample(studies, i).change) for i in range(total)]
    alpha = 1 - LEVEL + 1e-12
    return NullRow(
        scenario=setting.scenario.name,
        trials=setting.design.name,
        n=setting.n,
        replicates=total,
        exact=sum(result.p_exact <= alpha for result in results) / total,
        mid_p=sum(result.p_mid <= alpha for result in results) / total,
    )


def measured(method: str, limits: Limits, *, setting: Setting, truth: FloatArray) -> Row:
    """Return how often limits held the truth, one value per study."""
    low, high = np.maximum(-1, limits[0]), np.minimum(1, limits[1])
    above, below = float((low > truth + 1e-12).mean()), float((high < truth - 1e-12).mean())
    return Row(
        scenario=setting.scenario.name,
        trials=setting.design.name,
        n=setting.n,
        method=method,
        estimand="fixed_suite" if method == "fixed_suite" else "similar_tasks",
        replicates=truth.size,
        difference=setting.scenario.difference,
        coverage=1 - above - below,
        above=above,
        below=below,
        width=float((high - low).mean()),
        above_zero=float((low > 0).mean()),
    )


def _sample(studies: Studies, i: int) -> SuccessSample:
    return success_sample(
        studies.treatment_solved[i],
        studies.treatment_trials[i],
        control_solved=studies.control_solved[i],
        control_trials=studies.control_trials[i],
    )


def _one_by_one(studies: Studies, method: str, *, replicates: int) -> Limits:
    found = [INTERVALS[method].interval(_sample(studies, i), level=LEVEL) for i in range(replicates)]
    return np.array([interval.low for interval in found]), np.array([interval.high for interval in found])


def _fixed_suite(studies: Studies) -> Limits:
    low, high, _ = fixed_suite_limits(
        studies.treatment_solved,
        studies.treatment_trials,
        control_solved=studies.control_solved,
        control_trials=studies.control_trials,
        level=LEVEL,
    )
    return low, high


def _trials(pattern: tuple[int, ...], missing: float, *, shape: tuple[int, int], rng: np.random.Generator) -> IntArray:
    planned = np.broadcast_to(np.resize(pattern, shape[1]), shape)
    return np.asarray(np.maximum(1, rng.binomial(planned, 1 - missing)), dtype=np.int64)


def _bimodal(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw difficulty Beta(.5, .25) and a task-by-arm effect N(.5, 1) on the logit scale, half to each arm."""
    base = logit(_inside(rng.beta(0.5, 0.25, size)))
    effect = rng.normal(0.5, 1, size)
    return expit(base + effect / 2), expit(base - effect / 2)


def _bimodal_difference() -> float:
    points = (np.arange(QUADRATURE) + 0.5) / QUADRATURE
    # The beta quantile is steep at both ends; squaring the sine spends the points there.
    spread = np.sin(points * np.pi / 2) ** 2
    edges = np.sin(np.linspace(0, 1, QUADRATURE + 1) * np.pi / 2) ** 2
    weight = np.array([high - low for low, high in pairwise(edges)])
    base = logit(_inside(beta.ppf(spread, 0.5, 0.25)))[:, None]
    effect = 0.5 + ndtri(points)[None, :]
    return float(weight @ (expit(base + effect / 2) - expit(base - effect / 2)).mean(axis=1))


def _low_discordance(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw 70 % always solved, 6 % that flip (70:30 in favour of the treatment), the rest never solved."""
    kind, favours = rng.random(size), rng.random(size) < 0.7
    flips = (kind >= 0.7) & (kind < 0.76)
    solid = (kind < 0.7).astype(np.float64)
    treatment = np.where(flips, np.where(favours, 0.9, 0.3), solid)
    control = np.where(flips, np.where(favours, 0.3, 0.7), solid)
    return treatment, control


def _noisy(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw difficulty Beta(4, 4); the treatment is better by .05 everywhere."""
    base = rng.beta(4, 4, size)
    return np.minimum(1, base + 0.05), base


def _noisy_difference() -> float:
    points = (np.arange(100_000) + 0.5) / 100_000
    base = beta.ppf(points, 4, 4)
    return float((np.minimum(1, base + 0.05) - base).mean())


def _homogeneous(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    base = rng.beta(0.5, 0.25, size)
    return base, base


def _task_by_arm(spread: float) -> Draw:
    def draw(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        base, effect = rng.normal(0, 1.5, size), rng.normal(0, spread, size)
        return expit(base + effect / 2), expit(base - effect / 2)

    return draw


def _permuted(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw the bimodal scenario and swap the labels of each task at random: what an A/A comparison is."""
    treatment, control = _bimodal(size, rng)
    swap = rng.random(size) < 0.5
    return np.where(swap, control, treatment), np.where(swap, treatment, control)


def _inside(chance: FloatArray) -> FloatArray:
    """Keep a chance where its logit is finite."""
    return np.clip(chance, 1e-300, 1 - 1e-16)
