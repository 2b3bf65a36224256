"""The only place for the verb `evenhand power`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.commands.plan import read_any
from evenhand.commands.registration import emit, json_option
from evenhand.options import FiniteRange
from evenhand.progress import progress
from manifests.manifest import load_manifest
from preregistration.plan import Plan, resolve_interval

if TYPE_CHECKING:
    from preregistration.power import Assumptions, Decide, Projection
    from preregistration.simulation import Counts
    from preregistration.starting_values import StartingValues

# Typical of Terminal-Bench: two thirds solved, difficulty beta(0.5, 0.25).
_MEAN, _CORRELATION, _SHIFT_SD = 2 / 3, 4 / 7, 1.0
_SHARE = FiniteRange(0, 1, min_open=True, max_open=True)
_PATH = click.Path(path_type=Path)


@click.command(name="power")
@click.argument("plan_path", metavar="PLAN", type=_PATH)
@click.option("--tasks", type=click.IntRange(2, 100_000), help="Number of tasks, without a manifest.")
@click.option("--manifest", "manifest_path", type=_PATH, help="The plan's manifest, for its tasks.")
@click.option("--expect-manifest-sha256", "expected", metavar="HEX", help="The digest that pins it.")
@click.option("--from", "earlier", metavar="STUDY", type=_PATH, help="decision.json, a draft folder, or evidence.")
@click.option("--treatment", metavar="SEL", help="Selector, when STUDY is evidence.")
@click.option("--control", metavar="SEL", help="Selector, when STUDY is evidence.")
@click.option("--earlier-se", type=FiniteRange(0, 100, min_open=True), metavar="PP", help="A published standard error.")
@click.option("--earlier-tasks", type=click.IntRange(2), metavar="N", help="Tasks that it belongs to.")
@click.option("--effect", type=_SHARE, help="True difference to plan for; default: twice the minimum effect.")
@click.option("--mean", type=_SHARE, default=_MEAN, show_default="2/3", help="Share solved.")
@click.option("--correlation", type=_SHARE, default=_CORRELATION, show_default="4/7", help="Of attempts at one task.")
@click.option("--shift-sd", type=FiniteRange(0, 20), default=_SHIFT_SD, show_default=True, help="Task-by-arm logit SD.")
@click.option("--cost-per-trial", type=FiniteRange(0), metavar="USD", help="Default: STUDY's mean.")
@click.option(
    "--replicates", type=click.IntRange(1, 1_000_000), default=1000, show_default=True, help="Studies at each point."
)
@click.option("--figure", type=_PATH, help="Write the picture here, as SVG; never overwrites.")
@json_option
def power(
    plan_path: Path,
    *,
    tasks: int | None,
    manifest_path: Path | None,
    expected: str | None,
    earlier: Path | None,
    treatment: str | None,
    control: str | None,
    earlier_se: float | None,
    earlier_tasks: int | None,
    effect: float | None,
    mean: float,
    correlation: float,
    shift_sd: float,
    cost_per_trial: float | None,
    replicates: int,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Project what PLAN can find out: a hypothesis, never a result.

    Outcomes are simulated from a beta-binomial model of task difficulty with a task-by-arm effect; the verdict is
    decided by the code that decides the study. Starting values are assumed, or estimated from an earlier study.
    """
    from evenhand.commands.power_words import power_lines, power_value
    from preregistration.power import Assumptions, PowerError

    if figure is not None and figure.exists():
        raise click.UsageError(f"--figure {figure}: found a file, expected a new path")
    if (earlier_se is None) != (earlier_tasks is None):
        raise click.UsageError("--earlier-se and --earlier-tasks go together")
    pinned = _manifest(manifest_path, expected)
    plan, _ = read_any(plan_path, manifest_digest=pinned[1] if pinned else None)
    values, cost = _values(earlier, treatment, control, mean=mean, correlation=correlation, shift_sd=shift_sd)
    assumptions = Assumptions(
        tasks=_tasks(plan, tasks, pinned[0] if pinned else None),
        values=values,
        effect=effect or 2 * (plan.primary.minimum_effect or 0.05),
        cost_per_trial_usd=cost if cost_per_trial is None else cost_per_trial,
        replicates=replicates,
    )
    try:
        projection = _projected(plan, assumptions)
    except PowerError as fault:
        raise click.UsageError(str(fault)) from fault
    if figure is not None:
        _draw(projection, figure)
    published = (earlier_se / 100, earlier_tasks) if earlier_se is not None and earlier_tasks is not None else None
    text = "\n".join(power_lines(plan, projection, published=published))
    emit(power_value(plan, projection, published=published), text, as_json=as_json)


def verdict_rule(plan: Plan) -> "Decide":
    """Return the plan's own rule for one study: interval, then verdict against minimum effect and margin."""
    from analysis.statistics.interval_methods import interval_method
    from analysis.statistics.success_sample import success_sample
    from analysis.statistics.verdict import verdict
    from evenhand.walk import protocol_of

    primary, attempts, level = plan.primary, plan.attempts, protocol_of(plan, ()).level
    method = interval_method(resolve_interval(primary, attempts=attempts))

    def decide(treatment: "Counts", control: "Counts") -> tuple[str, ...]:
        trials = [attempts] * len(treatment)
        sample = success_sample(treatment, trials, control_solved=control, control_trials=trials)
        found = method.interval(sample, level=level)
        first, also = verdict(
            found.low, found.high, minimum_effect=primary.minimum_effect, margin=primary.noninferiority_margin
        )
        return (first.value, *(other.value for other in also))

    return decide


def _projected(plan: Plan, assumptions: "Assumptions") -> "Projection":
    from preregistration.power import project

    with progress("simulating") as tick:
        return project(plan, assumptions, decide=verdict_rule(plan), tick=tick)


def _manifest(path: Path | None, expected: str | None) -> tuple[int, str] | None:
    """Return the manifest's number of tasks and its digest; None when none was given."""
    if (path is None) != (expected is None):
        raise click.UsageError("--manifest and --expect-manifest-sha256 go together")
    if path is None or expected is None:
        return None
    pinned = load_manifest(path, expected_sha256=expected)
    return len(pinned.manifest.tasks), pinned.sha256


def _tasks(plan: Plan, given: int | None, pinned: int | None) -> int:
    if given is None and pinned is None:
        raise click.UsageError("the number of tasks is not known: give --tasks N, or --manifest with its digest")
    return given if given is not None else max(2, (pinned or 0) - len(plan.exclusions))


def _values(
    earlier: Path | None,
    treatment: str | None,
    control: str | None,
    *,
    mean: float,
    correlation: float,
    shift_sd: float,
) -> "tuple[StartingValues, float | None]":
    from preregistration.simulation import model_from_moments
    from preregistration.starting_values import StartingValues, StartingValuesError, estimate_starting_values

    if earlier is None:
        model = model_from_moments(mean=mean, task_correlation=correlation, shift_sd=shift_sd)
        return StartingValues(model=model, source="starting values assumed"), None
    from evenhand.commands.earlier import EarlierStudyError, earlier_study

    study = earlier_study(earlier, treatment=treatment, control=control)
    try:
        return estimate_starting_values(study, shift_sd=shift_sd), study.cost_per_trial_usd
    except StartingValuesError as fault:
        raise EarlierStudyError(f"{earlier}: {fault}") from fault


def _draw(projection: "Projection", figure: Path) -> None:
    from manifests.digest import write_once
    from preregistration.power_figure import draw_power

    write_once(figure, draw_power(projection).encode())
    click.echo(f"wrote {figure}", err=True)
