"""What may leave: each kind of value, what happens to what does not fit, and the typed shape of decision.json."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from analysis.decision import Decision, EndpointResult, Excluded, FindingCount, Ungraded
from analysis.decision_json import decision_json
from manifests.conditions import Condition, Status
from reports.privacy.allowlist import WITHHELD, fits, project
from reports.privacy.document import misfits
from reports.privacy.vocabulary import DECIDING, is_ours, own_words, strange_words
from tests.builders_reports import arm, descriptive, simulated, task

# Written by a person for an agent: this must never leave.
INSTRUCTION = (
    "You are handed a compiled binary; recover its passphrase, write that into solution.txt, and leave every archive "
    "untouched so the grader accepts your submission"
)


def field(decision: Decision, name: str) -> str:
    return json.dumps(decision_json(decision)[name], ensure_ascii=False)


def test_a_decision_of_our_own_words_passes_unchanged() -> None:
    for decision in (descriptive(), simulated()):
        projected, dropped = project(decision)
        assert projected == decision
        assert dropped == ()


PLANTS: list[tuple[str, Callable[[Decision, str], Decision]]] = [
    ("study", lambda d, text: replace(d, study=text)),
    ("label", lambda d, text: replace(d, label=replace(d.label, reasons=(text,)))),
    ("treatment", lambda d, text: replace(d, treatment=replace(d.treatment, name=text))),
    ("treatment", lambda d, text: replace(d, treatment=replace(d.treatment, selector=text))),
    ("control", lambda d, text: replace(d, control=replace(d.control, harness=(text,)))),
    ("control", lambda d, text: replace(d, control=replace(d.control, cost_method=text))),
    ("test", lambda d, text: replace(d, test=text)),
    ("conditions", lambda d, text: replace(d, conditions=(Condition(factor=text, status=Status.HELD, detail=""),))),
    (
        "conditions",
        lambda d, text: replace(d, conditions=(Condition(factor="model", status=Status.HELD, detail=text),)),
    ),
    ("findings", lambda d, text: replace(d, findings=(FindingCount(code=text, count=1, where=()),))),
    ("findings", lambda d, text: replace(d, findings=(FindingCount(code="a", count=1, where=(), detail=text),))),
    ("excluded", lambda d, text: replace(d, excluded=(Excluded(task=text, reason="declared"),))),
    ("ungraded", lambda d, text: replace(d, ungraded=(Ungraded(arm="pi", task="t", exception_type=text),))),
    (
        "endpoints",
        lambda d, text: replace(
            d, endpoints=(EndpointResult(name="a", role="b", unit="c", treatment=None, control=None, note=text),)
        ),
    ),
    ("tasks", lambda d, text: replace(d, tasks=(replace(task(1), task=text),))),
    ("tasks", lambda d, text: replace(d, tasks=(replace(task(1), exceptions=(text,)),))),
    ("infrastructure", lambda d, text: replace(d, infrastructure=(text,))),
    ("notes", lambda d, text: replace(d, notes=(text,))),
    ("commands", lambda d, text: replace(d, commands=(text,))),
]


@pytest.mark.parametrize(("name", "plant"), PLANTS)
def test_an_instruction_text_is_withheld_wherever_it_was_planted(
    name: str, plant: Callable[[Decision, str], Decision]
) -> None:
    projected, dropped = project(plant(descriptive(), INSTRUCTION))
    assert WITHHELD in field(projected, name)
    assert "passphrase" not in json.dumps(decision_json(projected))
    assert [one.change for one in dropped] == ["withheld"]


@pytest.mark.parametrize(
    "place",
    [
        lambda text: replace(descriptive(), commands=(f"evenhand compare {text}/jobs",)),
        lambda text: replace(descriptive(), not_selected=(f"old/{text}/jobs", text)),
        lambda text: replace(descriptive(), notes=(f"read from {text}/jobs",)),
        lambda text: replace(descriptive(), treatment=replace(arm(), selector=f"path={text}/*")),
    ],
)
def test_a_home_path_and_a_name_are_taken_out_wherever_they_were_planted(place: Callable[[str], Decision]) -> None:
    projected, dropped = project(place("/home/zebulon"), identities=frozenset({"zebulon"}))
    assert "zebulon" not in json.dumps(decision_json(projected))
    assert dropped


def test_a_place_on_this_machine_keeps_its_last_name_only() -> None:
    commands = ("evenhand compare /srv/studies/alpha /home/zebulon/beta --treatment 'path=/srv/x/droid/*'",)
    projected, dropped = project(replace(descriptive(), commands=commands))
    assert projected.commands == ("evenhand compare [path]/alpha ~/beta --treatment 'path=[path]/*'",)
    assert [(one.kind, one.change, one.count) for one in dropped] == [("command", "rewritten", 1)]
    assert project(projected)[0] == projected


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("study", "pi-vs-x", "Pi vs x"),
        ("task", "crack-7z-hash.hard", "crack 7z"),
        ("task", "org/name", "a/b/c"),
        ("exception", "AgentTimeoutError", "AgentTimeoutError: killed after 900 s"),
        ("code", "missing_cost", "missing cost"),
        ("harness", "direct-pairwise 1.0+84105f07", "x; rm -rf"),
        ("place", "job/2026-11-30__10-00-00/trial__ab12", "/job/trial"),
        ("place", "a", "a//b"),
        ("digest", "ab" * 32, "AB" * 32),
        ("sentence", "p < 0.05 on 3 of 4 tasks → held", "`rm`"),
        ("command", "evenhand compare a --treatment 'path=droid/*'", "evenhand compare $(cat x)"),
        ("command", "make report STUDY=x", "curl x"),
    ],
)
def test_a_kind_fits_what_it_names_and_nothing_else(kind: str, good: str, bad: str) -> None:
    assert fits(kind, good)
    assert not fits(kind, bad)


def test_a_sentence_of_ours_may_hold_a_few_strange_values() -> None:
    own = own_words(rooms=DECIDING)
    assert is_ours("the model differs: vendor/some-model-1.5 against zorptron, quuxly", own, values=2)
    assert not is_ours("the model differs: vendor/some-model-1.5 against zorptron, quuxly", own, values=1)
    assert not is_ours(INSTRUCTION, own, values=8)
    assert strange_words("gpt-5.4 a/b under_score held", own) == ()


def parsed() -> dict[str, object]:
    document: dict[str, object] = json.loads(json.dumps(decision_json(project(descriptive())[0])))
    return document


def test_a_decision_of_ours_has_the_shape_that_may_leave() -> None:
    assert misfits(parsed()) == ()
    assert misfits(json.loads(json.dumps(decision_json(simulated())))) == ()


def changed(*path: str | int, value: object) -> dict[str, object]:
    document = copy.deepcopy(parsed())
    holder: object = document
    for step in path[:-1]:
        holder = holder[step]  # type: ignore[index]  # the path is right by construction
    holder[path[-1]] = value  # type: ignore[index]  # the same
    return document


@pytest.mark.parametrize(
    ("document", "kind", "where"),
    [
        (changed("prompt", value="x"), "unknown_key", "$"),
        (changed("treatment", "env", value={}), "unknown_key", "$.treatment"),
        (changed("tasks", 0, "log", value=""), "unknown_key", "$.tasks[0]"),
        (changed("verdict", value="best"), "wrong_value", "$.verdict"),
        (changed("difference", value=float("nan")), "wrong_value", "$.difference"),
        (changed("difference", value=True), "wrong_value", "$.difference"),
        (changed("n_tasks", value="20"), "wrong_value", "$.n_tasks"),
        (changed("attempts", value=-1), "wrong_value", "$.attempts"),
        (changed("interval", value={"low": 0}), "wrong_value", "$.interval"),
        (changed("label", value=[]), "wrong_type", "$.label"),
        (changed("notes", value="x"), "wrong_type", "$.notes"),
        (changed("notes", value=["a\nb"]), "wrong_value", "$.notes[0]"),
        (changed("digests", "evidence", value="abc"), "wrong_value", "$.digests.evidence"),
        (changed("frontier", value={}), "wrong_value", "$.frontier"),
        (changed("sensitivity", value=[1]), "wrong_type", "$.sensitivity[0]"),
    ],
)
def test_what_does_not_fit_the_shape_is_named_by_kind_and_place(document: object, kind: str, where: str) -> None:
    assert [(one.kind, one.where) for one in misfits(document)] == [(kind, where)]


def test_a_missing_key_is_named() -> None:
    document = parsed()
    del document["p_exact"]
    assert [(one.kind, one.where) for one in misfits(document)] == [("missing_key", "$.p_exact")]
    assert [one.kind for one in misfits([])] == ["wrong_type"]


def test_arms_that_are_told_apart_by_a_pattern_of_their_path_keep_their_names() -> None:
    told = replace(descriptive(), treatment=replace(arm(), name="*--new*"), control=replace(arm(), name="?*--old"))
    projected, dropped = project(told)
    assert (projected.treatment.name, projected.control.name) == ("*--new*", "?*--old")
    assert dropped == ()
