"""Each reducer on a stream of the real program, recorded against the scripted provider and cut to kinds and numbers.

The script: one call that reads a skill, then two at once of which one ends with 7, then a closing text.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from harness.clock import stamp_of_ms
from harness.kinds import Harness, StreamEnd, ToolStatus
from harness.programs.vocabulary import KINDS_OF, drift
from harness.record import TurnRecord
from harness.replay import TurnFrame, read_stream, replay
from harness.scripts import StampedLine
from harness.testing.live.scenarios import USAGES
from harness.tokens import TokenBuckets

RECORDED = Path(__file__).parent / "fixtures" / "streams" / "recorded"
PLAIN = re.compile(r"[\w./:<>-]*|cat /p/skills/polish/SKILL\.md")


def lines_of(harness: Harness) -> tuple[StampedLine, ...]:
    return read_stream(RECORDED / f"{harness.value.replace('-', '_')}.jsonl")


def turn(harness: Harness) -> TurnRecord:
    lines = lines_of(harness)
    return replay(harness, lines, TurnFrame(started=stamp_of_ms(0), ended=max(at for at, _ in lines)))


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


@pytest.mark.parametrize("harness", Harness)
def test_its_tokens_are_the_scripts(harness: Harness) -> None:
    written = sum(usage.cache_write for usage in USAGES) if harness is Harness.CLAUDE_CODE else 0
    expected = TokenBuckets(
        uncached_input=sum(usage.prompt - usage.cache_read for usage in USAGES) - written,
        cache_write=written,
        cache_read=sum(usage.cache_read for usage in USAGES),
        output=sum(usage.output for usage in USAGES),
        reasoning=None if harness is Harness.CLAUDE_CODE else sum(usage.reasoning for usage in USAGES),
    )
    assert turn(harness).summary.usage == expected


@pytest.mark.parametrize("harness", Harness)
def test_its_end_its_calls_and_the_skill_that_one_of_them_used_are_read(harness: Harness) -> None:
    found = turn(harness)
    assert (found.summary.end, found.summary.model_calls, found.summary.tool_calls) == (StreamEnd.CLEAN, 3, 3)
    assert [(call.status, call.skills) for call in found.calls] == [
        (ToolStatus.OK, ("polish",)),
        (ToolStatus.ERROR, ()),
        (ToolStatus.OK, ()),
    ]
    assert found.summary.provider_status is None
    assert found.residual_us() == 0


@pytest.mark.parametrize("harness", Harness)
def test_it_holds_no_kind_that_was_never_recorded(harness: Harness) -> None:
    assert turn(harness).summary.unknown == ()
    assert drift(harness, {kind for _, line in lines_of(harness) for kind in KINDS_OF[harness](line)}) == ()


@pytest.mark.parametrize("harness", Harness)
def test_it_holds_kinds_and_numbers_and_no_prose(harness: Harness) -> None:
    assert [text for _, line in lines_of(harness) for text in texts(line) if not PLAIN.fullmatch(text)] == []
