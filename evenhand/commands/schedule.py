"""The only place for the verb `evenhand schedule`."""

import csv
import io
import json
import tempfile
import tomllib
from pathlib import Path

import click

from evenhand.commands.plan import read_any
from evenhand.commands.registration import emit, json_option
from manifests.manifest import load_manifest
from preregistration.harbor_jobs import JobFile, harbor_jobs
from preregistration.parse import PlanManifestError, PlanUnreadableError
from preregistration.schedule import Schedule, ScheduleError, schedule_trials, schedule_value


@click.command(name="schedule")
@click.argument("plan_path", metavar="PLAN", type=click.Path(path_type=Path))
@click.option(
    "--manifest", "manifest_path", required=True, type=click.Path(path_type=Path), help="The plan's manifest."
)
@click.option("--expect-manifest-sha256", "expected", required=True, metavar="HEX", help="The digest that pins it.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="New folder: the list; with a Harbor dataset its job configs and a script.",
)
@click.option(
    "--agents", "agents_path", type=click.Path(path_type=Path), help="TOML: a Harbor agent table for each arm."
)
@json_option
def schedule(
    plan_path: Path, *, manifest_path: Path, expected: str, out: Path | None, agents_path: Path | None, as_json: bool
) -> None:
    """Write the interleaved, randomised run order of a plan."""
    pinned = load_manifest(manifest_path, expected_sha256=expected)
    plan, _ = read_any(plan_path, manifest_digest=pinned.sha256)
    if plan.manifest_digest != pinned.sha256:
        raise PlanManifestError(
            f"{plan_path}: manifest_sha256: found {plan.manifest_digest}, expected {pinned.sha256}; "
            "the plan was registered for another manifest"
        )
    made = schedule_trials(plan, pinned.manifest)
    if out is not None:
        agents = _agents(agents_path)
        # Tasks of a run folder are no Harbor dataset: such a study is run by evenhand itself.
        own = pinned.manifest.dataset is None and not agents
        files = [] if own else harbor_jobs(made, pinned.manifest, agents=agents)
        _write(out, [*_lists(made), *files])
        how = f"evenhand run EXPERIMENT.yaml --schedule {out}/schedule.json" if own else f"{out}/run.sh"
        click.echo(f"wrote {out}: {len(made.slots)} trials; run it with {how}", err=True)
    emit(schedule_value(made), _csv(made).rstrip("\n"), as_json=as_json)


def _lists(made: Schedule) -> list[JobFile]:
    text = json.dumps(schedule_value(made), indent=2, sort_keys=True) + "\n"
    return [JobFile(path="schedule.json", text=text), JobFile(path="schedule.csv", text=_csv(made))]


def _csv(made: Schedule) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("position", "round", "task", "arm", "place"))
    writer.writerows((slot.position, slot.round, slot.task, slot.arm, slot.place) for slot in made.slots)
    return stream.getvalue()


def _agents(path: Path | None) -> dict[str, dict[str, object]]:
    if path is None:
        return {}
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise PlanUnreadableError(f"{path}: {fault.strerror or 'cannot be read'}; expected an agents file") from fault
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise ScheduleError(f"{path}: found no TOML ({fault}), expected a table for each arm") from fault
    wrong = [f"{path}: {name}: expected a table" for name, table in raw.items() if not isinstance(table, dict)]
    if wrong:
        raise ScheduleError(*wrong)
    return raw


def _write(out: Path, files: list[JobFile]) -> None:
    """Write a new folder whole or not at all."""
    if out.exists():
        raise click.UsageError(f"--out {out}: found something there, expected a new folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
        partial = Path(folder) / "whole"
        for file in files:
            path = partial / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text, encoding="utf-8")
            path.chmod(0o755 if file.executable else 0o644)
        partial.rename(out)
