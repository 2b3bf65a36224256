"""The only place that shows progress: a line that rewrites itself on a terminal, few plain lines or none in a pipe."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# A run of any size says no more than this where its lines stay.
MOST_LINES = 50


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a callback (done, total) that draws on stderr, or None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    drawn = False

    def draw(done: int, total: int) -> None:
        nonlocal drawn
        if done == total or done % 64 == 0:
            sys.stderr.write(f"\r{label} {done}/{total}")
            sys.stderr.flush()
            drawn = True

    try:
        yield draw
    finally:
        if drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class RunProgress:
    """Says how far a run of attempts is: a line for each that ends, at most 50, and on a terminal one that changes."""

    def __init__(self, jobs: int, *, terminal: bool, write: Callable[[str], None]) -> None:
        """Begin to say.

        Args:
            jobs: Attempts at a time.
            terminal: Whether a line may be rewritten.
            write: Writes text as it is.
        """
        self._jobs = jobs
        self._terminal = terminal
        self._write = write
        self._took_s: list[float] = []

    def tell(self, done: int, total: int, *, running: int, ended: str | None, took_s: float | None) -> None:
        """Say where the run stands.

        Args:
            done: Attempts that it is through with.
            total: Attempts that it is to make.
            running: Attempts that go on.
            ended: What has just become of one; None when one has just begun.
            took_s: How long it took, in seconds; None when it took none or that is not known.
        """
        if took_s is not None:
            self._took_s.append(took_s)
        left = self.left_s(total - done)
        about = f"{running} running" + ("" if left is None else f", about {_span(left)} left")
        clear = "\r\x1b[K" if self._terminal else ""
        step = -(-total // MOST_LINES)
        if ended is not None and (done % step == 0 or done == total):
            self._write(f"{clear}[{done}/{total}] {ended}; {about}\n")
        if self._terminal and done < total:
            self._write(f"{clear}{done}/{total} done, {about}")

    def left_s(self, remaining: int) -> float | None:
        """Return how long what remains will take, in seconds, as the attempts of this run took; None before any."""
        if not self._took_s or remaining < 1:
            return None
        return sum(self._took_s) / len(self._took_s) * remaining / min(self._jobs, remaining)


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / 60)} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
