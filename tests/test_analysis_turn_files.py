"""A turns file is known by its content: rotated, moved, packed or copied, it is the same file."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.evidence.turn_files import (
    TurnFileError,
    beginning,
    distinct_turn_files,
    find_turn_files,
    open_turns,
    tail_digest,
    unpacked_size,
)
from analysis.evidence.turns import read_turns
from analysis.turn_stats import summarise
from tests.turn_lines import recorded, write_lines


def places(folder: Path) -> list[str]:
    return [file.where for file in find_turn_files((folder,))]


def test_every_generation_is_found_the_older_before_the_newer(tmp_path: Path) -> None:
    for name in ("turns.jsonl", "turns.jsonl.1", "turns.jsonl.gz", "turns.jsonl.1.gz", "turns.jsonl.2", "notes.jsonl"):
        (tmp_path / ".omk" / "metrics").mkdir(parents=True, exist_ok=True)
        (tmp_path / ".omk" / "metrics" / name).write_bytes(b"{}\n")
    assert places(tmp_path) == [
        f".omk/metrics/{name}" for name in ("turns.jsonl.1.gz", "turns.jsonl.1", "turns.jsonl.gz", "turns.jsonl")
    ]


def test_no_link_is_followed_and_no_other_dot_folder_entered(tmp_path: Path) -> None:
    outside = write_lines(tmp_path / "outside" / "turns.jsonl", recorded())
    inside = tmp_path / "study"
    write_lines(inside / ".cache" / "turns.jsonl", recorded())
    (inside / "linked").symlink_to(outside.parent)
    (inside / "turns.jsonl").symlink_to(outside)
    assert places(inside) == []


def test_folders_of_one_name_keep_their_places_apart(tmp_path: Path) -> None:
    folders = [tmp_path / "a" / "run", tmp_path / "b" / "run"]
    for folder in folders:
        write_lines(folder / "turns.jsonl", recorded())
    assert [file.where for file in find_turn_files(folders)] == ["run/turns.jsonl", "run-2/turns.jsonl"]


def test_a_packed_copy_and_an_older_copy_are_not_counted_twice(tmp_path: Path) -> None:
    first = [recorded(turnIndex=number) for number in range(3)]
    whole = write_lines(tmp_path / "new" / "turns.jsonl", *first, recorded(turnIndex=3))
    write_lines(tmp_path / "old" / "turns.jsonl", *first)
    (tmp_path / "packed").mkdir()
    (tmp_path / "packed" / "turns.jsonl.gz").write_bytes(gzip.compress(whole.read_bytes()))
    other = write_lines(tmp_path / "other" / "turns.jsonl", recorded(sessionId="another"))
    kept = [file.path for file in distinct_turn_files(find_turn_files((tmp_path,)))]
    assert kept == [whole, other]


def test_gzip_is_known_by_its_bytes_whatever_the_name(tmp_path: Path) -> None:
    plain = write_lines(tmp_path / "turns.jsonl", recorded())
    packed = tmp_path / "turns.jsonl.1"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert beginning(packed) == beginning(plain)
    assert unpacked_size(packed) == plain.stat().st_size
    with open_turns(packed) as (stream, is_packed):
        assert is_packed
        assert stream.read(1 << 20) == plain.read_bytes()


def test_a_packed_file_that_breaks_off_counts_what_stands_before_the_damage(tmp_path: Path) -> None:
    plain = write_lines(tmp_path / "whole.jsonl", *(recorded(turnIndex=number) for number in range(2000)))
    cut = tmp_path / "turns.jsonl.gz"
    packed = gzip.compress(plain.read_bytes())
    cut.write_bytes(packed[: len(packed) // 2])
    assert 0 < unpacked_size(cut) < plain.stat().st_size
    damaged = tmp_path / "turns.jsonl.1.gz"
    damaged.write_bytes(b"\x1f\x8bnothing of the kind")
    assert unpacked_size(damaged) == 0
    assert beginning(damaged) is None


@pytest.mark.parametrize(
    "damaged",
    [
        lambda packed: packed[:-4],
        lambda packed: packed[:-8] + bytes(4) + packed[-4:],
        lambda packed: packed + b"junk",
        lambda packed: packed + packed[:9],
    ],
    ids=["cut in the trailer", "wrong checksum", "junk behind it", "a second stream that breaks off"],
)
def test_a_damage_behind_the_last_line_costs_no_turn(tmp_path: Path, damaged: Callable[[bytes], bytes]) -> None:
    plain = write_lines(tmp_path / "whole.jsonl", recorded(), recorded(turnIndex=5))
    path = tmp_path / "turns.jsonl.gz"
    path.write_bytes(damaged(gzip.compress(plain.read_bytes())))
    assert [turn.turn_index for turn in read_turns(path)] == [4, 5]
    assert beginning(path) == beginning(plain)
    size = plain.stat().st_size
    assert unpacked_size(path) == size
    assert tail_digest(path, size) == tail_digest(plain, size)
    found = summarise([path]).whole
    assert (found.turns, found.malformed) == (2, 1)
    assert "damaged" in found.reasons[0][0]


@pytest.mark.parametrize("flipped", [0.3, 0.6, 0.9])
def test_every_reader_of_a_damaged_file_sees_the_same_beginning(tmp_path: Path, flipped: float) -> None:
    plain = write_lines(tmp_path / "whole.jsonl", *(recorded(turnIndex=number) for number in range(4000)))
    packed = bytearray(gzip.compress(plain.read_bytes()))
    packed[int(len(packed) * flipped)] ^= 0xFF
    path = tmp_path / "turns.jsonl.gz"
    path.write_bytes(packed)
    size = unpacked_size(path)
    for end in (size, size // 2, size - size % 4096):
        assert tail_digest(path, end) is not None


def test_an_empty_file_has_no_beginning_and_a_missing_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "turns.jsonl").touch()
    assert beginning(tmp_path / "turns.jsonl") is None
    with pytest.raises(TurnFileError, match="cannot be read"), open_turns(tmp_path / "absent.jsonl"):
        pass
