"""What each reducer says of the provider's failure: kinds and numbers of real streams against the scripted provider."""

import pytest

from harness.clock import stamp_of_ms
from harness.failures import Cause, failure_category
from harness.kinds import EndStatus, Harness, StreamEnd
from harness.record import Summary
from harness.reducers import make_reducer
from harness.reducers.provider import MAX_WORDS, ProviderFailure, leading_status
from harness.scripts import SCRIPT_ANCHOR

Line = dict[str, object]


def summed(harness: Harness, *lines: Line) -> Summary:
    reducer = make_reducer(harness, entry=stamp_of_ms(0), turn=1, anchor=SCRIPT_ANCHOR)
    for place, line in enumerate(lines):
        reducer.feed(stamp_of_ms(100 * place), line)
    return reducer.summary()


def claude(status: int | None, kind: str) -> tuple[Line, ...]:
    retry: Line = {"type": "system", "subtype": "api_retry", "attempt": 1, "error_status": status, "error": kind}
    said: Line = {
        "type": "assistant",
        "message": {"id": "m", "content": []},
        "is_api_error_message": True,
        "error": kind,
        "api_error_status": status,
    }
    end: Line = {"type": "result", "subtype": "success", "is_error": True, "api_error_status": status}
    return retry, said, end


def codex(status: int | None, kind: str) -> tuple[Line, ...]:
    error: Line = {"message": "m", "codexErrorInfo": {kind: {"httpStatusCode": status}} if status else kind}
    retry: Line = {"method": "error", "params": {"error": error, "willRetry": True, "threadId": "t"}}
    turn = {"status": "failed", "error": error}
    return retry, {"method": "turn/completed", "params": {"threadId": "t", "turn": turn}}


def opencode(status: int | None, kind: str) -> tuple[Line, ...]:
    return ({"type": "error", "error": {"name": kind, "data": {"message": "m", "statusCode": status}}},)


def pi(status: int | None, kind: str) -> tuple[Line, ...]:
    message = {"stopReason": "error", "errorMessage": kind if status is None else f"{status}: {kind}"}
    return {"type": "turn_start"}, {"type": "turn_end", "message": message}


def antigravity(status: int | None, kind: str) -> tuple[Line, ...]:
    step = {"source": "SYSTEM", "status": "ERROR", "error": kind, "http_code": status}
    return {"type": "TEXT_RESPONSE", **step}, {"type": "FINISH", **step, "http_code": None, "error": "ExecutionError"}


MADE = {
    Harness.CLAUDE_CODE: claude,
    Harness.CODEX: codex,
    Harness.OPENCODE: opencode,
    Harness.PI: pi,
    Harness.ANTIGRAVITY: antigravity,
}
ANSWERS: dict[Harness, Line] = {
    Harness.CLAUDE_CODE: {"type": "stream_event", "event": {"type": "message_start", "message": {"id": "n"}}},
    Harness.CODEX: {"method": "item/agentMessage/delta", "params": {"threadId": "t", "delta": "x"}},
    Harness.OPENCODE: {"type": "step_finish", "part": {"reason": "stop"}},
    Harness.PI: {"type": "turn_end", "message": {"stopReason": "stop"}},
    Harness.ANTIGRAVITY: {"type": "TEXT_RESPONSE", "source": "MODEL", "status": "ACTIVE"},
}


@pytest.mark.parametrize("status", [401, 404, 429, 500])
@pytest.mark.parametrize("harness", Harness)
def test_the_providers_status_is_read_where_the_stream_tells_it(harness: Harness, status: int) -> None:
    kind = "APIError" if harness is Harness.OPENCODE else "rate_limit"
    found = summed(harness, *MADE[harness](status, kind))
    assert found.end is StreamEnd.FAILED
    assert found.provider_status == status


@pytest.mark.parametrize("harness", Harness)
def test_an_answer_after_the_failure_takes_it_back(harness: Harness) -> None:
    kind = "APIError" if harness is Harness.OPENCODE else "rate_limit"
    found = summed(harness, *MADE[harness](429, kind), ANSWERS[harness])
    assert (found.provider_status, found.provider_words) == (None, None)


@pytest.mark.parametrize(
    ("harness", "kind", "category"),
    [
        (Harness.CLAUDE_CODE, "authentication_failed", "agent_auth_error"),
        (Harness.CLAUDE_CODE, "billing_error", "agent_billing_error"),
        (Harness.CODEX, "serverOverloaded", "agent_api_error"),
        (Harness.CODEX, "unauthorized", "agent_auth_error"),
        (Harness.PI, "Connection error.", "agent_api_error"),
        (Harness.ANTIGRAVITY, "Too many requests", "agent_rate_limit"),
    ],
)
def test_without_a_status_the_kind_is_enough_to_sort_a_failure(harness: Harness, kind: str, category: str) -> None:
    found = summed(harness, *MADE[harness](None, kind))
    assert found.provider_status is None
    assert failure_category(Cause(status=EndStatus.CRASHED, provider_words=found.provider_words)) == category


def test_a_failure_that_is_the_programs_own_says_nothing_of_the_provider() -> None:
    assert summed(Harness.OPENCODE, *opencode(None, "UnknownError")).provider_words is None
    assert summed(Harness.CODEX, *codex(None, "sandboxError")).provider_words is None


@pytest.mark.parametrize("status", [0, 2, 200, 600, None])
def test_a_number_that_is_no_failing_status_is_no_status(status: int | None) -> None:
    assert summed(Harness.ANTIGRAVITY, *antigravity(status, "kind")).provider_status is None


def test_words_are_cut_and_are_not_shown_with_the_summary() -> None:
    failure = ProviderFailure()
    failure.failed(503, message="x" * 1000)
    assert failure.words is not None
    assert len(failure.words) == MAX_WORDS
    assert "secretive" not in repr(Summary(provider_words="secretive"))


def test_a_status_is_read_only_at_the_start_of_a_message() -> None:
    assert leading_status("429: slow down") == 429
    assert leading_status("port 4290") is None
    assert leading_status("4290 items") is None
