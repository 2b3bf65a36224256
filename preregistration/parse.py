"""The only place where raw TOML or JSON becomes a plan; an incomplete plan is refused with every fault at once."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from manifests.digest import DIGEST_PATTERN
from manifests.fields import Fault, Fields
from manifests.manifest import STUDY_PATTERN
from preregistration.fields import expected, keys
from preregistration.plan import (
    ENDPOINTS,
    FLOOR_KINDS,
    MISSING_KINDS,
    MISSING_POLICIES,
    MULTIPLICITY,
    RESOURCE_INTERVALS,
    RUN_ORDERS,
    SCHEMA,
    SENSITIVITY_ROWS,
    SINGLE_ATTEMPT_INTERVALS,
    SPENDING,
    SUCCESS_INTERVALS,
    Aggregation,
    Endpoint,
    Exclusion,
    Floor,
    Plan,
    Role,
)

MAXIMUM_BYTES = 1024 * 1024
MAXIMUM_LOOKS = 20
MAXIMUM_ATTEMPTS = 1000
MAXIMUM_SEED = 2**32 - 1
_ROUNDING = 1e-9
# Metrics of a floor that are shares: a bound outside 0 to 1 can only be a slip, such as percent.
_PROPORTIONS = frozenset({"success", "cache_share"})


class PlanError(Exception):
    """A plan is incomplete or wrong; every fault is listed.

    Attributes:
        faults: What is wrong.
        lines: The same as messages, one line each.
    """

    def __init__(self, where: str, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        self.lines = tuple(f"{where}: {fault}" for fault in faults)
        super().__init__("\n".join(self.lines))


class PlanUnreadableError(Exception):
    """There is no plan to read at that place."""


class PlanManifestError(Exception):
    """The plan speaks of another manifest than the one given with it."""


def read_plan(path: Path, *, manifest_digest: str | None = None, manifest_open: bool = False) -> Plan:
    """Read a plan from a TOML file.

    Args:
        path: The file.
        manifest_digest: Digest of the manifest that the plan goes with; it fills manifest_sha256 where the file leaves
            it out or empty. None when the file must say it.
        manifest_open: True when the manifest may be left to the freezing; then its digest is "" where it is left out.

    Raises:
        PlanUnreadableError: When the file cannot be read.
        PlanError: With every fault.
        PlanManifestError: When the file names another manifest.
    """
    raw = _read_toml(path)
    if manifest_digest is not None:
        raw["manifest_sha256"] = raw.get("manifest_sha256") or manifest_digest
    plan = parse_plan(raw, where=str(path), manifest_open=manifest_open)
    if manifest_digest is not None and plan.manifest_digest != manifest_digest:
        raise PlanManifestError(
            f"{path}: manifest_sha256: found {plan.manifest_digest}, expected {manifest_digest}; "
            "the plan was written for another manifest"
        )
    return plan


def parse_plan(raw: Mapping[str, object], *, where: str, manifest_open: bool = False) -> Plan:
    """Make a plan from a raw table.

    Args:
        raw: The shape of the TOML file.
        where: Name of the document in messages.
        manifest_open: True when manifest_sha256 may be left out or empty.

    Raises:
        PlanError: With every fault.
    """
    document = Fields(raw=raw, place="", faults=[])
    plan = _plan(document, manifest_open=manifest_open)
    document.close(keys(""))
    _check_design(document, plan)
    if document.faults:
        raise PlanError(where, document.faults)
    return plan


def _read_toml(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as stream:
            data = stream.read(MAXIMUM_BYTES + 1)
    except OSError as fault:
        raise PlanUnreadableError(f"{path}: {fault.strerror or 'cannot be read'}; expected a plan") from fault
    if len(data) > MAXIMUM_BYTES:
        raise PlanUnreadableError(f"{path}: larger than {MAXIMUM_BYTES} bytes; expected a plan")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise PlanError(str(path), [Fault(field="document", found=str(fault), expected="UTF-8 TOML")]) from fault


def _plan(document: Fields, *, manifest_open: bool) -> Plan:
    document.choice("schema", (SCHEMA,))
    cohort = document.table("cohort")
    cohort.close(keys("cohort"))
    stop = document.table("stop")
    stop.close(keys("stop"))
    return Plan(
        study=document.text("study", expected("study"), pattern=STUDY_PATTERN),
        question=document.text("question", expected("question")),
        cohort=cohort.text("name", expected("cohort.name")),
        inclusion=cohort.text("inclusion", expected("cohort.inclusion")),
        manifest_digest=_manifest_digest(document, may_be_open=manifest_open),
        unit=document.choice("unit", ("task",), default="task"),
        endpoints=tuple(_endpoint(row) for row in document.tables("endpoint", "[[endpoint]] tables")),
        missing=_missing(document.table("missing")),
        exclusions=tuple(_exclusion(row) for row in document.tables("exclusion", "[[exclusion]] tables")),
        attempts=document.integer("attempts", 1, MAXIMUM_ATTEMPTS),
        unequal_attempts=document.flag("unequal_attempts", default=False),
        run_order=document.choice("run_order", tuple(RUN_ORDERS), default="interleaved"),
        seed=document.integer("seed", 0, MAXIMUM_SEED),
        looks=stop.integer("looks", 0, MAXIMUM_LOOKS, default=0),
        spending=stop.choice("spending", tuple(SPENDING), default="none"),
        multiplicity=document.choice("multiplicity", tuple(MULTIPLICITY), default="fixed_sequence"),
        floors=tuple(_floor(row) for row in document.tables("floor", "[[floor]] tables")),
        sensitivity=document.texts("sensitivity", expected("sensitivity"), pattern="|".join(SENSITIVITY_ROWS)),
        aggregation=_aggregation(document.table("aggregation")) if "aggregation" in document.raw else None,
    )


def _manifest_digest(document: Fields, *, may_be_open: bool) -> str:
    if may_be_open and document.raw.get("manifest_sha256") in (None, ""):
        return ""
    return document.text("manifest_sha256", expected("manifest_sha256"), pattern=DIGEST_PATTERN.pattern)


def _endpoint(row: Fields) -> Endpoint:
    row.close(keys("[endpoint]"))
    name = row.choice("name", tuple(ENDPOINTS))
    role = row.choice("role", tuple(Role))
    alpha = row.number("alpha", expected("[endpoint].alpha"), _is_inside)
    least = 1 - (alpha or 1) - _ROUNDING  # a faulty alpha is one fault, not two
    effects = [_effect(row, key, role) for key in ("minimum_effect", "noninferiority_margin")]
    return Endpoint(
        name=name,
        role=Role(role) if role else Role.EXPLORATORY,
        test=_word(row, "test", ENDPOINTS.get(name)),
        alpha=alpha,
        interval=_word(row, "interval", _intervals(name)),
        level=row.number("level", expected("[endpoint].level"), lambda level: least <= level and _is_inside(level)),
        minimum_effect=effects[0],
        noninferiority_margin=effects[1],
    )


def _word(row: Fields, key: str, allowed: Sequence[str] | None) -> str:
    """Without a known endpoint name nothing can be said of the word; the name's own fault is enough."""
    return row.text(key, expected(f"[endpoint].{key}")) if allowed is None else row.choice(key, allowed)


def _intervals(name: str) -> tuple[str, ...] | None:
    if name == "success":
        return SUCCESS_INTERVALS
    return RESOURCE_INTERVALS if name in ENDPOINTS else None


def _effect(row: Fields, key: str, role: str) -> float | None:
    wanted = expected(f"[endpoint].{key}")
    return row.number(key, wanted, _is_inside) if role == Role.PRIMARY else row.optional_number(key, wanted, _is_inside)


def _is_inside(value: float) -> bool:
    return 0 < value < 1


def _missing(table: Fields) -> tuple[tuple[str, str], ...]:
    table.close(keys("missing"))
    policies = tuple(MISSING_POLICIES)
    default = table.choice("default", policies) if "default" in table.raw else None
    return tuple((kind, table.choice(kind, policies, default=default)) for kind in sorted(MISSING_KINDS))


def _exclusion(row: Fields) -> Exclusion:
    row.close(keys("[exclusion]"))
    return Exclusion(
        task=row.text("task", expected("[exclusion].task")), reason=row.text("reason", expected("[exclusion].reason"))
    )


def _floor(row: Fields) -> Floor:
    row.close(keys("[floor]"))
    proportion = row.raw.get("metric") in _PROPORTIONS
    wanted = "a number from 0 to 1" if proportion else expected("[floor].at_least")
    bounds = [
        row.optional_number(key, wanted, lambda value: not proportion or 0 <= value <= 1)
        for key in ("at_least", "at_most")
    ]
    if row.has("at_least") == row.has("at_most"):
        row.fault("at_least", expected("[floor].at_least"))
    return Floor(
        kind=row.choice("kind", FLOOR_KINDS),
        metric=row.text("metric", expected("[floor].metric"), pattern=r"[a-z][a-z0-9_]{0,63}"),
        at_least=bounds[0],
        at_most=bounds[1],
    )


def _aggregation(table: Fields) -> Aggregation:
    table.close(keys("aggregation"))
    wanted = expected("aggregation.weights")
    weights = table.table("weights", wanted)
    weights.close(tuple(ENDPOINTS))
    values = tuple((key, weights.number(key, wanted, lambda weight: 0 < weight <= 1)) for key in sorted(weights.raw))
    if abs(sum(weight for _, weight in values) - 1) > _ROUNDING:
        table.fault("weights", wanted)
    return Aggregation(name=table.text("name", expected("aggregation.name")), weights=values)


def _check_design(document: Fields, plan: Plan) -> None:
    """Note what no single field shows."""
    primaries = [endpoint for endpoint in plan.endpoints if endpoint.role is Role.PRIMARY]
    if len(primaries) != 1:
        _note(document, "endpoint", found=f"{len(primaries)} primary endpoint(s)", wanted="exactly one")
    if any(endpoint.name not in ("success", "") for endpoint in primaries):
        _note(
            document,
            "endpoint",
            found=f"primary {primaries[0].name}",
            wanted="success: the verdict is about solved tasks",
        )
    document.once("endpoint", [endpoint.name for endpoint in plan.endpoints], "endpoint")
    document.once("exclusion", [exclusion.task for exclusion in plan.exclusions], "task")
    secondaries = [endpoint for endpoint in plan.endpoints if endpoint.role is Role.SECONDARY]
    if len(secondaries) > 1 and "multiplicity" not in document.raw:
        document.fault("multiplicity", expected("multiplicity"))
    if (plan.looks > 0) != (plan.spending != "none"):
        _note(document, "stop.spending", found=plan.spending, wanted="none without looks, and another word with looks")
    _check_intervals(document, plan)
    _check_aggregation(document, plan)


def _check_intervals(document: Fields, plan: Plan) -> None:
    for at, endpoint in enumerate(plan.endpoints):
        if endpoint.name == "success" and endpoint.interval in SINGLE_ATTEMPT_INTERVALS and plan.attempts > 1:
            wanted = "auto, task_score, pseudo_task_t, mj_floor, percentile or bca: it is made for one attempt a task"
            found = f"{endpoint.interval} with {plan.attempts} attempts"
            _note(document, f"endpoint[{at}].interval", found=found, wanted=wanted)


def _check_aggregation(document: Fields, plan: Plan) -> None:
    names = {endpoint.name for endpoint in plan.endpoints}
    for name, _ in plan.aggregation.weights if plan.aggregation else ():
        if name in ENDPOINTS and name not in names:
            found = "no such endpoint in this plan"
            _note(document, f"aggregation.weights.{name}", found=found, wanted="an endpoint of the plan")


def _note(document: Fields, field: str, *, found: str, wanted: str) -> None:
    document.faults.append(Fault(field=field, found=found, expected=wanted))
