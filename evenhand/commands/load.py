"""The verb load: audited evidence into the warehouse file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.options import (
    db_option,
    expect_option,
    json_option,
    ledger_key_option,
    ledger_option,
    manifest_option,
    paths_argument,
    pinned,
    study_given,
)

if TYPE_CHECKING:
    from analysis.ledger import Coverage


@click.command()
@paths_argument
@manifest_option
@expect_option
@ledger_option
@ledger_key_option
@click.option(
    "--study", metavar="NAME", callback=study_given, help="Name of the study; default: the manifest's, or the folder's."
)
@db_option
@json_option
def load(
    *,
    paths: tuple[Path, ...],
    manifest: Path | None,
    expect_manifest_sha256: str | None,
    ledger: Path | None,
    ledger_key: str,
    study: str | None,
    db: Path,
    as_json: bool,
) -> None:
    """Audit the evidence below PATH and put it into the warehouse, replacing an older load of the same study.

    With a manifest the trials carry the names of its arms. A ledger is joined by its key column alone, never by time;
    what it does not cover is said. The file is written beside and renamed: readers that have it open keep what they
    had, and an interrupted load changes nothing.

    Turn metrics below PATH (turns.jsonl, rotated or packed) are added: what was loaded before is left alone. They join
    trials by declared session ids alone.
    """
    from analysis.warehouse import load as store
    from evenhand.turn_loading import TurnLoading, gather_with_turns
    from evenhand.walk import evidence_paths, ledger_of, manifest_arms
    from manifests.manifest import load_manifest

    pin = pinned(manifest, expect_manifest_sha256)
    held = load_manifest(pin[0], expected_sha256=pin[1]) if pin else None
    folders = evidence_paths(paths, held)
    arms = manifest_arms(held) if held else ()
    gathered, files = gather_with_turns(folders, arms, held, ledger=ledger_of(ledger, ledger_key, held))
    audited = gathered.audited
    name = study or (held.manifest.study if held else folders[0].resolve().name)
    replaced = _evidence_of(name, db)
    turns = TurnLoading(files, audited, study=name)
    count = store(audited, study=name, path=db, policy={}, then=turns.load)
    if replaced not in (None, audited.evidence_digest):
        message = (
            f"{name}: other evidence was loaded under this name before and was replaced; --study gives another name"
        )
        click.echo(message, err=True)
    for note in turns.notes():
        click.echo(note, err=True)
    if as_json:
        document = {"schema": "evenhand-load-1", "study": name, "trials": count, "findings": len(audited.findings)}
        covered = _document(gathered.coverage) if gathered.coverage else None
        click.echo(json.dumps({**document, "ledger": covered, "turns": turns.document()}))
        return
    click.echo(f"{name}: {count} trials, {len(audited.jobs)} jobs, {len(audited.findings)} findings in {db}")
    if gathered.coverage:
        _say(gathered.coverage)
    for sentence in turns.sentences():
        click.echo(sentence)


def _evidence_of(study: str, db: Path) -> object:
    """Return the digest of the evidence that the warehouse holds under a name; None when it holds none."""
    from analysis.warehouse import fetch, open_read_only

    if not db.is_file():
        return None
    with open_read_only(db) as connection:
        rows = fetch(connection, "select evidence_digest from studies where study = $study", {"study": study})
    return rows[0]["evidence_digest"] if rows else None


def _document(coverage: "Coverage") -> dict[str, object]:
    from analysis.ledger import price_label

    counts = ("trials", "joined", "unattributed", "duplicated", "ambiguous", "missing", "conflicts")
    return {
        "key": coverage.key,
        "cost_method": coverage.method,
        "label": price_label(coverage.method),
        **{name: getattr(coverage, name) for name in counts},
        "total_usd": {name: None if total is None else float(total) for name, total in coverage.totals},
        "known_usd": {group.name: float(group.known_usd) for group in coverage.groups},
        "unpriced": {group.name: group.unpriced for group in coverage.groups},
    }


def _say(coverage: "Coverage") -> None:
    from analysis.ledger import price_label

    click.echo(coverage.sentence)
    label = price_label(coverage.method)
    for group in coverage.groups:
        known = f"{group.known_usd:.6f} USD ({label})"
        gap = f"unknown, up to {group.unpriced} trials have no price; {group.priced} have one, together {known}"
        click.echo(f"  {group.name}: {gap if group.unpriced else known}")
