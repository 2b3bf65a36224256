"""The only place for what every reducer keeps book of: tool calls, the order of messages, the kinds of lines seen."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from harness.clock import Stamp
from harness.events import ToolEnd, ToolStart
from harness.kinds import Quality, ToolStatus
from harness.record import ToolCall
from harness.reducers.provider import ProviderFailure

MAX_UNKNOWN = 8
MAX_KIND_LENGTH = 64


@dataclass(slots=True)
class Ledger:
    """One stream's book.

    Attributes:
        calls: Tool calls by id.
        closed: Ids that an end was seen for.
        unknown: Kinds of lines that nobody expected.
        recognised: Lines whose kind is known.
        retries: Retries of the provider.
        quality: What a reader of the times must know.
        provider: The provider's failure that stands.
    """

    calls: dict[str, ToolCall] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    recognised: int = 0
    retries: int = 0
    quality: set[Quality] = field(default_factory=set)
    provider: ProviderFailure = field(default_factory=ProviderFailure)
    _messages: int = 0

    def next_message(self) -> int:
        """Return the place of the next message in the stream's order."""
        self._messages += 1
        return self._messages - 1

    def strange(self, kind: str) -> None:
        """Note a kind that is not in the vocabulary; its name is cut, since a stream may print anything."""
        self.unknown.add(kind[:MAX_KIND_LENGTH] or "(none)")

    def first_unknown(self) -> tuple[str, ...]:
        """Return up to 8 unknown kinds, sorted."""
        return tuple(sorted(self.unknown))[:MAX_UNKNOWN]

    def resolved(self) -> int:
        """Return how many calls of the main thread were ended by the stream."""
        return sum(self.calls[call_id].parent is None for call_id in self.closed)

    def open_call(
        self,
        call_id: str,
        name: str,
        *,
        started: Stamp | None = None,
        requested: Stamp | None = None,
        parent: str | None = None,
        skills: tuple[str, ...] = (),
    ) -> Iterable[ToolStart]:
        """Enter a call at first sight; a second sight may add what the first lacked and makes no event."""
        known = self.calls.get(call_id)
        if known is not None:
            self.calls[call_id] = replace(
                known,
                name=known.name or name,
                started=known.started if known.started is not None else started,
                skills=tuple(dict.fromkeys((*known.skills, *skills))),
            )
            return ()
        call = ToolCall(
            call_id=call_id,
            name=name,
            sequence=len(self.calls),
            status=ToolStatus.UNRESOLVED,
            started=started,
            requested=requested,
            parent=parent,
            skills=skills,
        )
        self.calls[call_id] = call
        return (ToolStart(call=call),)

    def end_call(
        self,
        call_id: str,
        status: ToolStatus,
        *,
        started: Stamp | None,
        completed: Stamp | None,
        duration_us: int | None = None,
    ) -> Iterable[ToolEnd]:
        """Enter a call's end; of two ends the later one wins. An unknown id makes no event."""
        known = self.calls.get(call_id)
        if known is None:
            return ()
        measured = None if started is None or completed is None else max(0, completed - started)
        call = replace(
            known,
            status=status,
            started=started,
            completed=completed,
            duration_us=measured if measured is not None else duration_us,
        )
        self.calls[call_id] = call
        self.closed.add(call_id)
        return (ToolEnd(call=call),)

    def sweep(self) -> Iterable[ToolEnd]:
        """Return an end for every call that nothing ended: unresolved, and never with a completion."""
        return tuple(ToolEnd(call=call) for call in self.calls.values() if call.call_id not in self.closed)
