"""The only place that writes down what a run does: its journal, and each attempt's turn metrics and document.

`<run>/journal.jsonl` has a record when an attempt begins and when it ends, so that an attempt that a killed runner lost
is known. The document comes last and whole: where it stands, the attempt is done.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.generations import generations
from harness.journal import Event, Facts, Journal, JournalError
from harness.redaction import redacted
from harness.run_folder import attempt_folder, task_document, write_task
from harness.tasks.attempt import Attempt, Labels
from harness.turn_metrics import FOLDER, TurnRecorder

JOURNAL = "journal.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was written of an attempt.

    Attributes:
        document: Its task document.
        turns: Turns in its turn metrics; None where the environment disables them.
        without_usage: Of these, turns whose tokens or cost are not known.
        left_out: Generations and tool calls that were not measured and stand in no turn.
        dropped: Turns that could not be written.
    """

    document: Path
    turns: int | None
    without_usage: int
    left_out: int
    dropped: int


class RunLog:
    """The record of one run folder."""

    def __init__(self, run: Path, environment: Mapping[str, str], *, wall_us: Callable[[], int]) -> None:
        """Make a log; nothing is written yet.

        Args:
            run: The run folder.
            environment: The caller's; `OMK_TURN_METRICS=0` disables turn metrics, `OMK_TURN_METRICS_DIR` moves them.
            wall_us: The wall clock, microseconds since 1970.
        """
        self._run = run
        self._environment = environment
        self._wall_us = wall_us
        self._journal = Journal(run / JOURNAL)

    @property
    def run(self) -> Path:
        """The run folder."""
        return self._run

    def begin(self, task_id: str, labels: Labels, *, harness: str, again: bool = False) -> None:
        """Note that an attempt begins, or that it is taken up again.

        Raises:
            JournalError: When the journal was altered.
            OSError: When it cannot be written.
        """
        event = Event.RECOVERED if again else Event.STARTED
        self._note(event, attempt_name(labels.arm, task_id, attempt=labels.attempt), {"harness": harness})

    def confirm(self, task_id: str, labels: Labels) -> None:
        """Note the end of an attempt whose document stands and whose runner was killed before it could.

        Raises:
            JournalError: When the journal was altered.
            OSError: When it cannot be written.
        """
        self._note(Event.FINISHED, attempt_name(labels.arm, task_id, attempt=labels.attempt), {"status": None})

    def abandon(self, done: Attempt, *, number: int) -> Path:
        """Write what is known of a try that does not count, under a name that no reader takes for an attempt.

        Args:
            done: The try.
            number: The try's number, from 1.

        Raises:
            OSError: When it cannot be written.
        """
        record = done.record
        path = attempt_folder(self._run, record.arm, record.task_id, attempt=record.attempt)
        path /= f"interrupted-{number:02d}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        document = redacted(task_document(record), done.secrets)
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
        name = attempt_name(record.arm, record.task_id, attempt=record.attempt)
        self._note(Event.ABANDONED, name, {"status": record.final_status})
        return path

    def finish(self, done: Attempt) -> Written:
        """Write an attempt's turn metrics, its document and its end.

        Raises:
            RunFolderError: When the attempt was written before.
            OSError: When the document or the journal cannot be written.
        """
        record = done.record
        folder = attempt_folder(self._run, record.arm, record.task_id, attempt=record.attempt)
        found = generations(record, done.prices)
        recorder = TurnRecorder(folder, {FOLDER: ".", **self._environment})
        for turn in found.turns if recorder.enabled else ():
            recorder.record(redacted(turn, done.secrets))
        document = write_task(self._run, record, secrets=done.secrets)
        event = Event.ABANDONED if done.interrupted else Event.FINISHED
        name = attempt_name(record.arm, record.task_id, attempt=record.attempt)
        self._note(event, name, {"status": record.final_status})
        return Written(
            document=document,
            turns=recorder.counts.written if recorder.enabled else None,
            without_usage=found.without_usage,
            left_out=found.left_out,
            dropped=recorder.counts.total_dropped,
        )

    def _note(self, event: Event, name: str, facts: Facts) -> None:
        at_epoch_ms = self._wall_us() // 1000
        try:
            if event is Event.RECOVERED:
                self._journal.recover(name, at_epoch_ms=at_epoch_ms, facts=facts)
            else:
                self._journal.append(event, name, at_epoch_ms=at_epoch_ms, facts=facts)
        except JournalError:
            # A killed writer left half a record: recovery cuts it off, counts it, and refuses what is worse.
            self._journal.recover(name, at_epoch_ms=at_epoch_ms, facts=facts)
            if event is not Event.RECOVERED and event is not Event.STARTED:
                self._journal.append(event, name, at_epoch_ms=at_epoch_ms, facts=facts)


def attempt_name(arm: str, task_id: str, *, attempt: int) -> str:
    """Return the name of an attempt in the journal, which is its place below the run folder too."""
    return f"{arm}/{task_id}/{attempt:02d}"
