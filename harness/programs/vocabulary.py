"""The only place that compares what a stream holds with what is known: the drift of a program's vocabulary.

An attempt's findings name kinds that its reducer does not know at all. The live tier is stricter: it names kinds, inner
ones too, that were never recorded. A kind is a program's own word; what does not look like one is not repeated.
"""

import re
from collections.abc import Callable, Iterable

from harness.kinds import Harness
from harness.programs.folders import part
from harness.record import TurnRecord
from harness.reducers.fields import Line

RECORDED: dict[Harness, frozenset[str]] = {harness: part(harness, "vocabulary").RECORDED for harness in Harness}
KINDS_OF: dict[Harness, Callable[[Line], tuple[str, ...]]] = {
    harness: part(harness, "vocabulary").kinds_of for harness in Harness
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
