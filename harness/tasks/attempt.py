"""The only place that makes one attempt at a task: set-up, turns and their repetitions, post-run lines, checks.

Clocks and the wait are handed in. A capped turn is graded and never repeated; a turn that timed out is a failure. A
post-run line prepares what is checked, so one that fails is the work's failure: the attempt has failed, is no error and
is not repeated. An attempt that was stopped early is graded by its armed checks as they stood, and runs no such line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.attempt import Ask, AttemptTurns, Surroundings, run_turns
from harness.clock import NS_PER_US
from harness.facts import DEFAULT_CAPS
from harness.kinds import EndStatus, Harness
from harness.launch import Launch, TurnRequest
from harness.prices import Prices
from harness.programs.plugins import inspect_plugins
from harness.programs.program import Program
from harness.programs.vocabulary import drift_findings
from harness.record import TurnRecord
from harness.statuses import Facts, Status, final_status
from harness.task import CostBasis, TaskRecord
from harness.tasks.conditions import conditions, task_digest
from harness.tasks.container import Place, place_of
from harness.tasks.criteria import passes
from harness.tasks.early import Watcher
from harness.tasks.findings import budget_findings, early_findings, turn_findings
from harness.tasks.grading import UNGRADED, Evidence, Grade
from harness.tasks.grading import grade as grade_work
from harness.tasks.sandbox import CommandError, LineTimeoutError, StoppedError
from harness.tasks.task import Task

_LINE_TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What an attempt is filed under.

    Attributes:
        arm: Name of the arm.
        attempt: Attempt number from 0.
        simulated: True when no real model runs.
        harness_version: Version that the program printed when it was asked; None when it was not, or has no answer.
        known: Conditions that the caller knows of, by factor: the machine, the runner.
    """

    arm: str
    attempt: int = 0
    simulated: bool = False
    harness_version: str | None = None
    known: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt that is over.

    Attributes:
        record: What was measured.
        crash: Why its last turn counts as crashed; None when it does not.
        interrupted: The runner itself was told to stop.
        undecided: The interrupt came before the first turn or while the work was checked: there is no result to keep.
        prices: The declared prices of its turns; None when none were.
        secrets: Credentials that its programs were given; they stand in nothing that is recorded.
    """

    record: TaskRecord
    crash: str | None
    interrupted: bool
    undecided: bool = False
    prices: Prices | None = None
    secrets: frozenset[str] = field(default=frozenset(), repr=False)


class _Noting:
    """A program in its place, whose launches are asked what they ignore and what must be known of them."""

    def __init__(self, program: Program, place: Place) -> None:
        self.harness = program.harness
        self.ignored: set[str] = set()
        self.notes: set[str] = set()
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
        self.notes.update(launch.notes)
        self.secrets.update(launch.secrets)
        self._place.clear()
        return self._place.placed(launch)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """An attempt that was run and graded, before it is written down.

    Attributes:
        noting: The program, with what its launches said.
        found: Its turns.
        built: Whether the lines before them ended well.
        grade: What grading found.
        watcher: What watched for an early stop.
        setup_us: Work before the first turn.
        grading_us: Work after the last.
        undecided: The runner was told to stop while a line of the task ran.
    """

    noting: _Noting
    found: AttemptTurns
    built: bool
    grade: Grade
    watcher: Watcher
    setup_us: int
    grading_us: int
    undecided: bool

    def happened(self) -> frozenset[Status]:
        """Return the endings that running brought about."""
        return self.found.happened if self.built else self.found.happened | {Status.BUILD_FAILED}

    def turns(self) -> tuple[TurnRecord, ...]:
        """Return the records of the turns."""
        return tuple(turn.record for turn in self.found.turns)

    def findings(self, task: Task) -> tuple[str, ...]:
        """Return what a reader must know."""
        turns, decided = self.turns(), self.watcher.result(stopped=_stopped(self.found))
        return (
            *sorted(self.noting.notes),
            *turn_findings(turns),
            *budget_findings(task.limits, turns),
            *early_findings(decided, checks=len(task.criteria)),
            *self.grade.findings,
            *drift_findings(turns),
        )


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
    asked = replace(request, **task.wishes())
    made = _make(program, task, asked, around=around)
    passed, found, happened = made.grade.passed, made.found, made.happened()
    record = TaskRecord(
        task_id=task.task_id,
        arm=labels.arm,
        harness=program.harness,
        attempt=labels.attempt,
        model=request.model,
        started_wall_us=started_wall_us,
        duration_us=(around.monotonic_ns() - zero_ns) // NS_PER_US,
        setup_us=made.setup_us,
        grading_us=None if passed is None else made.grading_us,
        retry_wait_us=found.retry_wait_us,
        final_status=final_status(Facts(happened=happened, passed=passed, exhausted=found.exhausted)).value,
        score=None if passed is None else float(passed),
        cap=None if task.limits.max_turns is None else DEFAULT_CAPS[program.harness],
        cap_limit=task.limits.max_turns,
        turns=made.turns(),
        simulated=labels.simulated,
        category=found.category,
        limits=task.limits,
        conditions={**conditions(task, asked), **labels.known},
        task_digest=task_digest(task),
        harness_version=labels.harness_version,
        cost_basis=_cost_basis(request, made.turns()),
        ignored=tuple(sorted(made.noting.ignored)),
        findings=made.findings(task),
        output_limit=request.max_output_tokens,
        early_stop=made.watcher.result(stopped=_stopped(found)),
    )
    return Attempt(
        record=record,
        crash=found.turns[-1].crash if found.turns else None,
        interrupted=found.interrupted or made.undecided,
        undecided=made.undecided,
        prices=request.prices,
        secrets=frozenset(made.noting.secrets),
    )


def _make(program: Program, task: Task, request: TurnRequest, *, around: Surroundings) -> _Made:
    zero_ns = around.monotonic_ns()
    # A plugin that cannot be delivered is refused before anything is started.
    plugins = inspect_plugins(request.plugins)
    with place_of(task.image, request, stop=around.stop) as place:
        noting, undecided = _Noting(program, place), False
        try:
            built = _first_failing(task.pre_run, request, place) is None
        except StoppedError:
            built = undecided = True
        begun_ns = around.monotonic_ns()
        cap, asks = DEFAULT_CAPS[program.harness], [_ask(task, request, prompt=prompt) for prompt in task.turns]
        watcher = Watcher(task.armed(), lambda check: passes(check, request.workdir, environment={}))
        found = run_turns(
            noting, asks if built and not undecided else [], limits=task.limits, cap=cap, around=around, watch=watcher
        )
        place.clear()
        over_ns = around.monotonic_ns()
        grade = UNGRADED
        if built and not undecided and not found.happened and not found.interrupted:
            loaded = frozenset(name for plugin in plugins for name in plugin.skills)
            try:
                grade = _grade(task, request, harness=program.harness, found=found, place=place, loaded=loaded)
            except StoppedError:
                undecided = True
        end_ns = around.monotonic_ns()
    return _Made(
        noting=noting,
        found=found,
        built=built,
        grade=grade,
        watcher=watcher,
        setup_us=(begun_ns - zero_ns) // NS_PER_US,
        grading_us=(end_ns - over_ns) // NS_PER_US,
        undecided=undecided,
    )


def _cost_basis(request: TurnRequest, turns: Sequence[TurnRecord]) -> CostBasis | None:
    """Say who reckoned the costs; nobody did where no turn has one."""
    if all(turn.summary.cost_usd is None for turn in turns):
        return None
    return CostBasis.PROGRAM if request.prices is None else CostBasis.DECLARED


def _ask(task: Task, request: TurnRequest, *, prompt: str) -> Ask:
    return lambda session: replace(request, prompt=prompt, session=session, max_turns=task.limits.max_turns)


def _stopped(found: AttemptTurns) -> bool:
    return any(turn.record.status is EndStatus.STOPPED_EARLY for turn in found.turns)


def _first_failing(lines: tuple[str, ...], request: TurnRequest, place: Place) -> int | None:
    """Run shell lines in order; return the number from 0 of the one that did not end with 0, None when all did."""
    plain = _plain(request.environment)
    for number, line in enumerate(lines):
        try:
            code = place.run_line(line, request.workdir, environment=plain, timeout_s=_LINE_TIMEOUT_S)
        except (CommandError, LineTimeoutError):
            return number
        if code != 0:
            return number
    return None


def _grade(
    task: Task, request: TurnRequest, *, harness: Harness, found: AttemptTurns, place: Place, loaded: frozenset[str]
) -> Grade:
    """Prepare and make the checks, unless the armed ones have decided the attempt."""
    if _stopped(found):
        return Grade(passed=True)
    failed = _first_failing(task.post_run, request, place)
    if failed is not None:
        said = f"post_run[{failed}] did not end with 0; nothing was checked"
        return Grade(passed=False if task.criteria else None, findings=(said,))
    if not task.criteria:
        return UNGRADED
    evidence = Evidence(
        harness=harness,
        request=request,
        loaded=loaded,
        turns=tuple(turn.record for turn in found.turns),
        environment=_plain(request.environment),
        run=place.run_line,
    )
    return grade_work(task.criteria, evidence)


def _plain(environment: Mapping[str, str]) -> dict[str, str]:
    # A task's own lines never see the caller's credentials.
    return {name: environment[name] for name in ("PATH", "LANG", "TMPDIR") if name in environment}
