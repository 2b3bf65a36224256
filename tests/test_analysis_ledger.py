"""A ledger is joined by declared key, and what it does not cover is found."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from analysis.audit import audit
from analysis.evidence import read_evidence
from analysis.evidence.ledger import Ledger, LedgerError, LedgerKeyError, LedgerRow, read_ledger
from analysis.evidence.trial import Evidence, Trial, Usage
from analysis.ledger import join_ledger, price_label
from manifests.conditions import Status, judge
from tests.building import ARMS, evidence, interleaved, trial

HEADER = "cell_id,harness,task,requests_ok,requests_all,tools,ordinary_in,cached_in,cache_write,output,api_equiv_usd"


def written(folder: Path, *lines: str, header: str = HEADER) -> Path:
    path = folder / "ledger.csv"
    path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    return path


def celled(item: Trial, cell: str, *, usage: Usage | None = None) -> Trial:
    """Give a trial the argument that joins it, and other usage."""
    arm = replace(item.arm, kwargs=(("cell_id", cell),))
    return replace(item, arm=arm, usage=usage if usage is not None else Usage())


def row(key: str, cost: str | None = "1.5", *, line: int = 2, task: str | None = None, output: int = 7) -> LedgerRow:
    return LedgerRow(
        line=line,
        key=key,
        task=task,
        group=None,
        cost_usd=None if cost is None else Decimal(cost),
        input_tokens=10,
        cache_tokens=3,
        output_tokens=output,
        requests=4,
        requests_failed=1,
        tool_calls=2,
    )


def ledger(*rows: LedgerRow) -> Ledger:
    return Ledger(
        key="cell_id", method="ledger:api_equiv_usd", rows=rows, findings=(), identities=frozenset(), sha256="c" * 64
    )


def joined(trials: Sequence[Trial], *rows: LedgerRow) -> tuple[dict[str, Trial], dict[str, int], Evidence]:
    """Join and return trials by place, findings by code, and the evidence."""
    found = join_ledger(evidence(trials), ledger(*rows), takes_part=lambda _: True)
    codes: dict[str, int] = {}
    for finding in found.evidence.findings:
        codes[finding.code] = codes.get(finding.code, 0) + 1
    return {item.where: item for item in found.evidence.trials}, codes, found.evidence


def test_a_ledger_is_read_with_exact_prices_and_sums_of_its_token_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "a--pi,pi,a,17,18,21,54,182513,18309,10934,0.53397775")
    found = read_ledger(path)
    (only,) = found.rows
    assert only.cost_usd == Decimal("0.53397775")
    assert (only.input_tokens, only.cache_tokens, only.output_tokens) == (54 + 182513 + 18309, 182513, 10934)
    assert (only.requests, only.requests_failed, only.tool_calls) == (18, 1, 21)
    assert (found.method, only.group, only.task, only.place) == ("ledger:api_equiv_usd", "pi", "a", "ledger:2")


def test_an_empty_cell_is_unknown_and_a_bad_one_is_unknown_with_a_finding(tmp_path: Path) -> None:
    path = written(tmp_path, "a,pi,a,,,,,,,,", "b,pi,b,1,1,1,1,1,1,1,-2.5", "c,pi,c,1,1,1,1,1,1,NaN,1e400")
    found = read_ledger(path)
    assert [one.cost_usd for one in found.rows] == [None, None, None]
    assert found.rows[0].input_tokens is None
    assert found.rows[2].output_tokens is None
    assert sorted({(one.code, one.where) for one in found.findings}) == [
        ("invalid_cost", "ledger:3"),
        ("invalid_cost", "ledger:4"),
        ("invalid_tokens", "ledger:4"),
    ]


def test_a_row_with_slipped_cells_is_not_believed(tmp_path: Path) -> None:
    found = read_ledger(written(tmp_path, "a,pi,a,1"))
    assert (found.rows[0].key, found.rows[0].cost_usd) == ("", None)
    assert [one.code for one in found.findings] == ["ledger_invalid"]


@pytest.mark.parametrize(
    ("header", "error", "words"),
    [
        ("cell_id,harness", LedgerError, "found cost columns none"),
        ("cell_id,a_usd,b_usd", LedgerError, "found cost columns a_usd, b_usd"),
        ("cell_id,cell_id,a_usd", LedgerError, "each column once"),
        ("Cell Id,a_usd", LedgerError, "each column once"),
        ("cell,a_usd", LedgerKeyError, "no column 'cell_id'"),
    ],
)
def test_a_file_that_is_no_ledger_says_what_is_wrong(
    tmp_path: Path, header: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        read_ledger(written(tmp_path, header=header))


def test_bytes_that_are_no_text_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.csv"
    path.write_bytes(b"cell_id,a_usd\n\xff\xfe,1\n")
    with pytest.raises(LedgerError, match="no CSV in UTF-8"):
        read_ledger(path)
    with pytest.raises(LedgerError, match="cannot be read"):
        read_ledger(tmp_path / "absent.csv")


def test_a_joined_trial_takes_price_counts_and_method(tmp_path: Path) -> None:
    trials, codes, found = joined([celled(trial("a"), "cell-a")], row("cell-a"))
    usage = trials["alpha/a__1"].usage
    assert (usage.cost_usd, usage.cost_method) == (Decimal("1.5"), "ledger:api_equiv_usd")
    assert (usage.input_tokens, usage.requests, usage.requests_failed, usage.tool_calls) == (10, 4, 1, 2)
    assert dict(trials["alpha/a__1"].conditions)["cost_method"] == "ledger:api_equiv_usd"
    assert codes == {}
    assert found.attachments == ("c" * 64,)


@pytest.mark.parametrize(
    ("trials", "rows", "codes"),
    [
        ([celled(trial("a"), "x")], [row("x"), row("y", line=3)], {"ledger_unattributed": 1}),
        ([celled(trial("a"), "x")], [row("x"), row("x", line=3)], {"ledger_duplicated": 2}),
        ([celled(trial("a"), "x"), celled(trial("b"), "x")], [row("x")], {"ledger_ambiguous": 2}),
        ([celled(trial("a"), "x")], [row("x", task="other")], {"ledger_ambiguous": 1}),
        ([celled(trial("a"), "x")], [], {"ledger_missing": 1}),
        ([trial("a")], [row("")], {"ledger_missing": 1, "ledger_unattributed": 1}),
    ],
)
def test_a_doubt_is_a_finding_and_joins_nothing(
    trials: list[Trial], rows: list[LedgerRow], codes: dict[str, int]
) -> None:
    after, found, _ = joined(trials, *rows)
    assert found == codes
    if "ledger_unattributed" not in codes or len(rows) == 1:
        assert all(item.usage == before.usage for item, before in zip(after.values(), trials, strict=True))


def test_two_prices_are_never_combined_and_the_cost_method_differs() -> None:
    cells = [celled(item, item.where, usage=item.usage) for item in interleaved({"a": ([True], [True])})]
    found = join_ledger(
        evidence(cells), ledger(*(row(item.where, task="a") for item in cells)), takes_part=lambda _: True
    )
    assert [item.usage for item in found.evidence.trials] == [
        replace(item.usage, cache_tokens=3, requests=4, requests_failed=1, tool_calls=2)
        for item in sorted(cells, key=lambda item: item.where)
    ]
    assert found.coverage.conflicts == 2
    from analysis.observe import observe

    conditions = judge(observe(audit(found.evidence, ARMS), treatment="alpha", control="beta"), {})
    judged = {one.factor: one for one in conditions}
    assert judged["cost_method"].status is Status.DIFFERS
    assert "never combined" in judged["cost_method"].detail


def test_tokens_that_the_two_sources_count_otherwise_fill_nothing() -> None:
    own = Usage(output_tokens=8)
    cells = [celled(trial("a"), "x", usage=own), celled(trial("b"), "y")]
    after, codes, _ = joined(cells, row("x", output=7), row("y", output=9))
    assert codes == {"ledger_tokens_differ": 1}
    assert after["alpha/b__1"].usage.output_tokens is None
    assert after["alpha/b__1"].usage.input_tokens == 10


def test_the_ledger_is_part_of_the_evidence_digest() -> None:
    cells = [celled(item, item.where) for item in interleaved({"a": ([True], [True])})]
    plain = audit(evidence(cells), ARMS).evidence_digest
    found = join_ledger(evidence(cells), ledger(*(row(item.where) for item in cells)), takes_part=lambda _: True)
    assert audit(found.evidence, ARMS).evidence_digest != plain


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((("x", "1.5"), ("y", "2")), {"alpha": (Decimal("1.5"), 0), "beta": (Decimal(2), 0)}),
        ((("x", None), ("y", "2")), {"alpha": (None, 1), "beta": (Decimal(2), 0)}),
        ((("y", "2"),), {"beta": (None, 1)}),
        ((("x", "1.5"), ("x", "1.5"), ("y", "2")), {"beta": (None, 1)}),
    ],
)
def test_a_trial_without_a_price_makes_its_sum_unknown(
    rows: tuple[tuple[str, str | None], ...], expected: dict[str, tuple[Decimal | None, int]]
) -> None:
    cells = [celled(trial("a"), "x"), celled(trial("a", agent="beta"), "y")]
    named = [
        replace(row(key, cost, line=i), group={"x": "alpha", "y": "beta"}[key]) for i, (key, cost) in enumerate(rows)
    ]
    found = join_ledger(evidence(cells), ledger(*named), takes_part=lambda _: True)
    assert {one.name: (one.total_usd, one.unpriced) for one in found.coverage.groups} == expected


def test_a_trial_without_a_row_makes_only_its_own_agents_sum_unknown() -> None:
    cells = [celled(trial("a"), "x"), celled(trial("b"), "z"), celled(trial("a", agent="beta"), "y")]
    named = [replace(row("x"), group="alpha"), replace(row("y", line=3), group="beta")]
    found = join_ledger(evidence(cells), ledger(*named), takes_part=lambda _: True)
    assert found.coverage.totals == (("alpha", None), ("beta", Decimal("1.5")))
    assert [(one.known_usd, one.priced) for one in found.coverage.groups] == [(Decimal("1.5"), 1)] * 2


def test_a_price_says_what_it_is_worth() -> None:
    assert price_label("ledger:api_equiv_usd") == "API-equivalent, not billed"
    assert price_label("ledger:billed_usd") == "billed"
    assert price_label("ledger:guess_usd").startswith("as the ledger prices it")
    assert price_label("harbor-agent-result:cli") == "as recorded"


def test_the_published_study_joins_every_cell(shared: Path | None) -> None:
    published = {"pi": Decimal("9.175158"), "thinharness": Decimal("7.4561315")}
    if shared is None:
        assert sum(published.values()) == Decimal("16.6312895")
        return
    study = shared / "evidence" / "tb21-pi-vs-thinharness"
    found = join_ledger(read_evidence([study]), read_ledger(study / "request-ledger.csv"), takes_part=lambda _: True)
    assert found.coverage.sentence == "ledger: 40 of 40 cells joined by cell_id"
    assert dict(found.coverage.totals) == published
    assert {round(value, 6) for value in published.values()} == {Decimal("9.175158"), Decimal("7.456132")}
    assert all(item.usage.output_tokens is not None for item in found.evidence.trials)
