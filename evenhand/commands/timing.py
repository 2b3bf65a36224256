"""The only place for `evenhand timing`: where each recorded turn's wall clock went, and whether it adds up."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from analysis.arm_clocks import Bucket, Spread
from analysis.evidence.coder_eval import TimedRunError, read_timed_runs
from analysis.evidence.timed_run import TimedEvidence
from analysis.timing import (
    DEFAULT_MAX_RESIDUAL_PCT,
    ArmTiming,
    Gate,
    TurnCheck,
    arm_timings,
    comparison_notes,
    gate,
)
from evenhand.exits import Exit
from evenhand.options import FiniteRange, json_option
from reports import numbers

SCHEMA = "evenhand-timing-1"
EXPLAIN_UNITS = "milliseconds; - means not measured"


def _picture(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path | None:
    from reports.timeline import FORMATS

    if value is not None and value.suffix.lower() not in FORMATS:
        raise click.BadParameter(f"{value.name!r} must end in one of {', '.join(FORMATS)}")
    return value


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--max-residual-pct",
    type=FiniteRange(min=0, max=100),
    default=DEFAULT_MAX_RESIDUAL_PCT,
    show_default=True,
    help="Bound on each turn's residual, percent of its duration, on either side.",
)
@json_option
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_picture,
    metavar="FILE",
    help="Write the turns as a picture (.svg, .png).",
)
def timing(runs: tuple[Path, ...], *, max_residual_pct: float, as_json: bool, plot: Path | None) -> None:
    """Decompose the turns of recorded RUNs and gate their residual.

    A RUN is a folder of coder_eval or of our own harness runs, or one task.json. Exit code 1 when a turn's residual is
    beyond the bound, a stored tool union is wrong, or nothing could be gated; 3 when a RUN cannot be read.
    """
    try:
        evidence = read_timed_runs(runs)
    except TimedRunError as fault:
        click.echo(f"error: {fault}", err=True)
        raise click.exceptions.Exit(Exit.UNREADABLE) from fault
    if not evidence.trials and evidence.findings:
        click.echo(f"error: none of {len(evidence.findings)} task document(s) could be read", err=True)
        raise click.exceptions.Exit(Exit.UNREADABLE)
    verdict = gate(evidence, max_residual_pct=max_residual_pct)
    arms = arm_timings(evidence)
    if as_json:
        click.echo(json.dumps(timing_document(evidence, verdict, arms), indent=2, allow_nan=False))
    else:
        click.echo("\n".join(timing_lines(evidence, verdict, arms)))
    if plot is not None:
        _write_plot(plot, verdict)
    for reason in verdict.reasons():
        click.echo(f"error: {reason}", err=True)
    if not verdict.passed():
        raise click.exceptions.Exit(Exit.FINDINGS)


def _write_plot(path: Path, verdict: Gate) -> None:
    from reports.timeline import timeline_bytes

    try:
        path.write_bytes(timeline_bytes(verdict.checks, suffix=path.suffix.lower()))
    except OSError as fault:
        click.echo(f"error: {path.name} cannot be written: {type(fault).__name__}", err=True)
        raise click.exceptions.Exit(Exit.UNREADABLE) from fault


def timing_document(evidence: TimedEvidence, verdict: Gate, arms: Sequence[ArmTiming]) -> dict[str, object]:
    """Return the whole result as a JSON object; null means not measured, and numbers are unrounded."""
    return {
        "schema": SCHEMA,
        "passed": verdict.passed(),
        "reasons": list(verdict.reasons()),
        "max_residual_pct": verdict.max_residual_pct,
        "turns_gated": verdict.gated,
        "simulated": any(trial.simulated for trial in evidence.trials),
        "turns": [_turn_document(check) for check in verdict.checks],
        "arms": [{**asdict(arm), "grouping": arm.emissions.rule()} for arm in arms],
        "comparison": list(comparison_notes(arms)),
        "trials": [
            {key: value for key, value in asdict(trial).items() if key not in {"turns", "sha256"}}
            for trial in evidence.trials
        ],
        "findings": [asdict(finding) for finding in evidence.findings],
    }


def _turn_document(check: TurnCheck) -> dict[str, object]:
    turn = check.turn
    return {
        "where": check.where,
        "arm": check.arm,
        "harness": check.harness,
        "turn": turn.index,
        "iteration": turn.iteration,
        "first_turn": turn.first_turn,
        "duration_ms": turn.duration_ms,
        "head_ms": turn.head_ms,
        "generation_ms": turn.generation_ms,
        "tool_union_ms": turn.tool_union_ms,
        "tail_ms": turn.tail_ms,
        "residual_ms": check.residual_ms,
        "residual_share": check.residual_share,
        "turn_to_first_delta_ms": turn.turn_to_first_delta_ms,
        "orphan_wait_ms": turn.orphan_wait_ms,
        "tool_union_again_ms": check.union_ms,
        "tool_union_agrees": check.union_agrees,
        "skipped": [skip.value for skip in check.skips],
        "quality": [quality.value for quality in turn.quality],
    }


TURN_HEAD = ("turn", "harness", "duration", "head", "generation", "tools", "tail", "residual", "percent", "note")
BUCKET_HEAD = ("arm", "bucket", "total", "per attempt", "per turn", "measured")
ARM_HEAD = ("arm", "harness", "runs", "turns", "head 1st", "head later", "to 1st delta", "generation", "tools", "tail")


def timing_lines(evidence: TimedEvidence, verdict: Gate, arms: Sequence[ArmTiming]) -> list[str]:
    """Return the result as lines of text."""
    lines = _table(TURN_HEAD, [_turn_cells(check, verdict) for check in verdict.checks])
    lines += ["", f"medians per turn, {EXPLAIN_UNITS}:"]
    lines += _table(ARM_HEAD, [_arm_cells(arm) for arm in arms])
    for arm in arms:
        lines += ["", *_arm_lines(arm)]
    lines += ["", "totals, and medians per attempt and per turn, milliseconds; - means not measured:"]
    lines += _table(BUCKET_HEAD, [_bucket_cells(arm, bucket) for arm in arms for bucket in arm.buckets if bucket.of])
    notes = comparison_notes(arms)
    lines += ["", "before comparing:", *(f"  {note}" for note in notes)] if notes else []
    if any(trial.simulated for trial in evidence.trials):
        lines += ["", "SIMULATED MODEL: these runs used no real model"]
    lines += [f"not read: {finding.where} ({finding.code}: {finding.detail})" for finding in evidence.findings]
    skipped = [check for check in verdict.checks if check.skips]
    lines += ["", f"gated {verdict.gated} of {len(verdict.checks)} turns at {verdict.max_residual_pct:g} percent"]
    lines += [f"  skipped {_name(check)}: {', '.join(check.skips)}" for check in skipped]
    return lines


def _name(check: TurnCheck) -> str:
    return f"{check.where}#{check.turn.index}"


def _turn_cells(check: TurnCheck, verdict: Gate) -> tuple[str, ...]:
    turn = check.turn
    notes = [skip.value for skip in check.skips]
    notes += ["residual beyond the bound"] if check in verdict.beyond else []
    notes += [] if check.union_agrees else ["stored union is wrong"]
    share = "-" if check.residual_share is None else f"{100 * check.residual_share:.3f}"
    times = (turn.duration_ms, turn.head_ms, turn.generation_ms, turn.tool_union_ms, turn.tail_ms, check.residual_ms)
    return (_name(check), check.harness, *map(_ms, times), share, "; ".join(notes))


def _arm_cells(arm: ArmTiming) -> tuple[str, ...]:
    spreads = (arm.head_first, arm.head_later, arm.to_first_delta_first, arm.generation, arm.tool_union, arm.tail)
    return (arm.arm, arm.harness, str(arm.trials), str(arm.turns), *map(_median, spreads))


def _bucket_cells(arm: ArmTiming, bucket: Bucket) -> tuple[str, ...]:
    measured = f"{bucket.measured} of {bucket.of} {bucket.scope}s"
    medians = (_ms(bucket.attempt_median_ms), _ms(bucket.turn_median_ms))
    return (arm.arm, bucket.name, _ms(bucket.total_ms), *medians, measured)


def _arm_lines(arm: ArmTiming) -> Iterable[str]:
    found = arm.emissions
    yield f"{arm.arm} ({arm.harness})"
    yield f"  messages {found.messages}, slow generations {found.slow} (over 10 s net), grouped by {found.rule()}"
    yield f"  mean tool time {_ms(arm.mean_tool_ms)} ms over {arm.tool_calls} call(s) with a duration"
    cap = "none" if not arm.cap_units else f"{'/'.join(map(str, arm.cap_limits))} {'/'.join(arm.cap_units)}"
    flag = ", more than 5 percent" if arm.cap_flagged else ""
    yield f"  turn cap: {cap}; {arm.capped} of {arm.trials} run(s) ended at it{flag}"
    for note in arm.notes:
        yield f"  {note}"


def _ms(value: float | None) -> str:
    """Round as the report does, so that the two read the same; in plain characters, without groups."""
    if value is None:
        return "-"
    return numbers.milliseconds(value).replace(numbers.THIN, "").replace("\u2212", "-")


def _median(found: Spread) -> str:
    return _ms(found.median)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    return [_cells(head, widths), *(_cells(row, widths) for row in rows)]


def _cells(row: Sequence[str], widths: Sequence[int]) -> str:
    # The first two columns and the last are words, the others numbers.
    last = len(row) - 1
    aligned = [
        cell.ljust(width) if place < 2 or (place == last and not cell[:1].isdigit()) else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(aligned).rstrip()
