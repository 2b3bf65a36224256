"""The only place for `evenhand run`: attempts of one task on one harness, each written to the run folder."""

import os
import random
import time
from dataclasses import replace
from pathlib import Path

import click

from evenhand.exits import Exit
from evenhand.task_file import read_task
from harness.attempt import Surroundings
from harness.kinds import Harness
from harness.launch import Route, TurnRequest
from harness.limits import RunLimits, limit_warnings
from harness.prices import Prices
from harness.programs.registry import PROGRAMS
from harness.tasks.attempt import Attempt, Labels, make_attempt
from harness.tasks.run_log import RunLog, Written
from harness.tasks.sandbox import Sandbox, fresh_sandbox
from harness.tasks.task import Task

LOST = "an earlier try of this attempt was lost before it was written"


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
@click.option(
    "--prices",
    metavar="IN,OUT,READ,WRITE",
    help="USD per million tokens: input, output, cache read, cache write; without it the program's own cost, if any.",
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
    if task.limits != RunLimits():  # the defaults are no wish of the task's
        for warning in limit_warnings(task.limits, dialogue_turns=len(task.turns)):
            click.echo(f"warning: {warning}", err=True)
    # A launch is data: what cannot be started is told before anything is written.
    PROGRAMS[harness].launch(_request(Sandbox(work=Path.cwd(), home=Path.cwd()), options))
    log = RunLog(out, os.environ, wall_us=_wall_us)
    for number in range(attempts):
        labels = Labels(arm=arm or name, attempt=number, simulated=bool(options["simulated"]))
        if (out / labels.arm / task.task_id / f"{number:02d}" / "task.json").exists():
            click.echo(f"{task.task_id} {labels.arm} attempt {number}: written before", err=True)
            continue
        lost = log.begin(task.task_id, labels, harness=name)
        done = _attempt(harness, task, labels, options=options)
        if lost:
            done = replace(done, record=replace(done.record, findings=(*done.record.findings, LOST)))
        _say(done, log.finish(done, labels))
        if done.interrupted:
            raise click.exceptions.Exit(Exit.INTERRUPTED)


def _attempt(harness: Harness, task: Task, labels: Labels, *, options: dict[str, object]) -> Attempt:
    with fresh_sandbox() as sandbox:
        around = Surroundings(
            wall_us=_wall_us,
            monotonic_ns=time.monotonic_ns,
            sleep=time.sleep,
            jitter=random.SystemRandom().random,
        )
        return make_attempt(PROGRAMS[harness], task, _request(sandbox, options), labels=labels, around=around)


def _route(options: dict[str, object]) -> Route | None:
    url, key = _text(options["base_url"]), _text(options["key_name"])
    if (url is None) != (key is None):
        raise click.UsageError("--base-url and --key-name go together: expected both or neither")
    return None if url is None or key is None else Route(base_url=url, key_name=key)


def _request(sandbox: Sandbox, options: dict[str, object]) -> TurnRequest:
    return TurnRequest(
        prompt="",
        workdir=sandbox.work,
        home=sandbox.home,
        environment=dict(os.environ),
        model=_text(options["model"]),
        route=_route(options),
        max_output_tokens=_number(options["max_output_tokens"]),
        prices=_prices(_text(options["prices"])),
    )


def _wall_us() -> int:
    return time.time_ns() // 1000


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


def _say(done: Attempt, written: Written) -> None:
    record = done.record
    seconds = "-" if record.duration_us is None else f"{record.duration_us / 1e6:.1f} s"
    click.echo(f"{record.task_id} {record.arm} attempt {record.attempt}: {record.final_status}, {seconds}", err=True)
    if done.crash is not None:
        click.echo(f"warning: the turn crashed: {done.crash}", err=True)
    if record.ignored:
        click.echo(f"warning: {record.harness.value} ignores {', '.join(record.ignored)}", err=True)
    for finding in record.findings:
        click.echo(f"note: {finding}", err=True)
    if written.turns is not None and written.without_usage:
        click.echo(
            f"note: {written.without_usage} of {written.turns} turns have no usage: their cost is not known", err=True
        )
    if written.turns is not None and written.left_out + written.dropped:
        counts = f"{written.left_out} not measured, {written.dropped} not written"
        click.echo(f"note: left out of the turn metrics: {counts}", err=True)
