"""The only place for a container as the place of an attempt: its start, what runs in it, its end.

The image brings everything but the agent's program: the folder of the programs is mounted read-only where it lies on
this machine, with the work and home folders of the attempt. A program from elsewhere must stand at the same path in the
image. The network is this machine's, as without an image.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import which
from typing import Protocol

from harness.launch import Launch, TurnRequest
from harness.programs.locate import cache_folder
from harness.programs.program import LaunchError
from harness.tasks.sandbox import SHELL, CommandError, LineTimeoutError, Stop, never, run_command, run_line

ENGINES = ("docker", "podman")
# What the engine's own command needs of the caller; the container gets none of it.
CLIENT = ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "CONTAINER_HOST", "XDG_RUNTIME_DIR")
# These are the image's own.
IMAGES_OWN = frozenset({"PATH", "TMPDIR"})
_START_S = 600.0
_CLEAR_S = 30.0
_DRIVERS = Path(__file__).resolve().parents[1] / "programs"
# The first process of a container is spared when all others are killed.
_IDLE = "while :; do sleep 3600; done"


class Place(Protocol):
    """Where the lines of a task and the program of an attempt run."""

    def run_line(self, line: str, folder: Path, *, environment: Mapping[str, str], timeout_s: float) -> int:
        """Run a line as `harness.tasks.sandbox.run_line` does."""

    def placed(self, launch: Launch) -> Launch:
        """Return how a program is started in this place."""

    def clear(self) -> None:
        """End what a program left in this place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bare:
    """This machine: the supervisor itself leaves nothing.

    Attributes:
        stop: Asked while a line runs; True ends it.
    """

    stop: Stop = never

    def run_line(self, line: str, folder: Path, *, environment: Mapping[str, str], timeout_s: float) -> int:
        """Run a line.

        Raises:
            CommandError: When the shell cannot be started.
            LineTimeoutError: When it takes longer.
            StoppedError: When the runner is told to stop.
        """
        return run_line(line, folder, environment=environment, timeout_s=timeout_s, stop=self.stop)

    def placed(self, launch: Launch) -> Launch:
        """Return the launch as it is."""
        return launch

    def clear(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A running container.

    Attributes:
        engine: Absolute command of the engine.
        name: Its name.
        client: Environment of the engine's command.
        folder: Folder that the engine's command runs in.
        stop: Asked while a line runs; True ends it.
    """

    engine: str
    name: str
    client: Mapping[str, str]
    folder: Path
    stop: Stop = never

    def run_line(self, line: str, folder: Path, *, environment: Mapping[str, str], timeout_s: float) -> int:
        """Run a line in the container; what it left there ends with it.

        Raises:
            CommandError: When the engine cannot be started.
            LineTimeoutError: When it takes longer.
            StoppedError: When the runner is told to stop.
        """
        argv = (self.engine, *self._exec(folder, environment), SHELL, "-c", line)
        try:
            return run_command(argv, self.folder, environment=self.client, timeout_s=timeout_s, stop=self.stop)
        finally:
            self.clear()

    def placed(self, launch: Launch) -> Launch:
        """Return how a program is started in the container; a credential goes by its name and is no argument."""
        secret = {name: value for name, value in launch.env.items() if value in launch.secrets}
        plain = {name: value for name, value in launch.env.items() if name not in secret}
        named = [word for name in sorted(secret) for word in ("-e", name)]
        head = (self.engine, *self._exec(launch.cwd, plain, *named))
        return replace(launch, argv=(*head, *launch.argv), env={**self.client, **secret})

    def clear(self) -> None:
        """Kill everything in the container but its first process."""
        with suppress(CommandError, LineTimeoutError):
            self._engine("exec", self.name, SHELL, "-c", "kill -9 -1", timeout_s=_CLEAR_S)

    def remove(self) -> None:
        """End the container."""
        with suppress(CommandError, LineTimeoutError):
            self._engine("rm", "-f", self.name, timeout_s=_CLEAR_S)

    def start(self, image: str, *mounts: str) -> bool:
        """Start it; tell whether the engine did."""
        identity = f"{os.getuid()}:{os.getgid()}"
        mapped = ("--userns=keep-id",) if Path(self.engine).name == "podman" else ()
        words = ("--network", "host", "--user", identity, *mapped, "-w", str(self.folder), "--entrypoint", SHELL)
        volumes = [word for mount in mounts for word in ("-v", mount)]
        run = ("run", "-d", "--name", self.name, *words, *volumes, image, "-c", _IDLE)
        with suppress(CommandError, LineTimeoutError):
            return self._engine(*run, timeout_s=_START_S) == 0
        return False

    def _exec(self, folder: Path, environment: Mapping[str, str], *more: str) -> tuple[str, ...]:
        kept = {name: value for name, value in environment.items() if name not in IMAGES_OWN}
        given = [word for name, value in sorted(kept.items()) for word in ("-e", f"{name}={value}")]
        return ("exec", "-i", "-w", str(folder), *given, *more, self.name)

    def _engine(self, *words: str, timeout_s: float) -> int:
        return run_command((self.engine, *words), self.folder, environment=self.client, timeout_s=timeout_s)


@contextmanager
def place_of(image: str | None, request: TurnRequest, *, stop: Stop = never) -> Iterator[Place]:
    """Give the place of an attempt: this machine, or a container that lives as long as the attempt.

    Raises:
        LaunchError: When there is no engine, or it does not start the image.
    """
    if image is None:
        yield Bare(stop=stop)
        return
    engine = find_engine(image, request.environment)
    client = {name: request.environment[name] for name in CLIENT if name in request.environment}
    name = f"evenhand-{request.workdir.parent.name}"
    container = Container(engine=engine, name=name, client=client, folder=request.workdir, stop=stop)
    programs = cache_folder(request.environment)
    shared = [f"{path}:{path}:ro" for path in (programs, _DRIVERS, *request.plugins) if path.is_dir()]
    own = [f"{path}:{path}" for path in (request.workdir, request.home)]
    try:
        if not container.start(image, *own, *shared):
            raise LaunchError(f"image={image!r} cannot be started with {Path(engine).name}; pull it and run again")
        yield container
    finally:
        container.remove()


def find_engine(image: str, environment: Mapping[str, str]) -> str:
    """Return the absolute command of the first engine on PATH.

    Raises:
        LaunchError: When there is none.
    """
    found = (which(name, path=environment.get("PATH", "")) for name in ENGINES)
    engine = next((path for path in found if path is not None), None)
    if engine is None:
        raise LaunchError(
            f"image={image!r} needs {' or '.join(ENGINES)}; found neither on PATH. Install one, or remove image"
        )
    return str(Path(engine).absolute())
