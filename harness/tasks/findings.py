"""The only place for what a reader of an attempt is told beside its numbers, in words of ours and never a program's."""

from collections.abc import Iterable, Iterator

from harness.kinds import EndStatus, ToolStatus
from harness.limits import RunLimits
from harness.record import TurnRecord
from harness.task import EarlyStop


def turn_findings(turns: Iterable[TurnRecord]) -> Iterator[str]:
    """Yield what the turns of an attempt left open, and what was recovered."""
    for turn in turns:
        name = f"turn {turn.iteration}"
        given_up = () if turn.ending is None else turn.ending.given_up
        open_calls = [call for call in turn.calls if call.status is ToolStatus.UNRESOLVED and call.parent is None]
        if given_up:
            yield f"{name}: {_count(given_up, 'background command')} did not end in time; graded without a result"
        left = [call for call in open_calls if call.call_id not in given_up]
        if left and turn.status is EndStatus.COMPLETED:
            yield f"{name}: {_count(left, 'tool call')} had not ended when the program did; recorded unresolved"
        nested = [call for call in turn.calls if call.parent is not None and call.rollout is not None]
        if nested:
            yield f"{name}: {_count(nested, 'tool call')} of sub-agents read from the rollout; outside the cap"


def budget_findings(limits: RunLimits, turns: Iterable[TurnRecord]) -> Iterator[str]:
    """Yield the budgets whose spending nobody measured: they are not exceeded, and not known to be kept."""
    summaries = [turn.summary for turn in turns]
    tokens = (limits.max_input_tokens, limits.max_output_tokens, limits.max_total_tokens)
    if any(bound is not None for bound in tokens) and any(summary.usage is None for summary in summaries):
        yield "a token budget was not checked: a turn did not tell its tokens"
    if limits.max_usd is not None and any(summary.cost_usd is None for summary in summaries):
        yield "max_usd was not checked: a turn's cost is not known"


def early_findings(decided: EarlyStop | None, *, checks: int) -> Iterator[str]:
    """Yield what an early stop means for the grade; `checks` is how many the task has."""
    if decided is None:
        return
    if decided.disarmed:
        yield "an armed check could not be made: the early stop was disarmed"
    if decided.stopped:
        yield f"stopped early: graded by {decided.armed} armed of {checks} checks"


def _count(found: Iterable[object], what: str) -> str:
    number = len(tuple(found))
    return f"{number} {what}{'' if number == 1 else 's'}"
