"""The only place that says whether an attempt passes its checks, and why a check could not be made.

A check that could not be made is neither passed nor failed. One failed check fails the attempt all the same; where none
failed and one could not be made, the attempt is not graded.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.capabilities import CAPABILITIES
from harness.kinds import Harness, ToolStatus
from harness.launch import TurnRequest
from harness.record import TurnRecord
from harness.tasks.criteria import LineRunner, passes
from harness.tasks.sandbox import run_line
from harness.tasks.task import Criterion, SkillTriggered


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What the checks say.

    Attributes:
        passed: Whether all pass; None when none failed and one could not be made.
        findings: Why a check could not be made, in words of ours.
    """

    passed: bool | None
    findings: tuple[str, ...] = ()


UNGRADED = Grade(passed=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What checks look at.

    Attributes:
        harness: Which harness ran.
        request: What was asked of it, the task's own fields included.
        loaded: Names of the skills that were delivered to the program.
        turns: The attempt's turns.
        environment: The whole environment of a check's command.
        run: Runs the line of a check's command.
    """

    harness: Harness
    request: TurnRequest
    loaded: frozenset[str]
    turns: tuple[TurnRecord, ...]
    environment: Mapping[str, str]
    run: LineRunner = run_line


def grade(criteria: Iterable[Criterion], evidence: Evidence) -> Grade:
    """Make every check and gather what could not be checked."""
    passed: list[bool | None] = []
    findings: list[str] = []
    for criterion in criteria:
        if isinstance(criterion, SkillTriggered):
            found, reason = skill_triggered(criterion, evidence)
            findings += [] if reason is None else [f"skill_triggered {criterion.skill}: not measured, {reason}"]
        else:
            folder, environment = evidence.request.workdir, evidence.environment
            found = passes(criterion, folder, environment=environment, run=evidence.run)
        passed.append(found)
    return Grade(passed=_all(passed), findings=tuple(findings))


def skill_triggered(criterion: SkillTriggered, evidence: Evidence) -> tuple[bool | None, str | None]:
    """Tell whether the agent used a skill: a call that used it and ended well.

    Returns:
        Whether it did, and None; or None, and why that cannot be known.
    """
    calls = [call for turn in evidence.turns for call in turn.calls if criterion.skill in call.skills]
    if any(call.status is ToolStatus.OK for call in calls):
        return True, None
    reason = "it was asked for and could not be read" if calls else _not_loaded(criterion.skill, evidence)
    return (False, None) if reason is None else (None, reason)


def _not_loaded(skill: str, evidence: Evidence) -> str | None:
    """Say why a skill cannot have been used; None when the agent had it."""
    if not evidence.turns:
        return "no turn ran"
    if skill not in evidence.loaded:
        return "no plugin of the task holds it"
    listed = [turn.summary.skills for turn in evidence.turns if turn.summary.skills is not None]
    if listed and not any(skill in names for names in listed):
        return f"{evidence.harness.value} does not list it among its skills"
    tool = CAPABILITIES[evidence.harness].skill_tool
    if tool is not None and not _offered(tool, evidence.request):
        return f"the task's tool lists take away {tool}, which {evidence.harness.value} loads skills with"
    return None


def _offered(tool: str, request: TurnRequest) -> bool:
    allowed = request.allowed_tools
    return tool not in request.disallowed_tools and (allowed is None or tool in allowed or "*" in allowed)


def _all(passed: list[bool | None]) -> bool | None:
    return False if False in passed else None if None in passed else True
