"""The only place that writes down what a run does: its journal, and each attempt's turn metrics and document.

`<run>/journal.jsonl` has a record when an attempt begins and when it ends, so that an attempt that a killed runner lost
is known. The document comes last and whole: where it stands, the attempt is done.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.generations import generations
from harness.journal import Event, Journal, JournalError, verify
from harness.redaction import redacted
from harness.run_folder import attempt_folder, write_task
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
        self._lost: frozenset[str] | None = None

    def begin(self, task_id: str, labels: Labels, *, harness: str) -> bool:
        """Note that an attempt begins; tell whether an earlier try of it was lost.

        Raises:
            JournalError: When the journal was altered.
            OSError: When it cannot be written.
        """
        name = _name(task_id, labels)
        facts = {"harness": harness}
        if self._was_lost(name):
            self._journal.recover(name, at_epoch_ms=self._now_ms(), facts=facts)
            return True
        try:
            self._journal.append(Event.STARTED, name, at_epoch_ms=self._now_ms(), facts=facts)
        except JournalError:
            # A killed writer left half a record: recovery cuts it off, counts it, and refuses what is worse.
            self._journal.recover(name, at_epoch_ms=self._now_ms(), facts=facts)
        return False

    def finish(self, done: Attempt, labels: Labels) -> Written:
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
        facts = {"status": record.final_status}
        self._journal.append(event, _name(record.task_id, labels), at_epoch_ms=self._now_ms(), facts=facts)
        return Written(
            document=document,
            turns=recorder.counts.written if recorder.enabled else None,
            without_usage=found.without_usage,
            left_out=found.left_out,
            dropped=recorder.counts.total_dropped,
        )

    def _was_lost(self, name: str) -> bool:
        if self._lost is None:
            self._lost = _unfinished(self._run / JOURNAL)
        return name in self._lost

    def _now_ms(self) -> int:
        return self._wall_us() // 1000


def _unfinished(path: Path) -> frozenset[str]:
    """Return the attempts that began and did not finish, as far as the journal can be trusted."""
    try:
        entries = verify(path).entries
    except FileNotFoundError:
        return frozenset()
    last = {entry.run_id: entry.event for entry in entries if entry.event is not Event.TOOL_TIMEOUT}
    return frozenset(name for name, event in last.items() if event is not Event.FINISHED)


def _name(task_id: str, labels: Labels) -> str:
    return f"{labels.arm}/{task_id}/{labels.attempt:02d}"
