"""The only place for what a live turn must satisfy; every check names what was found and what was expected.

The bounds on the tool union are those of the measured calibration, against the tools' own stamps: no program may lose
more of a tool's time than it was seen to, and the excess is wide, since a loaded machine delays a line but never
hastens one. What is only late is told apart, so that it can be played again alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.kinds import EndStatus, Harness, ToolStatus
from harness.model_contract import verify
from harness.programs.folders import part
from harness.programs.vocabulary import drift
from harness.testing.live.scenarios import CAP, Scenario
from harness.testing.live.turn import LiveTurn, union_us
from harness.testing.provider import SERVED, Exchange, totals
from harness.tokens import BUCKETS

SECOND = 1000 * 1000
LARGEST_RESIDUAL = 0.01
LARGEST_OVERSHOOT_S = 5.0
# Union of the recorded spans minus the true one, in seconds: (least, most).
UNION_ERROR_S: dict[Harness, tuple[float, float]] = {
    harness: part(harness, "facts").UNION_ERROR_S for harness in Harness
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one scenario of one program left.

    Attributes:
        turn: The turn.
        requests: The provider's log.
        spans: The tools' own stamps.
        model: Model name that was asked for.
        output_limit: Output limit that was asked for.
        skill_arrived: Whether the delivered skill stood in the first request; None when none was delivered.
    """

    turn: LiveTurn
    requests: tuple[Exchange, ...]
    spans: tuple[tuple[int, int], ...]
    model: str
    output_limit: int
    skill_arrived: bool | None = None


def faults(harness: Harness, scenario: Scenario, seen: Seen) -> tuple[str, ...]:
    """Return what is wrong with a turn, what is only late last; nothing when all holds."""
    found = [*_ending(harness, scenario, seen), *_identity(seen), *_vocabulary(harness, scenario, seen)]
    if scenario.counted:
        found += [*_tokens(seen), *_tools(scenario, seen)]
    if seen.skill_arrived is False:
        found.append("the delivered skill did not reach the model")
    if seen.spans:
        found += _too_little(harness, seen)
    if scenario.cap is not None:
        found += _cap(seen)
    return (*found, *late(harness, seen))


def late(harness: Harness, seen: Seen) -> tuple[str, ...]:
    """Return what came later than it should, as a busy machine alone can make it; nothing when all was in time."""
    found = []
    over = seen.turn.overshoot_s
    if over is not None and over > LARGEST_OVERSHOOT_S:
        found.append(f"ended {over:.1f} s after its limit, expected at most {LARGEST_OVERSHOOT_S:.0f}")
    error, (_, most) = union_error_s(seen), UNION_ERROR_S[harness]
    if error is not None and error > most:
        found.append(f"tool union off by {error:+.2f} s, expected at most {most}")
    return tuple(found)


def union_error_s(seen: Seen) -> float | None:
    """Return the recorded tool union minus the tools' own, in seconds; None where either has no span."""
    measured = seen.turn.record.tool_union_us
    return None if measured is None or not seen.spans else float(measured - union_us(seen.spans)) / SECOND


def wire(seen: Seen) -> str:
    """Return whether model and output limit stood on the wire as asked, in every request, side calls too."""
    found = verify(
        ((row.model, row.output_limit) for row in seen.requests), model=seen.model, output_limit=seen.output_limit
    )
    return found.value


def _ending(harness: Harness, scenario: Scenario, seen: Seen) -> Iterator[str]:
    turn, expected = seen.turn, scenario.expected(harness)
    if turn.record.status is not expected:
        found = None if turn.record.status is None else turn.record.status.value
        yield f"ended {found}, expected {expected.value}"
    if turn.terminal_events != 1:
        yield f"{turn.terminal_events} terminal records, expected 1"
    if turn.survivors:
        yield f"{turn.survivors} processes survived"
    if any(row.model != seen.model for row in seen.requests):
        yield f"another model on the wire than {seen.model!r}"


def _identity(seen: Seen) -> Iterator[str]:
    span, residual = seen.turn.record.span_us(), seen.turn.record.residual_us()
    if not span or residual is None:
        yield "the turn has no span"
    elif seen.turn.record.status is EndStatus.COMPLETED and abs(float(residual)) > LARGEST_RESIDUAL * span:
        yield f"residual {float(residual) / span:+.1%}, expected at most 1 % either way"


def _vocabulary(harness: Harness, scenario: Scenario, seen: Seen) -> Iterator[str]:
    summary = seen.turn.record.summary
    if summary.unknown:
        yield f"unknown kinds: {', '.join(summary.unknown)}"
    never = drift(harness, seen.turn.kinds)
    if never:
        yield f"kinds never recorded: {', '.join(never)}"
    if summary.recognised == 0 and scenario.ends is EndStatus.COMPLETED:
        yield "no known line"


def _tokens(seen: Seen) -> Iterator[str]:
    told, billed = seen.turn.record.summary.usage, totals(seen.requests)
    if told is None:
        yield "no token totals"
        return
    for name in BUCKETS:
        ours, true = getattr(told, name), getattr(billed, name)
        if ours is not None and true is not None and ours != true:
            yield f"{name} {ours}, expected {true}"
    if told.input() is None or told.output is None:
        yield "token totals lack a bucket"


def _tools(scenario: Scenario, seen: Seen) -> Iterator[str]:
    calls = [call for call in seen.turn.record.calls if call.parent is None]
    if len(calls) != scenario.tools:
        yield f"{len(calls)} tool calls, expected {scenario.tools}"
    failed = sum(1 for call in calls if call.status is ToolStatus.ERROR)
    if failed != scenario.failed_tools:
        yield f"{failed} failed tool calls, expected {scenario.failed_tools}"


def _too_little(harness: Harness, seen: Seen) -> Iterator[str]:
    error, (least, _) = union_error_s(seen), UNION_ERROR_S[harness]
    if error is None:
        yield "no tool span"
    elif error < least:
        yield f"tool union off by {error:+.2f} s, expected at least {least}"


def _cap(seen: Seen) -> Iterator[str]:
    served = sum(1 for row in seen.requests if row.outcome == SERVED)
    # A program may have sent its next request before it told of the event that reaches the cap.
    if not CAP <= served <= CAP + 1:
        yield f"{served} answers under a cap of {CAP}"
