"""The only place that makes one attempt at a task: set-up, turns and their repetitions, post-run lines, checks.

Clocks and the wait are handed in. A capped turn is graded and never repeated; a turn that timed out is a failure. A
post-run line prepares what is checked, so one that fails is the work's failure: the attempt has failed, is no error and
is not repeated. An attempt that was stopped early is graded by its armed checks as they stood, and runs no such line.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from harness.attempt import Ask, AttemptTurns, Surroundings, run_turns
from harness.caps import DEFAULT_CAPS
from harness.clock import NS_PER_US
from harness.kinds import EndStatus
from harness.launch import Launch, TurnRequest
from harness.prices import Prices
from harness.programs.program import Program
from harness.statuses import Facts, Status, final_status
from harness.task import TaskRecord
from harness.tasks.container import Place, place_of
from harness.tasks.criteria import passes
from harness.tasks.early import Watcher
from harness.tasks.findings import budget_findings, early_findings, turn_findings
from harness.tasks.sandbox import CommandError, LineTimeoutError
from harness.tasks.task import Task

_LINE_TIMEOUT_S = 300.0
_BUILD_FAILED = frozenset({Status.BUILD_FAILED})


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
    """A program in its place, whose launches are asked what they ignore."""

    def __init__(self, program: Program, place: Place) -> None:
        self.harness = program.harness
        self.ignored: set[str] = set()
        self.secrets: set[str] = set()
        self._program = program
        self._place = place

    def launch(self, request: TurnRequest) -> Launch:
        """Return how a turn is started.

        Raises:
            LaunchError: As the program itself.
        """
        launch = self._program.launch(request)
        self.ignored.update(launch.ignored)
        self.secrets.update(launch.secrets)
        self._place.clear()
        return self._place.placed(launch)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grade:
    """What grading found.

    Attributes:
        passed: Whether the checks passed; None when it was not graded.
        happened: What could not be done.
        findings: What a reader must know.
    """

    passed: bool | None = None
    happened: frozenset[Status] = frozenset()
    findings: tuple[str, ...] = ()


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
        LaunchError: When the program, or the container it is to run in, cannot be started as asked.
        StartError: When its process cannot be started.
    """
    started_wall_us, zero_ns = around.wall_us(), around.monotonic_ns()
    with place_of(task.image, request) as place:
        noting = _Noting(program, place)
        built = _first_failing(task.pre_run, request, place) is None
        setup_us = (around.monotonic_ns() - zero_ns) // NS_PER_US
        cap = DEFAULT_CAPS[program.harness]
        asks = [_ask(task, request, prompt=prompt) for prompt in task.turns] if built else []
        watcher = Watcher(task.armed(), lambda check: passes(check, request.workdir, environment={}))
        found = run_turns(noting, asks, limits=task.limits, cap=cap, around=around, watch=watcher)
        place.clear()
        graded_ns = around.monotonic_ns()
        graded = _grade(task, request, place, found=found) if built else _Grade(happened=_BUILD_FAILED)
        end_ns = around.monotonic_ns()
    happened = found.happened | graded.happened
    passed = None if happened else graded.passed
    decided = watcher.result(stopped=_stopped(found))
    turns = tuple(turn.record for turn in found.turns)
    findings = (
        *turn_findings(turns),
        *budget_findings(task.limits, turns),
        *early_findings(decided, checks=len(task.criteria)),
        *graded.findings,
    )
    record = TaskRecord(
        task_id=task.task_id,
        arm=labels.arm,
        harness=program.harness,
        attempt=labels.attempt,
        model=request.model,
        started_wall_us=started_wall_us,
        duration_us=(end_ns - zero_ns) // NS_PER_US,
        setup_us=setup_us,
        grading_us=None if passed is None else (end_ns - graded_ns) // NS_PER_US,
        retry_wait_us=found.retry_wait_us,
        final_status=final_status(Facts(happened=happened, passed=passed, exhausted=found.exhausted)).value,
        score=None if passed is None else float(passed),
        cap=None if task.limits.max_turns is None else cap,
        cap_limit=task.limits.max_turns,
        turns=turns,
        simulated=labels.simulated,
        category=found.category,
        ignored=tuple(sorted(noting.ignored)),
        findings=findings,
        output_limit=request.max_output_tokens,
        early_stop=decided,
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


def _stopped(found: AttemptTurns) -> bool:
    return any(turn.record.status is EndStatus.STOPPED_EARLY for turn in found.turns)


def _first_failing(lines: tuple[str, ...], request: TurnRequest, place: Place) -> int | None:
    """Run shell lines in order; return the number from 1 of the one that did not end with 0, None when all did."""
    for number, line in enumerate(lines, start=1):
        try:
            code = place.run_line(
                line, request.workdir, environment=_plain(request.environment), timeout_s=_LINE_TIMEOUT_S
            )
        except (CommandError, LineTimeoutError):
            return number
        if code != 0:
            return number
    return None


def _grade(task: Task, request: TurnRequest, place: Place, *, found: AttemptTurns) -> _Grade:
    """Prepare and make the checks, unless the attempt failed or its armed checks have decided it."""
    if found.happened or found.interrupted:
        return _Grade()
    if _stopped(found):
        return _Grade(passed=True)
    failed = _first_failing(task.post_run, request, place)
    said = () if failed is None else (f"post_run[{failed - 1}] did not end with 0; nothing was checked",)
    if not task.criteria or failed is not None:
        return _Grade(passed=False if task.criteria else None, findings=said)
    plain = _plain(request.environment)
    return _Grade(
        passed=all(passes(check, request.workdir, environment=plain, run=place.run_line) for check in task.criteria)
    )


def _plain(environment: Mapping[str, str]) -> dict[str, str]:
    # A task's own lines never see the caller's credentials.
    return {name: environment[name] for name in ("PATH", "LANG", "TMPDIR") if name in environment}
