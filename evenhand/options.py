"""The only place for options that several verbs share, so that they read the same everywhere."""

import math
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import click

from evenhand.request import DEFAULT_LEDGER_KEY, Request
from evenhand.wishes import wish_words
from manifests.digest import is_digest

_Decorator = Callable[[Callable[..., Any]], Any]
WAREHOUSE = Path(".evenhand") / "warehouse.duckdb"


class FiniteRange(click.FloatRange):
    """A range of numbers without NaN, which lies in every range because it compares with nothing, and infinities."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or fail by its text."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def _digest(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_digest(value):
        raise click.BadParameter(f"{value!r} is not a sha256: expected 64 lower-case hex digits")
    return value


def study_given(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Return a study's name as it was given.

    Raises:
        click.BadParameter: When it is not lower-case letters, digits and hyphens.
    """
    if value is not None and not _study_like(value):
        raise click.BadParameter(f"{value!r}: expected lower-case letters, digits and hyphens, at most 64")
    return value


def _day(_context: click.Context, _parameter: click.Parameter, value: str | None) -> date:
    if value is None:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(value)
    except ValueError as fault:
        raise click.BadParameter(f"{value!r} is not a date: expected YYYY-MM-DD") from fault


def handle_given(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Take a handle, which is published, and nothing that looks like an address.

    Raises:
        click.BadParameter: For anything else.
    """
    from reports.signers import is_handle

    if value is not None and not is_handle(value):
        raise click.BadParameter(
            f"{value!r}: expected a handle or a role in lower case; it is published, so no address"
        )
    return value


# A folder that cannot be read is no usage fault: the readers say so, with their own exit code.
_FOLDER = click.Path(path_type=Path, readable=False)
paths_argument: _Decorator = click.argument("paths", nargs=-1, type=_FOLDER, metavar="PATH...")
json_option: _Decorator = click.option("--json", "as_json", is_flag=True, help="Write JSON with a schema field.")
manifest_option: _Decorator = click.option(
    "--manifest",
    type=click.Path(path_type=Path),
    help="Pinned manifest; needs --expect-manifest-sha256.",
)
expect_option: _Decorator = click.option(
    "--expect-manifest-sha256", callback=_digest, metavar="SHA256", help="Digest that the manifest must have."
)
schedule_option: _Decorator = click.option(
    "--schedule",
    type=click.Path(path_type=Path),
    help="The schedule.json that was to be run: recorded starts are held against it.",
)
ledger_option: _Decorator = click.option(
    "--ledger", type=click.Path(path_type=Path), help="Request ledger (CSV) with the cost of each cell."
)
ledger_key_option: _Decorator = click.option(
    "--ledger-key",
    default=DEFAULT_LEDGER_KEY,
    show_default=True,
    metavar="KEY",
    help="Column of the ledger, and argument of the agent, that join the two; trial_id joins by identity.",
)
day_option: _Decorator = click.option(
    "--date", "day", callback=_day, metavar="YYYY-MM-DD", help="Date of the event; default: today."
)
db_option: _Decorator = click.option(
    "--db",
    type=click.Path(path_type=Path),
    default=WAREHOUSE,
    show_default=True,
    help="Warehouse file.",
)
progress_note = "Long steps show progress on a terminal and are silent in a pipe."


def comparison_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a comparison to a verb: it receives one argument, request."""
    options = (
        paths_argument,
        click.option("--treatment", metavar="SEL", help="Selector of the treatment arm."),
        click.option("--control", metavar="SEL", help="Selector of the control arm."),
        click.option("--arm", "others", multiple=True, metavar="SEL", help="Selector of a further arm."),
        click.option("--plan", type=click.Path(path_type=Path), help="Frozen plan; without one: exploratory."),
        manifest_option,
        expect_option,
        schedule_option,
        ledger_option,
        ledger_key_option,
        click.option("--interval", "intervals", multiple=True, metavar="METHOD", help="Add an interval method."),
        click.option(
            "--study",
            metavar="NAME",
            callback=study_given,
            help="Name of the study; default: the plan's or the manifest's.",
        ),
        click.option(
            "--date", "day", callback=_day, metavar="YYYY-MM-DD", help="Date of the decision; default: today."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def pinned(manifest: Path | None, expected: str | None) -> tuple[Path, str] | None:
    """Return the manifest with the digest it must have; None when neither was given.

    Raises:
        click.UsageError: When one of the two is missing.
    """
    if (manifest is None) != (expected is None):
        raise click.UsageError("--manifest and --expect-manifest-sha256 go together: a manifest counts only pinned")
    return None if manifest is None or expected is None else (manifest, expected)


def request_of(verb: str, options: dict[str, Any]) -> Request:
    """Gather the options of a comparison into a request."""
    manifest = pinned(options["manifest"], options["expect_manifest_sha256"])
    return Request(
        paths=options["paths"],
        treatment=options["treatment"],
        control=options["control"],
        others=options["others"],
        manifest=manifest,
        plan=options["plan"],
        intervals=options["intervals"],
        study=options["study"],
        ledger=options["ledger"],
        ledger_key=options["ledger_key"],
        schedule=options["schedule"],
        date=options["day"],
        command=(_command_line(verb, options),),
    )


def _study_like(text: str) -> bool:
    return 0 < len(text) <= 64 and text[0] != "-" and all(c in "abcdefghijklmnopqrstuvwxyz0123456789-" for c in text)


def _command_line(verb: str, options: dict[str, Any]) -> str:
    """Spell the command for a reader who has the evidence elsewhere: folders by their last name only."""
    import shlex

    words = ["evenhand", verb, *(path.resolve().name for path in options["paths"])]
    for name in ("treatment", "control"):
        words += [f"--{name}", options[name]] if options[name] else []
    for text in options["others"]:
        words += ["--arm", text]
    for name in ("plan", "manifest", "schedule"):
        words += [f"--{name}", options[name].name] if options[name] else []
    if options["expect_manifest_sha256"]:
        words += ["--expect-manifest-sha256", options["expect_manifest_sha256"]]
    words += ["--ledger", options["ledger"].name] if options["ledger"] else []
    words += ["--ledger-key", options["ledger_key"]] if options["ledger_key"] != DEFAULT_LEDGER_KEY else []
    for text in options["intervals"]:
        words += ["--interval", text]
    words += wish_words(options)
    words += ["--study", options["study"]] if options["study"] else []
    words += ["--date", options["day"].isoformat()]
    return shlex.join(words)
