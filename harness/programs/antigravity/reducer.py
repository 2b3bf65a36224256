"""The only place that reads antigravity's steps: windows tile from one rise of the conversation's usage to the next.

The same step comes many times, and a step carries neither a stamp nor a message id, so arrivals are used and ids are
made. The line is the step as a JSON object, with the conversation's cumulative usage under `_cumulative`; an older SDK
puts a generation's own usage on the step as `usage_metadata`. A window never opens at a tool's end: tools run inside.
"""

from harness.clock import Anchor, Stamp
from harness.events import DeltaKind, Event, TextChunk, TurnEnd, TurnStart
from harness.kinds import Quality, StreamEnd, ToolStatus
from harness.record import Message, Summary
from harness.reducers.fields import Line, filled, part, parts, text, whole
from harness.reducers.ledger import Ledger
from harness.reducers.protocol import Reducer
from harness.reducers.skills import used_skills
from harness.tokens import TokenBuckets, add_buckets
from harness.windows import close_window

TYPES = frozenset(
    {"THINKING", "TEXT_RESPONSE", "TOOL_CALL", "SYSTEM_MESSAGE", "COMPACTION", "FINISH", "USER_MESSAGE", "UNKNOWN"}
)
TERMINAL = frozenset({"DONE", "ERROR", "CANCELED"})
# What the program moves to the background after 10 s, and what the model's last word looks like.
BACKGROUNDED = "run_command"
WORDS = frozenset({"TEXT_RESPONSE", "FINISH"})
# What a finished step adds to its arguments.
RESULTS = frozenset({"combined_output", "exit_code", "output", "result"})
COUNTS = ("prompt", "cached", "candidates", "thoughts")


class Antigravity:
    """Reduces one turn of an antigravity conversation."""

    def __init__(self, *, entry: Stamp, turn: int, anchor: Anchor) -> None:  # noqa: ARG002  # every reducer is made alike
        self._ledger = Ledger(quality={Quality.HEAD_NOT_SEPARATED})
        self._turn = turn
        self._mark = entry
        self._seeded = False
        self._last_output: Stamp | None = None
        self._speaking = False
        self._tools: list[str] = []
        self._counts: dict[str, int] | None = None
        self._usage: list[TokenBuckets | None] = []
        self._generations = 0
        self._session: str | None = None
        self._end = StreamEnd.OPEN
        self._places: dict[str, int] = {}
        self._newest = -1
        self._idle = False

    def feed(self, at: Stamp, line: Line) -> tuple[Event, ...]:
        """Take one step."""
        kind = filled(line, "type")
        if kind not in TYPES:
            self._ledger.strange(kind)
            return ()
        self._ledger.recognised += 1
        self._session = text(line, "_conversation") or self._session
        nested = bool(whole(line, "depth")) or bool(text(line, "parent_trajectory_id"))
        events: list[Event] = []
        if filled(line, "source") == "MODEL" and not nested:
            events += self._on_output(at, line)
        events += self._on_tools(at, line, nested=nested)
        if not nested:
            self._on_place(line)
            events += self._on_usage(at, line)
            self._judge(line)
        return tuple(events)

    def close(self, at: Stamp) -> tuple[Event, ...]:  # noqa: ARG002  # output after the last rise closes where it was seen
        """Flush output that no rise of usage closed, and sweep the calls that nothing ended."""
        flushed = self._flush(self._last_output, None) if self._last_output is not None else []
        return (*flushed, *self._ledger.sweep())

    def summary(self) -> Summary:
        """Return what is known so far."""
        return Summary(
            end=self._end,
            model_calls=self._generations,
            tool_calls=self._ledger.resolved(),
            usage=add_buckets(usage for usage in self._usage if usage is not None),
            session_id=self._session,
            recognised=self._ledger.recognised,
            unknown=self._ledger.first_unknown(),
            quality=frozenset(self._ledger.quality),
            provider_status=self._ledger.provider.status,
            provider_words=self._ledger.provider.words,
            background=self._background(),
        )

    def _background(self) -> tuple[str, ...]:
        """Return the commands that the model has gone past and that nothing ended; none while it is at work."""
        if not self._idle:
            return ()
        open_calls = (call for call in self._ledger.calls.values() if call.call_id not in self._ledger.closed)
        return tuple(
            call.call_id
            for call in open_calls
            if call.name == BACKGROUNDED and self._places.get(call.call_id, self._newest) < self._newest
        )

    def _on_place(self, line: Line) -> None:
        """Note whether the newest step is a word of the model that is spoken; an older step says nothing about it."""
        index = whole(line, "step_index")
        if index is None or index < self._newest:
            return
        self._newest = index
        spoken = filled(line, "source") == "MODEL" and filled(line, "status") == "DONE"
        self._idle = spoken and filled(line, "type") in WORDS

    def _on_output(self, at: Stamp, line: Line) -> list[Event]:
        if not self._seeded:
            self._mark = at
            self._seeded = True
            self._ledger.quality.discard(Quality.HEAD_NOT_SEPARATED)
        events: list[Event] = []
        if not self._speaking:
            self._speaking = True
            events.append(TurnStart(at=at))
        self._last_output = at
        for key, kind in (("content_delta", DeltaKind.TEXT), ("thinking_delta", DeltaKind.THINKING)):
            piece = filled(line, key)
            if piece:
                events.append(TextChunk(at=at, kind=kind, text=piece))
        return events

    def _on_tools(self, at: Stamp, line: Line, *, nested: bool) -> list[Event]:
        events: list[Event] = []
        status = filled(line, "status")
        owner = (text(line, "trajectory_id") or "sub") if nested else None
        for place, call in enumerate(parts(line, "tool_calls")):
            name = filled(call, "name")
            call_id = text(call, "id") or (
                f"{name}@{filled(line, 'trajectory_id')}:{whole(line, 'step_index')}:{place}"
            )
            # Once the step is done, its arguments hold what the tool printed, too.
            asked = {key: value for key, value in part(call, "args").items() if key not in RESULTS}
            events += self._ledger.open_call(call_id, name, started=at, parent=owner, skills=used_skills(name, asked))
            known = self._ledger.calls[call_id]
            if owner is None:
                self._places.setdefault(call_id, whole(line, "step_index") or 0)
            if status not in TERMINAL or call_id in self._ledger.closed:
                continue
            failed = status != "DONE" or bool(whole(part(call, "args"), "exit_code"))
            end = ToolStatus.ERROR if failed else ToolStatus.OK
            events += self._ledger.end_call(call_id, end, started=known.started, completed=at)
            if not nested:
                self._tools.append(call_id)
        return events

    def _on_usage(self, at: Stamp, line: Line) -> list[Event]:
        own = part(line, "usage_metadata")
        if own:
            return self._flush(at, _per_step(own))
        running = part(line, "_cumulative")
        if not running:
            return []
        counts = {key: whole(running, key) or 0 for key in COUNTS}
        before, self._counts = self._before(counts), counts
        rise = {key: counts[key] - before[key] for key in COUNTS}
        return self._flush(at, _buckets(rise)) if any(value > 0 for value in rise.values()) else []

    def _before(self, counts: dict[str, int]) -> dict[str, int]:
        """Return the counts to compare with; a later turn of a conversation starts from what stood there before it."""
        if self._counts is not None:
            return self._counts
        return dict.fromkeys(COUNTS, 0) if self._turn == 1 else counts

    def _flush(self, at: Stamp, tokens: TokenBuckets | None) -> list[Event]:
        self._usage.append(tokens)
        self._generations += 1
        if self._last_output is None:
            # A rise without output is billed and moves no mark: there is no message whose window it would close.
            return []
        window = close_window(mark=self._mark, now=at)
        place = self._ledger.next_message()
        message = Message(
            sequence=place,
            message_id=f"antigravity-{self._turn}-msg-{place}",
            window=window,
            raw_us=window.raw_us(),
            tool_ids=tuple(self._tools),
            tokens=tokens,
        )
        self._mark = at
        self._tools, self._last_output, self._speaking = [], None, False
        return [TurnEnd(messages=(message,))]

    def _judge(self, line: Line) -> None:
        self._note_failure(line)
        if filled(line, "status") == "ERROR" and filled(line, "type") != "TOOL_CALL":
            self._end = StreamEnd.FAILED
        elif filled(line, "type") in {"FINISH", "TEXT_RESPONSE"} and filled(line, "status") == "DONE":
            self._end = StreamEnd.CLEAN

    def _note_failure(self, line: Line) -> None:
        failed = filled(line, "status") == "ERROR" and filled(line, "type") not in {"TOOL_CALL", "FINISH"}
        if failed:
            self._ledger.provider.failed(whole(line, "http_code"), message=text(line, "error"))
        elif filled(line, "source") == "MODEL":
            self._ledger.provider.answered()


REDUCER: type[Reducer] = Antigravity


def _buckets(rise: dict[str, int]) -> TokenBuckets:
    """Read a rise: the prompt includes what came from a cache, the candidates exclude thoughts."""
    return TokenBuckets(
        uncached_input=rise["prompt"] - rise["cached"],
        cache_write=0,
        cache_read=rise["cached"],
        output=rise["candidates"] + rise["thoughts"],
        reasoning=rise["thoughts"],
    )


def _per_step(usage: Line) -> TokenBuckets:
    prompt, cached = whole(usage, "prompt_token_count"), whole(usage, "cached_content_token_count") or 0
    candidates, thoughts = whole(usage, "candidates_token_count"), whole(usage, "thoughts_token_count") or 0
    return TokenBuckets(
        uncached_input=None if prompt is None else max(0, prompt - cached),
        cache_write=0,
        cache_read=cached,
        output=None if candidates is None else candidates + thoughts,
        reasoning=thoughts,
    )
