"""The verb compare: the decision, as text or JSON."""

from typing import Any

import click

from evenhand.options import comparison_options, json_option, request_of
from evenhand.wishes import wish_options, wishes_of


@click.command()
@comparison_options
@wish_options
@json_option
def compare(*, as_json: bool, **options: Any) -> None:
    """Compare two arms of the evidence below PATH.

    Without a frozen plan the comparison is exploratory and has no verdict: two-sided alpha 0.05, level 0.95, Tango's
    interval for one trial per task and its extension to task differences (task_score) for several. Beside it stand
    the other endpoints with paired inference, the sensitivity table, the frontier and, with further arms, a joint
    test of every pair.
    """
    from analysis.decision_json import decision_json
    from evenhand.identities import local_identities
    from evenhand.walk import walk
    from reports.privacy.allowlist import project
    from reports.render import json_bytes
    from reports.terminal import render_text

    walked = walk(request_of("compare", options), wishes_of(options))
    decision, _ = project(walked.decision, identities=walked.audited.identities | local_identities())
    text = json_bytes(decision_json(decision)).decode() if as_json else render_text(decision)
    click.echo(text, nl=False)
