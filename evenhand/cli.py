"""The only place where the command starts and ends: verbs are found by name, errors become one line and a code."""

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import click

from evenhand.exits import Exit, exit_code_of

# Verb to (module, attribute, one line): a verb's module is imported only when it is called or asked for help.
VERBS: dict[str, tuple[str, str, str]] = {
    "approve": ("evenhand.commands.approval", "approve", "Approve exactly the bytes of a draft."),
    "claims": ("evenhand.commands.claims", "claims", "Find claims that no published report covers."),
    "publish": ("evenhand.commands.publish", "publish", "Put an approved draft on the shelf of published reports."),
    "refuse": ("evenhand.commands.approval", "refuse", "Refuse exactly the bytes of a draft; the refusal is kept."),
    "retract": ("evenhand.commands.publish", "retract", "Record that a published folder no longer stands."),
    "review": ("evenhand.commands.approval", "review", "Write the review page of a draft."),
    "verify": ("evenhand.commands.publish", "verify", "Check a published folder with nothing else at hand."),
    "audit": ("evenhand.commands.audit", "audit", "Audit recorded jobs against a pinned manifest."),
    "check-claim": (
        "evenhand.commands.check_claim",
        "check_claim",
        "Can the printed numbers of a published comparison all be true?",
    ),
    "compare": ("evenhand.commands.compare", "compare", "Compare two arms: the decision, as text or JSON."),
    "custody": ("evenhand.commands.custody", "custody", "Check how raw evidence is kept: record, modes, retention."),
    "db": ("evenhand.commands.query", "db", "Say where the warehouse is and what it holds."),
    "demo": ("evenhand.commands.demo", "demo", "Write a simulated study in Harbor's layout, with its truth."),
    "doctor": ("evenhand.commands.harnesses", "doctor", "Say which harnesses can run here and how to install them."),
    "frontier": ("evenhand.commands.frontier", "frontier", "Place two or more arms over declared axes."),
    "harnesses": ("evenhand.commands.harnesses", "harnesses", "Show what each harness honours of a task."),
    "load": ("evenhand.commands.load", "load", "Load audited evidence into the warehouse."),
    "manifest": ("evenhand.commands.manifest", "manifest", "Build or show a pinned manifest."),
    "plan": ("evenhand.commands.plan", "plan", "Preregistration: new, check, freeze, amend, verify, sign, show."),
    "power": ("evenhand.commands.power", "power", "Project what a plan can find out: MDE, attempts, tasks, cost."),
    "query": ("evenhand.commands.query", "query", "Run one read-only SQL statement on the warehouse."),
    "run": ("evenhand.commands.run", "run", "Run a task, or an experiment of many, on real programs."),
    "scan": ("evenhand.commands.scan", "scan", "Say what in files may not leave: secrets, persons, paths, names."),
    "schedule": ("evenhand.commands.schedule", "schedule", "Write the interleaved, randomised order of a plan."),
    "stats": ("evenhand.commands.stats", "stats", "Sum up recorded turns: durations, tokens, cost, tools."),
    "suite": ("evenhand.commands.suite", "suite", "Select a stratified mini-suite of Terminal-Bench 2.1."),
    "timing": ("evenhand.commands.timing", "timing", "Say where each turn's wall clock went, and gate it."),
    "report": ("evenhand.commands.report", "report", "Write a dated draft report of a comparison."),
}


class Verbs(click.Group):
    """A group that imports a verb's module only when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the verbs, sorted."""
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return one verb."""
        if cmd_name not in VERBS:
            return None
        module, attribute, _ = VERBS[cmd_name]
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the verbs without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, VERBS[verb][2]) for verb in sorted(VERBS)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest verb when the one given does not exist."""
        import difflib

        if args and args[0] not in VERBS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], VERBS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; the verbs are {', '.join(sorted(VERBS))}"
            raise click.UsageError(f"no verb {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="evenhand", message="%(prog)s %(version)s")
def command() -> None:
    """Compare coding-agent harnesses even-handedly.

    Data goes to stdout, everything else to stderr. PATH is any folder: evidence of every known format is found
    below it and is never changed.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit; a known error is one line on stderr and its code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code.

    Args:
        arguments: Command line without the program's name; None means the process's own.
    """
    try:
        code: Any = command.main(args=arguments, prog_name="evenhand", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as fault:
        _say(fault.format_message())
        return Exit.USAGE if isinstance(fault, click.UsageError) else fault.exit_code
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted; nothing is left half-written")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe went away (for instance `| head`); python would complain once more on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    except OSError as fault:
        # The environment, not the evidence: readers keep their own faults. Only the last name of a file is said.
        place = Path(str(fault.filename)).name if fault.filename else "output"
        _say(f"{place}: {fault.strerror or type(fault).__name__}; nothing is left half-written")
        return Exit.UNREADABLE
    except Exception as error:  # the one place that sorts known from unknown
        known = exit_code_of(error)
        if known is None:
            raise
        _say(str(error))
        return known
    return code if isinstance(code, int) else Exit.DONE


def _say(message: str) -> None:
    for line in message.splitlines() or [""]:
        click.echo(f"evenhand: {line}", err=True)
