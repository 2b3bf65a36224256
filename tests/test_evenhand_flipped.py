"""Each factor flipped alone in recorded files on disk: exactly that factor is named, in every output."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from manifests.conditions import FACTORS
from tests.written import Json, Written, in_order, judged

Edit = Callable[[Written], None]
NAMES = tuple(factor.name for factor in FACTORS)


def result(*keys: str, value: object = ...) -> Edit:
    """Set a value in the results of the treatment; without one, take the key away."""

    def change(document: Json) -> None:
        table = document
        for key in keys[:-1]:
            table = table[key]
        table.pop(keys[-1], None)
        if value is not ...:
            table[keys[-1]] = value

    return lambda study: study.edit(change, arm="alpha")


def agent(key: str, value: object = ...) -> Edit:
    return result("config", "agent", "kwargs", key, value=value)


def environment(key: str, value: object = ...) -> Edit:
    return result("config", "environment", "kwargs", key, value=value)


def lock(*keys: str, value: object = ...) -> Edit:
    """Set a value in the lock and, where it stands there too, in the configuration of the treatment's job."""

    def change(document: Json) -> None:
        table = document
        for key in keys[:-1]:
            table = table[key]
        table.pop(keys[-1], None)
        if value is not ...:
            table[keys[-1]] = value

    def edit(study: Written) -> None:
        study.edit_locks(change, arm="alpha")
        config = study.jobs / "simulated-alpha" / "config.json"
        document = json.loads(config.read_bytes())
        if keys[0] in document:
            change(document)
            config.write_text(json.dumps(document), encoding="utf-8")

    return edit


def all_of(*edits: Edit) -> Edit:
    def edit(study: Written) -> None:
        for one in edits:
            one(study)

    return edit


def model(label: str | None, name: str | None, provider: str | None) -> Edit:
    info = None if name is None else {"name": name, "provider": provider}
    return all_of(result("config", "agent", "model_name", value=label), result("agent_info", "model_info", value=info))


def digests(value: str | None) -> Edit:
    """Give one task of the treatment other content, or leave both arms without any digest."""

    def one(document: Json) -> None:
        for row in document["trials"]:
            if row["task"]["name"] == document["trials"][0]["task"]["name"]:
                row["task"]["digest"] = value

    def none(document: Json) -> None:
        for row in document["trials"]:
            del row["task"]["digest"]

    if value is not None:
        return lambda study: study.edit_locks(one, arm="alpha")
    return all_of(lambda study: study.edit_locks(none), lambda study: study.edit(without_checksum))


def without_checksum(document: Json) -> None:
    del document["task_checksum"]


def blocks(study: Written) -> None:
    cells = [
        (document["task_name"].rpartition("/")[2], document["agent_info"]["name"]) for _, document in study.results()
    ]
    in_order(study, sorted(cells, key=lambda cell: (cell[1], cell[0])))


def one_version(study: Written) -> None:
    path, document = next(pair for pair in study.results() if pair[1]["agent_info"]["name"] == "alpha")
    document["agent_info"]["version"] = "1.0.1"
    path.write_text(json.dumps(document), encoding="utf-8")


def no_source(document: Json) -> None:
    # A local folder without a label: how the task was got is not recorded.
    document["source"] = None
    document["task_id"] = {"path": "tasks/x"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """How one factor is made to differ, and how the evidence is made to hide it; None where it cannot be."""

    differs: Edit
    hides: Edit | None


FLIPS: dict[str, Flip] = {
    "model": Flip(
        differs=model("simulated/another-model", "another-model", "simulated"),
        hides=all_of(
            model(None, None, None),
            # The provider is still recorded beside the missing name.
            result("agent_info", "model_info", value={"name": None, "provider": "simulated"}),
        ),
    ),
    "provider": Flip(
        differs=model("elsewhere/simulated-model-1", "simulated-model-1", "elsewhere"),
        hides=model("simulated-model-1", "simulated-model-1", None),
    ),
    "model_configuration": Flip(differs=agent("reasoning_effort", "high"), hides=agent("reasoning_effort")),
    "task_set": Flip(
        differs=result("source", value="evenhand/another"), hides=lambda study: study.edit(no_source, arm="alpha")
    ),
    "task_digest": Flip(differs=digests(f"sha256:{'0' * 64}"), hides=digests(None)),
    "prompt_digest": Flip(
        differs=result("config", "extra_instructions", value=["be brief"]),
        hides=result("config", "extra_instructions"),
    ),
    "budget": Flip(
        differs=result("config", "timeout_multiplier", value=2.0), hides=result("config", "timeout_multiplier")
    ),
    "tool_permissions": Flip(differs=agent("permission_mode", "bypass"), hides=agent("permission_mode")),
    "network_policy": Flip(
        differs=result("config", "agent", "extra_allowed_hosts", value=["example.org"]),
        hides=result("config", "agent", "extra_allowed_hosts"),
    ),
    "container_image": Flip(
        differs=environment("image_digest", f"sha256:{'1' * 64}"), hides=environment("image_digest")
    ),
    "environment_type": Flip(
        differs=result("config", "environment", "type", value="daytona"), hides=result("config", "environment", "type")
    ),
    "resources": Flip(
        differs=result("config", "environment", "override_cpus", value=8),
        hides=all_of(
            result("config", "environment", "override_cpus"), result("config", "environment", "override_memory_mb")
        ),
    ),
    "hardware": Flip(differs=environment("hardware", "another"), hides=environment("hardware")),
    "region": Flip(differs=environment("region", "another"), hides=environment("region")),
    "concurrency": Flip(differs=lock("n_concurrent_trials", value=8), hides=lock("n_concurrent_trials")),
    "retry_policy": Flip(differs=lock("retry", value={"max_retries": 1}), hides=lock("retry")),
    "cache_state": Flip(differs=agent("cache_state", "warm"), hides=agent("cache_state")),
    "harbor_version": Flip(differs=lock("harbor", "version", value="0.27.0"), hides=lock("harbor", "version")),
    "working_directory": Flip(differs=environment("working_directory", "src"), hides=environment("working_directory")),
    # Harbor's claude-code is priced by another hand; the arm is still found by the name it was configured with.
    "cost_method": Flip(differs=result("agent_info", "name", value="claude-code"), hides=None),
    "run_order": Flip(differs=blocks, hides=result("started_at", value=None)),
    "harness_version": Flip(differs=one_version, hides=result("agent_info", "version", value="unknown")),
}  # fmt: skip


# Further settings that make a factor differ, wherever Harbor or a runner keeps them.
SETTINGS: tuple[tuple[str, str, Edit], ...] = (
    ("endpoint of the agent", "provider", result("config", "agent", "base_url", value="https://model.example/v1")),
    ("endpoint as an argument", "provider", agent("api_base", "https://model.example/v1")),
    ("endpoint as a variable", "provider", result("config", "agent", "env", value={"X_BASE_URL": "https://m.example"})),
    ("endpoint in an old list", "provider", result("config", "agent", "env", value=["X_BASE_URL=https://m.example"])),
    ("step cap", "budget", agent("step_limit", 30)),
    ("cost cap", "budget", agent("cost_limit", 3)),
    ("call cap", "budget", agent("per_instance_call_limit", 3)),
    ("spending cap", "budget", agent("per_instance_cost_limit", 3)),
    ("enforcement", "resources", result("config", "environment", "cpu_enforcement_policy", value="limit")),
    ("environment's class", "environment_type", result("config", "environment", "import_path", value="own:Sandbox")),
    ("environment's variable", "environment_type", result("config", "environment", "env", value={"A": "1"})),
    ("unknown setting", "environment_type", result("config", "environment", "from_a_later_version", value=1)),
    ("place of the verifier", "harbor_version", result("verifier_environment_mode", value="separate")),
    ("verifier's class", "harbor_version", result("config", "verifier", "import_path", value="own:Verifier")),
    ("verifier off", "harbor_version", result("config", "verifier", "disable", value=True)),
)
# Settings at their default, which no older version wrote, and what leaves the run as it is.
DEFAULTS: tuple[Edit, ...] = (
    result("verifier_environment_mode", value="shared"),
    result("config", "agent", "base_url", value=None),
    result("config", "agent", "env", value={}),
    result("config", "environment", "env", value={}),
    result("config", "environment", "cpu_enforcement_policy", value=None),
    result("config", "environment", "from_a_later_version", value=False),
    result("config", "environment", "delete", value=True),
    result("config", "environment", "force_build", value=True),
    result("config", "verifier", "env", value={}),
)


def cases() -> Iterator[tuple[str, str]]:
    for name, flip in FLIPS.items():
        yield name, "differs"
        if flip.hides is not None:
            yield name, "unknown"


def test_every_factor_has_a_flip() -> None:
    assert tuple(FLIPS) == NAMES


def studied(folder: Path) -> Written:
    return Written(folder, "--tasks", "6", "--layout", "per_arm")


def test_with_everything_held_and_interleaved_it_is_comparative_and_confirmatory(tmp_path: Path) -> None:
    study = studied(tmp_path)
    study.pin()
    plan = study.freeze()
    document = study.compare(*study.pinned, "--plan", plan)
    assert set(judged(document).values()) == {"held"}
    assert document["label"] == {"comparative": True, "confirmatory": True, "simulated": True, "reasons": []}
    out = study.report(*study.pinned, "--plan", plan)
    written = json.loads((out / "decision.json").read_bytes())
    assert written["label"] == document["label"]
    text = (out / "report.md").read_text("utf-8")
    assert text.splitlines()[0].startswith("**SIMULATED: no real model ran; nothing here measures one. Verd")
    assert "NON-COMPARATIVE" not in text
    assert "MISSING" not in text


@pytest.mark.parametrize(("factor", "status"), list(cases()))
def test_one_factor_flipped_on_disk_is_exactly_the_one_named(factor: str, status: str, tmp_path: Path) -> None:
    study = studied(tmp_path)
    flip = FLIPS[factor]
    edit = flip.differs if status == "differs" else flip.hides
    assert edit is not None
    edit(study)
    document = study.compare()
    open_factors = {name: found for name, found in judged(document).items() if found != "held"}
    assert open_factors == {factor: status}
    assert document["label"]["comparative"] is False
    assert document["label"]["reasons"][0] == f"non-comparative: {factor} differ or are unknown"
    assert document["verdict"] == "none"
    out = study.report()
    named = factor.replace("_", " ")
    verb = "differs" if status == "differs" else "is unknown"
    first = (out / "report.md").read_text("utf-8").splitlines()[0]
    assert f"NON-COMPARATIVE: {named} {verb}. Numbers are descriptive." in first
    for path in sorted((out / "figures").glob("*.svg")):
        assert f"{named} {verb}" in path.read_text("utf-8"), path.name
    assert judged(json.loads((out / "decision.json").read_bytes())) == judged(document)


@pytest.mark.parametrize(("factor", "edit"), [row[1:] for row in SETTINGS], ids=[row[0] for row in SETTINGS])
def test_another_setting_of_a_factor_is_a_difference_and_its_value_stays_at_home(
    factor: str, edit: Edit, tmp_path: Path
) -> None:
    study = studied(tmp_path)
    edit(study)
    document = study.compare()
    assert {name: found for name, found in judged(document).items() if found != "held"} == {factor: "differs"}
    assert "example" not in json.dumps(document["conditions"])


def test_a_setting_at_its_default_is_no_difference(tmp_path: Path) -> None:
    study = studied(tmp_path)
    all_of(*DEFAULTS)(study)
    assert set(judged(study.compare()).values()) == {"held"}


def test_a_difference_by_task_says_both_values(tmp_path: Path) -> None:
    study = studied(tmp_path)
    FLIPS["budget"].differs(study)
    row = next(row for row in study.compare()["conditions"] if row["factor"] == "budget")
    assert row["detail"] == ("the arms show different values on 6 task(s): treatment timeout_x=2; control timeout_x=1")


def test_a_folder_inside_the_container_is_shown_and_declared_as_it_is(tmp_path: Path) -> None:
    study = studied(tmp_path)
    for arm in ("alpha", "beta"):
        study.edit(
            lambda document: document["config"]["environment"]["kwargs"].update(working_directory="/app"), arm=arm
        )
    study.pin({"working_directory": "/app"})
    plan = study.freeze()
    row = next(
        row
        for row in study.compare(*study.pinned, "--plan", plan)["conditions"]
        if row["factor"] == "working_directory"
    )
    assert (row["status"], row["detail"]) == ("held", "the same in both arms on every task: /app")
    text = (study.report(*study.pinned, "--plan", plan) / "report.md").read_text("utf-8")
    assert "| working directory | held | the same in both arms on every task: /app |" in text
    assert "| Declared: working directory | /app |" in text


@pytest.mark.parametrize("factor", ["hardware", "prompt_digest", "retry_policy"])
def test_a_declaration_that_the_other_arm_contradicts_differs(factor: str, tmp_path: Path) -> None:
    study = studied(tmp_path)
    hides = FLIPS[factor].hides
    assert hides is not None
    hides(study)
    study.pin({factor: "as in the other arm"})
    document = study.compare(*study.pinned, "--plan", study.freeze())
    row = next(row for row in document["conditions"] if row["factor"] == factor)
    # The control shows another value than was declared: a declaration never fills over what the evidence says.
    assert row["status"] == "differs"
    assert row["detail"].startswith("declared as in the other arm, but the evidence shows")


def test_a_factor_that_no_arm_shows_is_declared_and_not_verified(tmp_path: Path) -> None:
    study = studied(tmp_path)
    for arm in ("alpha", "beta"):
        study.edit(lambda document: document["config"]["environment"]["kwargs"].pop("hardware"), arm=arm)
    study.pin({"hardware": "one machine, 16 cores"})
    document = study.compare(*study.pinned, "--plan", study.freeze())
    row = next(row for row in document["conditions"] if row["factor"] == "hardware")
    assert row == {
        "factor": "hardware",
        "status": "declared",
        "detail": "declared, not verified: one machine, 16 cores",
    }
    assert document["label"]["comparative"] is True
    assert document["label"]["confirmatory"] is True


def test_interventions_are_told_where_every_trial_of_a_task_has_a_number(tmp_path: Path) -> None:
    study = studied(tmp_path)

    def stepped_in(document: Json) -> None:
        document["agent_result"]["metadata"] = {"interventions": 1, "free": [{}]}

    study.edit(stepped_in)
    path, one = next(study.results())
    one["agent_result"]["metadata"] = ["no table"]
    path.write_text(json.dumps(one), encoding="utf-8")
    side = "treatment" if one["agent_info"]["name"] == "alpha" else "control"
    task = one["task_name"].rpartition("/")[2]
    counted = {
        (row["task"], arm): row[arm]["interventions"]
        for row in study.compare()["tasks"]
        for arm in ("treatment", "control")
    }
    assert counted.pop((task, side)) is None
    assert set(counted.values()) == {2}
