"""Acknowledged events survive a loss of power, and the test of that can fail."""

from __future__ import annotations

import asyncio
import random
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest

from helpers.serve import power
from helpers.serve.caller import Called
from rotting._serve.app import App, Service
from rotting._serve.verify import verify
from serve_power import Plain, Real, lose


@pytest.mark.parametrize("kind", [Plain, Real])
def test_no_acknowledged_event_is_lost(tmp_path: Path, kind: type[Plain]) -> None:
    wrong, counts = lose(tmp_path, losses=200 if kind is Real else 60, seed=0, kind=kind)
    assert wrong == []
    assert all(counts[how] > 5 for how in power.HOW)


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_without_syncs_some_are_lost(tmp_path: Path, synchronous: str) -> None:
    wrong, _ = lose(tmp_path, losses=30, seed=0, synchronous=synchronous)
    assert wrong


def test_the_whole_service_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    """Decisions and rewards over HTTP until the power fails; then a service on what is left."""
    draw = random.Random(0)
    here = tmp_path / "0"
    here.mkdir()
    kept: list[tuple[str, Any, Any]] = []
    for number in range(1, 11):
        vfs = power.Outage(draw.randint(20, 400))
        for file in here.iterdir():
            vfs.disks[str(file)] = power.Disk(file.read_bytes(), listed=True)
        kept += life(here / "rotting.db", vfs, number)
        here = tmp_path / str(number)
        here.mkdir()
        vfs.survive(here, draw)
        check(here / "rotting.db", kept)
    assert len(kept) > 300
    found = verify(here / "rotting.db", compiled=False)
    assert found.problems == []


def started(path: Path, vfs: power.Outage | None) -> Called:
    """The service on a database, as an application in this process."""
    connect = (lambda where: power.connect(where, vfs)) if vfs is not None else power.connect
    service = Service(path, compiled=False, connect=connect)
    return Called(App(service), lambda: asyncio.sleep(0))


def life(path: Path, vfs: power.Outage, number: int) -> list[tuple[str, Any, Any]]:
    """What is acknowledged until the power fails: path, body, answer."""
    kept: list[tuple[str, Any, Any]] = []
    try:
        called = started(path, vfs)
    except (AssertionError, apsw.Error):
        assert vfs.lost
        return kept
    try:
        called.post("/v1/experiments", {"name": "e", "arms": ["A", "B"], "policy": "ucb1"})
        for place in range(10_000):
            ids = [f"{number}-{place}-{item}" for item in range(1 + place % 7)]
            for verb, bodies in (
                ("decisions", [{"id": id_} for id_ in ids]),
                ("rewards", [{"decision": id_, "reward": place % 3} for id_ in ids[1:]]),
            ):
                where = f"/v1/experiments/e/{verb}"
                status, answers = called.post(where, bodies)
                if status != 200:
                    assert vfs.lost, answers
                    return kept
                kept += [(where, *pair) for pair in zip(bodies, answers, strict=True)]
        raise AssertionError("the power did not fail")
    finally:
        vfs.lost = True
        called.close()


def _again(answer: Any) -> Any:
    """What the same request is answered the second time."""
    if not answer.get("applied"):
        return answer
    return {**answer, "applied": False, "why": "repeated"}


def check(path: Path, kept: list[tuple[str, Any, Any]]) -> None:
    """On a copy, for a service that starts changes the file."""
    copy = path.parent / "copy"
    copy.mkdir()
    for file in path.parent.glob("rotting.db*"):
        shutil.copy(file, copy)
    called = started(copy / path.name, None)
    try:
        for where in {where for where, _, _ in kept}:
            mine = [(body, answer) for at, body, answer in kept if at == where]
            for begin in range(0, len(mine), 1000):
                bodies, answers = zip(*mine[begin : begin + 1000], strict=True)
                wanted = [_again(answer) for answer in answers]
                assert called.post(where, bodies) == (200, wanted)
    finally:
        called.close()
        shutil.rmtree(copy)


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
