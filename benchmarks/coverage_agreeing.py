"""The only place for the coverage of several trials that nearly always agree: between all noise and none.

A task is solved by both arms, by one, or by neither, and each trial goes the other way with a small chance: a slip.
With no slips the data are those of one trial per task, which `coverage_single` enumerates.
"""

from collections.abc import Iterator

import numpy as np

from analysis.statistics.sample import FloatArray
from benchmarks.coverage_repeated import FAST_METHODS, Design, Draw, Row, Scenario, Setting, measured, simulate
from benchmarks.coverage_single import TASKS, grid

SLIPS = (0.01, 0.03, 0.1)
TRIALS = (3, 5)
METHODS = ("task_score", "pseudo_task_t", "mj_floor")
# Of the tasks on which the arms do not differ.
SHARE_SOLVED = 0.6


def settings() -> tuple[Setting, ...]:
    """Return every setting; differences below zero mirror those above."""
    return tuple(
        Setting(scenario=_scenario(slip, discordance, difference), design=_design(trials), n=n)
        for slip in SLIPS
        for trials in TRIALS
        for n in TASKS
        for discordance, difference in grid()
        if difference >= 0
    )


def rows(setting: Setting, *, replicates: int, rng: np.random.Generator) -> Iterator[Row]:
    """Yield one row per method."""
    studies = simulate(setting, replicates=replicates, rng=rng)
    truth = np.full(replicates, setting.scenario.difference)
    for name in METHODS:
        yield measured(name, FAST_METHODS[name](studies), setting=setting, truth=truth)


def _design(trials: int) -> Design:
    return Design(name=str(trials), treatment=(trials,), control=(trials,))


def _scenario(slip: float, discordance: float, difference: float) -> Scenario:
    return Scenario(
        name=f"slips {slip:g}, discordance {discordance:g}, difference {difference:g}",
        draw=_draw(slip, discordance, difference),
        difference=difference * (1 - 2 * slip),
    )


def _draw(slip: float, discordance: float, difference: float) -> Draw:
    def draw(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        kind = rng.random(size)
        gain, loss = (discordance + difference) / 2, (discordance - difference) / 2
        both = discordance + (1 - discordance) * SHARE_SOLVED
        solid = (kind >= discordance) & (kind < both)
        treatment = (kind < gain) | solid
        control = ((kind >= gain) & (kind < gain + loss)) | solid
        return np.where(treatment, 1 - slip, slip), np.where(control, 1 - slip, slip)

    return draw
