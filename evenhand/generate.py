"""The only place that writes docs which repeat code: schema, finding codes, exit codes, command help.

`python -m evenhand.generate --write` rewrites what stands between the markers; `--check` says what is out of date.
"""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from analysis.codes import CODES, ENDING_CODES, code_table
from analysis.contamination import signal_table
from analysis.gravity import strict_table
from analysis.relations import Relation, relations
from analysis.tb21.codes import explanation_table
from analysis.warehouse import SCHEMAS, VIEWS
from evenhand.cli import VERBS, command
from evenhand.exits import EXIT_CODES, MEANING
from harness.contract import harness_table
from manifests.conditions import FACTORS
from manifests.manifest_keys import manifest_reference
from preregistration.fields import plan_reference
from reports.approval import checklist_items, state_diagram

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = "<!-- generated:{name} -->\n{text}\n<!-- end:{name} -->"
_MARKED = re.compile(r"<!-- generated:(?P<name>[a-z-]+) -->\n(?:.*?\n)?<!-- end:(?P=name) -->", re.DOTALL)


def exit_code_table() -> str:
    """Return the exit codes with their meaning and the errors that end so."""
    rows = ["| code | meaning | errors |", "|---|---|---|"]
    for code, meaning in MEANING.items():
        errors = sorted(name.rpartition(".")[2] for name, ending in EXIT_CODES.items() if ending is code)
        rows.append(f"| {code.value} | {meaning} | {', '.join(f'`{name}`' for name in errors)} |")
    return "\n".join(rows)


def finding_table() -> str:
    """Return every finding code with its gravity, meaning and remedy."""
    return code_table(sorted(CODES))


def ending_table() -> str:
    """Return the finding codes for what a recorder does to a job around its trials."""
    return code_table(ENDING_CODES)


def schema_tables() -> str:
    """Return every table and view of the warehouse, a row a column, from the comments of their SQL."""
    return "\n\n".join("\n".join(_relation(found)) for found in relations(SCHEMAS, VIEWS))


def command_help() -> str:
    """Return the help text of every verb."""
    sections = []
    for verb in sorted(VERBS):
        found = command.get_command(click.Context(command), verb)
        assert found is not None
        sections += [f"### evenhand {name}\n\n```text\n{text}\n```" for name, text in _help(found, verb)]
    return "\n\n".join(sections)


def condition_table() -> str:
    """Return every factor that a comparison must hold, and where evidence shows it."""
    rows = ["| factor | what is held constant | judged | shown by |", "|---|---|---|---|"]
    rows += [f"| `{factor.name}` | {factor.meaning} | by {factor.scope} | {factor.shown_by} |" for factor in FACTORS]
    return "\n".join(rows)


GENERATED: dict[str, Callable[[], str]] = {
    "conditions": condition_table,
    "audit-codes": explanation_table,
    "audit-endings": ending_table,
    "audit-strict": strict_table,
    "contamination-signals": signal_table,
    "manifest-reference": manifest_reference,
    "harness-contract": harness_table,
    "exit-codes": exit_code_table,
    "finding-codes": finding_table,
    "schema": schema_tables,
    "command-help": command_help,
    "approval-states": state_diagram,
    "approval-checklist": checklist_items,
}
# Documents that are written whole.
WHOLE: dict[str, Callable[[], str]] = {"docs/plan.md": plan_reference}


def regenerate(text: str) -> str:
    """Return a document with every marked block written anew.

    Raises:
        KeyError: For a marker that names no generator.
    """
    return _MARKED.sub(lambda match: _BLOCK.format(name=match["name"], text=GENERATED[match["name"]]()), text)


def documents() -> Iterator[Path]:
    """Yield every Markdown file that may hold a generated block, sorted."""
    yield from sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("harness/*.md")])


def main() -> None:
    """Check or write; exit 1 when a document is out of date."""
    write = "--write" in sys.argv[1:]
    stale = []
    for path in documents():
        old = path.read_text(encoding="utf-8")
        whole = WHOLE.get(path.relative_to(ROOT).as_posix())
        new = whole() if whole else regenerate(old)
        if new != old:
            stale.append(path.relative_to(ROOT))
            if write:
                path.write_text(new, encoding="utf-8")
    for path in stale:
        click.echo(f"{path}: {'rewritten' if write else 'out of date, run make docs'}")
    sys.exit(0 if write or not stale else 1)


def _relation(found: Relation) -> Iterator[str]:
    yield from (f"### {found.name}", "", found.meaning[:1].upper() + found.meaning[1:] + ".", "")
    if found.form == "view":
        yield from ("| column | meaning |", "|---|---|")
        yield from (f"| {column.name} | {column.meaning} |" for column in found.columns)
    else:
        yield from ("| column | type | meaning |", "|---|---|---|")
        yield from (f"| {column.name} | {column.kind} | {column.meaning} |" for column in found.columns)


def _help(found: click.Command, path: str) -> Iterator[tuple[str, str]]:
    with click.Context(found, info_name=f"evenhand {path}", max_content_width=100, terminal_width=100) as context:
        yield path, found.get_help(context).rstrip()
        if isinstance(found, click.Group):
            for name in sorted(found.commands):
                yield from _help(found.commands[name], f"{path} {name}")


if __name__ == "__main__":
    main()
