"""The verbs doctor and harnesses: which of the five programs can run here, and what each honours."""

import json
import os

import click

from evenhand.exits import Exit
from evenhand.options import json_option

NAMES = ("claude-code", "codex", "antigravity", "opencode", "pi")


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(NAMES), metavar="[NAME]...")
@json_option
def doctor(*, names: tuple[str, ...], as_json: bool) -> None:
    """Say for each harness: where it is, its version, the versions measured, what is missing, how to install it.

    Programs are looked for in the folder named by EVENHAND_PROGRAMS, else on PATH, else where the installer keeps them.
    The network is not used, and no credential is shown. Exit code 1 when one of them is missing or of a version that
    was not measured.
    """
    from harness.doctor import diagnose, diagnosis_document, diagnosis_lines
    from harness.kinds import Harness

    found = [diagnose(Harness(name), os.environ) for name in names or NAMES]
    if as_json:
        rows = [diagnosis_document(one) for one in found]
        click.echo(json.dumps({"schema": "evenhand-doctor-1", "harnesses": rows}))
    else:
        click.echo("\n".join(line for one in found for line in diagnosis_lines(one)))
    if any(one.missing for one in found):
        raise click.exceptions.Exit(Exit.FINDINGS)


@click.command()
@json_option
def harnesses(*, as_json: bool) -> None:
    """Show what each harness honours of a task, and on which versions that was measured.

    A field that is ignored is a condition that differs between two arms; a run says so.
    """
    from harness.capabilities import capability_document, capability_lines

    click.echo(json.dumps(capability_document()) if as_json else "\n".join(capability_lines()))
