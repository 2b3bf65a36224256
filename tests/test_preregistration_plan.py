import contextlib
import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manifests.digest import canonical_bytes
from preregistration.fields import FIELDS, plan_reference, plan_template
from preregistration.parse import PlanError, PlanManifestError, PlanUnreadableError, parse_plan, read_plan
from preregistration.plan import (
    ENDPOINTS,
    MISSING_KINDS,
    MISSING_POLICIES,
    RUN_ORDERS,
    SENSITIVITY_ROWS,
    Endpoint,
    Plan,
    Role,
    missing_policy,
    plan_digest,
    plan_value,
    resolve_interval,
)

MINIMAL = f"""
schema = "evenhand-plan-1"
study = "a-study"
question = "Does the new harness solve more tasks?"
manifest_sha256 = "{"0" * 64}"
attempts = 1
seed = 7
[cohort]
name = "two harnesses"
inclusion = "both support the model"
[[endpoint]]
name = "success"
role = "primary"
test = "sign_flip"
alpha = 0.05
interval = "auto"
level = 0.95
minimum_effect = 0.05
noninferiority_margin = 0.05
[missing]
default = "unsolved"
"""
FULL = (
    MINIMAL.replace("attempts = 1", 'attempts = 3\nmultiplicity = "holm"\nsensitivity = ["raw"]')
    + """
provider_error = "retry_declared"
[[endpoint]]
name = "cost_per_solved"
role = "secondary"
test = "ratio_of_sums"
alpha = 0.05
interval = "auto"
level = 0.95
[[endpoint]]
name = "wall_time"
role = "secondary"
test = "log_ratio_t"
alpha = 0.05
interval = "log_ratio_t"
level = 0.95
minimum_effect = 0.1
[[exclusion]]
task = "broken-task"
reason = "its image is gone"
[[floor]]
kind = "safety"
metric = "policy_violations"
at_most = 0
[stop]
looks = 2
spending = "obrien_fleming"
[aggregation]
name = "overall"
weights = { success = 0.75, wall_time = 0.25 }
"""
)


def minimal() -> dict[str, Any]:
    return tomllib.loads(MINIMAL)


def parsed(raw: dict[str, Any]) -> Plan:
    return parse_plan(raw, where="plan")


def fields(raw: dict[str, Any]) -> list[str]:
    with pytest.raises(PlanError) as caught:
        parsed(raw)
    return [fault.field for fault in caught.value.faults]


def test_a_minimal_plan_is_short_and_its_defaults_are_the_documented_ones() -> None:
    plan = parsed(minimal())
    assert (plan.looks, plan.spending, plan.sensitivity, plan.run_order) == (0, "none", (), "interleaved")
    assert (plan.multiplicity, plan.unit, plan.aggregation, plan.floors) == ("fixed_sequence", "task", None, ())
    assert dict(plan.missing) == dict.fromkeys(MISSING_KINDS, "unsolved")
    documented = {field.name: field.default for field in FIELDS if field.default is not None}
    assert documented == {
        "unit": '"task"', "unequal_attempts": "false", "run_order": '"interleaved"', "multiplicity": '"fixed_sequence"',
        "sensitivity": "[]", "stop.looks": "0", "stop.spending": '"none"',
    }  # fmt: skip


def test_a_full_plan_keeps_every_promise() -> None:
    plan = parsed(tomllib.loads(FULL))
    assert [endpoint.role for endpoint in plan.endpoints] == [Role.PRIMARY, Role.SECONDARY, Role.SECONDARY]
    assert plan.primary.name == "success"
    assert missing_policy(plan, "provider_error") == "retry_declared"
    assert missing_policy(plan, "a kind from tomorrow") == "unsolved"
    assert plan.floors[0].at_most == 0.0
    assert plan.aggregation is not None
    assert plan.aggregation.weights == (("success", 0.75), ("wall_time", 0.25))
    assert plan.exclusions[0].task == "broken-task"


@pytest.mark.parametrize("text", [MINIMAL, FULL])
def test_a_plan_comes_back_from_its_canonical_form(text: str) -> None:
    plan = parsed(tomllib.loads(text))
    again = parsed(json.loads(canonical_bytes(plan_value(plan))))
    assert again == plan
    assert plan_digest(again) == plan_digest(plan)


def test_every_key_of_the_top_level_without_a_default_is_required() -> None:
    for key in ("schema", "study", "question", "manifest_sha256", "attempts", "seed"):
        raw = minimal()
        del raw[key]
        assert fields(raw) == [key]


def test_an_empty_plan_lists_every_fault_at_once() -> None:
    found = fields({})
    assert {"schema", "study", "question", "manifest_sha256", "attempts", "seed", "endpoint"} <= set(found)
    assert {"cohort.name", "cohort.inclusion"} <= set(found)
    assert {f"missing.{kind}" for kind in MISSING_KINDS} <= set(found)


@pytest.mark.parametrize(
    ("key", "value", "field"),
    [
        ("schema", "evenhand-plan-2", "schema"),
        ("study", "Upper", "study"),
        ("question", "   ", "question"),
        ("manifest_sha256", "A" * 64, "manifest_sha256"),
        ("unit", "trial", "unit"),
        ("attempts", 0, "attempts"),
        ("attempts", True, "attempts"),
        ("seed", -1, "seed"),
        ("seed", 2**32, "seed"),
        ("run_order", "random", "run_order"),
        ("unequal_attempts", 1, "unequal_attempts"),
        ("sensitivity", ["raw", "raw"], "sensitivity"),
        ("sensitivity", ["cherry"], "sensitivity"),
        ("multiplicity", "none", "multiplicity"),
        ("cohort", "both", "cohort"),
        ("endpoint", {"name": "success"}, "endpoint"),
        ("missing", {"default": "forgotten"}, "missing.default"),
        ("missing", {"default": "unsolved", "bad_luck": "unsolved"}, "missing.bad_luck"),
        ("stop", {"looks": 2}, "stop.spending"),
        ("stop", {"looks": 0, "spending": "pocock"}, "stop.spending"),
        ("stop", {"looks": 21, "spending": "pocock"}, "stop.looks"),
        ("exclusion", [{"task": "a", "reason": ""}], "exclusion[0].reason"),
        ("exclusion", [{"task": "a", "reason": "x"}] * 2, "exclusion"),
        ("floor", [{"kind": "safety", "metric": "violations"}], "floor[0].at_least"),
        ("floor", [{"kind": "safety", "metric": "x", "at_least": 0, "at_most": 1}], "floor[0].at_least"),
        ("floor", [{"kind": "luck", "metric": "x", "at_least": 0}], "floor[0].kind"),
        ("floor", [{"kind": "regression", "metric": "success", "at_least": 40}], "floor[0].at_least"),
        ("aggregation", {"name": "x", "weights": {"success": 0.5}}, "aggregation.weights"),
        ("aggregation", {"name": "x", "weights": {"wall_time": 1}}, "aggregation.weights.wall_time"),
        ("aggregation", {"name": "x", "weights": {"beauty": 1}}, "aggregation.weights.beauty"),
        ("surprise", 1, "surprise"),
    ],
)
def test_each_fault_is_named_with_its_field(key: str, value: object, field: str) -> None:
    assert field in fields({**minimal(), key: value})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "beauty"),
        ("role", "main"),
        ("test", "t"),
        ("alpha", 1.5),
        ("alpha", 0),
        ("alpha", float("nan")),
        ("alpha", "0.05"),
        ("interval", "guess"),
        ("level", 1.0),
        ("level", 0.9),
        ("minimum_effect", 0),
        ("minimum_effect", 5),
        ("noninferiority_margin", -0.05),
        ("noninferiority_margin", None),
        ("extra", 1),
    ],
)
def test_each_fault_of_an_endpoint_is_named(key: str, value: object) -> None:
    raw = minimal()
    raw["endpoint"][0][key] = value
    assert f"endpoint[0].{key}" in fields(raw)


def test_a_level_below_one_minus_alpha_would_decide_more_than_alpha_allows() -> None:
    raw = minimal()
    raw["endpoint"][0] |= {"alpha": 0.1, "level": 0.9}
    assert parsed(raw).primary.level == 0.9


def test_exactly_one_endpoint_is_primary_and_it_is_success() -> None:
    two = minimal()
    two["endpoint"].append({**two["endpoint"][0], "name": "wall_time", "test": "log_ratio_t"})
    assert "endpoint" in fields(two)
    cost = minimal()
    cost["endpoint"][0] |= {"name": "total_cost", "test": "ratio_of_sums"}
    assert fields(cost) == ["endpoint"]
    twice = minimal()
    twice["endpoint"].append({**twice["endpoint"][0], "role": "exploratory"})
    assert fields(twice) == ["endpoint"]


def test_two_secondary_endpoints_need_a_rule_for_multiplicity() -> None:
    raw = tomllib.loads(FULL)
    del raw["multiplicity"]
    assert fields(raw) == ["multiplicity"]


@pytest.mark.parametrize("interval", ["tango", "wald", "fay_lumbard", "newcombe10", "bonett_price", "agresti_min"])
def test_an_interval_for_one_attempt_is_refused_with_several(interval: str) -> None:
    raw = minimal()
    raw["endpoint"][0]["interval"] = interval
    assert parsed(raw).primary.interval == interval
    assert fields({**raw, "attempts": 3}) == ["endpoint[0].interval"]


def test_auto_becomes_the_interval_of_the_design() -> None:
    success = parsed(minimal()).primary
    assert resolve_interval(success, attempts=1) == "tango"
    assert resolve_interval(success, attempts=3) == "task_score"
    cost = Endpoint(
        name="total_cost", role=Role.SECONDARY, test="ratio_of_sums", alpha=0.05, interval="auto", level=0.95
    )
    assert resolve_interval(cost, attempts=3) == "ratio_of_sums"


def test_the_manifest_digest_may_come_with_the_manifest_but_must_agree(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(MINIMAL.replace("0" * 64, ""), encoding="utf-8")
    with pytest.raises(PlanError, match="manifest_sha256"):
        read_plan(path)
    assert read_plan(path, manifest_digest="1" * 64).manifest_digest == "1" * 64
    path.write_text(MINIMAL, encoding="utf-8")
    with pytest.raises(PlanManifestError, match="another manifest"):
        read_plan(path, manifest_digest="1" * 64)


def test_what_is_no_toml_or_no_file_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(PlanUnreadableError):
        read_plan(tmp_path / "absent.toml")
    broken = tmp_path / "broken.toml"
    for data in (b"study = ", b"\xff", b"a = 1\na = 2"):
        broken.write_bytes(data)
        with pytest.raises(PlanError, match="document"):
            read_plan(broken)
    broken.write_bytes(b"#" * (1024 * 1024 + 1))
    with pytest.raises(PlanUnreadableError, match="larger"):
        read_plan(broken)


def test_the_reference_names_every_field_and_every_word() -> None:
    text = plan_reference()
    for field in FIELDS:
        assert f"| `{field.key}` | {field.expected} |" in text
    for words in (MISSING_KINDS, MISSING_POLICIES, RUN_ORDERS, SENSITIVITY_ROWS):
        assert all(f"| `{word}` |" in text for word in words)


def test_the_template_is_toml_and_lacks_only_what_a_person_must_say() -> None:
    left = {"study", "question", "cohort.name", "cohort.inclusion", "manifest_sha256"}
    assert set(fields(tomllib.loads(plan_template({})))) == left
    answers = {
        "study": '"x"', "question": '"q"', "cohort.name": '"c"', "cohort.inclusion": '"i"',
        "manifest_sha256": f'"{"0" * 64}"',
    }  # fmt: skip
    assert parsed(tomllib.loads(plan_template(answers))).study == "x"


def test_messages_carry_field_found_and_expected() -> None:
    raw = minimal()
    raw["endpoint"][0]["alpha"] = 1.5
    with pytest.raises(PlanError) as caught:
        parsed(raw)
    assert "plan: endpoint[0].alpha: found 1.5, expected a number strictly between 0 and 1" in caught.value.lines


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(tomllib.loads(FULL))), JUNK)
def test_any_value_anywhere_gives_a_plan_or_a_plan_error(key: str, value: object) -> None:
    raw = copy.deepcopy(tomllib.loads(FULL))
    raw[key] = value
    with contextlib.suppress(PlanError):
        assert parsed(raw).study == "a-study" or key == "study"


@given(st.sampled_from(sorted(ENDPOINTS)), st.floats(0.001, 0.5), st.integers(1, 1000), st.integers(0, 2**32 - 1))
def test_every_plan_survives_its_canonical_form(name: str, alpha: float, attempts: int, seed: int) -> None:
    raw = minimal() | {"attempts": attempts, "seed": seed}
    raw["endpoint"][0] |= {"alpha": alpha, "level": 1 - alpha / 2}
    if name != "success":
        row = {"name": name, "role": "exploratory", "test": ENDPOINTS[name][0], "alpha": alpha, "interval": "auto"}
        raw["endpoint"].append({**row, "level": 0.99999})
    plan = parsed(raw)
    assert parsed(json.loads(canonical_bytes(plan_value(plan)))) == plan


def test_the_page_about_the_plan_is_the_one_that_the_code_writes() -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "plan.md"
    assert page.read_text(encoding="utf-8") == plan_reference()


@pytest.mark.parametrize("sign", ["\\u001b[31m", "\\u0000", "\\u202e", "\\u0085", "\\r"])
def test_free_text_holds_nothing_that_a_terminal_would_obey(sign: str) -> None:
    text = MINIMAL.replace("Does the new", f"Does {sign}the new").replace("both support", f"{sign}both support")
    with pytest.raises(PlanError) as caught:
        parse_plan(tomllib.loads(text), where="plan")
    assert [fault.field for fault in caught.value.faults] == ["question", "cohort.inclusion"]
    assert all("\x1b" not in str(fault) for fault in caught.value.faults)


def test_free_text_may_have_several_lines_and_any_script() -> None:
    text = MINIMAL.replace('"Does the new harness solve more tasks?"', '"""Löst er\nmehr Aufgaben? 更多"""')
    assert parse_plan(tomllib.loads(text), where="plan").question == "Löst er\nmehr Aufgaben? 更多"
