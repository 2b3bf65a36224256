"""The only place that installs the five pinned programs, and that says where each one is.

Names, versions and integrity hashes lie in `pinned/`; the registries are whatever npm and pip are configured to use.
Install scripts never run: the programs are native binaries, or start under the pinned Node. Live checks only.
"""

import argparse
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.kinds import Harness
from harness.programs.locate import COMMANDS, VARIABLE, cache_folder, command

PINNED = Path(__file__).parent / "pinned"
LONGEST_S = 900
MACHINES = {("Linux", "x86_64")}
PARTS = ("npm", "antigravity")
STAMP = ".evenhand-installed"


class InstallError(RuntimeError):
    """A program cannot be installed; the message says which part, what failed and the next step."""


def install(cache: Path, names: Sequence[Harness] = tuple(Harness)) -> dict[Harness, tuple[str, ...]]:
    """Install what is missing or of another pin, and return every asked program's command.

    Raises:
        InstallError: When a tool is missing, a registry does not answer, or a hash does not fit.
    """
    machine = (platform.system(), platform.machine())
    if machine not in MACHINES:
        raise InstallError(
            f"the pins are for Linux on x86_64; this is {' '.join(machine)}. Install the programs by hand"
        )
    wanted = {COMMANDS[name][0].parts[0] for name in names}
    cache.mkdir(parents=True, exist_ok=True)
    with _alone(cache):
        for part in PARTS:
            if part in wanted and not _is_current(cache, part):
                _MAKERS[part](cache)
                (cache / part / STAMP).write_text(_pin(part), encoding="utf-8")
    found = {name: command(name, cache) for name in names}
    missing = [name.value for name, words in found.items() if words is None]
    if missing:
        raise InstallError(
            f"{', '.join(missing)}: installed, but the program is not where it should be; remove {cache}"
        )
    return {name: words for name, words in found.items() if words is not None}


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    with (cache / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _pin(part: str) -> str:
    name = "package-lock.json" if part == "npm" else "antigravity.txt"
    return hashlib.sha256((PINNED / name).read_bytes()).hexdigest()


def _is_current(cache: Path, part: str) -> bool:
    stamp = cache / part / STAMP
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _pin(part)


def _make_npm(cache: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise InstallError("npm is not on PATH; install Node.js with npm, any version from 18")
    folder = cache / "npm"
    folder.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(PINNED / name, folder / name)
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    _run("npm", (npm, "ci", *quiet), folder=folder)


def _make_antigravity(cache: Path) -> None:
    folder = cache / "antigravity"
    _run("antigravity", (sys.executable, "-m", "venv", "--clear", str(folder)), folder=cache)
    pip = (str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    only = ("--require-hashes", "--only-binary", ":all:", "-r", str(PINNED / "antigravity.txt"))
    _run("antigravity", (*pip, *only), folder=cache)


_MAKERS = {"npm": _make_npm, "antigravity": _make_antigravity}


def _run(part: str, argv: Sequence[str], *, folder: Path) -> None:
    try:
        done = subprocess.run(  # noqa: S603  # our own words, no shell
            argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST_S, check=False
        )
    except subprocess.TimeoutExpired as fault:
        raise InstallError(f"{part}: {Path(argv[0]).name} did not end within {LONGEST_S} s") from fault
    except OSError as fault:
        raise InstallError(f"{part}: {Path(argv[0]).name} cannot be started: {fault.strerror}") from fault
    if done.returncode != 0:
        last = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise InstallError(f"{part}: {Path(argv[0]).name} ended with {done.returncode}\n{last}")


def main(words: Sequence[str] | None = None) -> int:
    """Install and print where each program is."""
    parser = argparse.ArgumentParser(prog="python -P -m harness.testing.install", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--cache", type=Path, help=f"folder to keep them in; default: ${VARIABLE}, else the user's cache"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(h.value for h in Harness)}")
    given = parser.parse_args(words)
    known = {harness.value: harness for harness in Harness}
    strange = [name for name in given.names if name not in known]
    if strange:
        parser.error(f"no program is called {strange[0]!r}; expected {', '.join(known)}")
    cache = (given.cache or cache_folder(os.environ)).absolute()
    began = time.monotonic()
    try:
        found = install(cache, tuple(known[name] for name in given.names) or tuple(Harness))
    except (InstallError, OSError) as fault:
        sys.stderr.write(f"programs cannot be installed: {fault}\n")
        return 1
    for harness, argv in found.items():
        sys.stdout.write(f"{harness.value:12} {' '.join(argv)}\n")
    sys.stderr.write(f"installed in {time.monotonic() - began:.1f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
