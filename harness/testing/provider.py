"""The only place for the scripted provider: a model that says what a script says, on loopback, and a log as witness.

It answers the four protocols at once. Which answer comes is read off the conversation in the request, not counted, so
a program that repeats a request hears the same answer, and several conversations share a provider without mixing.
Everything is bounded: the bind address, a body's size, the number of requests, and how long a hang lasts.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from typing import Protocol

from harness.launch import WireApi
from harness.testing.dialects.anthropic import Messages
from harness.testing.dialects.chat import Chat
from harness.testing.dialects.dialect import Answer, Asked, Dialect, ToolCall, shell_call
from harness.testing.dialects.gemini import Gemini
from harness.testing.dialects.responses import Responses
from harness.testing.script import Fault, FaultKind, Script, Step
from harness.tokens import TokenBuckets

LOOPBACK = "127.0.0.1"
LARGEST_BODY = 64 * 1024 * 1024
MOST_REQUESTS = 2000
LONGEST_HANG_S = 120.0
DIALECTS: tuple[tuple[str, Dialect], ...] = (
    ("/messages", Messages()),
    ("/responses", Responses()),
    ("/chat/completions", Chat()),
    (":streamGenerateContent", Gemini()),
    (":generateContent", Gemini()),
)
OPEN, SERVED, LEFT = "open", "served", "left"


class Note(Protocol):
    """Writes what became of a request into the log."""

    def __call__(self, outcome: str, billed: TokenBuckets | None = None, /) -> None:
        """Write an outcome; the last one stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One model request and what became of it.

    Attributes:
        index: Order of arrival, from 0.
        at_ns: Arrival on the monotonic clock.
        api: Protocol.
        model: Model name on the wire.
        output_limit: Output limit on the wire; None means that the request states none.
        side: Whether it offers no tools, as a title or a summary does.
        position: Answers that its conversation already held.
        outcome: "open" until it is known, "served", "left" when the client went away, or the fault's name.
        billed: What the answer's usage said; None when no usage was sent.
        body_bytes: Size of the request.
    """

    index: int
    at_ns: int
    api: WireApi
    model: str
    output_limit: int | None
    side: bool
    position: int
    outcome: str
    billed: TokenBuckets | None
    body_bytes: int


class ScriptedProvider:
    """A running provider.

    Attributes:
        base_url: Root of its endpoint, without a protocol's own path.
        strange: Paths of requests that are no model request, in order.
    """

    def __init__(self, scripts: Mapping[str, Script]) -> None:
        self._scripts = dict(scripts)
        self._lock = threading.Lock()
        self._log: dict[int, Exchange] = {}
        self._seen = 0
        self._faults: dict[tuple[str, int], int] = {}
        self.stopping = threading.Event()
        self.strange: list[str] = []
        self.bodies: dict[int, Mapping[str, object]] = {}
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self.base_url = f"http://{LOOPBACK}:{self._server.server_address[1]}"

    @property
    def requests(self) -> tuple[Exchange, ...]:
        """Return the log in order of arrival."""
        with self._lock:
            return tuple(self._log[index] for index in sorted(self._log))

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """End every hang, then the server."""
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def admit(self) -> int | None:
        """Return the number of a new request; None when there were too many."""
        with self._lock:
            self._seen += 1
            return self._seen - 1 if self._seen <= MOST_REQUESTS else None

    def note(self, exchange: Exchange) -> None:
        """Write a request into the log."""
        with self._lock:
            self._log[exchange.index] = exchange

    def choose(self, asked: Asked) -> tuple[Step, Fault | None]:
        """Return the answer to a request, and the fault that comes first."""
        words = max((key for key in self._scripts if key in asked.words), key=len, default="")
        script = self._scripts.get(words, Script(steps=()))
        if script.models and asked.model not in script.models:
            return script.after, Fault(kind=FaultKind.STATUS, status=404, times=None)
        step = script.step(asked.position) if asked.tools else script.side
        return step, self._due(step.fault, (words, asked.position)) if asked.tools else step.fault

    def _due(self, fault: Fault | None, place: tuple[str, int]) -> Fault | None:
        if fault is None or fault.times is None:
            return fault
        with self._lock:
            done = self._faults.get(place, 0)
            self._faults[place] = done + 1
        return fault if done < fault.times else None


@contextmanager
def serve(script: Script | Mapping[str, Script]) -> Iterator[ScriptedProvider]:
    """Run a scripted provider on a free loopback port.

    Args:
        script: One script for every conversation, or scripts by the words that a prompt holds; the longest words that
            are found win.
    """
    provider = ScriptedProvider({"": script} if isinstance(script, Script) else script)
    provider.start()
    try:
        yield provider
    finally:
        provider.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, provider: ScriptedProvider) -> None:
        self.provider = provider
        super().__init__((LOOPBACK, 0), _Handler)

    def handle_error(self, *_client: object) -> None:
        """Say nothing: a client that leaves is an outcome in the log, not an error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = LONGEST_HANG_S
    server: _Server

    def do_GET(self) -> None:
        """Answer what is no model request."""
        self._stray()

    def do_HEAD(self) -> None:
        """Answer a question whether anybody is there."""
        self._stray()

    def do_POST(self) -> None:
        """Answer a model request."""
        size = int(self.headers.get("content-length") or 0)
        path = self.path.partition("?")[0]
        dialect = next((found for ending, found in DIALECTS if path.endswith(ending)), None)
        body = self._body(size)
        if dialect is None or body is None:
            self._stray()
            return
        provider = self.server.provider
        index = provider.admit()
        if index is None:
            self._json(503, dialect.error(503))
            return
        provider.bodies[index] = body
        at_ns = time.monotonic_ns()
        asked = dialect.read(path, body)
        step, fault = provider.choose(asked)

        def note(outcome: str, billed: TokenBuckets | None = None) -> None:
            provider.note(
                Exchange(
                    index=index,
                    at_ns=at_ns,
                    api=dialect.api,
                    model=asked.model,
                    output_limit=asked.output_limit,
                    side=not asked.tools,
                    position=asked.position,
                    outcome=outcome,
                    billed=billed,
                    body_bytes=size,
                )
            )

        note(OPEN)
        try:
            self._respond(dialect, _answer(asked, step, index=index), fault, streaming=asked.streaming, note=note)
        except OSError:
            self.close_connection = True
            note(LEFT)

    def _body(self, size: int) -> Mapping[str, object] | None:
        if not 0 < size <= LARGEST_BODY:
            return None
        try:
            found = json.loads(self.rfile.read(size))
        except ValueError:
            return None
        return found if isinstance(found, dict) else None

    def _respond(self, dialect: Dialect, answer: Answer, fault: Fault | None, *, streaming: bool, note: Note) -> None:
        if fault is not None and fault.kind is not FaultKind.CUT:
            self._fail(dialect, fault, note=note)
            return
        self._wait(answer.step.first_token_ms / 1000)
        billed = dialect.billed(answer.step.usage)
        if streaming:
            self._stream(dialect, answer, cut=fault is not None, note=note)
        else:
            note(SERVED, billed)
            self._json(200, dialect.whole(answer))

    def _fail(self, dialect: Dialect, fault: Fault, *, note: Note) -> None:
        if fault.kind is FaultKind.STATUS:
            retry = () if fault.retry_after_s is None else (("retry-after", str(fault.retry_after_s)),)
            note(f"status {fault.status}")
            self._json(fault.status, dialect.error(fault.status), headers=retry)
            return
        self.close_connection = True
        note(fault.kind.value)
        if fault.kind is FaultKind.HANG:
            self._wait(LONGEST_HANG_S)

    def _stream(self, dialect: Dialect, answer: Answer, *, cut: bool, note: Note) -> None:
        """Write an answer in pieces; the log knows of its end before the client can."""
        pieces = list(dialect.pieces(answer))
        kept = pieces[: max(1, len(pieces) // 2)] if cut else pieces
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        pause = answer.step.stream_ms / 1000 / max(1, len(pieces) - 1)
        for index, piece in enumerate(kept):
            self._wait(pause if index else 0)
            if index == len(kept) - 1:
                note(FaultKind.CUT.value if cut else SERVED, None if cut else dialect.billed(answer.step.usage))
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
        self.close_connection = self.close_connection or cut
        if not cut:
            self.wfile.write(b"0\r\n\r\n")

    def _stray(self) -> None:
        self.server.provider.strange.append(self.path.partition("?")[0])
        if self.path.partition("?")[0].endswith("/count_tokens"):
            self._json(200, {"input_tokens": 1})
        else:
            self._json(404, {"error": {"message": "no such route", "type": "not_found"}})

    def _json(self, status: int, body: Mapping[str, object], *, headers: tuple[tuple[str, str], ...] = ()) -> None:
        data = json.dumps(body).encode()
        fixed = (("content-type", "application/json"), ("content-length", str(len(data))))
        self.send_response(status)
        for name, value in chain(fixed, headers):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _wait(self, seconds: float) -> None:
        if seconds > 0:
            self.server.provider.stopping.wait(min(seconds, LONGEST_HANG_S))

    def log_message(self, *_words: object) -> None:
        """Say nothing on stderr: the log is the witness."""


def _answer(asked: Asked, step: Step, *, index: int) -> Answer:
    made = (shell_call(c, asked.tools, call_id=f"call_{index}_{n}") for n, c in enumerate(step.commands))
    other = (
        ToolCall(call_id=f"call_{index}_t{n}", name=call.name, arguments=call.arguments)
        for n, call in enumerate(step.calls)
        if call.name in asked.tools
    )
    calls = (*(call for call in made if call is not None), *other)
    return Answer(answer_id=f"scripted{index:04d}", model=asked.model, step=step, calls=calls)


def totals(exchanges: tuple[Exchange, ...], *, keep: Callable[[Exchange], bool] = lambda _: True) -> TokenBuckets:
    """Return the sum of what was billed; a bucket that a protocol never states is None."""
    billed = [row.billed for row in exchanges if row.billed is not None and keep(row)]
    return TokenBuckets(
        uncached_input=_sum([part.uncached_input for part in billed]),
        cache_write=_sum([part.cache_write for part in billed]),
        cache_read=_sum([part.cache_read for part in billed]),
        output=_sum([part.output for part in billed]),
        reasoning=_sum([part.reasoning for part in billed]),
    )


def _sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
