"""The only place for what must come of each run-limit task on each program."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from harness.kinds import Harness


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an attempt at one task must end.

    Attributes:
        final: Status of the attempt.
        turn: Status of its last turn.
        category: Category of its failure; None when none stands.
        graded: Whether it has a score.
        turns: How many turns are recorded.
        steps: Least and most model calls of the last turn.
        calls: Least and most resolved tool calls of the last turn.
        finding: Words that a finding must hold; None asks for none.
        over: Whether the last turn passed its limit, so the overshoot must be recorded.
    """

    final: str
    turn: str = "completed"
    category: str | None = None
    graded: bool = True
    turns: int = 1
    steps: tuple[int, int] = (3, 3)
    calls: tuple[int, int] = (2, 2)
    finding: str | None = None
    over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What must come of one task: on most programs, and on the others as measured."""

    most: Outcome
    otherwise: Mapping[Harness, Outcome] = field(default_factory=dict)

    def on(self, harness: Harness) -> Outcome:
        """Return what must come of it on a program."""
        return self.otherwise.get(harness, self.most)


# A killed generation is not counted by every program, and a command that is cut is resolved by none.
_CUT = Outcome(
    final="ERROR",
    turn="timeout",
    category="agent_timeout",
    graded=False,
    steps=(0, 1),
    calls=(0, 0),
    over=True,
)
_OVERSPENT = Outcome(final="TOKEN_BUDGET_EXCEEDED", graded=False)
LIMITS: Mapping[str, Expected] = {
    "max_turns": Expected(most=Outcome(final="MAX_TURNS_EXHAUSTED", turn="max_turns_exhausted", steps=(1, 3))),
    "turn_timeout": Expected(
        most=_CUT,
        otherwise={
            Harness.ANTIGRAVITY: Outcome(final="FAILURE", steps=(2, 2), calls=(0, 0), finding="background command")
        },
    ),
    "task_timeout": Expected(
        most=replace(_CUT, final="TIMEOUT"),
        otherwise={Harness.ANTIGRAVITY: replace(_CUT, final="TIMEOUT", steps=(1, 4))},
    ),
    # codex tells of a call about when it has ended: the check may pass at its start.
    "stop_early": Expected(
        most=Outcome(final="SUCCESS", turn="stopped_early", steps=(0, 2), calls=(0, 1), finding="1 armed of 2 checks")
    ),
    "max_input_tokens": Expected(most=_OVERSPENT),
    "max_output_tokens": Expected(most=_OVERSPENT),
    "max_total_tokens": Expected(most=_OVERSPENT),
    "max_usd": Expected(
        most=Outcome(final="SUCCESS", turns=2, steps=(1, 1), calls=(0, 0), finding="max_usd"),
        otherwise={Harness.CLAUDE_CODE: Outcome(final="COST_BUDGET_EXCEEDED", graded=False)},
    ),
}
