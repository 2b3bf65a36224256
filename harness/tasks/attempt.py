"""The only place that makes one attempt at a task: set-up, turns and their repetitions, post-run lines, checks.

Clocks and the wait are handed in. A capped turn is graded and never repeated; a turn that timed out is a failure.
"""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from harness.attempt import Ask, Surroundings, run_turns
from harness.caps import DEFAULT_CAPS
from harness.clock import NS_PER_US
from harness.kinds import Harness
from harness.launch import Launch, TurnRequest
from harness.prices import Prices
from harness.programs.plugins import Plugin, inspect_plugins
from harness.programs.program import Program
from harness.programs.vocabulary import drift_findings
from harness.record import TurnRecord
from harness.statuses import Facts, Status, final_status
from harness.task import TaskRecord
from harness.tasks.grading import UNGRADED, Evidence, Grade
from harness.tasks.grading import grade as grade_work
from harness.tasks.sandbox import CommandError, run_line
from harness.tasks.task import Task

_LINE_TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What an attempt is filed under.

    Attributes:
        arm: Name of the arm.
        attempt: Attempt number from 0.
        simulated: True when no real model runs.
    """

    arm: str
    attempt: int = 0
    simulated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt that is over.

    Attributes:
        record: What was measured.
        crash: Why its last turn counts as crashed; None when it does not.
        interrupted: The runner itself was told to stop.
        prices: The declared prices of its turns; None when none were.
        secrets: Credentials that its programs were given; they stand in nothing that is recorded.
    """

    record: TaskRecord
    crash: str | None
    interrupted: bool
    prices: Prices | None = None
    secrets: frozenset[str] = field(default=frozenset(), repr=False)


class _Noting:
    """A program whose launches are asked what they ignore and what must be known of them."""

    def __init__(self, program: Program) -> None:
        self.harness = program.harness
        self.ignored: set[str] = set()
        self.notes: set[str] = set()
        self.secrets: set[str] = set()
        self._program = program

    def launch(self, request: TurnRequest) -> Launch:
        """Return how a turn is started.

        Raises:
            LaunchError: As the program itself.
        """
        launch = self._program.launch(request)
        self.ignored.update(launch.ignored)
        self.notes.update(launch.notes)
        self.secrets.update(launch.secrets)
        return launch


def make_attempt(
    program: Program, task: Task, request: TurnRequest, *, labels: Labels, around: Surroundings
) -> Attempt:
    """Make one attempt at a task in the folders that the request names.

    Args:
        program: What runs it.
        task: What is asked and checked.
        request: Everything but the prompt, the session and the turn cap, which are the task's.
        labels: What it is filed under.
        around: Clocks, sleep and chance.

    Raises:
        LaunchError: When the program cannot be started as asked.
        StartError: When its process cannot be started.
    """
    started_wall_us, zero_ns = around.wall_us(), around.monotonic_ns()
    noting = _Noting(program)
    request = replace(request, **task.wishes())
    # A plugin that cannot be delivered is refused before any line of the task runs.
    plugins = inspect_plugins(request.plugins)
    built = _lines(task.pre_run, request)
    setup_us = (around.monotonic_ns() - zero_ns) // NS_PER_US
    cap = DEFAULT_CAPS[program.harness]
    asks = [_ask(task, request, prompt=prompt) for prompt in task.turns] if built else []
    found = run_turns(noting, asks, limits=task.limits, cap=cap, around=around)
    happened = found.happened if built else found.happened | {Status.BUILD_FAILED}
    graded_ns = around.monotonic_ns()
    turns = tuple(turn.record for turn in found.turns)
    stopped = bool(happened) or found.interrupted
    grade = UNGRADED if stopped else _grade(task, request, harness=program.harness, turns=turns, plugins=plugins)
    end_ns = around.monotonic_ns()
    record = TaskRecord(
        task_id=task.task_id,
        arm=labels.arm,
        harness=program.harness,
        attempt=labels.attempt,
        model=request.model,
        started_wall_us=started_wall_us,
        duration_us=(end_ns - zero_ns) // NS_PER_US,
        setup_us=setup_us,
        grading_us=None if grade.passed is None else (end_ns - graded_ns) // NS_PER_US,
        retry_wait_us=found.retry_wait_us,
        final_status=final_status(Facts(happened=happened, passed=grade.passed, exhausted=found.exhausted)).value,
        score=None if grade.passed is None else float(grade.passed),
        cap=None if task.limits.max_turns is None else cap,
        cap_limit=task.limits.max_turns,
        turns=turns,
        simulated=labels.simulated,
        category=found.category,
        ignored=tuple(sorted(noting.ignored)),
        findings=(*sorted(noting.notes), *grade.findings, *drift_findings(turns)),
        output_limit=request.max_output_tokens,
    )
    crash = found.turns[-1].crash if found.turns else None
    return Attempt(
        record=record,
        crash=crash,
        interrupted=found.interrupted,
        prices=request.prices,
        secrets=frozenset(noting.secrets),
    )


def _ask(task: Task, request: TurnRequest, *, prompt: str) -> Ask:
    return lambda session: replace(request, prompt=prompt, session=session, max_turns=task.limits.max_turns)


def _lines(lines: tuple[str, ...], request: TurnRequest) -> bool:
    """Run shell lines in order; tell whether each ended with 0."""
    try:
        return all(
            run_line(line, request.workdir, environment=_plain(request.environment), timeout_s=_LINE_TIMEOUT_S) == 0
            for line in lines
        )
    except (CommandError, subprocess.TimeoutExpired):
        return False


def _grade(
    task: Task, request: TurnRequest, *, harness: Harness, turns: tuple[TurnRecord, ...], plugins: tuple[Plugin, ...]
) -> Grade:
    """Return what the checks say; nothing when the task has none."""
    if not task.criteria:
        return UNGRADED
    if not _lines(task.post_run, request):
        return Grade(passed=False)
    evidence = Evidence(
        harness=harness,
        request=request,
        loaded=frozenset(name for plugin in plugins for name in plugin.skills),
        turns=turns,
        environment=_plain(request.environment),
    )
    return grade_work(task.criteria, evidence)


def _plain(environment: Mapping[str, str]) -> dict[str, str]:
    # A task's own lines never see the caller's credentials.
    return {name: environment[name] for name in ("PATH", "LANG", "TMPDIR") if name in environment}
