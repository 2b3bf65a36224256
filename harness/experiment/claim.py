"""The only place that makes an attempt one runner's own, and remembers tries of it that were never written.

An attempt is done exactly when its document stands. Whoever wants to make it holds the lock of a folder below it; the
system gives that lock back when its holder is killed, so nothing has to be cleared before somebody takes it up again.
Beside the lock stands one line for each try that began and one for each that an interrupt ended: the rest were lost.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.locking import LockedError, locked
from harness.run_folder import DOCUMENT
from harness.turn_metrics import FILE_NAME

TRY = ".try"
_BEGUN, _INTERRUPTED = "begun", "interrupted"


class Claim:
    """An attempt that is this runner's own as long as the lock is held."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._notes = folder / TRY / "tries"
        words = self._notes.read_text(encoding="utf-8").split() if self._notes.exists() else []
        self._begun = words.count(_BEGUN)
        self._interrupted = words.count(_INTERRUPTED)

    @property
    def done(self) -> bool:
        """Whether the attempt's document stands."""
        return (self._folder / DOCUMENT).exists()

    def begin(self) -> tuple[str, ...]:
        """Note that a try begins; return what a reader must know of the tries before it."""
        for stale in self._folder.glob(f"{FILE_NAME}*"):
            # Turns of a try that never became the attempt would be counted beside the attempt's own.
            stale.unlink(missing_ok=True)
        self._note(_BEGUN)
        lost = self._begun - self._interrupted
        self._begun += 1
        return (*_told(lost, "lost"), *_told(self._interrupted, "interrupted and not counted"))

    @property
    def number(self) -> int:
        """Number of the try that began last, from 1; 0 when none did."""
        return self._begun

    def interrupted(self) -> None:
        """Note that an interrupt ended the try that goes on."""
        self._note(_INTERRUPTED)

    def clear(self) -> None:
        """Take the notes away, and what a killed runner left; the document that stands tells what they told."""
        for torn in self._folder.glob(f".{DOCUMENT}.*.partial"):
            torn.unlink(missing_ok=True)
        shutil.rmtree(self._folder / TRY, ignore_errors=True)

    def _note(self, word: str) -> None:
        # One write that appends: a kill leaves the line whole or not there.
        file = os.open(self._notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(file, f"{word}\n".encode("ascii"))
        finally:
            os.close(file)


@contextmanager
def claimed(folder: Path, *, pause: Callable[[float], None]) -> Iterator[Claim | None]:
    """Hold an attempt.

    Args:
        folder: The attempt's folder; it is made when it is not there.
        pause: Sleeps for so many seconds.

    Yields:
        The claim; None when another runner holds it.
    """
    notes = folder / TRY
    notes.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(locked(notes, timeout_s=0.0, pause=pause))
        except (LockedError, FileNotFoundError):
            # Not there any more: whoever held it has just written the attempt and cleared up.
            claim = None
        else:
            notes.mkdir(parents=True, exist_ok=True)
            claim = Claim(folder)
        yield claim


def _told(count: int, how: str) -> tuple[str, ...]:
    if count < 1:
        return ()
    return (f"an earlier try of this attempt was {how}" if count == 1 else f"{count} earlier tries were {how}",)
