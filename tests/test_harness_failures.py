"""The category of a failure: our verdict first, the provider's status next, the provider's words last."""

import pytest

from harness.failures import Cause, failure_category
from harness.kinds import EndStatus
from harness.retry import RULES, retry_rule


def crash(*, status: int | None = None, words: str | None = None) -> Cause:
    return Cause(status=EndStatus.CRASHED, provider_status=status, provider_words=words)


@pytest.mark.parametrize("status", [EndStatus.COMPLETED, EndStatus.MAX_TURNS_EXHAUSTED, EndStatus.STOPPED_EARLY])
def test_a_turn_that_is_graded_did_not_fail_whatever_the_provider_once_said(status: EndStatus) -> None:
    assert failure_category(Cause(status=status, provider_status=500, provider_words="rate limit")) is None


def test_our_own_verdict_outranks_the_provider() -> None:
    timed_out = Cause(status=EndStatus.TIMEOUT, provider_status=429)
    assert failure_category(timed_out) == "agent_timeout"
    assert failure_category(Cause(status=EndStatus.CRASHED, refused_launch=True)) == "agent_config_error"
    drifted = Cause(status=EndStatus.CRASHED, vocabulary_drift=True, provider_status=500)
    assert failure_category(drifted) == "agent_invalid_output"


@pytest.mark.parametrize(
    ("status", "category"),
    [
        (401, "agent_auth_error"),
        (403, "agent_auth_error"),
        (402, "agent_billing_error"),
        (429, "agent_rate_limit"),
        (400, "agent_config_error"),
        (404, "agent_config_error"),
        (408, "agent_api_error"),
        (500, "agent_api_error"),
        (503, "agent_api_error"),
        (529, "agent_api_error"),
        (200, "agent_crash"),
        (None, "agent_crash"),
    ],
)
def test_the_provider_s_status_decides_a_crash(status: int | None, category: str) -> None:
    assert failure_category(crash(status=status)) == category
    assert category in RULES


def test_a_status_outranks_words() -> None:
    assert failure_category(crash(status=500, words="Rate limit reached")) == "agent_api_error"


@pytest.mark.parametrize(
    ("words", "category"),
    [
        ("Unauthorized", "agent_auth_error"),
        ("Your credit balance is too low; rate limit applies", "agent_billing_error"),
        ("Rate limit reached", "agent_rate_limit"),
        ("Overloaded", "agent_api_error"),
        ("out of memory while parsing the disk image", "agent_crash"),
        ("", "agent_crash"),
    ],
)
def test_words_of_the_provider_decide_last(words: str, category: str) -> None:
    assert failure_category(crash(words=words)) == category


def test_timeouts_and_refusals_are_not_repeated_and_crashes_are() -> None:
    assert retry_rule(str(failure_category(Cause(status=EndStatus.TIMEOUT)))).delays_s == ()
    assert retry_rule(str(failure_category(crash(status=404)))).delays_s == ()
    assert retry_rule(str(failure_category(crash()))).delays_s == (5.0, 10.0)
