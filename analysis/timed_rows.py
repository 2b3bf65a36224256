"""The only place that lays timed runs out as rows of the warehouse; columns are those of sql/timing_schema.sql."""

from collections.abc import Iterator, Sequence

from analysis.buckets import accounted_ms, residual_ms
from analysis.evidence.timed_run import TimedMessage, TimedSpan, TimedTrial, TimedTurn

TIMED_TABLES = ("timed_trials", "timed_turns", "timed_messages", "timed_spans")
Values = dict[str, object]


def timed_rows(timed: Sequence[TimedTrial], study: str) -> Iterator[tuple[str, Values]]:
    """Yield (table, values by column) for every trial, turn, message and tool span.

    The key `trial_id` is that of the table trials, so that times and outcomes join.
    """
    for trial in timed:
        key: Values = {"study": study, "trial_id": trial_key(trial)}
        yield "timed_trials", {**_values(trial, without={"turns", "limits"}), **key, "location": trial.where}
        for turn in trial.turns:
            of_turn = {**key, "turn_index": turn.index}
            sums = {"accounted_ms": accounted_ms(turn), "residual_ms": residual_ms(turn)}
            yield "timed_turns", {**_values(turn, without={"messages", "spans"}), **sums, **of_turn}
            for message in turn.messages:
                yield "timed_messages", {**_values(message), **of_turn, "message_index": message.index}
            for span in turn.spans:
                yield "timed_spans", {**_values(span), **of_turn}


def trial_key(trial: TimedTrial) -> str:
    """Return the identity that a timed run has among all trials of a study."""
    return f"{trial.where}#{trial.trial_id}"


def _values(
    item: TimedTrial | TimedTurn | TimedMessage | TimedSpan, *, without: frozenset[str] | set[str] = frozenset()
) -> Values:
    found: Values = {name: getattr(item, name) for name in item.__slots__ if name not in without}
    return {name: list(map(str, value)) if isinstance(value, tuple) else value for name, value in found.items()}
