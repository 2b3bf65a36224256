"""The only place that makes a timed run a trial like any other, so that the same rules and pairs serve it."""

from collections.abc import Container
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path, PurePosixPath

from analysis.evidence.cap_units import RECORDED_UNIT
from analysis.evidence.coder_eval import find_documents, read_document
from analysis.evidence.identities import learn_identities
from analysis.evidence.reading import Reading, read_bounded
from analysis.evidence.timed_run import Layout, TimedTrial
from analysis.evidence.trial import Clock, Format, Outcome, TaskIdentity, Trial, Usage
from analysis.evidence.values import task_name, token
from manifests.selectors import ArmFacts

_OUTCOMES = {"succeeded": Outcome.SOLVED, "failed": Outcome.UNSOLVED}
# These endings are plain grades; every other status is kept as the trial's failure mode.
_PLAIN = frozenset(("SUCCESS", "FAILURE"))


def read_timed_trials(
    root: Path, label: str, reading: Reading, *, besides: Container[str] = ()
) -> list[tuple[TimedTrial, Trial]]:
    """Read every task document below a folder, as a timed run and as a trial.

    Args:
        root: Resolved folder.
        label: Place of the folder inside the study; "" for the study itself.
        reading: Gathers findings and identities.
        besides: Folders of trials and runs of another format, which are not looked into.
    """
    found = []
    for path in find_documents(root, besides=besides):
        place = (PurePosixPath(label) / path.relative_to(root).as_posix()).as_posix()
        timed, findings = read_document(path, place)
        reading.findings.update(findings)
        data, _ = read_bounded(path.as_posix())
        learn_identities(data or b"", reading.identities)
        if timed is not None and (trial := _trial(timed, path, reading)) is not None:
            found.append((timed, trial))
    return found


def _trial(timed: TimedTrial, path: Path, reading: Reading) -> Trial | None:
    name = task_name(timed.task, reading.noting(timed.where))
    if name is None:
        return None
    job = _variant_folder(path, timed)
    depth = len(path.parts) - len(job.parts)
    return Trial(
        trial_id=f"{timed.where}#{timed.trial_id}",
        where=timed.where,
        job="/".join(PurePosixPath(timed.where).parts[:-depth]) or ".",
        format=Format.HARNESS if timed.layout is Layout.OURS else Format.CODER_EVAL,
        task=TaskIdentity(name=name),
        arm=ArmFacts(
            agent=token(timed.harness) or "unknown",
            model=token(timed.model),
            kwargs=(("variant", token(timed.arm) or "default"),),
            path=PurePosixPath(job.as_posix()),
        ),
        outcome=_OUTCOMES.get(timed.category or "", Outcome.UNGRADED),
        exception_type=None if timed.final_status in _PLAIN else token(timed.final_status),
        usage=_usage(timed),
        clock=_clock(timed),
        conditions=tuple(_conditions(timed)),
        simulated=timed.simulated,
        sha256=timed.sha256,
    )


def _variant_folder(path: Path, timed: TimedTrial) -> Path:
    """Return the folder of the arm: `<run>/<variant>`, else the one above the task's."""
    for parent in path.parents:
        if parent.name == timed.arm:
            return parent
    return path.parent.parent


def _usage(timed: TimedTrial) -> Usage:
    """Sum the turns; one unknown part makes its sum unknown."""
    fresh, written, read, output = (
        _sum([getattr(turn, field) for turn in timed.turns])
        for field in ("uncached_input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens")
    )
    costs = [turn.cost_usd for turn in timed.turns]
    known = [Decimal(repr(cost)) for cost in costs if cost is not None]
    cost = sum(known, Decimal(0)) if known and len(known) == len(costs) else None
    return Usage(
        input_tokens=None if fresh is None or written is None or read is None else fresh + written + read,
        cache_tokens=read,
        output_tokens=output,
        cost_usd=cost,
        cost_method=None if cost is None else "harness-reported",
    )


def _sum(parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None


def _clock(timed: TimedTrial) -> Clock:
    """Place a trial in time only where the recorder wrote a zone; its durations count in any case."""
    found = _instant(timed.started_at)
    started = found.astimezone(UTC) if found is not None and found.tzinfo is not None else None
    return Clock(
        started_at=started,
        finished_at=None
        if started is None or timed.duration_ms is None
        else started + timedelta(milliseconds=timed.duration_ms),
        wall_ms=timed.duration_ms,
        setup_ms=timed.setup_ms,
        agent_ms=timed.agent_wall_ms,
        verifier_ms=timed.grading_ms,
    )


def _instant(text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        return None


def _conditions(timed: TimedTrial) -> list[tuple[str, str]]:
    shown = (
        ("model", token(timed.model)),
        ("budget", token(_budget(timed))),
        ("model_configuration", _output_limit(timed)),
        ("concurrency", None if timed.jobs is None else str(timed.jobs)),
    )
    return [(factor, value) for factor, value in shown if value is not None]


def _budget(timed: TimedTrial) -> str | None:
    """Spell the limits, the unit of the turn cap beside them: the same number in another unit is another cap."""
    if not timed.limits:
        return None
    unit = [(RECORDED_UNIT, timed.cap_unit)] if timed.cap_limit is not None and timed.cap_unit else []
    return ",".join(f"{name}={value}" for name, value in (*timed.limits, *unit))


def _output_limit(timed: TimedTrial) -> str | None:
    """Return an output limit that was asked for; a default that nobody verified shows nothing."""
    return None if timed.max_output_tokens is None else f"max_output_tokens={timed.max_output_tokens}"
