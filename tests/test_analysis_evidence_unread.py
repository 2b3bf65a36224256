"""What stands in recorded results and is never read is counted by kind, and no key of somebody's own is named."""

import json
from pathlib import Path

from analysis.evidence.unread import UNKNOWN, unread_in


def written(folder: Path, name: str, document: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(document), encoding="utf-8")
    return folder


def test_keys_that_no_record_names_are_counted_by_the_values_behind_them(tmp_path: Path) -> None:
    trial = {
        "task_name": "a",
        "trial_uri": "file:///home/zebulon/jobs/a",
        "config": {"trials_dir": "/home/zebulon/jobs", "agent": {"name": "x", "env": {"K": "v", "L": "w"}}},
        "exception_info": {"exception_type": "E", "exception_message": "m", "exception_traceback": None},
        "zebulon_notes": {"a": [1, 2], "b": None},
    }
    found = unread_in([written(tmp_path / "job" / "a__1", "result.json", trial).parent])
    assert found == (("exception_message", 1), ("trial_uri", 1), ("trials_dir", 1), (UNKNOWN, 2))


def test_a_result_of_the_older_recorder_is_counted_too(tmp_path: Path) -> None:
    rows = [{"task_id": "a", "is_resolved": True, "instruction": "do it", "recording_path": "x/y", "weather": "fine"}]
    found = unread_in([written(tmp_path, "results.json", {"results": rows, "accuracy": 1.0})])
    assert found == (("accuracy", 1), ("instruction", 1), ("recording_path", 1), (UNKNOWN, 1))


def test_a_folder_given_twice_a_job_and_what_cannot_be_read_count_once_or_not_at_all(tmp_path: Path) -> None:
    written(tmp_path, "result.json", {"stats": {"n": 1}})
    broken = tmp_path / "b"
    broken.mkdir()
    (broken / "result.json").write_text("{", encoding="utf-8")
    written(tmp_path / "c", "result.json", {"task_name": "a", "trial_uri": "u"})
    assert unread_in([tmp_path, tmp_path / "c"]) == (("trial_uri", 1),)
