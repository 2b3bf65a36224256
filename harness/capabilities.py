"""The only place for the one table of what the five programs honour; each row lies in the program's own folder."""

from dataclasses import asdict

from harness.facts import DEFAULT_CAPS, USAGE_SEMANTICS
from harness.kinds import Harness
from harness.programs.capability import FIELDS, Capability, Support
from harness.programs.folders import part

CAPABILITIES: dict[Harness, Capability] = {harness: part(harness, "capability").CAPABILITY for harness in Harness}


def ignored_warnings(harness: Harness, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return a warning for each field that a task asks for and the harness cannot honour.

    Args:
        harness: Which harness.
        names: `Launch.ignored`.
    """
    row = CAPABILITIES[harness]
    return tuple(
        f"{name}: {harness.value} ignores it (measured on {row.range_text()}); the arms differ in this"
        for name in names
    )


def capability_document() -> dict[str, object]:
    """Return the whole table as plain values."""
    return {"schema": "evenhand-harnesses-1", "harnesses": [_row(row) for row in CAPABILITIES.values()]}


def capability_lines() -> tuple[str, ...]:
    """Return the whole table as text, a column a harness."""
    usages = [USAGE_SEMANTICS[harness] for harness in CAPABILITIES]
    rows = [("", *(harness.value for harness in CAPABILITIES))]
    rows.append(("measured on", *(row.range_text() for row in CAPABILITIES.values())))
    rows.append(("turn cap counts", *(DEFAULT_CAPS[harness].unit.value for harness in CAPABILITIES)))
    rows.append(("plugins deliver", *(row.plugins.value for row in CAPABILITIES.values())))
    rows.append(("input holds cache", *(_yes(usage.cache_in_input) for usage in usages)))
    rows.append(("output holds reasoning", *(_yes(usage.reasoning_in_output) for usage in usages)))
    rows += [(name, *(_word(row, name) for row in CAPABILITIES.values())) for name in FIELDS]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return tuple("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def _word(row: Capability, name: str) -> str:
    return row.fields[name].value


def _yes(found: bool | None) -> str:  # noqa: FBT001  # a value of the table
    return "not measured" if found is None else "yes" if found else "no"


def _row(row: Capability) -> dict[str, object]:
    cap, usage = DEFAULT_CAPS[row.harness], USAGE_SEMANTICS[row.harness]
    return {
        "harness": row.harness.value,
        "package": row.package,
        "measured": {"oldest": row.oldest, "newest": row.newest},
        "turn_cap": {"unit": cap.unit.value, "rule": cap.rule.value},
        "usage": asdict(usage),
        "plugins": row.plugins.value,
        "fields": {name: row.fields[name].value for name in FIELDS},
        "ignored": [name for name in FIELDS if row.fields[name] is Support.IGNORED],
    }
