"""The only place that compares what a stream holds with what is known: the drift of a program's vocabulary.

An attempt's findings name kinds that its reducer does not know at all. The live tier is stricter: it names kinds, inner
ones too, that were never recorded. A kind is a program's own word; what does not look like one is not repeated.
"""

import re
from collections.abc import Callable, Iterable

from harness.kinds import Harness
from harness.programs.antigravity import vocabulary as antigravity
from harness.programs.claude_code import vocabulary as claude_code
from harness.programs.codex import vocabulary as codex
from harness.programs.opencode import vocabulary as opencode
from harness.programs.pi import vocabulary as pi
from harness.record import TurnRecord
from harness.reducers.fields import Line

RECORDED: dict[Harness, frozenset[str]] = {
    Harness.CLAUDE_CODE: claude_code.RECORDED,
    Harness.CODEX: codex.RECORDED,
    Harness.ANTIGRAVITY: antigravity.RECORDED,
    Harness.OPENCODE: opencode.RECORDED,
    Harness.PI: pi.RECORDED,
}
KINDS_OF: dict[Harness, Callable[[Line], tuple[str, ...]]] = {
    Harness.CLAUDE_CODE: claude_code.kinds_of,
    Harness.CODEX: codex.kinds_of,
    Harness.ANTIGRAVITY: antigravity.kinds_of,
    Harness.OPENCODE: opencode.kinds_of,
    Harness.PI: pi.kinds_of,
}

_KIND = re.compile(r"[A-Za-z][\w./-]{0,63}")


def drift_findings(turns: Iterable[TurnRecord]) -> tuple[str, ...]:
    """Return one finding for all kinds that no turn's reducer knows; none when all are known."""
    kinds = {shown(kind) for turn in turns for kind in turn.summary.unknown}
    if not kinds:
        return ()
    return (
        f"event kinds outside the known vocabulary: {', '.join(sorted(kinds))}; `evenhand doctor` tells the version",
    )


def shown(kind: str) -> str:
    """Return a kind as it may be repeated."""
    return kind if _KIND.fullmatch(kind) else "(no plain word)"


def drift(harness: Harness, kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds that were never recorded of a harness, sorted, as they may be repeated."""
    return tuple(sorted({shown(kind) for kind in set(kinds) - RECORDED[harness]}))
