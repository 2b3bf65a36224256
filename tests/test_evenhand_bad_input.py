"""Bad input: one clear line, the documented code, nothing half-written, the evidence untouched."""

import json
import shutil
from pathlib import Path

import pytest

from evenhand.cli import run
from evenhand.exits import Exit
from manifests.digest import digest_file
from tests.test_evenhand_walk import ARMS, Study, bytes_below


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path, "--tasks", "4", "--attempts", "2")


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Run and return (exit code, stderr); a refusal says something and prints no data."""
    capsys.readouterr()
    code = run(list(arguments))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") >= 1
    assert "Traceback" not in captured.err
    return code, captured.err


def trial_folders(study: Study, agent: str) -> list[Path]:
    return sorted(
        path.parent
        for path in study.jobs.rglob("result.json")
        if json.loads(path.read_text(encoding="utf-8")).get("agent_info", {}).get("name") == agent
    )


def test_a_missing_folder(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refused(capsys, "compare", str(study.folder / "nowhere"), *ARMS)
    assert code == Exit.UNREADABLE
    assert "nowhere" in said
    assert said.count("\n") == 1


def test_a_folder_without_evidence(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    (study.folder / "empty").mkdir()
    code, said = refused(capsys, "compare", str(study.folder / "empty"), *ARMS)
    assert code == Exit.UNREADABLE
    assert said.count("\n") == 1


def test_no_evidence_named_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refused(capsys, "compare", *ARMS)
    assert code == Exit.USAGE
    assert "no evidence" in said


def test_a_wrong_digest(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("compare", "report", "load", "audit"):
        code, said = refused(capsys, verb, "--manifest", str(study.manifest), "--expect-manifest-sha256", "0" * 64)
        assert code == Exit.FINDINGS, verb
        assert study.digest in said


def test_what_is_no_digest(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refused(capsys, "compare", "--manifest", str(study.manifest), "--expect-manifest-sha256", "abc")
    assert code == Exit.USAGE
    assert "64 lower-case hex digits" in said


def test_a_manifest_without_its_digest(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refused(capsys, "compare", "--manifest", str(study.manifest))
    assert code == Exit.USAGE
    assert "go together" in said


def test_a_plan_and_a_manifest_that_disagree(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    plan = study.freeze(attempts=2)
    other = study.folder / "other.json"
    arguments = ["manifest", "build", str(study.jobs), "--study", "other", *ARMS, "--out", str(other)]
    capsys.readouterr()
    assert run(arguments) == Exit.DONE
    digest = capsys.readouterr().out.strip()
    code, said = refused(
        capsys, "compare", "--manifest", str(other), "--expect-manifest-sha256", digest, "--plan", str(plan)
    )
    assert code == Exit.FINDINGS
    assert "plan and manifest disagree" in said


def test_a_study_under_another_name_than_its_own(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    pins = ("--manifest", str(study.manifest), "--expect-manifest-sha256", digest_file(study.manifest))
    code, said = refused(capsys, "compare", *pins, "--study", "another")
    assert code == Exit.FINDINGS
    assert "--study another and the manifest's study walked disagree; leave the option out" in said
    code, said = refused(capsys, "compare", *pins, "--plan", str(study.freeze(attempts=2)), "--study", "another")
    assert code == Exit.FINDINGS
    assert "the plan's study walked" in said


def test_arms_with_different_tasks(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in trial_folders(study, "beta"):
        if "001" in folder.name:
            shutil.rmtree(folder)
    code, said = refused(capsys, "compare", str(study.jobs), *ARMS)
    assert code == Exit.FINDINGS
    assert "beta lacks sim-task-001" in said


def test_unequal_attempts_that_nobody_declared(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(trial_folders(study, "beta")[0])
    code, said = refused(capsys, "compare", str(study.jobs), *ARMS)
    assert code == Exit.FINDINGS
    assert "unequal attempts" in said


def test_unequal_attempts_that_the_manifest_declares(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(trial_folders(study, "beta")[0])
    declared = study.folder / "declared.json"
    arguments = ["manifest", "build", str(study.jobs), "--study", "walked", *ARMS, "--out", str(declared)]
    capsys.readouterr()
    assert run([*arguments, "--unequal-attempts"]) == Exit.DONE
    digest = capsys.readouterr().out.strip()
    assert run(["compare", "--manifest", str(declared), "--expect-manifest-sha256", digest]) == Exit.DONE


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        (lambda data: data[: len(data) // 2], "invalid_result_json"),
        (lambda _: b"", "empty_file"),
        (lambda _: b"[]", "invalid_result"),
        (lambda _: b"\xff\xfe\x00", "invalid_result_json"),
    ],
)
def test_half_a_file(study: Study, capsys: pytest.CaptureFixture[str], damage: object, finding: str) -> None:
    assert callable(damage)
    target = trial_folders(study, "alpha")[0] / "result.json"
    target.write_bytes(damage(target.read_bytes()))
    capsys.readouterr()
    assert run(["audit", *study.pinned, "--json"]) == Exit.FINDINGS
    document = json.loads(capsys.readouterr().out)
    assert document["status"] == "incomplete"
    codes = {item["code"] for item in document["findings"] if item["severity"] == "error"}
    assert finding in codes
    code, said = refused(capsys, "compare", *study.pinned)
    assert code == Exit.UNREADABLE
    assert f"{finding} at " in said
    assert str(study.folder) not in said


def test_a_selector_that_matches_nothing_or_twice(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refused(capsys, "compare", str(study.jobs), "--treatment", "agent=gamma", "--control", "agent=beta")
    assert code == Exit.USAGE
    assert "'agent=gamma' matches none of 16 trials; the evidence has agent=alpha, agent=beta" in said
    code, said = refused(capsys, "compare", str(study.jobs), "--treatment", "agent=alpha", "--control", "model=x")
    assert code == Exit.USAGE
    code, said = refused(
        capsys, "compare", str(study.jobs), "--treatment", "agent=alpha", "--control", "kwarg.cache_state=cold"
    )
    assert code == Exit.USAGE
    assert "matched by" in said


@pytest.mark.parametrize("selector", ["", "agent", "colour=red", "agent=a,agent=b"])
def test_what_is_no_selector(study: Study, capsys: pytest.CaptureFixture[str], selector: str) -> None:
    code, said = refused(capsys, "compare", str(study.jobs), "--treatment", selector, "--control", "agent=beta")
    assert code == Exit.USAGE
    assert "selector" in said


def test_an_interval_that_does_not_fit_or_does_not_exist(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("tango", "nonsense"):
        code, said = refused(capsys, "compare", str(study.jobs), *ARMS, "--interval", name)
        assert code == Exit.USAGE
        assert name in said


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nonsense"], "nonsense"),
        (["comapre"], "did you mean 'compare'"),
        (["compare", "--date", "tomorrow"], "YYYY-MM-DD"),
        (["compare", "--study", "../x"], "--study"),
        (["demo", "--table", "1,2"], "N11,N10,N01,N00"),
        (["query"], "SQL"),
        (["power", "plan.toml", "--earlier-se", "nan"], "'nan' is not a finite number"),
        (["power", "plan.toml", "--cost-per-trial", "inf"], "'inf' is not a finite number"),
        (["power", "plan.toml", "--shift-sd", "nan"], "'nan' is not a finite number"),
        (["power", "plan.toml", "--effect", "nan"], "'nan' is not a finite number"),
        (["scan", "--timeout", "nan", "."], "'nan' is not a finite number"),
        (["audit", "--explain", "nothing"], "nothing"),
    ],
)
def test_usage_faults_name_the_option(capsys: pytest.CaptureFixture[str], arguments: list[str], word: str) -> None:
    code, said = refused(capsys, *arguments)
    assert code == Exit.USAGE
    assert word in said


def test_a_plan_that_is_missing_or_was_never_frozen(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = refused(capsys, "compare", str(study.jobs), *ARMS, "--plan", str(study.folder / "absent.json"))
    assert code == Exit.UNREADABLE
    source = study.folder / "draft.toml"
    source.write_text("schema = 'evenhand-plan-1'\n", encoding="utf-8")
    code, said = refused(capsys, "compare", str(study.jobs), *ARMS, "--plan", str(source))
    assert code in {Exit.FINDINGS, Exit.USAGE}
    assert "draft.toml" in said


def test_an_incomplete_plan_is_refused_with_every_fault(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    source = study.folder / "plan.toml"
    source.write_text("schema = 'evenhand-plan-1'\nattempts = 0\nseed = -1\n", encoding="utf-8")
    code, said = refused(capsys, "plan", "check", str(source))
    assert code == Exit.USAGE
    for field in ("study", "question", "attempts", "seed", "cohort", "endpoint"):
        assert field in said


def test_a_query_without_a_warehouse(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refused(capsys, "query", "select 1", "--db", str(study.folder / "absent.duckdb"))
    assert code == Exit.UNREADABLE
    assert "evenhand load" in said


@pytest.mark.parametrize("statement", ["selec 1", "select broken from trials", "drop table trials"])
def test_a_statement_that_is_no_question_is_a_fault_of_usage(
    study: Study, capsys: pytest.CaptureFixture[str], statement: str
) -> None:
    file = str(study.folder / "warehouse.duckdb")
    assert run(["load", str(study.jobs), "--db", file]) == Exit.DONE
    capsys.readouterr()
    code, said = refused(capsys, "query", statement, "--db", file)
    assert code == Exit.USAGE
    assert "Traceback" not in said


def test_a_report_is_never_written_over_what_is_no_draft(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    precious = study.folder / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work", encoding="utf-8")
    code, said = refused(capsys, "report", str(study.jobs), *ARMS, "--out", str(precious))
    assert code == Exit.USAGE
    assert "no draft" in said
    assert bytes_below(precious) == {"thesis.txt": b"years of work"}
    assert not [entry for entry in study.folder.iterdir() if "partial" in entry.name]


def test_ctrl_c_leaves_nothing_half_written(
    study: Study, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = bytes_below(study.folder)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", interrupt)
    code, said = refused(
        capsys, "report", str(study.jobs), *ARMS, "--out", str(study.folder / "draft"), "--date", "2026-03-01"
    )
    assert code == Exit.INTERRUPTED
    assert "interrupted" in said
    assert bytes_below(study.folder) == before


def test_damage_on_both_sides_does_not_shrink_the_study_silently(
    study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [folder for agent in ("alpha", "beta") for folder in trial_folders(study, agent)]
    for folder in folders:
        if "001" in folder.name:
            (folder / "result.json").write_bytes(b"")
    code, said = refused(capsys, "compare", str(study.jobs), *ARMS)
    assert code == Exit.UNREADABLE
    assert "4 recorded results cannot be read: empty_file at " in said


def test_a_folder_name_that_is_no_utf_8(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    job = next(study.jobs.iterdir())
    job.rename(job.with_name("caf\udce9"))
    assert run(["compare", str(study.jobs), *ARMS]) == Exit.DONE
    assert run(["load", str(study.jobs), "--db", str(study.folder / "w.duckdb")]) == Exit.DONE
    assert run(["report", str(study.jobs), *ARMS, "--out", str(study.folder / "draft")]) == Exit.DONE


def test_a_place_that_cannot_be_written(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    (study.folder / "file").write_bytes(b"")
    for arguments in (
        ["report", str(study.jobs), *ARMS, "--out", str(study.folder / "file" / "draft")],
        ["load", str(study.jobs), "--db", str(study.folder)],
    ):
        code, _ = refused(capsys, *arguments)
        assert code == Exit.UNREADABLE


def test_arms_named_by_folders_give_the_study_a_public_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = Study(tmp_path, "--tasks", "4", "--attempts", "1", "--layout", "per_arm")
    capsys.readouterr()
    arms = ["--treatment", "path=*alpha*", "--control", "path=*beta*"]
    assert run(["compare", str(study.jobs), *arms, "--json"]) == Exit.DONE
    assert json.loads(capsys.readouterr().out)["study"] == "alpha-vs-beta"
