"""The only place for `evenhand run`: one task on one harness, or an experiment, each attempt in the run folder."""

import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import click

from evenhand.attempts import Notes, ended_words, maker, require_startable, stopping, surroundings, wall_us
from evenhand.commands.registration import json_option
from evenhand.exits import Exit
from evenhand.experiment import Arm, Experiment, Order, order_of
from evenhand.experiment_file import is_experiment, read_experiment
from evenhand.progress import RunProgress
from evenhand.run_guard import guard
from evenhand.run_result import result_document
from evenhand.task_file import parse_task
from evenhand.yaml_fields import read_text
from harness.experiment.running import Outcome, Planned, Rules, Standing, State, run_planned
from harness.kinds import Harness
from harness.launch import Route
from harness.limits import RunLimits, limit_warnings
from harness.prices import Prices
from harness.tasks.run_log import RunLog
from preregistration.schedule_file import read_schedule

TASK_ONLY = (
    "harness",
    "arm",
    "attempts",
    "model",
    "max_output_tokens",
    "model_max_output_tokens",
    "prices",
    "simulated",
)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", metavar="FILE.yaml", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Run folder to write to.")
@click.option("--jobs", type=click.IntRange(1, 64), help="Attempts at a time; without it the experiment's, or 1.")
@click.option(
    "--schedule",
    "schedule_path",
    type=click.Path(path_type=Path),
    help="Experiment: the schedule.json to start in; without it an order of the same rule, seeded by the study.",
)
@click.option("--harness", type=click.Choice([harness.value for harness in Harness]), help="Task: the program.")
@click.option("--arm", metavar="NAME", help="Task: name of the arm; without it the harness's.")
@click.option("--attempts", type=click.IntRange(min=1), help="Task: how often; without it once.")
@click.option("--model", metavar="NAME", help="Task: model as the route knows it; without it the program's default.")
@click.option("--base-url", metavar="URL", help="Root of the endpoint, of every arm that names none.")
@click.option("--key-name", metavar="VARIABLE", help="Environment variable that holds the endpoint's credential.")
@click.option(
    "--max-output-tokens", type=int, help="Task: output limit; without it the provider's default, not verified."
)
@click.option(
    "--model-max-output-tokens", type=int, help="Task: the model's own contract; a limit above it is refused."
)
@click.option(
    "--prices",
    metavar="IN,OUT,READ,WRITE",
    help="Task: USD per million tokens: input, output, cache read, cache write; without it the program's own cost.",
)
@click.option("--simulated", is_flag=True, help="Task: no real model answers; every output says so.")
@json_option
def run(
    file: Path, *, out: Path, jobs: int | None, schedule_path: Path | None, as_json: bool, **options: object
) -> None:
    """Run a task file on one real program, or an experiment file: arms × tasks × attempts.

    Which of the two FILE.yaml is, its keys say. Attempts that the run folder holds are not repeated; one that a killed
    runner lost, or that Ctrl-C ended in an experiment, is made again, and its document says so. Progress goes to
    stderr.

    Exit code 0 when every attempt is written, however it ended; 1 when another runner of the same folder is at some of
    them, when the schedule is another experiment's, or when the folder is; 2 for a fault of a file or an option; 3 when
    a program is missing; 130 after Ctrl-C.
    """
    text = read_text(file)
    if is_experiment(text):
        experiment, order = _experiment(file, schedule_path, options)
    else:
        experiment, order = _single(text, file, options=options)
    _warn(experiment, jobs or experiment.jobs)
    require_startable(experiment)
    if is_experiment(text):
        guard(out, experiment, order)
    rules = Rules(jobs=jobs or experiment.jobs, keep_interrupted=order.kind == "task")
    outcomes = _run(experiment, order, out=out, rules=rules)
    if as_json:
        import json

        document = result_document(experiment, order, outcomes, out=out, jobs=rules.jobs)
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    _end(outcomes)


def _experiment(file: Path, schedule_path: Path | None, options: dict[str, object]) -> tuple[Experiment, Order]:
    given = [f"--{name.replace('_', '-')}" for name in TASK_ONLY if options[name] not in {None, False}]
    if given:
        raise click.UsageError(f"{', '.join(given)}: {file.name} is an experiment, which says that itself")
    experiment = read_experiment(file, route=_route(options))
    order = order_of(experiment, None if schedule_path is None else read_schedule(schedule_path))
    if order.kind == "seeded":
        click.echo(f"order: interleaved, from seed {order.seed}, which the study's name gives", err=True)
    return experiment, order


def _single(text: str, file: Path, *, options: dict[str, object]) -> tuple[Experiment, Order]:
    if options["harness"] is None:
        raise click.UsageError(
            f"--harness: {file.name} is a task and needs one of {', '.join(kind.value for kind in Harness)}"
        )
    task = parse_task(text, name=file.name, folder=file.parent)
    harness = Harness(options["harness"])
    arm = Arm(
        name=_text(options["arm"]) or harness.value,
        harness=harness,
        model=_text(options["model"]),
        route=_route(options),
        max_output_tokens=_number(options["max_output_tokens"]),
        model_max_output_tokens=_number(options["model_max_output_tokens"]),
    )
    experiment = Experiment(
        study=task.task_id,
        arms=(arm,),
        tasks=(task,),
        task_digests=(),
        attempts=_number(options["attempts"]) or 1,
        simulated=options["simulated"] is True,
        prices=_prices(_text(options["prices"])),
    )
    planned = tuple(
        Planned(position=number + 1, arm=arm.name, task_id=task.task_id, attempt=number, harness=harness)
        for number in range(experiment.attempts)
    )
    return experiment, Order(kind="task", seed=None, planned=planned)


def _run(experiment: Experiment, order: Order, *, out: Path, rules: Rules) -> tuple[Outcome, ...]:
    stop = threading.Event()
    shown = RunProgress(rules.jobs, terminal=sys.stderr.isatty(), write=_write)
    notes = Notes(lambda note: click.echo(note, err=True))

    def tell(standing: Standing) -> None:
        last = standing.last
        made = None if last is None or last.state is not State.MADE else last.made
        took_us = None if made is None else made.record.duration_us
        shown.tell(
            standing.done,
            standing.total,
            running=standing.running,
            ended=None if last is None else ended_words(last),
            took_s=None if took_us is None else took_us / 1e6,
        )
        if last is not None:
            notes.hear(last)

    around = surroundings()
    log = RunLog(out, os.environ, wall_us=wall_us)
    with stopping(stop):
        return run_planned(order.planned, maker(experiment), log, around=around, stop=stop, rules=rules, tell=tell)


def _end(outcomes: Sequence[Outcome]) -> None:
    """End as the worst of the attempts says."""
    open_ = [outcome for outcome in outcomes if outcome.state in {State.INTERRUPTED, State.OPEN}]
    if open_:
        click.echo(f"interrupted: {len(open_)} of {len(outcomes)} attempts are not done; run again to go on", err=True)
        raise click.exceptions.Exit(Exit.INTERRUPTED)
    elsewhere = sum(outcome.state is State.ELSEWHERE for outcome in outcomes)
    if elsewhere:
        click.echo(f"{elsewhere} attempts are another runner's; run again when it has ended", err=True)
        raise click.exceptions.Exit(Exit.FINDINGS)


def _warn(experiment: Experiment, jobs: int) -> None:
    for task in experiment.tasks:
        if task.limits != RunLimits():  # the defaults are no wish of the task's
            for warning in limit_warnings(task.limits, dialogue_turns=len(task.turns)):
                click.echo(f"warning: {task.task_id}: {warning}", err=True)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if jobs > cores:
        click.echo(f"warning: {jobs} attempts at a time on {cores} cores: every measured time suffers", err=True)


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _route(options: dict[str, object]) -> Route | None:
    url, key = _text(options["base_url"]), _text(options["key_name"])
    if (url is None) != (key is None):
        raise click.UsageError("--base-url and --key-name go together: expected both or neither")
    return None if url is None or key is None else Route(base_url=url, key_name=key)


def _prices(text: str | None) -> Prices | None:
    if text is None:
        return None
    try:
        prompt, output, read, write = (float(part) for part in text.split(","))
        return Prices(input=prompt, output=output, cache_read=read, cache_write=write)
    except ValueError as fault:
        raise click.UsageError(f"--prices {text}: expected four numbers of at least 0, as 3,15,0.3,3.75") from fault


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None
