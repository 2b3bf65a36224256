"""What a turn-metric line may hold: identifiers, error classes, provenance."""

import pytest

from harness.turn_rules import ERROR_CLASSES, classify_error, is_identifier, read_provenance, utf16_units


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("bash", True),
        (" padded ", True),
        ("x" * 512, True),
        ("x" * 513, False),
        ("\U0001f600" * 256, True),
        ("\U0001f600" * 256 + "x", False),
        ("", False),
        (" \t", False),
        ("\u00a0\ufeff\u2028", False),
        ("\u200b", True),
        ("\u0085", True),
        ("a\nb", False),
        ("a\x7f", False),
        ("a\x1f", False),
        ("a\x80", True),
        ("\ud800", True),
    ],
)
def test_an_identifier_is_short_not_blank_and_without_control_characters(text: str, valid: bool) -> None:
    assert is_identifier(text) is valid


def test_lengths_are_counted_as_javascript_counts_them() -> None:
    assert utf16_units("aé") == 2
    assert utf16_units("\U0001f600") == 2
    assert utf16_units("\ud800") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Command timed out after 30s", "timeout"),
        ("TIME OUT", "timeout"),
        ("read timeout", "timeout"),
        ("connect ETIMEDOUT", "timeout"),
        ("timed-out", "timeout"),
        ("Operation aborted", "aborted"),
        ("was cancelled by the user", "aborted"),
        ("EACCES: open", "permission"),
        ("eperm", "permission"),
        ("Permission denied", "permission"),
        ("command not found", "not_found"),
        ("ENOENT: no such file", "not_found"),
        ("Invalid argument", "invalid_input"),
        ("schema validation failed", "invalid_input"),
        ("exit status 1", "unknown"),
        ("", "unknown"),
        # The order decides where several fit.
        ("aborted: timed out, permission denied, not found, invalid", "timeout"),
        ("invalid: not found, permission denied, aborted", "aborted"),
        ("invalid: not found, permission denied", "permission"),
        ("invalid: not found", "not_found"),
    ],
)
def test_a_raw_error_gets_the_first_class_that_fits(text: str, expected: str) -> None:
    assert classify_error(text) == expected
    assert expected in ERROR_CLASSES


def test_only_the_first_200_utf16_units_of_an_error_are_looked_at() -> None:
    assert classify_error("x" * 193 + "timeout") == "timeout"
    assert classify_error("x" * 194 + "timeout") == "unknown"
    assert classify_error("\U0001f600" * 96 + " timeout") == "timeout"
    assert classify_error("\U0001f600" * 97 + "timeout") == "unknown"


VALID = {
    "schemaVersion": "omk-runtime-provenance-1",
    "requestedModel": "lab/one",
    "selectedModel": "lab/one",
    "responseModel": "lab/two",
    "requestedThinking": "auto",
    "effectiveThinking": "high",
    "source": "session",
    "observedAt": "2026-08-13T05:00:00.000Z",
}


def test_a_provenance_as_a_recorder_writes_it_is_trusted() -> None:
    found = read_provenance(VALID)
    assert found is not None
    assert found["selectedModel"] == "lab/one"
    assert found["responseModel"] == "lab/two"
    assert read_provenance({"selectedModel": "a", "responseModel": None}) is not None


@pytest.mark.parametrize(
    "found",
    [
        None,
        "text",
        [],
        {**VALID, "extra": 1},
        {**VALID, "schemaVersion": "omk-runtime-provenance-2"},
        {**VALID, "source": "trust-me"},
        {**VALID, "observedAt": "yesterday"},
        {**VALID, "observedAt": 5},
        {**VALID, "responseModel": 5},
        {**VALID, "responseModel": ""},
        {**VALID, "responseModel": "two words"},
        {**VALID, "responseModel": "x" * 129},
        {**VALID, "responseModel": "sk-" + "ant-abc123def456ghi789"},
        {**VALID, "responseModel": "AKI" + "AQX7LWBTPZN4MV2RC"},
        {**VALID, "selectedModel": "gh" + "p_abcdefghijklmnopqrst"},
    ],
)
def test_a_provenance_that_is_wrong_anywhere_is_not_trusted_at_all(found: object) -> None:
    assert read_provenance(found) is None
