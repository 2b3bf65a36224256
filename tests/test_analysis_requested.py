"""What a harness did not honour of a request is a condition of the comparison, never a footnote."""

from dataclasses import replace

import pytest

from analysis.evidence.timed_run import Layout, TimedTrial
from analysis.requested import observe_requests
from harness.run_folder import DEFAULT_LIMIT
from manifests.conditions import Observation, Status


def trial(**fields: object) -> TimedTrial:
    base = TimedTrial(trial_id="x", layout=Layout.OURS, sha256="0", where="w", arm="a", harness="pi", task="t")
    return replace(base, **fields)  # type: ignore[arg-type]  # a builder takes what the test names


def observed(treatment: TimedTrial, control: TimedTrial, seen: Observation) -> Observation:
    (found,) = observe_requests([seen], treatment=[treatment], control=[control])
    return found


HONOURS = trial(ignored_fields=())
SILENT = trial(ignored_fields=None)


@pytest.mark.parametrize(
    ("field", "factor"),
    [
        ("max_output_tokens", "model_configuration"),
        ("effort", "model_configuration"),
        ("system_prompt", "prompt_digest"),
        ("max_turns", "budget"),
        ("allowed_tools", "tool_permissions"),
        ("permission_mode", "tool_permissions"),
        ("a_field_of_tomorrow", "tool_permissions"),
    ],
)
def test_what_one_arm_ignores_is_a_difference_of_its_factor_and_of_no_other(field: str, factor: str) -> None:
    ignores = trial(ignored_fields=(field,))
    for own in ("model_configuration", "prompt_digest", "budget", "tool_permissions", "region"):
        seen = Observation(factor=own, treatment=("same",), control=("same",))
        found = observed(ignores, HONOURS, seen)
        if own == factor:
            assert found.verdict is Status.DIFFERS
            assert found.detail == f"the treatment ignores {field.replace('_', ' ')} and the other arm does not"
        else:
            assert found == seen


def test_a_field_that_the_control_ignores_outranks_equal_values() -> None:
    seen = Observation(factor="budget", verdict=Status.HELD, detail="100 in both")
    found = observed(HONOURS, trial(ignored_fields=("max_turns",)), seen)
    assert (found.verdict, found.detail) == (
        Status.DIFFERS,
        "the control ignores max turns and the other arm does not; 100 in both",
    )


def test_what_both_ignore_is_the_same_on_both_sides_and_is_said_where_nothing_else_is_shown() -> None:
    both = trial(ignored_fields=("effort",))
    found = observed(both, both, Observation(factor="model_configuration", treatment=(None,), control=(None,)))
    assert (found.verdict, found.detail) == (Status.HELD, "both arms ignore effort")
    shown = Observation(factor="model_configuration", treatment=("x",), control=("y",))
    assert observed(both, both, shown) == shown


def test_an_arm_of_which_nothing_is_recorded_makes_the_factor_unknown() -> None:
    found = observed(SILENT, trial(ignored_fields=("effort",)), Observation(factor="model_configuration"))
    assert (found.verdict, found.detail) == (
        Status.UNKNOWN,
        "the control ignores effort; of the other arm nothing is recorded",
    )
    seen = Observation(factor="model_configuration")
    assert observed(SILENT, SILENT, seen) == seen


@pytest.mark.parametrize(
    ("limits", "verdict", "words"),
    [
        ((4096, None), Status.DIFFERS, f"treatment 4096 tokens; control {DEFAULT_LIMIT}"),
        ((None, None), Status.UNKNOWN, DEFAULT_LIMIT),
        ((4096, 4096), None, ""),
    ],
)
def test_an_output_limit_left_to_the_provider_is_no_known_value(
    limits: tuple[int | None, int | None], verdict: Status | None, words: str
) -> None:
    treatment, control = (trial(max_output_tokens=limit, output_limit_standing="requested") for limit in limits)
    found = observed(treatment, control, Observation(factor="model_configuration"))
    assert found.verdict is verdict
    assert found.detail.endswith(words)


@pytest.mark.parametrize(("at_once", "verdict"), [((2, 1), Status.DIFFERS), ((2, 2), None), ((2, None), None)])
def test_equal_allowances_do_not_make_equal_loads(at_once: tuple[int, int | None], verdict: Status | None) -> None:
    treatment, control = (trial(jobs=4, at_once=most) for most in at_once)
    found = observed(treatment, control, Observation(factor="concurrency", treatment=("4",), control=("4",)))
    assert found.verdict is verdict
    if verdict is not None:
        assert found.detail == "most attempts at once: treatment 2; control 1; allowed 4"
