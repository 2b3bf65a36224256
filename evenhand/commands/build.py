"""The verb `manifest build`: pins what recorded evidence holds."""

import json
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.options import json_option, paths_argument
from manifests.manifest import (
    ManifestArm,
    ManifestFile,
    ManifestTask,
    ManifestUnreadableError,
    build_manifest,
    write_manifest,
)
from manifests.manifest_keys import GRAVITIES
from manifests.task_table import TABLE_NAME

if TYPE_CHECKING:
    from analysis.audit import Arm
    from analysis.population import Population
    from manifests.pinned_suite import ManifestSuite


@click.command()
@paths_argument
@click.option(
    "--tasks", "table", type=click.Choice([TABLE_NAME]), help="Pin a built-in task table, before any evidence."
)
@click.option(
    "--suite", "selection", type=click.Path(path_type=Path), help="Pin a selection, as evenhand suite wrote it."
)
@click.option(
    "--experiment",
    type=click.Path(path_type=Path),
    help="Pin the tasks of an experiment file that evenhand run is going to make, and its attempts.",
)
@click.option(
    "--attempts", type=click.IntRange(1, 1000), help="Trials per task and arm to come, with --tasks or --suite."
)
@click.option("--study", required=True, metavar="NAME", help="Name of the study.")
@click.option("--treatment", required=True, metavar="SEL", help="Selector of the treatment arm.")
@click.option("--control", required=True, metavar="SEL", help="Selector of the control arm.")
@click.option("--arm", "others", multiple=True, metavar="SEL", help="Selector of a further arm.")
@click.option(
    "--conditions",
    type=click.Path(path_type=Path),
    help='TOML file of declared conditions: a line `factor = "value"` each; factors: docs/conditions.md.',
)
@click.option("--ledger", type=click.Path(path_type=Path), help="Request ledger (CSV) with the cost of each cell.")
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="ROLE=PATH",
    help="Pin a file that every audit opens and compares; roles: conditions, harness, adapter, dataset, prompt. "
    "A folder with the role dataset is pinned task by task.",
)
@click.option(
    "--policy",
    "rules",
    multiple=True,
    metavar="CODE=GRAVITY",
    help="How grave a finding is in this study: error, warning, note or ignore.",
)
@click.option("--strict", is_flag=True, help="Make everything an error that the drop-in audit would refuse.")
@click.option(
    "--contamination", type=click.Path(path_type=Path), help="Reviewed list of contaminated trials (JSON lines)."
)
@click.option("--unequal-attempts", is_flag=True, help="Declare that attempts may be unequal.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="File to write; never overwritten.")
@json_option
def build(  # one argument for each option
    *,
    paths: tuple[Path, ...],
    table: str | None,
    selection: Path | None,
    experiment: Path | None,
    attempts: int | None,
    study: str,
    treatment: str,
    control: str,
    others: tuple[str, ...],
    conditions: Path | None,
    ledger: Path | None,
    files: tuple[str, ...],
    rules: tuple[str, ...],
    strict: bool,
    contamination: Path | None,
    unequal_attempts: bool,
    out: Path,
    as_json: bool,
) -> None:
    """Pin the tasks with their digests, the arms with their selectors and the declared conditions; print the sha256.

    With PATH the tasks are those that the evidence holds. With --tasks, --suite or --experiment they are pinned before
    there is any, so that a plan can be frozen first; later evidence is named where it is audited or compared. Folders
    and files are written relative to the manifest's own folder, so they can move together.
    """
    from evenhand.walk import named_arms

    policy = _policy(rules, strict=strict)
    listed = _reviewed(contamination, out) if contamination else None
    arms = named_arms(treatment, control, others)
    if experiment is not None:
        found, suite = (
            _to_be_made(experiment, arms, study=study, others=(bool(paths), table, selection, attempts)),
            None,
        )
    else:
        found, suite = _population(paths, arms, table=table, selection=selection, attempts=attempts)
    manifest = build_manifest(
        study=study,
        dataset=found.dataset,
        revision=found.revision,
        tasks=found.tasks,
        arms=[ManifestArm(name=arm.name, role=arm.role, selector=arm.selector.text) for arm in arms],
        attempts=None if unequal_attempts else found.attempts,
        unequal_attempts=unequal_attempts,
        conditions=_declared(conditions) if conditions else {},
        evidence=[_beside(path, out) for path in paths],
        ledger=_beside(ledger, out) if ledger else None,
        files=_pinned(files, out, found.tasks),
        policy=policy,
        contamination=listed,
        suite=suite,
    )
    digest = write_manifest(manifest, out)
    if as_json:
        click.echo(json.dumps({"schema": "evenhand-manifest-build-1", "file": str(out), "sha256": digest}))
        return
    click.echo(digest)


def _population(
    paths: Sequence[Path], arms: "Sequence[Arm]", *, table: str | None, selection: Path | None, attempts: int | None
) -> "tuple[Population, ManifestSuite | None]":
    """Return the tasks: of the evidence, of a table or of a selection, and the selection."""
    from analysis.population import Population, population
    from evenhand.walk import gather
    from manifests.suite_file import read_suite, table_tasks
    from manifests.task_table import load_table

    if sum((bool(paths), table is not None, selection is not None)) != 1:
        raise click.UsageError("give one of PATH..., --tasks, --suite and --experiment: what the tasks are taken from")
    if paths:
        if attempts is not None:
            raise click.UsageError("--attempts goes with --tasks or --suite: evidence says itself how often it tried")
        return population(gather(paths, arms, None).audited), None
    if selection is None:
        named = load_table()
        tasks = table_tasks(named)
        return Population(dataset=named.name, revision=named.revision, tasks=tasks, attempts=attempts), None
    read = read_suite(selection)
    return Population(dataset=read.dataset, revision=None, tasks=read.tasks, attempts=attempts), read.suite


def _to_be_made(experiment: Path, arms: "Sequence[Arm]", *, study: str, others: tuple[object, ...]) -> "Population":
    """Return the tasks of an experiment; `others` are what would say the same in another way."""
    from evenhand.pinned_experiment import experiment_population

    if any(others):
        raise click.UsageError(
            "--experiment says tasks and attempts itself: give it without PATH..., --tasks, --suite and --attempts"
        )
    return experiment_population(experiment, arms, study=study)


def _beside(path: Path, manifest: Path) -> str:
    return Path(os.path.relpath(path.resolve(), manifest.resolve().parent)).as_posix()


def _pinned(files: Sequence[str], out: Path, tasks: Sequence[ManifestTask]) -> list[ManifestFile]:
    from analysis.pinned_files import PinError, pin_file

    rows = []
    for text in files:
        role, separator, path = text.partition("=")
        if not separator or not path:
            raise click.BadParameter(f"{text!r}: expected ROLE=PATH", param_hint="--file")
        try:
            rows.append(pin_file(role, Path(path), beside=out.resolve().parent, tasks=tasks))
        except PinError as fault:
            raise click.BadParameter(str(fault), param_hint="--file") from fault
    return rows


def _policy(rules: Sequence[str], *, strict: bool) -> dict[str, str]:
    from analysis.gravity import check_policy, strict_policy

    chosen = strict_policy() if strict else {}
    for text in rules:
        code, separator, word = text.partition("=")
        if not separator or word not in GRAVITIES:
            raise click.BadParameter(
                f"{text!r}: expected CODE= and one of {', '.join(GRAVITIES)}", param_hint="--policy"
            )
        chosen[code] = word
    check_policy(chosen)
    return chosen


def _reviewed(path: Path, out: Path) -> str:
    from analysis.contamination import read_contamination
    from analysis.pinned_files import relative_path

    relative = relative_path(path, out.resolve().parent)
    listed = read_contamination(out.resolve().parent, relative)
    if listed.findings:
        raise click.BadParameter(f"{path}: {listed.findings[0].detail}", param_hint="--contamination")
    return relative


def _declared(path: Path) -> dict[str, str]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise ManifestUnreadableError(f"{path}: cannot be read ({type(fault).__name__})") from fault
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise click.BadParameter(f"{path} is not TOML: {fault}", param_hint="--conditions") from fault
    wrong = sorted(key for key, value in table.items() if not isinstance(value, str))
    if wrong:
        raise click.BadParameter(f'{path}: {", ".join(wrong)}: expected factor = "value"', param_hint="--conditions")
    return {key: str(value) for key, value in table.items()}
