"""Every measure of the nine dimension views against plain Python over the trials and turns that were written."""

import json
import math
import random
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from analysis.warehouse import DIMENSION_VIEWS, connect, fetch
from evenhand.cli import run
from evenhand.exits import Exit
from tests.turn_lines import call, recorded, write_lines
from tests.turn_studies import HarborStudy

Json = dict[str, Any]
Rows = list[dict[str, Any]]
Measures = dict[str, float | None]
KINDS = ("input", "output", "cacheRead", "cacheWrite")
# What no recorder writes down; null whatever the trials are.
NOT_RECORDED = {
    "tool_output_tokens_per_solved",
    "retry_rate",
    "intervention_rate",
    "duplicate_work",
    "resume_accuracy",
    "policy_violations_per_trial",
    "unauthorized_effects_per_trial",
    "false_positive_block_rate",
    "complexity",
    "module_size_debt",
    "gate_health",
}


def drawn_turns(session: str, start: int, rng: random.Random) -> Iterator[Json]:
    """Yield the turns of one session, one after the other."""
    for index in range(rng.randrange(1, 5)):
        took = rng.randrange(100, 3000)
        calls = [drawn_call(rng) for _ in range(rng.randrange(4))]
        yield recorded(
            sessionId=session,
            turnIndex=index,
            startedAtEpochMs=start,
            endedAtEpochMs=start + took,
            durationMs=took,
            toolCalls=calls,
            toolCallCount=len(calls),
            toolFailureCount=sum(not one["ok"] for one in calls),
            compacted=rng.random() < 0.3,
            usage={**{kind: rng.randrange(1000) for kind in KINDS}, "costUsd": rng.randrange(10**6) / 10**6},
        )
        start += took + rng.randrange(50)


def drawn_call(rng: random.Random) -> Json:
    if rng.random() < 0.7:
        return call(rng.choice("ab"), rng.randrange(500))
    return call(rng.choice("ab"), rng.randrange(500), ok=False, errorClass=rng.choice(("permission", "timeout")))


def study_with_turns(folder: Path, *, seed: int) -> tuple[Path, dict[str, list[Json]]]:
    """Write a study of two arms, every second trial with two sessions side by side; return it and turns by trial."""
    out, rng = folder / "study", random.Random(seed)
    assert run(["demo", "--out", str(out), "--tasks", "4", "--attempts", "3", "--seed", str(seed)]) == Exit.DONE
    results = sorted((out / "jobs").glob("*/*/result.json"))
    study, found = HarborStudy(folder=out / "jobs", results=tuple(results)), {}
    for number, result in enumerate(results):
        sessions = [f"session-{number}-{place}" for place in range(1 + number % 2)]
        study.change(result, {"agent_result": {"metadata": {"session_ids": sessions}}})
        turns = [one for session in sessions for one in drawn_turns(session, 1000 + rng.randrange(2000), rng)]
        write_lines(result.parent / "agent" / "turns.jsonl", *turns)
        found[json.loads(result.read_text(encoding="utf-8"))["id"]] = turns
    return study.folder, found


def per(total: float, number: int) -> float | None:
    return total / number if number else None


def nearest_rank(values: Sequence[float], share: float) -> float | None:
    return sorted(values)[max(1, math.ceil(share * len(values))) - 1] if values else None


def busy_ms(turns: Iterable[Json]) -> float:
    """Return the milliseconds in which at least one of the turns ran."""
    total, end = 0.0, 0.0
    for start, stop in sorted((one["startedAtEpochMs"], one["endedAtEpochMs"]) for one in turns):
        total, end = total + max(0.0, stop - max(start, end)), max(end, stop)
    return total


def by_hand(trials: Rows, turns: dict[str, list[Json]]) -> Measures:
    """Return every measure of an arm."""
    solved = [trial for trial in trials if trial["counts_as"] == "solved"]
    own = [turns[trial["trial"]] for trial in trials]
    every = [one for made in own for one in made]
    calls = [one for turn in every for one in turn["toolCalls"]]
    tasks: dict[str, list[int]] = {}
    for trial in trials:
        tasks.setdefault(trial["task"], []).append(trial["counts_as"] == "solved")
    number = len(solved)
    summed = {kind: sum(turn["usage"][kind] for turn in every) for kind in (*KINDS, "costUsd")}
    path, walls = sum(map(busy_ms, own)), [trial["wall_ms"] for trial in solved]
    return {
        "trials": len(trials),
        "solved": number,
        "pass_rate": number / len(trials),
        "cost_usd_per_solved": per(sum(float(trial["cost_usd"]) for trial in trials), number),
        "tokens_per_solved": per(sum(trial["input_tokens"] + trial["output_tokens"] for trial in trials), number),
        "turn_cost_usd_per_solved": per(summed["costUsd"], number),
        "turn_tokens_per_solved": per(sum(summed[kind] for kind in KINDS), number),
        "wall_ms_p50_solved": nearest_rank(walls, 0.5),
        "wall_ms_p95_solved": nearest_rank(walls, 0.95),
        "input_tokens_per_solved": per(summed["input"], number),
        "cache_read_tokens_per_solved": per(summed["cacheRead"], number),
        "cache_write_tokens_per_solved": per(summed["cacheWrite"], number),
        "compactions_per_solved": per(sum(turn["compacted"] for turn in every), number),
        "calls": len(calls),
        "failure_rate": per(sum(not one["ok"] for one in calls), len(calls)),
        "refusal_rate": per(sum(one.get("errorClass") == "permission" for one in calls), len(calls)),
        "critical_path_ms_per_solved": per(path, number),
        "useful_concurrency": per(sum(turn["durationMs"] for turn in every), int(path)),
        "repeated_tasks": len(tasks),
        "repeated_run_variance": statistics.mean(statistics.variance(list(map(int, own))) for own in tasks.values()),
    }


@pytest.mark.parametrize("seed", [3, 5])
def test_every_measure_is_the_one_that_a_hand_count_gives(tmp_path: Path, seed: int) -> None:
    folder, turns = study_with_turns(tmp_path, seed=seed)
    db = tmp_path / "w.duckdb"
    assert run(["load", str(folder), "--study", "s", "--db", str(db)]) == Exit.DONE
    connection = connect(str(db))
    connection.execute("update trials set arm = agent")
    trials = fetch(connection, "select * from trials")
    for arm in {trial["arm"] for trial in trials}:
        expected = by_hand([trial for trial in trials if trial["arm"] == arm], turns)
        seen = set()
        for view in DIMENSION_VIEWS:
            (row,) = fetch(connection, f"select * from {view} where arm = $arm", {"arm": arm})  # noqa: S608  # a name of ours
            for name in row.keys() - {"study", "arm"}:
                value = row[name]
                seen.add(name)
                if name in NOT_RECORDED or expected[name] is None:
                    assert value is None, name
                else:
                    assert float(str(value)) == pytest.approx(expected[name], rel=1e-9), name
        assert seen == expected.keys() | NOT_RECORDED
    connection.close()
