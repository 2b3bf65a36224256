"""Turns files of every condition have a stated result, the same on one process and on several."""

import gzip
import resource
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from analysis.evidence import turns as reading
from analysis.evidence.turn_block import TurnBlock
from analysis.evidence.turns import read_blocks, read_turns
from tests.turn_lines import MISSING, line, recorded, write_lines

GOOD = line(recorded())


def block_of(path: Path) -> TurnBlock:
    (block,) = read_blocks(path, None)
    return block


def result_of(tmp_path: Path, data: bytes) -> tuple[int, int, list[int], int]:
    """Return (turns, lines, malformed lines by number, bytes of a line that has not ended)."""
    path = tmp_path / "turns.jsonl"
    path.write_bytes(data)
    block = block_of(path)
    assert path.read_bytes() == data
    return len(list(read_turns(path))), block.lines, [place + 1 for place, _ in block.refused], block.open_bytes


@pytest.mark.parametrize(
    ("data", "turns", "malformed"),
    [
        (b"", 0, []),
        (b"\n\n  \n\t\n", 0, []),
        (GOOD + b"\n", 1, []),
        (GOOD, 1, []),
        (GOOD + b"\n" + GOOD[:-9], 1, [2]),
        (GOOD + b"\r\n" + GOOD + b"\r\n", 2, []),
        (b"\xef\xbb\xbf" + GOOD + b"\n" + GOOD + b"\n", 1, [1]),
        (GOOD + b"\0\n" + GOOD + b"\n", 1, [1]),
        (b"\0" * 4096 + b"\n" + GOOD + b"\n", 1, [1]),
        (GOOD.replace(b"session-7", b"session-\xff") + b"\n", 1, []),
        (GOOD + GOOD + b"\n", 0, [1]),
        (b"[]\n0\nnull\n" + GOOD + b"\n", 1, [1, 2, 3]),
        (GOOD.replace(b"0.0125", b"1e999") + b"\n" + GOOD + b"\n", 1, [1]),
        (GOOD.replace(b'"turnIndex":4', b'"turnIndex":-4,"turnIndex":4') + b"\n", 1, []),
        (b"\n" + GOOD + b"\n\n{\n" + GOOD + b"\n", 2, [4]),
    ],
    ids=[
        "empty",
        "blank lines",
        "one",
        "no line feed at the end",
        "truncated last line",
        "CRLF",
        "BOM",
        "NUL after a line",
        "a page of NUL",
        "invalid UTF-8 is replaced, as a JavaScript reader does",
        "two objects on a line",
        "no objects",
        "1e999",
        "duplicate key, the last counts",
        "line numbers count blank lines",
    ],
)
def test_an_awkward_file_has_a_stated_result(tmp_path: Path, data: bytes, turns: int, malformed: list[int]) -> None:
    found, _, refused, _ = result_of(tmp_path, data)
    assert (found, refused) == (turns, malformed)


def test_a_line_that_has_not_ended_is_told_apart(tmp_path: Path) -> None:
    assert result_of(tmp_path, GOOD + b"\n" + GOOD[:-9])[3] == len(GOOD) - 9
    assert result_of(tmp_path, GOOD + b"\n")[3] == 0


def test_a_line_of_100_mib_is_malformed_and_is_not_held_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    with path.open("wb") as file:
        file.write(GOOD[:-1] + b',"pad":"')
        for _ in range(100):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n' + GOOD + b"\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    blocks = list(read_blocks(path, None))
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert sum(block.lines for block in blocks) == 2
    assert [reason for block in blocks for _, reason in block.refused] == ["longer than 8388608 bytes"]
    assert len(list(read_turns(path))) == 1
    assert grown_kib < 80 * 1024


@pytest.mark.parametrize("ending", [b"", b"\n"])
def test_a_line_of_8_mib_is_the_longest(tmp_path: Path, ending: bytes) -> None:
    head = GOOD[:-1] + b',"pad":"'
    longest = head + b"x" * (8 * 1024 * 1024 - len(head) - 2) + b'"}'
    assert result_of(tmp_path, longest + ending)[0] == 1
    assert result_of(tmp_path, longest + b" " + ending)[:3] == (0, 1, [1])


def test_a_packed_file_and_a_rotated_pair_read_like_the_plain_ones(tmp_path: Path) -> None:
    plain = write_lines(tmp_path / "turns.jsonl", *(recorded(turnIndex=number) for number in range(50)), b"{")
    packed = tmp_path / "turns.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert list(read_turns(packed)) == list(read_turns(plain))
    assert block_of(packed).refused == block_of(plain).refused


def test_a_packed_file_that_breaks_off_gives_the_turns_before_the_damage(tmp_path: Path) -> None:
    plain = write_lines(tmp_path / "turns.jsonl", *(recorded(turnIndex=number) for number in range(5000)))
    packed = tmp_path / "cut.gz"
    data = gzip.compress(plain.read_bytes())
    packed.write_bytes(data[: len(data) // 2])
    found = [turn.turn_index for turn in read_turns(packed)]
    assert 0 < len(found) < 5000
    assert found == list(range(len(found)))


def test_the_cut_into_ranges_loses_and_doubles_no_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line(recorded(turnIndex=number, sessionId="s" * (1 + number % 97))) for number in range(3000)]
    for number in range(0, 3000, 7):
        lines[number] = b"{broken" + b"x" * (number % 300)
    path = tmp_path / "turns.jsonl"
    path.write_bytes(b"\n".join(lines))
    whole = block_of(path)
    expected = [turn.turn_index for turn in read_turns(path)]
    assert expected == [number for number in range(3000) if number % 7]
    for size in (1 << 10, 4099, 1 << 15):
        monkeypatch.setattr(reading, "RANGE_BYTES", size)
        blocks = list(read_blocks(path, None))
        assert sum(block.lines for block in blocks) == whole.lines == 3000
        offsets = [sum(block.lines for block in blocks[:number]) for number in range(len(blocks))]
        refused = [at + place for at, block in zip(offsets, blocks, strict=True) for place, _ in block.refused]
        assert refused == [place for place, _ in whole.refused]


def test_several_processes_make_the_same_blocks_as_one(tmp_path: Path) -> None:
    turns = (
        recorded(turnIndex=number, toolCalls=MISSING, toolCallCount=0, toolFailureCount=0) for number in range(60000)
    )
    path = write_lines(tmp_path / "turns.jsonl", *turns)
    assert path.stat().st_size > reading.RANGE_BYTES
    with ProcessPoolExecutor(2) as executor:
        shared = list(read_blocks(path, executor))
    alone = list(read_blocks(path, None))
    assert len(alone) > 1
    assert shared == alone


def test_every_reason_is_counted_and_named(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "turns.jsonl", b"{", b"{", recorded(turnIndex=-1), recorded(durationMs=1), recorded())
    reasons = Counter(reason for _, reason in block_of(path).refused)
    assert sum(reasons.values()) == 4
    assert len(reasons) == 3
    assert sorted(reasons.values()) == [1, 1, 2]
