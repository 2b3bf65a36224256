"""The verb stats: what recorded turns say together, as text, as JSON and as a picture."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.exits import Exit
from evenhand.options import json_option

if TYPE_CHECKING:
    from analysis.turn_stats import TurnReport
    from analysis.turn_sums import By

BY = ("model", "session", "day", "arm")
FORMATS = (".svg", ".png")


def _picture(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and value.suffix.lower() not in FORMATS:
        raise click.BadParameter(f"{value.name!r} must end in one of {', '.join(FORMATS)}")
    return value


@click.command()
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    metavar="D",
    help="Folder with turns.jsonl, itself or at any depth below; default: OMK_TURN_METRICS_DIR, else .omk/metrics.",
)
@json_option
@click.option("--by", type=click.Choice(BY), help="Sum up each group as well.")
@click.option("--arm", "arms", multiple=True, metavar="SEL", help="With --by arm: selector of an arm; default: agents.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_picture,
    metavar="FILE",
    help="Draw durations, tokens by kind and tool failures (.svg, .png).",
)
def stats(*, folder: Path | None, as_json: bool, by: "By | None", arms: tuple[str, ...], plot: Path | None) -> None:
    """Sum up recorded turns: durations, tokens, cost, tools.

    A rotated file (turns.jsonl.1) and packed ones (.gz) are read too, the older one first. Malformed lines are counted
    by reason. "Not measured" means that no turn carried the field. Arms are those of the trials below D that declare a
    turn's session; nothing is joined by time.
    """
    from analysis.evidence.turn_files import TurnFileError, distinct_turn_files, find_turn_files
    from analysis.evidence.turns import available_cores, range_executor
    from analysis.turn_sums import begun, sum_files
    from harness.turn_metrics import metrics_folder

    if arms and by != "arm":
        raise click.UsageError("--arm names the arms of --by arm; give both")
    if folder is not None and not folder.is_dir():
        raise TurnFileError(f"{folder}: no folder there; give the folder that holds turns.jsonl, or one above it")
    place = folder if folder is not None else metrics_folder(Path(), os.environ)
    files = [file.path for file in distinct_turn_files(find_turn_files((place,)))]
    with range_executor(files, workers=available_cores()) as executor:
        sums = begun(sum_files(files, executor, by))
        # numpy makes threads: only after the reading processes were started.
        from analysis.turn_stats import report as report_of
        from evenhand.commands.stats_words import report_json, report_lines

        report = report_of(sums, by=by, arms=_arms_of(place, arms) if by == "arm" else {})
    if as_json:
        click.echo(json.dumps(report_json(report, by=by), allow_nan=False))
    elif report.whole.turns == 0 and report.whole.malformed == 0:
        click.echo(f"No turn metrics recorded yet ({place}).")
    else:
        click.echo("\n".join(report_lines(report, by=by)))
    if plot is not None:
        _write_plot(plot, report)


def _arms_of(place: Path, selectors: Sequence[str]) -> dict[str, str]:
    """Return the arm of each session that one trial below the folder declares."""
    from analysis.evidence import read_evidence
    from analysis.evidence.sessions import declared_sessions
    from manifests.selectors import parse_selector

    trials = read_evidence([place]).trials
    chosen = [parse_selector(text) for text in selectors]
    names = {
        trial.trial_id: next(
            (one.name for one in chosen if one.matches(trial.arm)), None if chosen else trial.arm.agent
        )
        for trial in trials
    }
    declared = [(one.session_id, names[one.trial_id]) for one in declared_sessions(trials) if one.unique]
    return {session: name for session, name in declared if name is not None}


def _write_plot(path: Path, report: "TurnReport") -> None:
    from reports.turn_figure import figure_bytes

    try:
        path.write_bytes(figure_bytes(report, suffix=path.suffix.lower()))
    except OSError as fault:
        click.echo(f"error: {path.name} cannot be written: {type(fault).__name__}", err=True)
        raise click.exceptions.Exit(Exit.UNREADABLE) from fault
