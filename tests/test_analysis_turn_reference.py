"""Which lines are turns: one row per rule, the awkward lines that readers disagree about, and two tiers that agree."""

import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from analysis.evidence.turn_json import DEEPEST_KEPT, LineJsonError, parse_line
from analysis.evidence.turn_reader import TurnReader
from analysis.evidence.turn_reference import LineRefusedError, check_line
from analysis.evidence.turn_shape import DECODER, Turn, TurnV1
from tests.turn_lines import AWKWARD, MISSING, USAGE, bare, call, line, recorded

ROOT = Path(__file__).resolve().parents[1]
# Where our verdict differs from a JavaScript reader's on purpose, by id of the shared list: nowhere.
DIFFERENT_ON_PURPOSE: dict[str, str] = {}


def reason_of(data: bytes) -> str | None:
    """Return why a line is malformed; None for a turn."""
    try:
        check_line(data)
    except LineRefusedError as fault:
        return fault.reason
    return None


def fast(data: bytes) -> Turn | None:
    """Return what the fast tier alone makes of a line."""

    reader = TurnReader(reference=None)
    return next(reader.turns([[data]]), None)


def test_a_line_of_the_format_is_a_turn() -> None:
    turn = check_line(line(recorded()))
    assert turn.session_id == "session-7"
    assert turn.turn_index == 4
    assert turn.usage.cache_read == 500
    assert [one.error_class for one in turn.tool_calls if not one.ok] == ["not_found"]
    assert fast(line(recorded())) == turn


def test_the_required_fields_alone_are_a_turn() -> None:
    assert reason_of(line(bare())) is None
    assert fast(line(bare())) == check_line(line(bare()))


V1: dict[str, object] = {"schemaVersion": "omk-turn-metrics-1", "toolCallCount": 1, "toolFailureCount": 1}
# One row per rule: what is changed on a good line, and how the reason begins.
RULES: list[tuple[dict[str, object], str]] = [
    ({"schemaVersion": MISSING}, "schemaVersion: neither"),
    ({"schemaVersion": "omk-turn-metrics-3"}, "schemaVersion: neither"),
    ({"schemaVersion": 2}, "schemaVersion: neither"),
    ({"schemaVersion": "no version", "impossible": None}, "schemaVersion: neither"),
    ({"sessionId": MISSING}, "sessionId: missing"),
    ({"sessionId": None}, "sessionId: blank"),
    ({"sessionId": ""}, "sessionId: blank"),
    ({"sessionId": " \u00a0"}, "sessionId: blank"),
    ({"sessionId": "x" * 513}, "sessionId: blank, longer"),
    ({"sessionId": "a\x7f"}, "sessionId: blank"),
    ({"sessionId": 4}, "sessionId: blank"),
    ({"turnIndex": MISSING}, "turnIndex: missing"),
    ({"turnIndex": -1}, "turnIndex: not a whole number"),
    ({"turnIndex": 0.5}, "turnIndex: not a whole number"),
    ({"turnIndex": 2**53}, "turnIndex: not a whole number"),
    ({"turnIndex": True}, "turnIndex: not a whole number"),
    ({"turnIndex": "4"}, "turnIndex: not a whole number"),
    ({"provider": None}, "provider: blank"),
    ({"provider": ""}, "provider: blank"),
    ({"model": 1}, "model: blank"),
    ({"model": " "}, "model: blank"),
    ({"startedAtEpochMs": MISSING}, "startedAtEpochMs: missing"),
    ({"startedAtEpochMs": -1}, "startedAtEpochMs: not a finite number"),
    ({"startedAtEpochMs": "1000"}, "startedAtEpochMs: not a finite number"),
    ({"endedAtEpochMs": MISSING}, "endedAtEpochMs: missing"),
    ({"endedAtEpochMs": True}, "endedAtEpochMs: not a finite number"),
    ({"durationMs": MISSING}, "durationMs: missing"),
    ({"durationMs": -2500}, "durationMs: not a finite number"),
    ({"durationMs": 2499.9}, "durationMs: not max"),
    ({"endedAtEpochMs": 10, "durationMs": 1}, "durationMs: not max"),
    ({"timeToFirstChunkMs": -1}, "timeToFirstChunkMs: not a finite number"),
    ({"timeToFirstChunkMs": None}, "timeToFirstChunkMs: not a finite number"),
    ({"usage": None}, "usage: not an object"),
    ({"usage": []}, "usage: not an object"),
    ({"usage": {**USAGE, "input": 1.5}}, "usage.input: not a whole number"),
    ({"usage": {**USAGE, "output": -1}}, "usage.output: not a whole number"),
    ({"usage": {**USAGE, "cacheRead": None}}, "usage.cacheRead: not a whole number"),
    ({"usage": {key: USAGE[key] for key in ("input", "output", "cacheRead", "costUsd")}}, "usage.cacheWrite: not a"),
    ({"usage": {**USAGE, "costUsd": -0.5}}, "usage.costUsd: not a finite number"),
    ({"usage": {key: USAGE[key] for key in USAGE if key != "costUsd"}}, "usage.costUsd: not a finite number"),
    ({"stopReason": None}, "stopReason: not one of"),
    ({"stopReason": "pause"}, "stopReason: not one of"),
    ({"toolCalls": None}, "toolCalls: not a list"),
    ({"toolCalls": {}}, "toolCalls: not a list"),
    ({"toolCalls": ["bash"]}, "toolCalls: not an object"),
    ({"toolCalls": [call("", 1)]}, "toolCalls.name: blank"),
    ({"toolCalls": [{"durationMs": 1, "ok": True}]}, "toolCalls.name: blank"),
    ({"toolCalls": [call("bash", -1)]}, "toolCalls.durationMs: not a finite number"),
    ({"toolCalls": [{"name": "bash", "ok": True}]}, "toolCalls.durationMs: not a finite number"),
    ({"toolCalls": [{"name": "bash", "durationMs": 1, "ok": 1}]}, "toolCalls.ok: not true or false"),
    ({"toolCalls": [{"name": "bash", "durationMs": 1}]}, "toolCalls.ok: not true or false"),
    ({"toolCalls": [call("bash", 1, ok=False, errorClass="boom")]}, "toolCalls.errorClass: not one of"),
    ({"toolCalls": [call("bash", 1, errorClass="boom")]}, "toolCalls.errorClass: not one of"),
    ({"toolCalls": [call("bash", 1, ok=False, errorClass=None)]}, "toolCalls.errorClass: not one of"),
    ({"toolCalls": [call("bash", 1, error="raw")]}, "toolCalls.error: raw error text"),
    ({"toolCalls": [call("bash", 1, error=None)]}, "toolCalls.error: raw error text"),
    ({"toolCalls": [call("bash", 1)] * 10_001, "toolCallCount": 10_001, "toolFailureCount": 0}, "toolCalls: more than"),
    ({"toolCallCount": MISSING}, "toolCallCount: missing"),
    ({"toolCallCount": 1}, "toolCallCount: not the number"),
    ({"toolCallCount": 2.5}, "toolCallCount: not a whole number"),
    ({"toolFailureCount": MISSING}, "toolFailureCount: missing"),
    ({"toolFailureCount": 0}, "toolFailureCount: not the number"),
    ({"toolFailureCount": -1}, "toolFailureCount: not a whole number"),
    ({"compacted": 0}, "compacted: not true or false"),
    ({"compacted": None}, "compacted: not true or false"),
    ({"failovers": 1.5}, "failovers: not a whole number"),
    ({"failovers": -1}, "failovers: not a whole number"),
    ({"contextCache": None}, "contextCache: not an object"),
    ({"contextCache": {"planHit": 1, "hits": 0, "misses": 0}}, "contextCache.planHit: not true or false"),
    ({"contextCache": {"planHit": True, "hits": -1, "misses": 0}}, "contextCache.hits: not a whole number"),
    ({"contextCache": {"planHit": True, "hits": 0}}, "contextCache.misses: not a whole number"),
    ({**V1, "toolCalls": [call("bash", 1, ok=False, error=7)]}, "toolCalls.error: not a text"),
    ({**V1, "toolCalls": [call("bash", 1, ok=False, error=None)]}, "toolCalls.error: not a text"),
]


@pytest.mark.parametrize(("changes", "reason"), RULES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_broken_rule_is_named_and_no_value_is_repeated(changes: dict[str, object], reason: str) -> None:
    data = line(recorded(**changes))
    found = reason_of(data)
    assert found is not None
    assert found.startswith(reason)
    assert "session-7" not in found
    assert fast(data) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"unknown": {"nested": [1, 2]}},
        {"usage": {**USAGE, "text": "extra"}},
        {"contextCache": {"planHit": False, "hits": 0, "misses": 0, "key": "extra"}},
        {"toolCalls": [call("bash", 1, arguments="extra")], "toolCallCount": 1, "toolFailureCount": 0},
        {"toolCalls": [call("bash", 1)] * 10_000, "toolCallCount": 10_000, "toolFailureCount": 0},
        {"runtimeProvenance": "not trusted, left out"},
        {"runtimeProvenance": {"selectedModel": "AKI" + "AQX7LWBTPZN4MV2RC"}},
        {**V1, "toolCalls": [call("bash", 1, ok=False, error="ENOENT", errorClass="boom")]},
        {**V1, "toolCalls": [call("bash", 1, ok=False)]},
        {"endedAtEpochMs": 1000, "durationMs": 0},
        {"startedAtEpochMs": 1e308, "endedAtEpochMs": 1, "durationMs": 0},
    ],
)
def test_what_the_format_allows_is_a_turn(changes: dict[str, object]) -> None:
    assert reason_of(line(recorded(**changes))) is None


def test_raw_error_text_of_version_1_is_classified_and_goes_no_further() -> None:
    turn = check_line(line(recorded(**V1, toolCalls=[call("bash", 1, ok=False, error="EACCES at a secret place")])))
    assert isinstance(turn, TurnV1)
    assert [one.error_class for one in turn.tool_calls] == ["permission"]


def test_a_provenance_that_cannot_be_trusted_leaves_the_turn() -> None:
    good = {"selectedModel": "lab/one", "responseModel": "lab/two"}
    assert check_line(line(recorded(runtimeProvenance=good))).runtime_provenance.labels[1:3] == ("lab/one", "lab/two")  # type: ignore[union-attr]
    spoiled = check_line(line(recorded(runtimeProvenance={**good, "extra": 1})))
    assert spoiled == check_line(line(recorded()))


@pytest.mark.parametrize("name", AWKWARD)
def test_an_awkward_line_gets_the_verdict_of_a_javascript_reader(name: str) -> None:
    data, accepted = AWKWARD[name]
    assert (reason_of(data) is None) is accepted
    turn = fast(data)
    assert turn is None or turn == check_line(data)


def test_the_shared_lines_get_their_verdicts(shared: Path | None) -> None:
    path = shared / "vectors" / "turns" / "lines.json" if shared else None
    if path is None or not path.is_file():
        assert len(AWKWARD) == 49
        return
    vectors = json.loads(path.read_text(encoding="utf-8"))
    assert {one["id"] for one in vectors} == set(AWKWARD)
    different = {}
    for one in vectors:
        raw = one["line"]
        data = base64.b64decode(raw) if one["encoding"] == "base64" else raw.encode("utf-8", "surrogatepass")
        found = "accept" if reason_of(data) is None else "malformed"
        if found != one["javascript_reader"]:
            different[one["id"]] = found
        turn = fast(data)
        assert turn is None or turn == check_line(data)
    assert set(different) == set(DIFFERENT_ON_PURPOSE)


READER = """
import { check } from %r;
import fs from "node:fs";
const lines = JSON.parse(fs.readFileSync(0, "utf8"));
const verdicts = lines.map((one) => {
  try { check(Buffer.from(one, "base64").toString("utf8")); return true; } catch (error) { return false; }
});
process.stdout.write(JSON.stringify(verdicts));
"""


def javascript_verdicts(lines: list[bytes]) -> list[bool] | None:
    """Return a JavaScript reader's verdicts, or None where there is no node."""
    node = shutil.which("node")
    if node is None:
        return None
    program = READER % str(ROOT / "benchmarks" / "turn_reader.mjs")
    given = json.dumps([base64.b64encode(one).decode() for one in lines])
    ran = subprocess.run(
        [node, "--input-type=module", "-e", program], input=given, capture_output=True, text=True, check=True
    )
    found = json.loads(ran.stdout)
    assert isinstance(found, list)
    return found


def test_a_javascript_reader_agrees_line_by_line() -> None:
    rows = [line(recorded(**changes)) for changes, _ in RULES] + [data for data, _ in AWKWARD.values()]
    ours = [reason_of(data) is None for data in rows]
    theirs = javascript_verdicts(rows)
    assert theirs is None or theirs == ours
    assert ours == [False] * len(RULES) + [accepted for _, accepted in AWKWARD.values()]


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 2**54),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(["", "x", "stop", "timeout", "omk-turn-metrics-1", "a\x01", "\ud800", "\u00a0"]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*recorded(), "name", "ok"]), inner),
    max_leaves=6,
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Draw a line that was a turn until a field, a byte or a key was changed."""
    turn = recorded()
    for _ in range(draw(st.integers(0, 2))):
        where = draw(st.sampled_from(["turn", "usage", "call", "cache"]))
        target = {"turn": turn, "usage": turn.get("usage"), "cache": turn.get("contextCache")}.get(where)
        if where == "call" and isinstance(turn.get("toolCalls"), list) and turn["toolCalls"]:
            target = turn["toolCalls"][0]
        if isinstance(target, dict) and target:
            key = draw(st.sampled_from([*sorted(target), "error", "errorClass", "runtimeProvenance"]))
            if draw(st.booleans()):
                target[key] = draw(VALUES)
            else:
                target.pop(key, None)
    data = bytearray(json.dumps(turn, separators=draw(st.sampled_from([(",", ":"), (", ", ": ")]))).encode())
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(data) - 1))
        change = draw(st.sampled_from(["replace", "delete", "insert", "double"]))
        if change == "replace":
            data[at] = draw(st.sampled_from(list(b'"0{}[]:,\\x\x00\x1f\xff.eE-+ tfn9')))
        elif change == "delete":
            del data[at : at + draw(st.integers(1, 5))]
        elif change == "insert":
            data[at:at] = draw(
                st.sampled_from([b'"turnIndex":7,', b'"schemaVersion":"x",', b'"usage":{},', b"\xc3", b"0"])
            )
        else:
            data[at:at] = data[at : at + draw(st.integers(1, 60))]
        if not data:
            break
    return bytes(data)


@settings(max_examples=1500, deadline=None)
@given(damaged())
@example(line(recorded()).replace(b'{"schemaVersion"', b'{"schemaVersion":"x","schemaVersion"'))
@example(line(recorded()).replace(b'"sessionId"', b'"schemaVersion":"omk-turn-metrics-1","sessionId"'))
@example(line(recorded())[:-1] + b',"schemaVersion":"omk-turn-metrics-1"}')
@example(line(recorded())[:-1] + b',"toolCalls":[]}')
def test_what_the_fast_tier_accepts_the_reference_accepts_with_the_same_values(data: bytes) -> None:
    turn = fast(data)
    if turn is not None:
        assert check_line(data) == turn
        assert type(check_line(data)) is type(turn)


@settings(max_examples=30, deadline=None)
@given(st.lists(damaged(), min_size=20, max_size=60))
def test_damaged_lines_get_the_verdicts_of_a_javascript_reader(lines: list[bytes]) -> None:
    lines = [one for one in lines if b"\n" not in one and one.strip()]
    theirs = javascript_verdicts(lines)
    ours = [reason_of(one) is None for one in lines]
    assert theirs is None or theirs == ours


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=12,
    )
)
def test_deep_nesting_is_read_like_shallow_nesting(value: object) -> None:
    """What stands beside 3,000 brackets is read as the standard library reads it alone."""
    text = json.dumps(value).encode()
    deep = parse_line(b'{"a":' + text + b',"z":' + b"[" * 3000 + b"1" + b"]" * 3000 + b"}")
    assert isinstance(deep, dict)
    assert deep["a"] == parse_line(text) or _depth(value) > DEEPEST_KEPT - 1


def _depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max((1 + _depth(one) for one in inner), default=1 if isinstance(value, list | dict) else 0)


@pytest.mark.parametrize(
    "inside",
    [
        b"1 2",
        b"1,",
        b",1",
        b'"a" "b"',
        b'{"a"}',
        b'{"a":}',
        b'{"a":1,}',
        b"{1:2}",
        b"nul",
        b"01",
        b"1.",
        b'"\x01"',
        b'"\\x"',
        b"NaN",
        b"}",
        b'"open',
    ],
)
def test_deep_nesting_hides_no_fault(inside: bytes) -> None:
    with pytest.raises(LineJsonError):
        parse_line(b"[" * 3000 + inside + b"]" * 3000)
    with pytest.raises(LineJsonError):
        parse_line(b"[" * 3000 + b"]" * 2999)
    with pytest.raises(LineJsonError):
        parse_line(b"[" * 3000 + b"]" * 3000 + b"x")


def test_the_fast_decoder_is_strict_about_types() -> None:
    assert DECODER.strict
