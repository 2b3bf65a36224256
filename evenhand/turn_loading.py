"""The only place where a load of evidence takes the turn metrics below the same folders along."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.audit import Arm, AuditedTrials, audit
from analysis.evidence import Evidence, EvidenceError
from analysis.evidence.ledger import Ledger
from analysis.evidence.locate import Walk
from analysis.evidence.reading import Reading
from analysis.evidence.sessions import declared_sessions
from analysis.evidence.turn_files import TurnFile, find_turn_files
from analysis.evidence.turns import available_cores
from analysis.turn_store import TurnLoad, TurnSource, holds_turns, load_turns
from evenhand.walk import Gathered, gather
from manifests.manifest import PinnedManifest

if TYPE_CHECKING:
    import duckdb

PRIVACY_NOTE = (
    "turn metrics: session, provider, model and tool names are metadata, not anonymised; "
    "scan what you share, or use the views public_turns and public_tool_calls"
)
REVIEW_NOTE = "turns of version 1: such files may hold raw error text; review them before you share them"


def gather_with_turns(
    folders: Sequence[Path], arms: Sequence[Arm], pinned: PinnedManifest | None, *, ledger: Ledger | None
) -> tuple[Gathered, tuple[TurnFile, ...]]:
    """Read and audit the evidence below some folders, and find their turns files; a folder may hold only the latter.

    Raises:
        EvidenceError: When a folder is missing, or holds neither.
    """
    files = find_turn_files(folders)
    try:
        return gather(folders, arms, pinned, ledger=ledger), files
    except EvidenceError:
        holding = [folder for folder in folders if _holds_evidence(folder)]
        silent = [folder for folder in folders if folder not in holding and not find_turn_files((folder,))]
        if silent or arms or ledger:
            raise
    if holding:
        return gather(holding, arms, pinned, ledger=ledger), files
    return Gathered(audited=audit(Evidence(trials=()), ()), coverage=None), files


def _holds_evidence(folder: Path) -> bool:
    return folder.is_dir() and Walk(Reading()).add(folder.resolve().as_posix(), "")


class TurnLoading:
    """The turns of one load: what to load, and afterwards what was done."""

    def __init__(self, files: Sequence[TurnFile], audited: AuditedTrials, *, study: str) -> None:
        self._files = files
        self._audited = audited
        self._study = study
        self.done: TurnLoad | None = None

    def load(self, connection: "duckdb.DuckDBPyConnection") -> None:
        """Add the turns to the warehouse's private copy.

        Without turns files nothing happens, unless the warehouse holds turns of the study: what its trials declare now
        decides where those belong.
        """
        if not self._files and not holds_turns(connection, self._study):
            return
        source = TurnSource(
            study=self._study,
            files=self._files,
            sessions=declared_sessions([item.trial for item in self._audited.trials]),
            workers=available_cores(),
            public=lambda names: public_names(names, self._audited.identities),
        )
        done = load_turns(connection, source)
        self.done = done if self._files else None

    def sentences(self) -> tuple[str, ...]:
        """Return what was done, in words; none without turns files."""
        done = self.done
        if done is None:
            return ()
        changed = f", {done.changed_files} changed and read again" if done.changed_files else ""
        files = f"{done.files} file(s), {done.new_files} new, {done.grown_files} grown{changed}"
        return (
            f"  turns: {done.turns:,} new, {done.refused:,} malformed line(s), {done.total_turns:,} in all; {files}",
            f"  {done.joined_turns:,} of them joined to trials by declared session ids",
        )

    def notes(self) -> tuple[str, ...]:
        """Return what to know before sharing."""
        if self.done is None:
            return ()
        return (PRIVACY_NOTE, *((REVIEW_NOTE,) if self.done.old_turns else ()))

    def document(self) -> dict[str, object] | None:
        """Return what was done as a JSON value; None without turns files."""
        done = self.done
        if done is None:
            return None
        return {
            "files": done.files,
            "new_files": done.new_files,
            "grown_files": done.grown_files,
            "changed_files": done.changed_files,
            "new_turns": done.turns,
            "malformed_lines": done.refused,
            "turns": done.total_turns,
            "joined_turns": done.joined_turns,
            "version_1_turns": done.old_turns,
            "notes": list(self.notes()),
        }


def public_names(names: Sequence[str], identities: frozenset[str]) -> frozenset[str]:
    """Return the names in which the privacy scan finds nothing: plain identifiers, no person, secret or path."""
    from reports.privacy.allowlist import fits
    from reports.privacy.scan import Profile, scan_files

    plain = [name for name in names if fits("task", name)]
    lines = "".join(f"{name}\n" for name in plain).encode("ascii")
    report = scan_files({"names.txt": lines}, profile=Profile.DRAFT, identities=identities)
    found = {leak.line for leak in report.findings}
    if 0 in found:  # about the file as a whole
        return frozenset()
    return frozenset(name for line, name in enumerate(plain, 1) if line not in found)
