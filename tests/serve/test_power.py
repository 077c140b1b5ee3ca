"""What was acknowledged outlives a loss of power, and the test of that can fail."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from serve import power
from serve_power import lose


def test_no_acknowledged_event_is_lost(tmp_path: Path) -> None:
    wrong, counts = lose(tmp_path, losses=200, seed=0)
    assert wrong == []
    assert all(counts[how] > 10 for how in power.HOW)


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_without_syncs_some_are_lost(tmp_path: Path, synchronous: str) -> None:
    wrong, _ = lose(tmp_path, losses=30, seed=0, synchronous=synchronous)
    assert wrong


def test_a_write_falls_into_sectors() -> None:
    data = bytes(range(256)) * 5
    pieces = power.sectors((500, data))
    assert [(where, len(part or b"")) for where, part in pieces] == [
        (500, 12),
        (512, 512),
        (1024, 512),
        (1536, 244),
    ]
    content = bytearray()
    for piece in pieces:
        power.apply(content, piece)
    assert content == bytes(500) + data


def test_a_disk_keeps_what_was_synced() -> None:
    disk = power.Disk(listed=True)
    disk.waiting += [(0, b"abc"), (2, b"def"), (4, None)]
    disk.sync()
    assert disk.safe == b"abde"
    disk.waiting.append((0, b"zz"))
    draw = random.Random(0)
    assert bytes(disk.left("forgotten", draw) or b"") == b"abde"
    assert bytes(disk.left("kept", draw) or b"") == b"zzde"
    assert {bytes(disk.left("torn", draw) or b"") for _ in range(50)} == {b"abde", b"zzde"}
