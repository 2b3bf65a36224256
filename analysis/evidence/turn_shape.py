"""The only place for the shape of a recorded turn: what a line of turns.jsonl holds once it is accepted.

The decoder made here is strict: what it accepts, JavaScript accepts too, up to the rules that need Python (identifiers,
counters that count something, trusted provenance). What was not recorded carries a sentinel that no line can spell:
UNSET, or a negative number where only numbers of 0 and more may stand.
"""

from typing import Annotated, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from harness.turn_rules import (
    MAX_CALLS,
    MAX_SAFE_INTEGER,
    SCHEMA_V1,
    SCHEMA_V2,
    classify_error,
)

NOT_RECORDED = -1
Count = Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]
Quantity = Annotated[float, Meta(ge=0)]
StopReason = Literal["stop", "length", "toolUse", "error", "aborted"]
ErrorClass = Literal["timeout", "aborted", "permission", "not_found", "invalid_input", "unknown"]


class Usage(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Tokens and cost of one turn.

    Attributes:
        input: Prompt tokens that no cache held.
        output: Generated tokens.
        cache_read: Prompt tokens read from a cache.
        cache_write: Prompt tokens written to a cache.
        cost_usd: US dollars.
    """

    input: Count
    output: Count
    cache_read: Count
    cache_write: Count
    cost_usd: Quantity


class ContextCache(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """How the prompt's build used its cache."""

    plan_hit: bool
    hits: Count
    misses: Count


class Provenance(msgspec.Struct, frozen=True, gc=False, rename="camel", forbid_unknown_fields=True):
    """Which model and thinking level were asked for, selected and seen in the answer; None where not recorded."""

    requested_model: str | None = None
    selected_model: str | None = None
    response_model: str | None = None
    requested_thinking: str | None = None
    effective_thinking: str | None = None
    schema_version: Literal["omk-runtime-provenance-1"] = "omk-runtime-provenance-1"
    source: Literal["session", "assistant-message", "subagent-child"] = "session"
    observed_at: str | UnsetType = UNSET

    @property
    def labels(self) -> tuple[str | None, ...]:
        """The five labels, in order."""
        return (
            self.requested_model,
            self.selected_model,
            self.response_model,
            self.requested_thinking,
            self.effective_thinking,
        )


class Call(msgspec.Struct, gc=False, rename="camel", forbid_unknown_fields=True):
    """One tool call of a version 2 line; it may carry no raw error text, so what is unknown is looked at twice."""

    name: str
    duration_ms: Quantity
    ok: bool
    error_class: ErrorClass | UnsetType = UNSET


class CallV1(msgspec.Struct, gc=False, rename="camel"):
    """One tool call of a version 1 line.

    Attributes:
        error: Raw error text; it is classified and goes no further.
    """

    name: str
    duration_ms: Quantity
    ok: bool
    error: str = ""

    @property
    def error_class(self) -> str:
        """The class of the raw error text."""
        return classify_error(self.error)


_Call = TypeVar("_Call", Call, CallV1)
NO_USAGE = Usage(NOT_RECORDED, NOT_RECORDED, NOT_RECORDED, NOT_RECORDED, NOT_RECORDED)
NO_CONTEXT_CACHE = ContextCache(plan_hit=False, hits=NOT_RECORDED, misses=NOT_RECORDED)


class _Recorded(msgspec.Struct, Generic[_Call], gc=False, rename="camel", kw_only=True):
    """What both versions hold; the fields stand in the order of the line, where the decoder finds them fastest."""

    session_id: str
    turn_index: Count
    provider: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    started_at_epoch_ms: Quantity
    ended_at_epoch_ms: Quantity
    duration_ms: Quantity
    time_to_first_chunk_ms: Quantity = NOT_RECORDED
    usage: Usage = NO_USAGE
    stop_reason: StopReason | UnsetType = UNSET
    tool_calls: Annotated[list[_Call], Meta(max_length=MAX_CALLS)] = []
    tool_call_count: Count
    tool_failure_count: Count
    compacted: bool | UnsetType = UNSET
    failovers: Count = NOT_RECORDED
    context_cache: ContextCache = NO_CONTEXT_CACHE
    runtime_provenance: Provenance | UnsetType = UNSET


class TurnV2(_Recorded[Call], gc=False, tag_field="schemaVersion", tag=SCHEMA_V2):
    """A turn of version 2."""


class TurnV1(_Recorded[CallV1], gc=False, tag_field="schemaVersion", tag=SCHEMA_V1):
    """A turn of version 1."""


class _NoTurn(TurnV2, gc=False, kw_only=True, tag="no version"):
    """What no line can be: a lone shape is decoded without its tag, one of two is not."""

    impossible: UnsetType


Turn = TurnV1 | TurnV2
# Version 1 is written no more: the reference checker reads it.
DECODER = msgspec.json.Decoder(TurnV2 | _NoTurn)
