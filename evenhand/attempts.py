"""The only place that makes an experiment's attempts: what each asks of its program, when all stop, what is said.

The clock, the environment and chance enter here.
"""

import os
import platform
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from types import FrameType

from evenhand.experiment import Arm, Experiment
from harness.attempt import Surroundings
from harness.doctor import diagnose
from harness.experiment.running import Make, Outcome, Planned, State
from harness.launch import TurnRequest
from harness.programs.program import LaunchError
from harness.programs.registry import PROGRAMS
from harness.redaction import redacted
from harness.tasks.attempt import Attempt, Labels, make_attempt
from harness.tasks.sandbox import Sandbox, fresh_sandbox

STOPPING = b"\nevenhand: stopping; what goes on is being ended, and nothing of it is left\n"
LAST_WORDS = {
    State.BEFORE: "written before",
    State.ELSEWHERE: "left to another runner of this folder",
    State.OPEN: "not begun",
}


def surroundings() -> Surroundings:
    """Return the clocks and the chance of this machine."""
    return Surroundings(
        wall_us=wall_us, monotonic_ns=time.monotonic_ns, sleep=time.sleep, jitter=random.SystemRandom().random
    )


def wall_us() -> int:
    """Return the wall clock, microseconds since 1970."""
    return time.time_ns() // 1000


def maker(experiment: Experiment) -> Make:
    """Return what makes an attempt of an experiment, in a fresh sandbox of its own."""
    arms = {arm.name: arm for arm in experiment.arms}
    tasks = {task.task_id: task for task in experiment.tasks}
    # Asked once and before the first attempt, so that no attempt's clock runs meanwhile.
    versions = {harness: diagnose(harness, os.environ).version for harness in {arm.harness for arm in experiment.arms}}
    known = machine()

    def make(planned: Planned, around: Surroundings) -> Attempt:
        arm = arms[planned.arm]
        labels = Labels(
            arm=arm.name,
            attempt=planned.attempt,
            simulated=experiment.simulated,
            harness_version=versions[arm.harness],
            known=known,
        )
        with fresh_sandbox() as sandbox:
            request = request_of(arm, experiment, sandbox)
            return make_attempt(PROGRAMS[arm.harness], tasks[planned.task_id], request, labels=labels, around=around)

    return make


def machine() -> dict[str, str]:
    """Return what this runner knows of its machine and itself, by factor; no name of either."""
    return {
        "hardware": f"{platform.system()}-{platform.machine()}",
        "resources": f"{os.cpu_count() or 'unknown'}-cpus-not-bounded",
        "harbor_version": f"evenhand-{version('evenhand')}",
    }


def request_of(arm: Arm, experiment: Experiment, sandbox: Sandbox) -> TurnRequest:
    """Return what an arm asks of every turn; the prompt and the turn cap are the task's."""
    return TurnRequest(
        prompt="",
        workdir=sandbox.work,
        home=sandbox.home,
        environment={**os.environ, "TMPDIR": str(sandbox.temporary)},
        model=arm.model,
        route=arm.route,
        max_output_tokens=arm.max_output_tokens,
        model_max_output_tokens=arm.model_max_output_tokens,
        context_tokens=arm.context_tokens,
        effort=arm.effort,
        permission_mode=arm.permission_mode,
        prices=experiment.prices,
    )


def require_startable(experiment: Experiment) -> None:
    """Make sure that every arm can be started as asked, before anything is written: a launch is data.

    Raises:
        LaunchError: Of the first arm's kind, with what is wrong with each.
    """
    nowhere = Sandbox(work=Path.cwd(), home=Path.cwd(), temporary=Path.cwd())
    faults: list[LaunchError] = []
    for arm in experiment.arms:
        try:
            PROGRAMS[arm.harness].launch(request_of(arm, experiment, nowhere))
        except LaunchError as fault:
            faults.append(fault)
    if faults:
        raise type(faults[0])("\n".join(dict.fromkeys(str(fault) for fault in faults)))


@contextmanager
def stopping(stop: threading.Event) -> Iterator[None]:
    """Turn Ctrl-C and a polite request to end into a stop that every attempt looks at."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        if not stop.is_set():
            stop.set()
            os.write(2, STOPPING)

    if threading.current_thread() is not threading.main_thread():
        yield  # no other thread hears signals
        return
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ended_words(outcome: Outcome) -> str:
    """Return what became of an attempt, in a line."""
    planned, made = outcome.planned, outcome.made
    name = f"{planned.task_id} {planned.arm} attempt {planned.attempt}"
    if made is None:
        return f"{name}: {LAST_WORDS[outcome.state]}"
    seconds = "-" if made.record.duration_us is None else f"{made.record.duration_us / 1e6:.1f} s"
    how = "interrupted" if outcome.state is State.INTERRUPTED else made.record.final_status
    return f"{name}: {how}, {seconds}"


class Notes:
    """Says what a reader of the run should know, each thing once and never without bound."""

    def __init__(self, say: Callable[[str], None], *, most: int = 50) -> None:
        self._say = say
        self._most = most
        self._said: set[str] = set()

    def hear(self, outcome: Outcome) -> None:
        """Say what is new about an attempt."""
        secrets = frozenset() if outcome.made is None else outcome.made.secrets
        for note in (str(redacted(note, secrets)) for note in _notes(outcome)):
            if note not in self._said:
                self._said.add(note)
                self._tell(note)

    def _tell(self, note: str) -> None:
        if len(self._said) <= self._most:
            self._say(note)
        elif len(self._said) == self._most + 1:
            self._say("note: further notes stand in the task documents")


def _notes(outcome: Outcome) -> Iterator[str]:
    if outcome.made is None or outcome.state is State.INTERRUPTED:
        return
    record, name = outcome.made.record, f"{outcome.planned.task_id} {outcome.planned.arm}"
    if outcome.made.crash is not None:
        yield f"warning: {name}: the turn crashed: {outcome.made.crash}"
    if record.ignored:
        yield f"warning: {record.harness.value} ignores {', '.join(record.ignored)}"
    for finding in record.findings:
        yield f"note: {name}: {finding}"
    written = outcome.written
    if written is not None and written.turns is not None and written.without_usage:
        yield f"note: {name}: {written.without_usage} of {written.turns} turns have no usage: their cost is not known"
    if written is not None and written.turns is not None and written.left_out + written.dropped:
        counts = f"{written.left_out} not measured, {written.dropped} not written"
        yield f"note: {name}: left out of the turn metrics: {counts}"
