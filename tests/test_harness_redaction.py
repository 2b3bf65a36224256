"""Credentials are taken out of whatever is recorded."""

import binascii

import pytest

from harness.redaction import REDACTED, redacted

KEY = "".join(["se", "cret", "-", "0123456789"])
ODD = 'sk-se/cr+et="x y"ü'


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


# Written by other encoders than the module's own: binascii, a percent escape of every letter, the escapes of JSON.
@pytest.mark.parametrize("before", ["", "u", "us", "use", "user:"])
@pytest.mark.parametrize("after", ["", "@", ":x"])
def test_a_secret_in_base_64_is_taken_out_whatever_stands_around_it(before: str, after: str) -> None:
    given = binascii.b2a_base64(f"{before}{ODD}{after}".encode(), newline=False).decode()
    for text in (given, given.replace("+", "-").replace("/", "_")):
        found = str(redacted(f"Basic {text}", [ODD]))
        assert REDACTED in found
        left = found.removeprefix("Basic ").replace(REDACTED, "")
        # What is left are the letters of the neighbours, at most one letter's bits of the secret at each end.
        assert len(left.rstrip("=")) <= 4 * (len(before + after) // 3 + 2)


@pytest.mark.parametrize(
    "form",
    [
        'sk-se/cr+et=\\"x y\\"ü',
        'sk-se\\/cr+et=\\"x y\\"\\u00fc',
        "sk-se%2Fcr%2Bet%3D%22x%20y%22%C3%BC",
        "sk-se%2fcr%2bet%3d%22x%20y%22%c3%bc",
        "sk-se%2Fcr%2Bet%3D%22x+y%22%C3%BC",
    ],
)
def test_a_secret_is_taken_out_where_it_is_escaped(form: str) -> None:
    assert redacted({form: [f"a {form} b"]}, [ODD]) == {REDACTED: [f"a {REDACTED} b"]}
    assert redacted(binascii.hexlify(ODD.encode()).decode(), [ODD]) == REDACTED
