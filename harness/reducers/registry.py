"""The only place that knows which reducer reads which harness."""

from harness.clock import Anchor, Stamp
from harness.kinds import Harness
from harness.programs.folders import part
from harness.reducers.protocol import Reducer

REDUCERS: dict[Harness, type[Reducer]] = {harness: part(harness, "reducer").REDUCER for harness in Harness}


def make_reducer(harness: Harness, *, entry: Stamp, turn: int, anchor: Anchor) -> Reducer:
    """Return a fresh reducer for one turn of a harness."""
    return REDUCERS[harness](entry=entry, turn=turn, anchor=anchor)
