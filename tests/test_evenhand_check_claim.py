"""The reverse audit at the command: what coheres, what does not, and what is no summary."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from analysis.claim_file import ClaimFileError, parse_claim, read_claim
from analysis.interval_tables import table_methods
from analysis.statistics.reverse import audit_claim
from evenhand.cli import run

EXAMPLE = Path(__file__).resolve().parents[1] / "docs" / "example" / "r8.toml"


def test_the_public_report_coheres_with_its_published_digits(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check-claim", str(EXAMPLE), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "evenhand-check-claim-1"
    assert document["coherent"] is True
    assert document["solved"] == [[200, 189]]
    assert round(document["standard_error_pp"], 2) == 3.09
    assert round(document["sign_test_p"], 3) == 0.243
    assert {one["name"]: (one["treatment"], one["control"]) for one in document["strata"]} == {
        "medium": ([135], [127]),
        "hard": ([58], [56]),
        "easy": ([7], [6]),
    }


def test_one_changed_count_no_longer_coheres_and_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "claim.toml"
    path.write_text(EXAMPLE.read_text().replace("solved = 200", "solved = 201"))
    assert run(["check-claim", str(path)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("NOT coherent")
    assert "broken       strata" in out
    assert "broken       difference" in out


def test_json_says_the_same_as_toml(tmp_path: Path) -> None:
    arm = {"solved": 200}
    raw = {"schema": "evenhand-claim-1", "tasks": 88, "attempts": 3, "treatment": arm, "difference_pp": "4.20"}
    path = tmp_path / "claim.json"
    path.write_text(json.dumps(raw))
    study = read_claim(path)
    assert study.difference_pp is not None
    assert (study.treatment.solved, study.difference_pp.as_tuple().exponent) == (200, -2)
    assert study.control.solved is None


def test_a_printed_number_keeps_its_digits(tmp_path: Path) -> None:
    path = tmp_path / "claim.toml"
    path.write_text('schema = "evenhand-claim-1"\ntasks = 5\ndifference_pp = 4.20\n')
    assert str(read_claim(path).difference_pp) == "4.20"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({}, "schema: found nothing"),
        ({"schema": "evenhand-claim-1"}, "tasks: found nothing"),
        ({"schema": "evenhand-claim-1", "tasks": True}, "tasks: found True"),
        ({"schema": "evenhand-claim-1", "tasks": 0}, "tasks: found 0"),
        ({"schema": "evenhand-claim-1", "tasks": 3, "wons": 1}, "wons: found an unknown key"),
        ({"schema": "evenhand-claim-1", "tasks": 3, "treatment": {"percent": 101}}, "treatment.percent: found 101"),
        ({"schema": "evenhand-claim-1", "tasks": 3, "interval_pp": [3, 1]}, "interval_pp: found [3, 1]"),
        ({"schema": "evenhand-claim-1", "tasks": 3, "interval_pp": [Decimal("NaN"), 1]}, "interval_pp: found"),
        ({"schema": "evenhand-claim-1", "tasks": 3, "level": 1}, "strictly between 0 and 1"),
        ({"schema": "evenhand-claim-1", "tasks": 3, "difference_pp": "much"}, "difference_pp: found 'much'"),
        ({"schema": "evenhand-claim-1", "tasks": 3, "stratum": [{"name": "a"}]}, "stratum[0].tasks: found nothing"),
    ],
)
def test_a_fault_in_the_file_is_named_with_what_was_expected(raw: dict[str, object], words: str) -> None:
    with pytest.raises(ClaimFileError) as caught:
        parse_claim(raw)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.toml", b"tasks = ", 2),
        ("a.json", b'{"tasks": NaN}', 2),
        ("a.json", b"[1]", 2),
        ("a.toml", b"\xff", 2),
        ("a.toml", b"#" * (1024 * 1024 + 1), 3),
        ("absent.toml", None, 3),
    ],
)
def test_a_file_that_is_no_summary_ends_with_its_own_code(
    tmp_path: Path, name: str, data: bytes | None, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    assert run(["check-claim", str(path)]) == code
    assert capsys.readouterr().err.startswith("evenhand: ")


def test_limits_that_a_method_prints_exactly_so_cohere_at_few_tasks() -> None:
    # 24 tasks, one attempt: 11 / 2 / 3 / 8; Tango's limits as published.
    raw = {
        "schema": "evenhand-claim-1",
        "tasks": 24,
        "difference_pp": "-4.17",
        "interval_pp": ["-25.1", "16.6"],
        "wins": 2,
        "losses": 3,
        "treatment": {"solved": 13},
        "control": {"solved": 14},
    }
    audit = audit_claim(parse_claim(raw), methods=table_methods(level=0.95))
    assert audit.coherent
    assert audit.methods == ("tango",)
    assert [(one.n11, one.n10, one.n01, one.n00) for one in audit.tables] == [(11, 2, 3, 8)]
    broken = audit_claim(parse_claim({**raw, "interval_pp": ["-25.3", "16.6"]}), methods=table_methods(level=0.95))
    assert not broken.coherent


def test_a_key_that_stands_twice_is_a_fault_in_json_as_in_toml(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = {"a.json": '{"schema": "evenhand-claim-1", "tasks": 1, "tasks": 2}', "a.toml": "tasks = 1\ntasks = 2\n"}
    for name, text in twice.items():
        (tmp_path / name).write_text(text)
        assert run(["check-claim", str(tmp_path / name)]) == 2
        assert "document" in capsys.readouterr().err
