"""The only place that counts how many attempts of a run go on at once."""

import threading
from collections.abc import Hashable

from harness.task import Concurrency


class Gauge:
    """Knows, for each attempt that goes on, the most that went on at any instant of it; threads may share it."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._lock = threading.Lock()
        self._most: dict[Hashable, int] = {}

    @property
    def running(self) -> int:
        """How many attempts go on now."""
        with self._lock:
            return len(self._most)

    def enter(self, attempt: Hashable) -> None:
        """Note that an attempt begins."""
        with self._lock:
            self._most[attempt] = 0
            now = len(self._most)
            self._most = {name: max(most, now) for name, most in self._most.items()}

    def leave(self, attempt: Hashable) -> Concurrency:
        """Note that an attempt is over; return how many shared the machine with it."""
        with self._lock:
            return Concurrency(jobs=self._jobs, at_once=self._most.pop(attempt))
