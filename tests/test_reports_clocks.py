"""What a report says of two arms' wall clocks: each number of the decision, its unit, and what does not compare."""

import json
from dataclasses import replace

import pytest

from analysis.arm_clocks import ArmClock, ArmClocks, Bucket, Spread
from analysis.buckets import ATTEMPT_BUCKETS, TURN_BUCKETS
from analysis.decision import Decision
from analysis.timing import ACROSS_HARNESSES, ONE_HARNESS
from reports.figure_clocks import clocks_picture, segments
from reports.page_clocks import BUCKET_NAMES, clocks_section
from reports.render import render
from reports.terminal import render_text
from tests.builders_reports import descriptive

SIZES = {name: 1000.5 * (place + 1) for place, name in enumerate(TURN_BUCKETS)}
SIZES |= {name: 100.25 * (place + 1) for place, name in enumerate(ATTEMPT_BUCKETS)}


def bucket(name: str, **changes: object) -> Bucket:
    size = SIZES[name]
    whole = Bucket(
        name=name,
        scope="turn" if name in TURN_BUCKETS else "attempt",
        of=4,
        measured=4,
        total_ms=4 * size,
        known_ms=4 * size,
        turn_median_ms=size if name in TURN_BUCKETS else None,
        attempts=4,
        attempt_median_ms=size,
    )
    return replace(whole, **changes)  # type: ignore[arg-type]  # a builder takes what the test names


def clock(side: str, harness: str, *, buckets: dict[str, Bucket] | None = None, **changes: object) -> ArmClock:
    own = buckets or {}
    plain = ArmClock(
        side=side,
        arm=f"{side}-arm",
        recorded_as=f"{side}-arm",
        harness=harness,
        attempts=4,
        turns=4,
        buckets=tuple(own.get(name, bucket(name)) for name in SIZES),
        to_first_delta_first=Spread(n=4, median=812.5),
        to_first_delta_later=Spread(n=0, median=None),
        cap_units=("steps",),
        cap_limits=(40,),
        cap_unit_sources=("recorded",),
        capped=0,
        cap_flagged=False,
        jobs=(2,),
        at_once=2,
        gated=4,
        beyond=0,
        disagreeing=0,
        simulated=0,
        notes=(),
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # a builder takes what the test names


def decision(*arms: ArmClock, one_harness: bool = False, notes: tuple[str, ...] = (ACROSS_HARNESSES,)) -> Decision:
    found = arms or (clock("treatment", "pi"), clock("control", "codex"))
    return replace(
        descriptive(), clocks=ArmClocks(arms=found, one_harness=one_harness, max_residual_pct=1.0, notes=notes)
    )


def said(of: Decision) -> str:
    section = clocks_section(of, ("clocks",))
    assert section is not None
    rows = [" | ".join(row) for table in section.tables for row in table.rows]
    captions = [table.caption for table in section.tables]
    return "\n".join([*section.paragraphs, *section.items, *captions, *rows])


def test_every_bucket_of_a_decision_has_a_row_and_a_name() -> None:
    assert set(BUCKET_NAMES) == {*TURN_BUCKETS, *ATTEMPT_BUCKETS}
    text = said(decision())
    for name, words in BUCKET_NAMES.items():
        assert f"{words} | " in text, name


def test_totals_medians_and_caps_are_those_of_the_decision() -> None:
    text = said(decision())
    for part in (
        "First turns | 812.500 (n = 4) | 812.500 (n = 4)",
        "Generation, without tool time | 12 006.000 | 12 006.000",
        "Generation, without tool time | 3 001.500 (n = 4) | 3 001.500 (n = 4) | 3 001.500 | 3 001.500",
        "Turn cap and its unit | 40, counted in steps | 40, counted in steps",
        "Unit known from | the recorder says so",
        "Attempts allowed at once | 2 | 2",
        "Turns whose residual was gated | 4 of 4",
        "Of them beyond 1% | 0 | 0",
    ):
        assert part in text.replace("\u202f", " ").replace("\u00a0", " "), part


@pytest.mark.parametrize(("one_harness", "note"), [(True, ONE_HARNESS), (False, ACROSS_HARNESSES)])
def test_what_compares_is_said_once_and_not_again_as_a_note(one_harness: bool, note: str) -> None:
    text = said(decision(one_harness=one_harness, notes=(note, "another note")))
    assert ("its buckets open and close at the same events in both" in text) is one_harness
    assert ("They do not compare across harnesses." in text) is not one_harness
    assert note not in text
    assert "another note" in text


def test_a_bucket_that_was_not_measured_everywhere_has_no_total_and_one_that_cannot_be_has_a_dash() -> None:
    buckets = {
        "tail": bucket("tail", measured=3, total_ms=None, known_ms=3001.5, attempts=3),
        "probe": bucket("probe", measured=0, total_ms=None, known_ms=None, attempts=0, attempt_median_ms=None),
        "head_later": bucket("head_later", of=0, measured=0, total_ms=None, known_ms=None, attempts=0),
    }
    text = said(decision(clock("treatment", "pi", buckets=buckets), clock("control", "codex")))
    plain = text.replace("\u202f", " ").replace("\u00a0", " ")
    assert "Tail | not measured; known for 3 of 4 turns (sum of known: 3 001.500) | " in plain
    assert "Version probing | not measured | " in plain
    assert "Head, later turns of a dialogue | \u2013 | " in plain
    # A time that no turn could show is not one that was missed.
    assert "Later turns of a dialogue | \u2013 | not measured" in plain


def test_a_cap_that_shapes_the_result_and_a_simulated_model_are_said() -> None:
    arms = (clock("treatment", "pi", capped=1, cap_flagged=True, simulated=4), clock("control", "codex", simulated=3))
    text = said(decision(*arms))
    assert "1 of 4: more than 5%, the cap shapes the result" in text
    assert text.startswith("SIMULATED MODEL: no real model ran in 7 of 8 attempts")
    bare = said(decision(clock("treatment", "pi", cap_limits=(), cap_units=(), cap_unit_sources=())))
    assert "Turn cap and its unit | none" in bare
    assert "Unit known from | \u2013" in bare


def test_an_arm_under_two_names_has_a_column_for_each() -> None:
    arms = (
        clock("treatment", "pi", recorded_as="first"),
        clock("treatment", "pi", recorded_as="second"),
        clock("control", "codex"),
    )
    section = clocks_section(decision(*arms), ())
    assert section is not None
    assert [column.heading for column in section.tables[1].columns] == [
        "Bucket",
        "treatment-arm (treatment, first on pi)",
        "treatment-arm (treatment, second on pi)",
        "control-arm (control)",
    ]


def test_without_clocks_there_is_neither_section_nor_picture_nor_row() -> None:
    bare = replace(descriptive(), clocks=None)
    assert clocks_section(bare, ()) is None
    assert clocks_picture(bare) is None
    assert "to the first delta" not in render_text(bare)
    assert "to the first delta" in render_text(decision())


def test_a_segment_is_the_mean_of_an_attempt_in_seconds_and_nothing_where_nothing_was_measured() -> None:
    plain = segments(clock("treatment", "pi"))
    # Heads of first and of later turns are one segment; 1000.5 + 2001 ms, the totals of four attempts by four.
    assert plain["head"] == pytest.approx((SIZES["head_first"] + SIZES["head_later"]) / 1000)
    assert plain["generation"] == pytest.approx(SIZES["generation"] / 1000)
    missing = segments(clock("treatment", "pi", buckets={"tail": bucket("tail", known_ms=None, total_ms=None)}))
    assert "tail" not in missing


def test_the_rendered_report_holds_section_picture_and_the_typed_shape() -> None:
    files = dict(render(decision()).files)
    assert "figures/clocks.svg" in files
    assert "Where the wall clock went" in files["report.md"].decode()
    document = json.loads(files["decision.json"])
    shown = document["clocks"]["arms"][0]["to_first_delta_first"]
    assert shown == {"median": 812.5, "n": 4}


def test_names_in_clocks_leave_as_tokens_only() -> None:
    place = "/".join(("", "home", "somebody", "run"))
    hostile = clock("treatment", "pi", recorded_as=place, notes=(f"seen in {place}",))
    twin = clock("treatment", "pi")
    files = dict(render(decision(hostile, twin, clock("control", "codex"))).files)
    for name, data in files.items():
        assert b"somebody" not in data, name
