"""The disk is full, the database is locked or gone: 503 and never an acknowledgement."""

from __future__ import annotations

import os
import resource
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from serve_process import Server, all_events

PATIENCE = 15.0  # seconds until it has to be well again
EXPERIMENT = {"name": "e", "arms": ["A", "B"], "policy": "ucb1"}


class Ledger:
    """A client that keeps what was acknowledged, and what was not."""

    def __init__(self, server: Server) -> None:
        self.server, self.client = server, server.client()
        self.decided: dict[str, Any] = {}
        self.refused: list[str] = []
        self.number = 0

    def decide(self, id_: str | None = None) -> int:
        self.number += 1
        id_ = id_ or f"d{self.number}"
        status, headers, read = self.client.send(
            "POST", "/v1/experiments/e/decisions", b'{"id": "%s"}' % id_.encode()
        )
        if status == 200:
            self.decided[id_] = read
        else:
            assert status == 503, read
            assert b'"unavailable"' in read, read
            assert headers.get("retry-after", "").isdigit(), headers
            self.refused.append(id_)
        return status

    def check_fails(self, tries: int = 5) -> None:
        """No decision may be acknowledged."""
        assert [self.decide() for _ in range(tries)] == [503] * tries
        # A request may be refused some moments before /ready changes
        assert eventually(lambda: self.client.get("/ready")[0] == 503), "ready, but refusing"
        assert self.client.get("/health")[0] == 200
        reason = self.client.get("/v1/status")[1]["reason"]
        assert isinstance(reason, str), reason
        assert reason

    def check_recovers(self) -> None:
        """The service recovers by itself, and refused requests succeed when repeated."""
        assert eventually(lambda: self.decide() == 200), "still not well"
        assert eventually(lambda: self.client.get("/ready")[0] == 200), "well, but not ready"
        for id_ in dict.fromkeys(self.refused):
            assert self.decide(id_) == 200
        self.check_kept()

    def check_kept(self) -> None:
        """Stored decisions are the acknowledged ones."""
        status, page = self.client.get("/v1/experiments/e")
        assert status == 200
        assert page["decisions"] == len(self.decided)
        events = [e for e in all_events(self.client, "e") if e["kind"] == "decided"]
        assert sorted(e["id"] for e in events) == sorted(self.decided)
        for id_, before in self.decided.items():
            body = b'{"id": "%s"}' % id_.encode()
            again = self.client.send("POST", "/v1/experiments/e/decisions", body)
            assert again[2] == before


def eventually(what: Any) -> bool:
    end = time.monotonic() + PATIENCE
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Server(tmp_path / "rotting.db") as server:
        made = Ledger(server)
        assert made.client.post("/v1/experiments", EXPERIMENT)[0] == 201
        for _ in range(20):
            assert made.decide() == 200
        yield made
        if server.process is not None:
            assert server.process.poll() is None, server.said()
            server.stop()
        code, said = server.verify()
        assert code == 0, said


def test_a_locked_database(ledger: Ledger) -> None:
    other = sqlite3.connect(ledger.server.data, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        ledger.check_fails(3)
    finally:
        other.execute("ROLLBACK")
        other.close()
    ledger.check_recovers()


def test_a_full_disk(ledger: Ledger) -> None:
    """No file may grow: the kernel refuses as a full disk would."""
    assert ledger.server.process is not None
    pid = ledger.server.process.pid
    sizes = [file.stat().st_size for file in ledger.server.data.parent.glob("rotting.db*")]
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (max(sizes), hard))
    try:
        # The log of SQLite may still have room from before
        assert eventually(lambda: ledger.decide() == 503), "it never noticed that the disk is full"
        ledger.check_fails()
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))
    ledger.check_recovers()


def test_a_database_that_was_moved_away(ledger: Ledger) -> None:
    data, away = ledger.server.data, ledger.server.data.with_name("away")
    away.mkdir()
    files = sorted(data.parent.glob("rotting.db*"))
    files = [file for file in files if not file.name.endswith(".stderr")]
    for file in files:
        file.rename(away / file.name)
    try:
        ledger.check_fails()
    finally:
        for file in files:
            file.unlink(missing_ok=True)  # it must not have begun another one in its place
            (away / file.name).rename(file)
    ledger.check_recovers()


def test_a_database_that_was_deleted(tmp_path: Path) -> None:
    with Server(tmp_path / "rotting.db") as server:
        ledger = Ledger(server)
        assert ledger.client.post("/v1/experiments", EXPERIMENT)[0] == 201
        assert ledger.decide() == 200
        for file in tmp_path.glob("rotting.db*"):
            if not file.name.endswith(".stderr"):
                file.unlink()
        ledger.check_fails()
        assert not (tmp_path / "rotting.db").exists(), "it began an empty one"


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_database_that_may_not_be_written(ledger: Ledger) -> None:
    ledger.server.data.chmod(0o400)
    ledger.decide()  # an open file stays writable: either way, nothing may be lost
    ledger.server.data.chmod(0o600)
    ledger.check_recovers()


def test_it_stops_when_told_with_requests_under_way(ledger: Ledger) -> None:
    code = ledger.server.stop()
    assert code in (0, 128 + 15, -15), ledger.server.said()
    ledger.server.start()
    ledger.client = ledger.server.client()
    ledger.check_kept()
