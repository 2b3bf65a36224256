"""The verb scan: what in these files may not leave."""

import json
import math
import time
from collections.abc import Iterator
from pathlib import Path

import click

from evenhand.exits import Exit
from evenhand.options import FiniteRange, json_option


class ScanInputError(Exception):
    """A path cannot be scanned."""


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--profile",
    type=click.Choice(["evidence", "draft", "release"]),
    default="draft",
    show_default=True,
    help="evidence: any file that can be opened; draft: listed types only; release: an independent engine too.",
)
@click.option("--known", type=click.Path(path_type=Path), help="File of known digests and ids; all others are told.")
@click.option("--name", "names", multiple=True, help="A name that must not appear; may be repeated.")
@click.option("--timeout", type=FiniteRange(min=0.001, max=86_400.0), default=600.0, show_default=True, help="Seconds.")
@json_option
def scan(
    *, paths: tuple[Path, ...], profile: str, known: Path | None, names: tuple[str, ...], timeout: float, as_json: bool
) -> int:
    """Scan files and folders for secrets, persons, home paths and names; exit 1 on findings.

    A finding names kind, file and line, never the value. This machine's user, home and host names are looked for.
    """
    from evenhand.identities import local_identities
    from reports.privacy.engines import Limits
    from reports.privacy.paths import is_telling
    from reports.privacy.scan import Profile, scan_files

    if math.isnan(timeout):
        raise click.UsageError("--timeout nan: expected seconds, a number from 0.001 to 86400")
    short = [name for name in names if not is_telling(name)]
    if short:
        raise click.UsageError(
            f"--name {short[0]!r}: too short or too common to be looked for; expected 3 letters or more"
        )
    files = dict(_read(paths))
    if not files:
        raise ScanInputError(f"{', '.join(map(str, paths))}: no file there; an empty scan says nothing")
    report = scan_files(
        files,
        profile=Profile(profile),
        identities=local_identities() | set(names),
        known=frozenset(_text(known).split()) if known is not None else None,
        limits=Limits(seconds=timeout, clock=time.monotonic),
    )
    if as_json:
        click.echo(json.dumps(report.document()))
    else:
        for leak in report.findings:
            click.echo(str(leak))
        click.echo(f"{len(report.findings)} finding(s) in {report.files} file(s), {report.scanned} bytes", err=True)
        click.echo(f"engines: {', '.join(report.engines)}", err=True)
    return Exit.DONE if report.clean else Exit.FINDINGS


def _read(paths: tuple[Path, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield every file below the paths: name from the path given on, and bytes.

    Raises:
        ScanInputError: For a path that is not there, a link, or no regular file.
    """
    for place, path in enumerate(paths):
        prefix = f"{place + 1}:" if len(paths) > 1 else ""
        found = sorted(path.rglob("*")) if path.is_dir() and not path.is_symlink() else [path]
        for file in found:
            name = prefix + (file.relative_to(path).as_posix() if file != path else file.name)
            if file.is_symlink():
                raise ScanInputError(f"file {name}: is a link; what it leads to would not be published with it")
            if file.is_dir():
                continue
            if file.exists() and not file.is_file():
                raise ScanInputError(f"file {name}: is a pipe, a socket or a device; expected plain files only")
            try:
                yield name, file.read_bytes()
            except OSError as fault:
                raise ScanInputError(f"{path}: cannot be read ({type(fault).__name__})") from fault


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise ScanInputError(f"{path}: cannot be read ({type(fault).__name__})") from fault
