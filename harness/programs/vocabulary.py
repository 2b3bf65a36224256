"""The only place that says in an attempt's findings which kinds of lines its streams held that nobody knows.

A kind is a program's own word, so what does not look like one is not repeated.
"""

import re
from collections.abc import Iterable

from harness.record import TurnRecord

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
