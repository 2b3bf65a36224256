"""The only place for what a program's folder must offer so that the shared supervisor can run it."""

from typing import Protocol

from harness.kinds import Harness
from harness.launch import Launch, TurnRequest


class LaunchError(ValueError):
    """A program cannot be started as asked; the message says what was found, what was expected and the next step."""


class RequestRefusedError(LaunchError):
    """The request itself is at fault, whatever is installed."""


class Program(Protocol):
    """A program that can be started; its stream is read by the reducer of the same harness."""

    @property
    def harness(self) -> Harness:
        """Which harness it is."""

    def launch(self, request: TurnRequest) -> Launch:
        """Return how a turn is started.

        Raises:
            LaunchError: When the program is missing or the request holds a value that must be refused.
        """
