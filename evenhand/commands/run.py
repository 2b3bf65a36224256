"""The only place for `evenhand run`: attempts of one task on one harness, each written to the run folder."""

import os
import random
import time
from pathlib import Path

import click

from evenhand.exits import Exit
from evenhand.task_file import read_task
from harness.attempt import Surroundings
from harness.kinds import Harness
from harness.launch import Route, TurnRequest
from harness.limits import limit_warnings
from harness.programs.registry import PROGRAMS
from harness.run_folder import write_task
from harness.tasks.attempt import Attempt, Labels, make_attempt
from harness.tasks.sandbox import fresh_sandbox
from harness.tasks.task import Task


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("task_file", metavar="TASK.yaml", type=click.Path(path_type=Path))
@click.option("--harness", "name", required=True, type=click.Choice([harness.value for harness in Harness]))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Run folder to write to.")
@click.option("--arm", metavar="NAME", help="Name of the arm; without it the harness's.")
@click.option("--attempts", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--model", metavar="NAME", help="Model as the route knows it; without it the program's default.")
@click.option("--base-url", metavar="URL", help="Root of the endpoint; without it the program's own provider.")
@click.option("--key-name", metavar="VARIABLE", help="Environment variable that holds the endpoint's credential.")
@click.option(
    "--max-output-tokens", type=int, help="Explicit output limit; without it the provider's default, not verified."
)
@click.option("--simulated", is_flag=True, help="No real model answers; every output says so.")
def run(task_file: Path, *, name: str, out: Path, arm: str | None, attempts: int, **options: object) -> None:
    """Run TASK.yaml on a real program and write what was measured.

    Attempts that the run folder already holds are not repeated. Exit code 0 when every attempt is written, however it
    ended; 2 for a fault of the task file or an option; 3 when the program is missing; 130 after Ctrl-C, with the
    attempt so far written.
    """
    task = read_task(task_file)
    harness = Harness(name)
    for warning in limit_warnings(task.limits, dialogue_turns=len(task.turns)):
        click.echo(f"warning: {warning}", err=True)
    for number in range(attempts):
        labels = Labels(arm=arm or name, attempt=number, simulated=bool(options["simulated"]))
        if (out / labels.arm / task.task_id / f"{number:02d}" / "task.json").exists():
            click.echo(f"{task.task_id} {labels.arm} attempt {number}: written before", err=True)
            continue
        done = _attempt(harness, task, labels, options=options)
        write_task(out, done.record)
        _say(done)
        if done.interrupted:
            raise click.exceptions.Exit(Exit.INTERRUPTED)


def _attempt(harness: Harness, task: Task, labels: Labels, *, options: dict[str, object]) -> Attempt:
    with fresh_sandbox() as sandbox:
        request = TurnRequest(
            prompt="",
            workdir=sandbox.work,
            home=sandbox.home,
            environment=dict(os.environ),
            model=_text(options["model"]),
            route=_route(options),
            max_output_tokens=_number(options["max_output_tokens"]),
        )
        around = Surroundings(
            wall_us=lambda: time.time_ns() // 1000,
            monotonic_ns=time.monotonic_ns,
            sleep=time.sleep,
            jitter=random.SystemRandom().random,
        )
        return make_attempt(PROGRAMS[harness], task, request, labels=labels, around=around)


def _route(options: dict[str, object]) -> Route | None:
    url, key = _text(options["base_url"]), _text(options["key_name"])
    if (url is None) != (key is None):
        raise click.UsageError("--base-url and --key-name go together: expected both or neither")
    return None if url is None or key is None else Route(base_url=url, key_name=key)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _say(done: Attempt) -> None:
    record = done.record
    seconds = "-" if record.duration_us is None else f"{record.duration_us / 1e6:.1f} s"
    click.echo(f"{record.task_id} {record.arm} attempt {record.attempt}: {record.final_status}, {seconds}", err=True)
    if done.crash is not None:
        click.echo(f"warning: the turn crashed: {done.crash}", err=True)
    for finding in record.findings:
        click.echo(f"warning: {finding}", err=True)
    if record.ignored:
        click.echo(f"warning: {record.harness.value} ignores {', '.join(record.ignored)}", err=True)
