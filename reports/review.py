"""The only place for the review page: all that a reviewer needs to approve or refuse one exact bundle, in one file.

The page is self-contained: no script, nothing fetched, the report shown in a frame without rights. What it lists is
counted by kind; a value that was withheld is not on the page either.
"""

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from manifests.digest import digest_bytes
from reports import words
from reports.approval import CHECKLIST, State
from reports.contents import Bundle
from reports.gate import Scanned
from reports.provenance import PROVENANCE
from reports.public_tables import is_table_file
from reports.wording import Judged

_LONGEST_DIFF = 2_000
_SHOWN_DIFFERENCES = (".md", ".json", ".cff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What was found out about a bundle before a person looks at it.

    Attributes:
        scanned: What the gate looked at and found clean.
        claims: Claims in its words.
        state: Where the bundle stands.
        before: Files of the last approved version of the same study; None when there is none.
        before_name: Name of that version's folder; "" when there is none.
    """

    scanned: Scanned
    claims: tuple[Judged, ...]
    state: State
    before: Mapping[str, bytes] | None = None
    before_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """One file: path, size in bytes, digest, and how it differs from the last approved version."""

    path: str
    size: int
    digest: str
    change: str


def review_page(bundle: Bundle, findings: Findings) -> str:
    """Return the review page of a bundle; the same bundle and findings give the same bytes."""
    environment = Environment(
        loader=PackageLoader("reports"), undefined=StrictUndefined, autoescape=True, keep_trailing_newline=True
    )
    decision = json.loads(bundle.files["decision.json"])
    provenance = json.loads(bundle.files[PROVENANCE])
    return environment.get_template("review.html.j2").render(
        bundle=bundle,
        decision=decision,
        labels=labels(decision),
        provenance=provenance,
        report=bundle.files["report.html"].decode(),
        files=file_rows(bundle.files, findings.before),
        differences=differences(bundle.files, findings.before),
        findings=findings,
        checklist=CHECKLIST,
    )


def labels(decision: Mapping[str, Mapping[str, object]]) -> tuple[str, ...]:
    """Return the labels that a decision's JSON value carries; COMPARATIVE and CONFIRMATORY where nothing is taken."""
    label = decision["label"]
    return (
        *((words.simulated_word_in(decision),) if label["simulated"] else ()),
        "COMPARATIVE" if label["comparative"] else words.NON_COMPARATIVE,
        "CONFIRMATORY" if label["confirmatory"] else words.EXPLORATORY,
    )


def file_rows(files: Mapping[str, bytes], before: Mapping[str, bytes] | None) -> tuple[FileRow, ...]:
    """Return a row for every file, and for every one that the last approved version had and this has not."""
    held = dict(before or {})
    rows = [
        FileRow(path=path, size=len(data), digest=digest_bytes(data), change=_change(data, held.get(path), before))
        for path, data in sorted(files.items())
    ]
    gone = sorted(held.keys() - files.keys())
    return (*rows, *(FileRow(path=path, size=0, digest="", change="removed") for path in gone))


def differences(files: Mapping[str, bytes], before: Mapping[str, bytes] | None) -> tuple[tuple[str, str], ...]:
    """Return, for every text file that changed, its path and a unified difference, of bounded length."""
    if before is None:
        return ()
    changed = [
        path
        for path in sorted(files.keys() & before.keys())
        if files[path] != before[path] and path.endswith(_SHOWN_DIFFERENCES) and not is_table_file(path)
    ]
    return tuple((path, _difference(before[path], files[path])) for path in changed)


def _change(data: bytes, older: bytes | None, before: Mapping[str, bytes] | None) -> str:
    if before is None:
        return "first version"
    if older is None:
        return "new"
    return "same" if older == data else "changed"


def _difference(older: bytes, newer: bytes) -> str:
    lines = list(
        difflib.unified_diff(
            older.decode().splitlines(), newer.decode().splitlines(), "approved", "this", lineterm="", n=2
        )
    )
    shown = lines[:_LONGEST_DIFF]
    more = [f"[{len(lines) - len(shown)} more lines]"] if len(lines) > len(shown) else []
    return "\n".join([*shown, *more])
