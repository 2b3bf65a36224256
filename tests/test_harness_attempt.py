"""An attempt's turns through real processes: what is repeated, what each limit ends, what the record keeps."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.attempt import AttemptTurns, Surroundings, run_turns
from harness.facts import DEFAULT_CAPS
from harness.kinds import EndStatus, Harness
from harness.launch import Launch, Prompt, TurnRequest
from harness.limits import RunLimits
from harness.scripts import script_lines
from harness.statuses import Status

_FAKE = "import sys, time\nsys.stdout.write(sys.argv[1])\nsys.stdout.flush()\ntime.sleep(float(sys.argv[2]))"


def step(*, last: bool, output: int = 10) -> str:
    """Return the lines of one step of pi."""
    lines = [dict(line) for _, line in script_lines(Harness.PI, [[0, "turn_start"], [1, "delta"], [2, "turn_end"]])]
    for line in lines:
        if line["type"] == "turn_end":
            usage = {"input": 100, "output": output, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.25}}
            stop = "stop" if last else "toolUse"
            line["message"] = {"role": "assistant", "stopReason": stop, "responseId": "r", "usage": usage}
    return "".join(json.dumps(line) + "\n" for line in lines)


GOOD, OPEN = step(last=True), step(last=False)


@dataclass
class Scripted:
    """A program whose every launch prints the next text and then stays for the next number of seconds."""

    texts: Sequence[tuple[str, float]]
    requests: list[TurnRequest] = field(default_factory=list)
    harness: Harness = Harness.PI

    def launch(self, request: TurnRequest) -> Launch:
        text, stays_s = self.texts[len(self.requests)]
        self.requests.append(request)
        argv = (sys.executable, "-I", "-S", "-c", _FAKE, text, str(stays_s))
        return Launch(argv=argv, env={}, cwd=request.workdir, conversation=Prompt(request.prompt))


class Clock:
    """A monotonic clock that a sleep moves forward at once and that may run faster than time, or a sleep longer."""

    def __init__(self, *, speed: int = 1, stretch: int = 1) -> None:
        self._speed = speed
        self._stretch = stretch
        self._slept_ns = 0
        self.sleeps: list[float] = []

    def now(self) -> int:
        return time.monotonic_ns() * self._speed + self._slept_ns

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self._slept_ns += round(seconds * self._stretch * 1e9)


def run(
    folder: Path, program: Scripted, *, turns: int = 1, limits: RunLimits | None = None, clock: Clock | None = None
) -> AttemptTurns:
    def ask(number: int) -> Callable[[str | None], TurnRequest]:
        return lambda session: TurnRequest(
            prompt=str(number), workdir=folder, home=folder, environment={}, session=session
        )

    watch = clock if clock is not None else Clock()
    around = Surroundings(
        wall_us=lambda: time.time_ns() // 1000, monotonic_ns=watch.now, sleep=watch.sleep, jitter=lambda: 1.0
    )
    return run_turns(
        program,
        [ask(number) for number in range(1, turns + 1)],
        limits=limits if limits is not None else RunLimits(),
        cap=DEFAULT_CAPS[Harness.PI],
        around=around,
    )


def test_a_dialogue_runs_its_turns_one_after_another(tmp_path: Path) -> None:
    program = Scripted([(GOOD, 0), (GOOD, 0)])
    found = run(tmp_path, program, turns=2)
    assert [turn.record.iteration for turn in found.turns] == [1, 2]
    assert [request.prompt for request in program.requests] == ["1", "2"]
    assert (found.happened, found.exhausted, found.retry_wait_us, found.category) == (frozenset(), False, 0, None)


def test_a_crash_is_repeated_twice_with_its_waits_and_every_failed_turn_is_kept(tmp_path: Path) -> None:
    clock = Clock()
    found = run(tmp_path, Scripted([(OPEN, 0)] * 3), clock=clock)
    assert [turn.record.iteration for turn in found.turns] == [1, 1, 1]
    assert {turn.record.status for turn in found.turns} == {EndStatus.CRASHED}
    assert clock.sleeps == [5 * 1.25, 10 * 1.25]
    assert found.retry_wait_us == pytest.approx(18_750_000, rel=0.01)
    assert (found.happened, found.category) == (frozenset({Status.ERROR}), "agent_crash")


def test_a_repetition_that_completes_leaves_no_error(tmp_path: Path) -> None:
    found = run(tmp_path, Scripted([(OPEN, 0), (GOOD, 0)]))
    assert [turn.record.status for turn in found.turns] == [EndStatus.CRASHED, EndStatus.COMPLETED]
    assert (found.happened, found.category) == (frozenset(), None)


def test_a_stream_of_unknown_kinds_is_not_repeated(tmp_path: Path) -> None:
    found = run(tmp_path, Scripted([('{"type":"news"}\n', 0)]))
    assert (len(found.turns), found.category) == (1, "agent_invalid_output")


def test_l4_a_capped_turn_is_not_repeated_and_no_error(tmp_path: Path) -> None:
    found = run(tmp_path, Scripted([(OPEN, 60)]), turns=2, limits=RunLimits(max_turns=1))
    assert [turn.record.status for turn in found.turns] == [EndStatus.MAX_TURNS_EXHAUSTED]
    assert (found.happened, found.exhausted, found.category) == (frozenset(), True, None)


def test_l8_a_turn_at_its_limit_is_an_error_and_not_repeated(tmp_path: Path) -> None:
    limits = RunLimits(turn_timeout_s=10, task_timeout_s=None)
    found = run(tmp_path, Scripted([(OPEN, 60)]), limits=limits, clock=Clock(speed=20))
    assert [turn.record.status for turn in found.turns] == [EndStatus.TIMEOUT]
    assert (found.happened, found.category) == (frozenset({Status.ERROR}), "agent_timeout")


def test_l9_the_task_limit_ends_the_turn_in_flight_and_keeps_it(tmp_path: Path) -> None:
    limits = RunLimits(turn_timeout_s=None, task_timeout_s=30)
    found = run(tmp_path, Scripted([(OPEN, 60)]), limits=limits, clock=Clock(speed=10))
    assert [turn.record.status for turn in found.turns] == [EndStatus.TIMEOUT]
    assert found.turns[0].record.summary.recognised > 0
    assert found.happened == frozenset({Status.TIMEOUT})


def test_l9_a_wait_that_the_task_limit_does_not_leave_is_not_begun(tmp_path: Path) -> None:
    # The first wait of 6.25 s takes 18.75 s, so the second, of 12.5 s, no longer fits into 30 s.
    clock = Clock(stretch=3)
    limits = RunLimits(task_timeout_s=30, turn_timeout_s=30)
    found = run(tmp_path, Scripted([(OPEN, 0)] * 2), limits=limits, clock=clock)
    assert clock.sleeps == [6.25]
    assert len(found.turns) == 2
    assert found.happened == frozenset({Status.TIMEOUT})


def test_l13_each_turn_and_each_repetition_starts_its_count_afresh(tmp_path: Path) -> None:
    program = Scripted([(OPEN, 0), (OPEN + GOOD, 0), (OPEN + GOOD, 0)])
    found = run(tmp_path, program, turns=2, limits=RunLimits(max_turns=2))
    assert [turn.record.status for turn in found.turns] == [EndStatus.CRASHED, EndStatus.COMPLETED, EndStatus.COMPLETED]
    assert not found.exhausted


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        (RunLimits(max_output_tokens=15), Status.TOKEN_BUDGET_EXCEEDED),
        (RunLimits(max_usd=0.3), Status.COST_BUDGET_EXCEEDED),
    ],
)
def test_a_budget_ends_the_dialogue_after_the_turn_that_overspent_it(
    tmp_path: Path, limits: RunLimits, status: Status
) -> None:
    found = run(tmp_path, Scripted([(GOOD, 0), (GOOD, 0)]), turns=3, limits=limits)
    assert len(found.turns) == 2
    assert found.happened == frozenset({status})


def test_a_refused_credential_is_not_repeated_and_a_broken_provider_is(tmp_path: Path) -> None:
    """The provider's word decides: 401 is as wrong the second time, 500 may be over."""

    def failing(status: int) -> str:
        line = {"role": "assistant", "stopReason": "error", "errorMessage": f"{status} no", "responseId": "r"}
        end = json.dumps({"type": "turn_end", "message": line})
        return "\n".join([*OPEN.splitlines()[:-1], end]) + "\n"

    clock = Clock()
    found = run(tmp_path, Scripted([(failing(401), 0)]), clock=clock)
    assert (found.category, found.happened, clock.sleeps) == ("agent_auth_error", frozenset({Status.ERROR}), [])
    found = run(tmp_path, Scripted([(failing(500), 0), (GOOD, 0)]), clock=clock)
    assert (found.category, found.happened, clock.sleeps) == (None, frozenset(), [5 * 1.25])


def test_a_stop_during_a_wait_keeps_what_ran(tmp_path: Path) -> None:
    told: list[float] = []
    around = Surroundings(
        wall_us=lambda: time.time_ns() // 1000,
        monotonic_ns=time.monotonic_ns,
        sleep=told.append,
        jitter=lambda: 0.0,
        stop=lambda: bool(told),
    )
    found = attempt_of(tmp_path, Scripted([(OPEN, 0)] * 3), around)
    assert (len(found.turns), found.interrupted, found.happened) == (1, True, frozenset())


def test_ctrl_c_during_a_wait_keeps_what_ran(tmp_path: Path) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    around = Surroundings(
        wall_us=lambda: time.time_ns() // 1000, monotonic_ns=time.monotonic_ns, sleep=interrupt, jitter=lambda: 0.0
    )
    found = attempt_of(tmp_path, Scripted([(OPEN, 0)] * 3), around)
    assert (len(found.turns), found.interrupted, found.happened) == (1, True, frozenset())


def test_a_stop_ends_the_turn_that_runs(tmp_path: Path) -> None:
    until = time.monotonic() + 0.3
    around = Surroundings(
        wall_us=lambda: time.time_ns() // 1000,
        monotonic_ns=time.monotonic_ns,
        sleep=time.sleep,
        jitter=lambda: 0.0,
        stop=lambda: time.monotonic() > until,
    )
    found = attempt_of(tmp_path, Scripted([(OPEN, 60)]), around)
    assert (len(found.turns), found.interrupted, found.category) == (1, True, None)
    assert found.turns[0].interrupted


def attempt_of(folder: Path, program: Scripted, around: Surroundings) -> AttemptTurns:
    """Run one turn in given surroundings."""
    request = TurnRequest(prompt="1", workdir=folder, home=folder, environment={})
    return run_turns(program, [lambda _: request], limits=RunLimits(), cap=DEFAULT_CAPS[Harness.PI], around=around)
