"""The only place for what a bundle says of itself to an archive: provenance.json, RO-Crate metadata, CITATION.cff.

All three stand in the bundle before it is scanned and approved, because an archive makes them public at once and for
good. They carry the date of the decision and no other time, so the same inputs give the same bytes.

References:
    RO-Crate Metadata Specification 1.1. Citation File Format 1.2.0.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.resources import files as resources
from typing import Any

from manifests.digest import digest_bytes, digest_value, is_digest
from reports import words
from reports.contents import NAME
from reports.privacy import detectors, independent, paths
from reports.privacy.allowlist import Dropped
from reports.privacy.rules import RULES_VERSION

Json = dict[str, Any]
SCHEMA = "evenhand-provenance-1"
PROVENANCE = "provenance.json"
CRATE = "ro-crate-metadata.json"
CITATION = "CITATION.cff"
ARCHIVE_FILES = (PROVENANCE, CRATE, CITATION)
# Slow on purpose: an identity is a short text, and a plain digest of one can be guessed.
_COST = {"n": 1 << 14, "r": 8, "p": 1, "dklen": 32}
_CRATE_CONTEXT = ["https://w3id.org/ro/crate/1.1/context", {"sha256": "https://schema.org/sha256"}]
_FORMATS = {
    ".html": "text/html",
    ".md": "text/markdown",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".cff": "application/yaml",
    ".parquet": "application/vnd.apache.parquet",
    ".duckdb": "application/vnd.duckdb",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who made a draft; a person who approves it must be another.

    Attributes:
        principal: Public handle or role; None when none was given.
        identity: Salted slow digest of the identity that version control knows; None without one.
    """

    principal: str | None
    identity: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is said of a report beside its decision.

    Attributes:
        author: Who made it.
        licence: SPDX identifier of its licence; None when none is granted.
        dropped: What the projection withheld or rewrote.
    """

    author: Author
    licence: str | None
    dropped: tuple[Dropped, ...]


def identity_digest(identity: str, *, salt: str) -> str:
    """Return the digest of an identity such as a commit address, which can be compared and not easily guessed.

    Args:
        identity: As version control knows it.
        salt: Digest of the decision, so that two drafts of one author cannot be joined.
    """
    return hashlib.scrypt(identity.strip().casefold().encode(), salt=salt.encode(), **_COST).hex()


def with_provenance(files: Mapping[str, bytes], work: Work) -> dict[str, bytes]:
    """Return a rendered report with the three files that an archive reads; contents.json is left to the caller.

    Args:
        files: The rendered files.
        work: Author, licence and counts.
    """
    kept = {path: data for path, data in files.items() if path != NAME}
    decision = _decision(kept)
    said = kept | {PROVENANCE: _readable(_provenance(decision, work)), CITATION: _citation(decision, work)}
    return said | {CRATE: _readable(_crate(said, decision, work))}


def with_more_files(files: Mapping[str, bytes], more: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return a bundle with further files, listed in its RO-Crate metadata; contents.json is left to the caller."""
    kept = {path: data for path, data in files.items() if path not in {NAME, CRATE}} | dict(more)
    crate = json.loads(files[CRATE])
    parts = [_part(path, kept[path]) for path in sorted(kept)]
    root = next(entry for entry in crate["@graph"] if entry["@id"] == "./")
    root["hasPart"] = [{"@id": part["@id"]} for part in parts]
    others = [entry for entry in crate["@graph"] if entry["@type"] != "File"]
    return kept | {CRATE: _readable({**crate, "@graph": [*others, *parts]})}


def engines(*, release: bool = False) -> tuple[str, ...]:
    """Return engine with version, rule pack and path policy, as the last gate names them.

    Args:
        release: Whether the gate was that of a release, which also asks the independent engine.
    """
    third = (f"{independent.ENGINE} {independent.PINNED}",) if release else ()
    return (f"{detectors.ENGINE} {detectors.PINNED}", RULES_VERSION, *third, paths.POLICY)


def rules_digest() -> str:
    """Return one digest for the code of every privacy rule and policy: two bundles with the same one had one gate."""
    room = resources("reports.privacy")
    sources = {entry.name: entry.read_bytes() for entry in room.iterdir() if entry.name.endswith(".py")}
    return digest_value({name: digest_bytes(sources[name]) for name in sorted(sources)})


def author_of(files: Mapping[str, bytes]) -> Author:
    """Return who made a bundle; nobody when it does not say.

    Args:
        files: The bundle's files.
    """
    said = json.loads(files[PROVENANCE])["author"] if PROVENANCE in files else {}
    return Author(principal=said.get("principal"), identity=said.get("identity"))


def typed_digests(files: Mapping[str, bytes]) -> frozenset[str]:
    """Return what stands in the fields of provenance.json that hold a digest, where it is one."""
    said = json.loads(files[PROVENANCE]) if PROVENANCE in files else {"author": {}, "gates": {}}
    found = (said["author"].get("identity"), said["gates"].get("rules_sha256"))
    return frozenset(digest for digest in found if isinstance(digest, str) and is_digest(digest))


def salt_of(files: Mapping[str, bytes]) -> str:
    """Return what the identities of a bundle are salted with: the digest that its decision carries."""
    return _own_digest(_decision(files))


def _provenance(decision: Json, work: Work) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "study": decision["study"],
        "date": decision["date"],
        "author": asdict(work.author),
        "software": {"name": "evenhand", "version": version("evenhand")},
        "gates": {
            "engines": list(engines()),
            "rules_sha256": rules_digest(),
            "paths_policy": paths.POLICY,
        },
        "dropped": [asdict(one) for one in work.dropped],
        "digests": decision["digests"],
    }


def _crate(files: Mapping[str, bytes], decision: Json, work: Work) -> dict[str, object]:
    parts = [_part(path, files[path]) for path in sorted(files)]
    root: dict[str, object] = {
        "@id": "./",
        "@type": "Dataset",
        "name": _title(decision),
        "description": f"Report of a paired comparison of two arms on {decision['n_tasks']} tasks",
        "datePublished": decision["date"],
        "identifier": f"sha256:{_own_digest(decision)}",
        "creator": {"@id": "#author"},
        "hasPart": [{"@id": part["@id"]} for part in parts],
    }
    if work.licence:
        root["license"] = {"@id": f"https://spdx.org/licenses/{work.licence}"}
    graph: list[dict[str, object]] = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        },
        root,
        {"@id": "#author", "@type": "Organization", "name": _credited(decision, work)},
        {
            "@id": "#report",
            "@type": "CreateAction",
            "name": "evenhand report",
            "instrument": {"@id": "#evenhand"},
            "result": {"@id": "./"},
        },
        {"@id": "#evenhand", "@type": "SoftwareApplication", "name": "evenhand", "version": version("evenhand")},
        *parts,
    ]
    return {"@context": _CRATE_CONTEXT, "@graph": graph}


def _part(path: str, data: bytes) -> dict[str, object]:
    suffix = path[path.rindex(".") :]
    return {
        "@id": path,
        "@type": "File",
        "name": path,
        "encodingFormat": _FORMATS[suffix],
        "contentSize": str(len(data)),
        "sha256": digest_bytes(data),
    }


def _citation(decision: Json, work: Work) -> bytes:
    """A JSON string is also a YAML string, so no quoting rule of YAML can be got wrong."""
    lines = [
        "cff-version: 1.2.0",
        'message: "Cite this report with the digest of its decision."',
        "type: dataset",
        f"title: {json.dumps(_title(decision), ensure_ascii=False)}",
        "authors:",
        f"  - name: {json.dumps(_credited(decision, work), ensure_ascii=False)}",
        f'date-released: "{decision["date"]}"',
        "identifiers:",
        "  - type: other",
        f'    value: "sha256:{_own_digest(decision)}"',
        '    description: "digest of decision.json in canonical form"',
    ]
    lines += [f"license: {work.licence}"] if work.licence else []
    return ("\n".join(lines) + "\n").encode()


def _title(decision: Json) -> str:
    label = decision["label"]
    held = (
        (label["simulated"], words.simulated_word_in(decision)),
        (not label["comparative"], words.NON_COMPARATIVE),
        (not label["confirmatory"], words.EXPLORATORY),
    )
    plain = f"{decision['treatment']['name']} against {decision['control']['name']}, study {decision['study']}"
    tags = ", ".join(tag for applies, tag in held if applies)
    return f"{plain} ({tags})" if tags else plain


def _credited(decision: Json, work: Work) -> str:
    return work.author.principal or f"the authors of {decision['study']}"


def _own_digest(decision: Json) -> str:
    return str(decision["digests"]["decision"])


def _decision(files: Mapping[str, bytes]) -> Json:
    document: Json = json.loads(files["decision.json"])
    return document


def _readable(document: Mapping[str, object]) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
