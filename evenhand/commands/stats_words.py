"""The only place for how `evenhand stats` writes a summary of turns: the lines of text, and the keys of its JSON."""

from collections.abc import Iterator, Sequence

from analysis.turn_stats import TokenTotals, ToolSummary, TurnReport, TurnSummary
from reports.shown_name import shown

SCHEMA = "evenhand-stats-1"
NOT_MEASURED = "not measured"
_MINUTE_MS, _HOUR_MS = 60_000, 3_600_000
_NAME_WIDTH = 20

Json = dict[str, object]


def report_lines(report: TurnReport, *, by: str | None) -> Iterator[str]:
    """Yield the whole report, then each group under its key."""
    yield from summary_lines(report.whole)
    for key, summary in report.groups:
        yield ""
        yield f"{by} {shown(key)}"
        yield from summary_lines(summary)


def summary_lines(summary: TurnSummary) -> Iterator[str]:
    """Yield one summary; what never occurred reads `not measured`."""
    yield f"Turn metrics — {summary.turns:,} turns across {summary.sessions:,} session(s)"
    yield f"  models        {', '.join(map(shown, summary.models)) or NOT_MEASURED}"
    yield f"  turn duration p50 {milliseconds(summary.duration_p50_ms)} · p95 {milliseconds(summary.duration_p95_ms)}"
    if summary.first_chunk_p50_ms is not None:
        yield f"  first chunk   p50 {milliseconds(summary.first_chunk_p50_ms)}"
    yield from _usage_lines(summary.totals, summary.cache_read_share)
    yield (
        f"  compactions {count(summary.compactions)} · failovers {count(summary.failovers)}"
        f" · ctx plan hit {percent(summary.plan_hit_rate)}"
    )
    if summary.mismatch_turns is not None:
        yield f"  provenance mismatches {count(summary.mismatch_turns)} turn(s)"
    if summary.tools:
        yield ""
        yield f"  {'tool':<{_NAME_WIDTH}} {'calls':>5} {'fail%':>7} {'p50':>7} {'p95':>7} {'total':>8}"
        yield from map(_tool_line, summary.tools)
    if summary.malformed:
        yield ""
        yield f"  {summary.malformed:,} malformed line(s)"
        yield from (f"    {number:,} {reason}" for reason, number in summary.reasons)


def _usage_lines(totals: TokenTotals | None, share: float | None) -> Iterator[str]:
    if totals is None:
        yield f"  input, output, cacheRead, cacheWrite {NOT_MEASURED}"
    else:
        yield (
            f"  input {totals.input:,} · output {totals.output:,}"
            f" · cacheRead {totals.cache_read:,} · cacheWrite {totals.cache_write:,}"
        )
    yield f"  cache read share {NOT_MEASURED if share is None else f'{percent(share)} of prompt-side usage'}"
    yield f"  cost          {NOT_MEASURED if totals is None else f'${totals.cost_usd:,.4f}'}"


def _tool_line(tool: ToolSummary) -> str:
    return (
        f"  {shown(tool.name):<{_NAME_WIDTH}} {tool.calls:>5} {percent(tool.failure_rate):>7}"
        f" {milliseconds(tool.p50_ms):>7} {milliseconds(tool.p95_ms):>7} {milliseconds(tool.total_ms):>8}"
    )


def milliseconds(value: float | None) -> str:
    """Write a duration: 210ms, 3.1s, 4.1m, 2.5h; a unit is left only where the next one reads 1.0 or more."""
    if value is None:
        return NOT_MEASURED
    if value < 999.5:
        return f"{value:.0f}ms" if value >= 0.5 or value == 0 else "<1ms"
    if value < 59_950:
        return f"{value / 1000:.1f}s"
    return f"{value / _MINUTE_MS:.1f}m" if value < 59.95 * _MINUTE_MS else f"{value / _HOUR_MS:,.1f}h"


def percent(share: float | None) -> str:
    """Write a share in [0, 1]; rounding never makes it a certainty."""
    if share is None:
        return NOT_MEASURED
    text = f"{100 * share:.1f}%"
    if text == "0.0%" and share > 0:
        return "<0.1%"
    return ">99.9%" if text == "100.0%" and share < 1 else text


def count(value: int | None) -> str:
    """Write a count in groups of three."""
    return NOT_MEASURED if value is None else f"{value:,}"


def report_json(report: TurnReport, *, by: str | None) -> Json:
    """Return the report as a JSON object; null means that the field never occurred."""
    document: Json = {"schema": SCHEMA, **summary_json(report.whole)}
    if by is not None:
        document["by"] = by
        document["groups"] = [{"key": key, **summary_json(summary)} for key, summary in report.groups]
    return document


def summary_json(summary: TurnSummary) -> Json:
    """Return one summary with the keys of the format's own report."""
    totals = summary.totals
    return {
        "turns": summary.turns,
        "sessions": summary.sessions,
        "models": list(summary.models),
        "totalCostUsd": None if totals is None else totals.cost_usd,
        "totals": _totals_json(totals),
        "turnDurationP50Ms": _plain(summary.duration_p50_ms),
        "turnDurationP95Ms": _plain(summary.duration_p95_ms),
        "timeToFirstChunkP50Ms": _plain(summary.first_chunk_p50_ms),
        "cacheReadShare": summary.cache_read_share,
        "compactions": summary.compactions,
        "failovers": summary.failovers,
        "contextCachePlanHitRate": summary.plan_hit_rate,
        "provenanceMismatchTurns": summary.mismatch_turns,
        "tools": [_tool_json(tool) for tool in summary.tools],
        "malformedLines": summary.malformed,
    }


def _totals_json(totals: TokenTotals | None) -> Json:
    names: Sequence[tuple[str, str]] = (
        ("input", "input"),
        ("output", "output"),
        ("cacheRead", "cache_read"),
        ("cacheWrite", "cache_write"),
        ("costUsd", "cost_usd"),
    )
    return {key: None if totals is None else getattr(totals, field) for key, field in names}


def _tool_json(tool: ToolSummary) -> Json:
    return {
        "name": tool.name,
        "calls": tool.calls,
        "failures": tool.failures,
        "failureRate": tool.failure_rate,
        "p50Ms": _plain(tool.p50_ms),
        "p95Ms": _plain(tool.p95_ms),
        "totalMs": _plain(tool.total_ms),
    }


def _plain(value: float | None) -> float | int | None:
    """Write 4200.0 as 4200, as the format's own report does."""
    return int(value) if value is not None and value.is_integer() and abs(value) < 2**53 else value
