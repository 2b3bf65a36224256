"""The architecture of timing as rules on the source, each with planted violations that fire.

A rule yields the line numbers that break it. The same function is run over the package, where it must find nothing,
and over short planted sources, where it must find exactly the planted line.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.capabilities import CAPABILITIES
from harness.kinds import Harness
from harness.programs.folders import part
from harness.programs.registry import PROGRAMS

HARNESS = Path(__file__).resolve().parents[1] / "harness"
Rule = Callable[[ast.Module], Iterator[int]]
TIMES = ("_ms", "_us", "duration", "latency", "first_delta")
STAMPS = ("started", "completed", "start", "close", "end")
SUBTRACTION = {
    "subtract_tool_time",
    "decompose_turn",
    "span_set",
    "busy_us",
    "union_us",
    "main_thread_spans",
    "SpanSet",
}
PROCESS_MODULES = {"process.py", "keeper.py"}
PROCESS_CALLS = {
    "Popen",
    "run",
    "call",
    "check_call",
    "check_output",
    "create_subprocess_exec",
    "create_subprocess_shell",
}
OS_PROCESS = {
    "fork",
    "forkpty",
    "posix_spawn",
    "posix_spawnp",
    "system",
    "popen",
    "execv",
    "execve",
    "execvp",
    "spawnv",
}


def is_time(name: str) -> bool:
    return name.endswith(TIMES[:2]) or any(word in name for word in TIMES[2:])


def is_zero(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in {int, float} and node.value == 0


def called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def names(node: ast.AST) -> set[str]:
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return found | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def target_name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)


def no_zero_stands_for_an_unmeasured_time(tree: ast.Module) -> Iterator[int]:
    """Six shapes: keyword 0, `x or 0`, conditional on None, `if x is None: x = 0`, update dict, bare assignment."""
    counted = accumulators(tree)
    for node in ast.walk(tree):
        yield from zero_keyword(node)
        yield from zero_fallback(node)
        yield from zero_in_a_dict(node)
        yield from zero_assignment(node, counted)


def accumulators(tree: ast.Module) -> set[str]:
    """A name that `+=` adds to starts at a true zero."""
    return {target_name(node.target) for node in ast.walk(tree) if isinstance(node, ast.AugAssign)}


def zero_keyword(node: ast.AST) -> Iterator[int]:
    if isinstance(node, ast.Call) and called(node) != "Stamp":
        yield from (
            word.value.lineno for word in node.keywords if word.arg and is_time(word.arg) and is_zero(word.value)
        )


def zero_fallback(node: ast.AST) -> Iterator[int]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and is_zero(node.values[-1]):
        if any(is_time(name) for value in node.values for name in names(value)):
            yield node.lineno
    elif isinstance(node, ast.IfExp) and (is_zero(node.body) or is_zero(node.orelse)):
        asks_for_none = any(isinstance(part, ast.Constant) and part.value is None for part in ast.walk(node.test))
        if asks_for_none and any(is_time(name) for name in names(node.test)):
            yield node.lineno


def zero_in_a_dict(node: ast.AST) -> Iterator[int]:
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and is_time(key.value) and is_zero(value):
                yield value.lineno


def zero_assignment(node: ast.AST, counted: set[str]) -> Iterator[int]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    if isinstance(node, ast.Assign | ast.AnnAssign) and is_zero(node.value):
        found = {target_name(target) for target in targets}
        if any(is_time(name) for name in found - counted):
            yield node.lineno


def one_reading_is_not_both_bounds(tree: ast.Module) -> Iterator[int]:
    """Two bounds from one expression measure nothing, unless the duration beside them is None."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        given = {word.arg: word.value for word in node.keywords}
        open_, shut = given.get("started", given.get("start")), given.get("completed", given.get("close"))
        same = open_ is not None and shut is not None and ast.dump(open_) == ast.dump(shut)
        blank = isinstance(shut, ast.Constant) and shut.value is None
        duration = given.get("duration_us", given.get("raw_us"))
        unmeasured = isinstance(duration, ast.Constant) and duration.value is None
        if same and not blank and not unmeasured:
            yield node.lineno


def every_message_says_its_id(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if called(node) == "Message" and isinstance(node, ast.Call):
            given = {word.arg: word.value for word in node.keywords}
            value = given.get("message_id")
            if value is None or (isinstance(value, ast.Constant) and value.value is None):
                yield node.lineno


def who_publishes_a_window_opens_it_with_close_window(tree: ast.Module) -> Iterator[int]:
    opener = any(name == "close_window" for name, _ in imports(tree))
    for node in ast.walk(tree):
        if called(node) == "Window" and isinstance(node, ast.Call):
            yield node.lineno
        if called(node) == "Message" and isinstance(node, ast.Call) and not opener:
            given = {word.arg: word.value for word in node.keywords}
            raw = given.get("raw_us")
            if raw is not None and not (isinstance(raw, ast.Constant) and raw.value is None):
                yield node.lineno


def no_reducer_knows_the_subtraction(tree: ast.Module) -> Iterator[int]:
    yield from (line for name, line in imports(tree) if name.rpartition(".")[2] in SUBTRACTION | {"intervals"})


def the_bracket_is_stamped_by_hand(tree: ast.Module) -> Iterator[int]:
    """AgentStart and AgentEnd take their stamp from the caller, and no module reads a clock to make one up."""
    for node in ast.walk(tree):
        if called(node) in {"AgentStart", "AgentEnd"} and isinstance(node, ast.Call):
            given = {word.arg: word.value for word in node.keywords}
            if not isinstance(given.get("at"), ast.Name):
                yield node.lineno


def nothing_reads_a_clock(tree: ast.Module) -> Iterator[int]:
    clocks = {
        "time",
        "time_ns",
        "monotonic",
        "monotonic_ns",
        "perf_counter",
        "perf_counter_ns",
        "now",
        "utcnow",
        "today",
    }
    for node in ast.walk(tree):
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Attribute) and function.attr in clocks:
            yield from [function.lineno] if target_name(function.value) in {"time", "datetime", "date"} else []
    yield from (node.lineno for node in tree.body if isinstance(node, ast.Assign) and called(node.value) == "TurnClock")


def only_the_process_module_makes_processes(tree: ast.Module) -> Iterator[int]:
    yield from (
        line for name, line in imports(tree) if name.partition(".")[0] in {"subprocess", "multiprocessing", "pty"}
    )
    for node in ast.walk(tree):
        of_os = isinstance(node, ast.Attribute) and target_name(node.value) == "os" and node.attr in OS_PROCESS
        if of_os and isinstance(node, ast.Attribute):
            yield node.lineno


def every_process_says_its_standard_input(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in PROCESS_CALLS:
            owner = target_name(node.func.value) if isinstance(node.func, ast.Attribute) else "subprocess"
            # asyncio.run starts a loop, and a bare run may be anybody's.
            ambiguous = called(node) == "run" and (owner == "asyncio" or isinstance(node.func, ast.Name))
            if (
                owner in {"subprocess", "asyncio"}
                and not ambiguous
                and "stdin" not in {word.arg for word in node.keywords}
            ):
                yield node.lineno


def the_identity_never_reads_a_first_delta(tree: ast.Module) -> Iterator[int]:
    identity = {"accounted_us", "residual_us", "generation_us", "span_us", "subtract_tool_time", "decompose_turn"}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name in identity | {"_gap_us", "_net_parts", "_share"}:
            yield from (function.lineno for name in names(function) if "first_delta" in name)


def deadlines_read_the_monotonic_clock_only(tree: ast.Module) -> Iterator[int]:
    for owner in ast.walk(tree):
        if isinstance(owner, ast.ClassDef | ast.FunctionDef) and "deadline" in owner.name.lower():
            yield from (
                owner.lineno for name in names(owner) if "wall" in name or name in {"anchor", "now", "datetime"}
            )


def no_reducer_does_input_or_output(tree: ast.Module) -> Iterator[int]:
    banned = {
        "os",
        "io",
        "pathlib",
        "subprocess",
        "socket",
        "threading",
        "asyncio",
        "time",
        "random",
        "sys",
        "tempfile",
    }
    for node in ast.walk(tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any(module.partition(".")[0] in banned for module in modules):
            yield node.lineno if isinstance(node, ast.Import | ast.ImportFrom) else 0
        if called(node) in {"open", "print", "input"} and isinstance(node, ast.Call):
            yield node.lineno


def no_harness_is_named_outside_its_folder(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Harness":
            if node.attr.isupper():
                yield node.lineno
        elif isinstance(node, ast.ImportFrom) and re.fullmatch(r"harness\.programs\.(\w+)\.\w+", node.module or ""):
            yield node.lineno


def outside_folders(path: Path) -> bool:
    # Expected endings of the live tier differ by program, and one expected value is about one of them.
    expectations = {"vectors.py", "scenarios.py", "limit_table.py"}
    in_folder = path.parent.parent.name == "programs" and path.parent != HARNESS / "programs"
    return not in_folder and path.name not in expectations


def everywhere(path: Path) -> bool:
    return path.suffix == ".py"


def measuring(path: Path) -> bool:
    """Everywhere but in the scripted provider, whose delays are settings and not measurements."""
    return "testing" not in path.parts


def reducers(path: Path) -> bool:
    return path.parent.name == "reducers" or path.name == "reducer.py"


def outside_processes(path: Path) -> bool:
    # The installer of the live tier starts package managers, and a task's own lines run in its sandbox.
    return path.name not in PROCESS_MODULES and not {"testing", "tasks"} & set(path.parts)


def timing_core(path: Path) -> bool:
    return path.parent == HARNESS and path.name not in {"process.py", "keeper.py", "vectors.py", "scripts.py"}


# Each rule, where it holds, and planted violations of it.
RULES: tuple[tuple[Rule, Callable[[Path], bool], tuple[str, ...]], ...] = (
    (
        no_zero_stands_for_an_unmeasured_time,
        measuring,
        (
            "Call(duration_us=0)",
            "total = head_us or 0",
            "shown = 0.0 if tail_ms is None else tail_ms",
            "if head_us is None:\n    head_us = 0",
            "update({'generation_ms': 0.0})",
            "first_delta_us = 0",
            "raw_us: int = 0",
        ),
    ),
    (
        one_reading_is_not_both_bounds,
        everywhere,
        ("Call(started=now, completed=now, duration_us=5)", "W(start=a, close=a)"),
    ),
    (every_message_says_its_id, reducers, ("Message(sequence=0)", "Message(sequence=0, message_id=None)")),
    (
        who_publishes_a_window_opens_it_with_close_window,
        reducers,
        ("Message(message_id=i, raw_us=now - mark)", "window = Window(start=a, close=b)"),
    ),
    (
        no_reducer_knows_the_subtraction,
        reducers,
        ("from harness.windows import subtract_tool_time", "import harness.intervals", "from harness import intervals"),
    ),
    (
        the_bracket_is_stamped_by_hand,
        everywhere,
        ("AgentStart(iteration=1)", "AgentEnd(at=clock.now(), status=s)", "AgentEnd(at=None, status=s)"),
    ),
    (
        nothing_reads_a_clock,
        timing_core,
        ("at = time.monotonic_ns()", "at = datetime.now()", "CLOCK = TurnClock(wall_us=a, monotonic_ns=b)"),
    ),
    (
        only_the_process_module_makes_processes,
        outside_processes,
        ("import subprocess", "os.fork()", "os.system(x)", "import multiprocessing"),
    ),
    (every_process_says_its_standard_input, everywhere, ("subprocess.Popen(argv)", "subprocess.run(argv, check=True)")),
    (
        the_identity_never_reads_a_first_delta,
        everywhere,
        ("def residual_us(self):\n    return self.a - self.first_delta_us",),
    ),
    (
        deadlines_read_the_monotonic_clock_only,
        everywhere,
        (
            "class Deadline:\n    def passed(self):\n        return datetime.now() > self.end",
            "def deadline(clock):\n    return clock.wall_us",
        ),
    ),
    (
        no_harness_is_named_outside_its_folder,
        outside_folders,
        ("CAPS = {Harness.PI: 1}", "from harness.programs.pi.launch import PROGRAM"),
    ),
    (no_reducer_does_input_or_output, reducers, ("import os", "from pathlib import Path", "open('x')", "print(1)")),
)
BY_NAME = [pytest.param(*rule, id=rule[0].__name__) for rule in RULES]
PLANTED = [
    pytest.param(rule, source, id=f"{rule.__name__}: {source}") for rule, _, sources in RULES for source in sources
]


@pytest.mark.parametrize(("rule", "holds_in", "planted"), BY_NAME)
def test_the_package_keeps_the_rule(rule: Rule, holds_in: Callable[[Path], bool], planted: tuple[str, ...]) -> None:
    found = {
        f"{path.relative_to(HARNESS)}:{line}"
        for path in sorted(HARNESS.rglob("*.py"))
        if holds_in(path)
        for line in rule(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set()
    assert planted


@pytest.mark.parametrize(("rule", "source"), PLANTED)
def test_a_planted_violation_fires(rule: Rule, source: str) -> None:
    assert list(rule(ast.parse(source)))


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        (no_zero_stands_for_an_unmeasured_time, "cost_us = 0\ncost_us += step"),
        (no_zero_stands_for_an_unmeasured_time, "Stamp(us=0)"),
        (one_reading_is_not_both_bounds, "Call(started=now, completed=now, duration_us=None)"),
        (one_reading_is_not_both_bounds, "Call(started=None, completed=None)"),
        (every_message_says_its_id, "Message(sequence=0, message_id=text(line, 'id'))"),
        (the_bracket_is_stamped_by_hand, "AgentEnd(at=at, status=s)"),
        (every_process_says_its_standard_input, "subprocess.Popen(argv, stdin=subprocess.DEVNULL)"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_an_allowed_shape_stays_quiet(rule: Rule, source: str) -> None:
    assert list(rule(ast.parse(source))) == []


@pytest.mark.parametrize("harness", Harness)
def test_a_folder_holds_every_part_that_a_registry_gathers(harness: Harness) -> None:
    assert PROGRAMS[harness].harness is harness
    assert CAPABILITIES[harness].harness is harness
    for name in ("launch", "reducer", "capability", "facts", "vocabulary", "script"):
        assert part(harness, name).__doc__


def test_every_reducer_that_publishes_a_window_is_covered() -> None:
    publishing = [
        path.parent.name
        for path in (HARNESS / "programs").glob("*/reducer.py")
        if any(name == "close_window" for name, _ in imports(ast.parse(path.read_text(encoding="utf-8"))))
    ]
    assert sorted(publishing) == ["antigravity", "claude_code", "codex", "opencode", "pi"]
