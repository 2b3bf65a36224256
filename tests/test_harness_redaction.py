"""Credentials are taken out of whatever is recorded."""

from harness.redaction import REDACTED, redacted

KEY = "".join(["se", "cret", "-", "0123456789"])


def test_a_secret_is_taken_out_of_texts_keys_and_nested_values() -> None:
    given = {f"a {KEY}": [KEY, {"b": f"x{KEY}y"}], "n": 3, "none": None, "true": True}
    assert redacted(given, [KEY]) == {
        f"a {REDACTED}": [REDACTED, {"b": f"x{REDACTED}y"}],
        "n": 3,
        "none": None,
        "true": True,
    }


def test_no_piece_stays_of_a_secret_that_holds_another() -> None:
    assert redacted(f"{KEY}-longer", [KEY, f"{KEY}-longer"]) == REDACTED


def test_a_value_too_short_for_a_credential_is_passed_over() -> None:
    assert redacted("abc", ["a", "", "bc"]) == "abc"
