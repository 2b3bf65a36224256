"""The only place that reads a published summary in order to check it: what somebody printed of a paired study.

A number keeps the digits that were printed, for they say how far it was rounded: 4.20 is not 4.2. Every fault of a file
is gathered before anything is checked.
"""

import json
import tomllib
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path

from analysis.statistics.reverse import PrintedArm, PrintedStratum, PrintedStudy
from manifests.fields import Fault, Fields, shown

SCHEMA = "evenhand-claim-1"
LARGEST_BYTES = 1024 * 1024
_MOST = 1_000_000
_KEYS = (
    "schema", "tasks", "attempts", "level", "difference_pp", "interval_pp", "wins", "losses", "ties", "treatment",
    "control", "stratum",
)  # fmt: skip
_ARM_KEYS = ("solved", "percent")


class ClaimFileError(Exception):
    """A published summary does not follow its schema; every fault is listed.

    Attributes:
        lines: One line a fault.
    """

    def __init__(self, where: str, faults: list[Fault]) -> None:
        self.lines = tuple(f"{where}: {fault}" for fault in faults)
        super().__init__("\n".join(self.lines))


class ClaimUnreadableError(Exception):
    """There is no summary to read at that place."""


def read_claim(path: Path) -> PrintedStudy:
    """Read a published summary from TOML or, when its name ends in .json, from JSON.

    Raises:
        ClaimUnreadableError: When the file is missing, or larger than any summary.
        ClaimFileError: When it does not follow the schema, with every fault.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST_BYTES + 1)
    except OSError as fault:
        raise ClaimUnreadableError(f"{path}: {fault.strerror or 'cannot be read'}; expected a summary") from fault
    if len(data) > LARGEST_BYTES:
        raise ClaimUnreadableError(f"{path}: larger than {LARGEST_BYTES} bytes; expected a summary")
    return parse_claim(_decoded(data, path), where=str(path))


def parse_claim(raw: Mapping[str, object], *, where: str = "claim") -> PrintedStudy:
    """Read a published summary from its parsed document.

    Raises:
        ClaimFileError: With every fault.
    """
    fields = Fields(raw=raw, place="", faults=[])
    fields.close(_KEYS)
    fields.choice("schema", [SCHEMA])
    study = PrintedStudy(
        tasks=fields.integer("tasks", 1, _MOST),
        attempts=fields.integer("attempts", 1, _MOST, default=1),
        treatment=_arm(fields, "treatment"),
        control=_arm(fields, "control"),
        difference_pp=_decimal(fields, "difference_pp", low=-100, high=100),
        interval_pp=_interval(fields),
        level=_level(fields),
        wins=_count(fields, "wins"),
        losses=_count(fields, "losses"),
        ties=_count(fields, "ties"),
        strata=tuple(_stratum(row) for row in fields.tables("stratum", "a list of tables")),
    )
    if fields.faults:
        raise ClaimFileError(where, fields.faults)
    return study


def _decoded(data: bytes, path: Path) -> Mapping[str, object]:
    try:
        text = data.decode("utf-8")
        if path.suffix == ".json":
            raw = json.loads(text, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_unique)
        else:
            raw = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as fault:
        kind = "JSON" if path.suffix == ".json" else "TOML"
        broken = Fault(field="document", found=type(fault).__name__, expected=f"UTF-8 {kind}")
        raise ClaimFileError(str(path), [broken]) from fault
    if not isinstance(raw, dict):
        raise ClaimFileError(str(path), [Fault(field="document", found=type(raw).__name__, expected="an object")])
    return raw


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a key stands twice")
    return table


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _arm(fields: Fields, key: str) -> PrintedArm:
    table = fields.table(key)
    table.close(_ARM_KEYS)
    return PrintedArm(solved=_count(table, "solved"), percent=_decimal(table, "percent", low=0, high=100))


def _stratum(row: Fields) -> PrintedStratum:
    row.close(("name", "tasks", "treatment", "control"))
    return PrintedStratum(
        name=row.text("name", "a name", pattern=r"[^\x00-\x1f]{1,80}"),
        tasks=row.integer("tasks", 1, _MOST),
        treatment=_arm(row, "treatment"),
        control=_arm(row, "control"),
    )


def _count(fields: Fields, key: str) -> int | None:
    return fields.integer(key, 0, _MOST * 1000) if fields.has(key) else None


def _level(fields: Fields) -> float:
    level = _decimal(fields, "level", low=0, high=1)
    if level is not None and not 0 < level < 1:
        fields.fault("level", "a number strictly between 0 and 1")
        return 0.95
    return 0.95 if level is None else float(level)


def _interval(fields: Fields) -> tuple[Decimal, Decimal] | None:
    if not fields.has("interval_pp"):
        return None
    value = fields.raw["interval_pp"]
    ends = [_exact(end) for end in value] if isinstance(value, list) else []
    if len(ends) == 2 and ends[0] is not None and ends[1] is not None and -100 <= ends[0] <= ends[1] <= 100:
        return ends[0], ends[1]
    fields.fault("interval_pp", "two numbers in order, from -100 to 100")
    return None


def _decimal(fields: Fields, key: str, *, low: int, high: int) -> Decimal | None:
    """Return a number with the digits that it was written with; a text may hold it too."""
    if not fields.has(key):
        return None
    exact = _exact(fields.raw[key])
    if exact is None or not low <= exact <= high:
        fields.faults.append(
            Fault(field=fields.name(key), found=shown(fields.raw[key]), expected=f"a number from {low} to {high}")
        )
        return None
    return exact


def _exact(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        return None
    try:
        exact = Decimal(value)
    except InvalidOperation:
        return None
    return exact if exact.is_finite() else None
