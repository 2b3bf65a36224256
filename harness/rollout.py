"""The only place that reads codex's rollouts: outer bounds of its calls as a diagnostic, and the work of sub-agents.

The app-server stamps a shell call's start about 0.14 s late. The rollout that codex writes meanwhile has the instant of
the request and that of the answer. They are kept beside the measured span and never replace it: the rollout's bounds
include what lies between the model and the tool, and no other harness has their like.

A sub-agent is a thread of its own with a rollout of its own; the main thread's stream shows only that it was spawned.
Its calls and tokens enter the record under the call that spawned it: no window, no bucket and no cap reads them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from harness.clock import EPOCH, Basis, Stamp
from harness.intervals import Span
from harness.kinds import ToolStatus
from harness.record import Message, ToolCall, TurnRecord
from harness.reducers.fields import filled, part, text, whole
from harness.tokens import TokenBuckets

ASKED = frozenset({"function_call", "local_shell_call", "custom_tool_call"})
ANSWERED = frozenset({"function_call_output", "local_shell_call_output", "custom_tool_call_output"})
MOST_FILES = 256
LARGEST_FILE = 64 * 1024 * 1024
Line = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """One thread's rollout.

    Attributes:
        thread: Its id.
        parent: Id of the thread that spawned it; None for a thread of a user.
        lines: What it did since the turn began.
    """

    thread: str
    parent: str | None
    lines: tuple[Line, ...]


def recovered(record: TurnRecord, folder: Path) -> TurnRecord:
    """Return the record with what the rollouts below a folder know of it; no bucket and no counter changes.

    Args:
        record: A turn of codex that is over, however it ended.
        folder: Where codex keeps its rollouts; one that is not there adds nothing.
    """
    threads = {thread.thread: thread for thread in _threads(folder, record)}
    main = threads.get(record.summary.session_id or "")
    if main is None:
        return record
    bounded = with_rollout(record, rollout_bounds(main.lines))
    spawned = {child: call for thread in threads.values() for child, call in _spawns(thread.lines)}
    calls, messages = list(bounded.calls), list(bounded.messages)
    for thread in _below(main.thread, threads):
        parent = spawned.get(thread.thread, thread.thread)
        calls += _calls(thread, parent=parent, known=calls)
        messages += _messages(thread, record.iteration, parent=parent, sequence=_next(messages))
    return replace(bounded, calls=tuple(calls), messages=tuple(messages))


def rollout_bounds(lines: Iterable[Line]) -> dict[str, Span]:
    """Return each answered call's bounds by call id; a line of another kind or without a zoned time says nothing."""
    asked: dict[str, Stamp] = {}
    found: dict[str, Span] = {}
    for line in lines:
        payload = part(line, "payload")
        call_id, at = text(payload, "call_id"), _instant(line)
        if filled(line, "type") != "response_item" or call_id is None or at is None:
            continue
        if filled(payload, "type") in ASKED:
            asked.setdefault(call_id, at)
        elif filled(payload, "type") in ANSWERED and call_id in asked:
            found[call_id] = Span(start=asked[call_id], end=at)
    return found


def with_rollout(record: TurnRecord, bounds: Mapping[str, Span]) -> TurnRecord:
    """Return the record with the rollout's bounds beside the calls that it knows; no bucket changes."""
    return replace(record, calls=tuple(replace(call, rollout=bounds.get(call.call_id)) for call in record.calls))


def _threads(folder: Path, record: TurnRecord) -> Iterator[Thread]:
    began = None if record.started is None else record.anchor.bridge(record.started, to=Basis.CLI_EPOCH)
    for path in sorted(folder.glob("**/rollout-*.jsonl"))[-MOST_FILES:]:
        lines = _read(path)
        meta = part(lines[0], "payload") if lines and filled(lines[0], "type") == "session_meta" else {}
        name = text(meta, "id")
        if name is not None:
            # An earlier turn of the dialogue wrote to the same file.
            since = tuple(line for line in lines[1:] if began is None or _is_since(line, began))
            yield Thread(thread=name, parent=text(meta, "parent_thread_id"), lines=since)


def _read(path: Path) -> tuple[Line, ...]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            return ()
        rows = path.read_bytes().splitlines()
    except OSError:
        return ()
    return tuple(line for row in rows if (line := _object(row)) is not None)


def _object(row: bytes) -> Line | None:
    try:
        found = json.loads(row)
    except (ValueError, RecursionError):
        # The program may have been killed while it wrote its last line.
        return None
    return found if isinstance(found, dict) else None


def _is_since(line: Line, began: Stamp) -> bool:
    at = _instant(line)
    # The file has whole milliseconds.
    return at is not None and at.us + 1000 > began.us


def _below(root: str, threads: Mapping[str, Thread]) -> Iterator[Thread]:
    """Yield the threads that a thread spawned, and theirs; a thread stands once."""
    seen, level = {root}, [root]
    while level:
        found = [thread for name, thread in threads.items() if thread.parent in level and name not in seen]
        yield from found
        level = [thread.thread for thread in found]
        seen.update(level)


def _spawns(lines: Iterable[Line]) -> Iterator[tuple[str, str]]:
    """Yield each spawned thread and the call that spawned it."""
    for item in _items(lines):
        call_id, receivers = text(item, "id"), item.get("receiver_thread_ids")
        if filled(item, "tool") == "spawn_agent" and call_id is not None and isinstance(receivers, list):
            yield from ((name, call_id) for name in receivers if isinstance(name, str))


def _items(lines: Iterable[Line]) -> Iterator[Line]:
    for line in lines:
        payload = part(line, "payload")
        if filled(payload, "type") == "item_completed":
            yield part(payload, "item")


def _calls(thread: Thread, *, parent: str, known: Iterable[ToolCall]) -> list[ToolCall]:
    taken = {call.call_id for call in known}
    place = 1 + max((call.sequence for call in known), default=-1)
    bounds = rollout_bounds(thread.lines)
    failed = {text(item, "id") for item in _items(thread.lines) if whole(item, "exit_code")}
    found: dict[str, ToolCall] = {}
    for line in thread.lines:
        payload, at = part(line, "payload"), _instant(line)
        call_id = text(payload, "call_id")
        if filled(payload, "type") not in ASKED or call_id is None or call_id in found:
            continue
        span = bounds.get(call_id)
        status = ToolStatus.ERROR if call_id in failed else ToolStatus.OK
        found[call_id] = ToolCall(
            # Threads number their calls by themselves.
            call_id=f"{call_id}@{thread.thread}" if call_id in taken else call_id,
            name=filled(payload, "name") or filled(payload, "type"),
            sequence=place + len(found),
            status=ToolStatus.UNRESOLVED if span is None else status,
            started=at,
            completed=None if span is None else span.end,
            duration_us=None if span is None else max(0, span.end - span.start),
            parent=parent,
            rollout=span,
        )
    return list(found.values())


def _messages(thread: Thread, iteration: int, *, parent: str, sequence: int) -> list[Message]:
    used = [line for line in thread.lines if filled(line, "type") == "token_usage_record"]
    return [
        Message(
            sequence=sequence + place,
            message_id=f"codex-{iteration}-subagent-{sequence + place}",
            parent=parent,
            tokens=_buckets(part(part(line, "payload"), "usage")),
        )
        for place, line in enumerate(used)
    ]


def _next(messages: Iterable[Message]) -> int:
    return 1 + max((message.sequence for message in messages), default=-1)


def _buckets(usage: Line) -> TokenBuckets | None:
    """Read a rollout's usage: the input includes what came from a cache, the output includes reasoning."""
    given = whole(usage, "input_tokens")
    if given is None:
        return None
    cached = whole(usage, "cached_input_tokens") or 0
    return TokenBuckets(
        uncached_input=max(0, given - cached),
        cache_write=0,
        cache_read=cached,
        output=whole(usage, "output_tokens"),
        reasoning=whole(usage, "reasoning_output_tokens"),
    )


def _instant(line: Line) -> Stamp | None:
    try:
        moment = datetime.fromisoformat(filled(line, "timestamp"))
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    since = moment - EPOCH
    return Stamp(us=(since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds, basis=Basis.CLI_EPOCH)
