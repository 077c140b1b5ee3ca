"""The store of events: versions of tables, the index, the write-ahead log, and a full disk."""

from __future__ import annotations

import itertools
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from helpers.serve.in_process import (
    Time,
    play,
    serving,
)
from rotting._serve import config, schema
from rotting._serve.server import check
from rotting._serve.snapshots import content_of
from rotting._serve.sqlite import LONG_LOG, Sqlite, SqliteDatabase
from rotting._serve.store import Store
from rotting._serve.verify import verify


def test_tables_of_tomorrow_and_of_others_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create()
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    database.close()
    with pytest.raises(ValueError, match="written by a newer rotting"):
        Store.open(path)
    with pytest.raises(ValueError, match="written by a newer rotting"):
        check(config.Config(data=str(path), port=0))
    other = tmp_path / "other.db"
    database = sqlite3.connect(other)
    database.execute("CREATE TABLE mine (x)")
    database.execute("INSERT INTO mine VALUES (1)")
    database.commit()
    before = other.read_bytes()
    with pytest.raises(ValueError, match="something else"):
        Store.open(other)
    database.close()
    assert other.read_bytes() == before
    text = tmp_path / "text.db"
    text.write_text("no database at all, but a text that is long enough to be one" * 50)
    with pytest.raises(ValueError, match="must be a database"):
        check(config.Config(data=str(text)))


def test_older_tables_are_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, time = tmp_path / "s.db", Time()
    with serving(path, time) as inside:
        inside.create()
        play(inside, 0, 5)
        state = content_of(inside.live())
    step = ("CREATE TABLE extra (x INTEGER) STRICT", "INSERT INTO extra VALUES (7)")
    broken, known = (*step, "INSERT INTO nowhere VALUES (1)"), schema.MIGRATIONS
    for steps in (broken, step):
        monkeypatch.setattr(schema, "MIGRATIONS", (*known, steps))
        monkeypatch.setattr(schema, "VERSION", len(known) + 1)
        if steps is broken:
            with pytest.raises(sqlite3.OperationalError, match="nowhere"):
                Store.open(path)
            database = sqlite3.connect(path)
            assert database.execute("PRAGMA user_version").fetchone() == (len(known),)
            tables = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'extra'")
            assert tables.fetchall() == []
            database.close()
    with serving(path, time) as inside:
        assert content_of(inside.live()) == state
        assert inside.book.store.database.read("SELECT x FROM extra") == [(7,)]
    monkeypatch.undo()
    with pytest.raises(ValueError, match=f"version {len(known) + 1}"):
        Store.open(path)


def test_events_of_a_rare_experiment_are_found_by_an_index(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    sql = "SELECT * FROM event WHERE seq > 5 AND seq <= 9 AND experiment = 2 ORDER BY seq LIMIT 9"
    ((*_, plan),) = store.database.read(f"EXPLAIN QUERY PLAN {sql}")
    assert "event_experiment" in plan
    assert "TEMP B-TREE" not in plan
    store.close()


def test_the_write_ahead_log_is_begun_anew(tmp_path: Path) -> None:
    """It grew to 206 MB, with a database of 10 MB."""
    database = SqliteDatabase(tmp_path / "s.db")
    with database.transaction() as write:
        write.execute("CREATE TABLE filler (x BLOB)")
    most = 0
    for _ in range(60):
        for sql in ("INSERT INTO filler VALUES (zeroblob(1000000))", "DELETE FROM filler"):
            with database.transaction() as write:
                write.execute(sql)
        if database.log_size():
            database.checkpoint()
            database.restart_log()
        most = max(most, (tmp_path / "s.db-wal").stat().st_size)
    database.close()
    assert most < 2 * LONG_LOG


class Full(Sqlite):
    """A disk that is full, once it is said to be."""

    full = False

    def execute(self, sql: str, parameters: Any = ()) -> list[Any]:
        if Full.full and sql.split()[0] in ("INSERT", "UPDATE", "DELETE", "COMMIT"):
            raise sqlite3.OperationalError("database or disk is full")
        return super().execute(sql, parameters)


def test_what_is_there_can_be_read_while_nothing_can_be_written(tmp_path: Path) -> None:
    Full.full = False
    with serving(tmp_path / "s.db", connect=Full) as inside:
        inside.create()
        inside.post("decisions", {"id": "d1"})
        Full.full = True
        try:
            inside.post("decisions", {"id": "d2"}, status=503)
            until = time.monotonic() + 15.0
            while inside.client.get("/v1/experiments/e").status_code != 200:
                assert time.monotonic() < until
                time.sleep(0.1)
            assert inside.get()["decisions"] == 1
            assert len(inside.get("/events")["events"]) == 2
            assert inside.client.get("/v1/experiments/e/export").status_code == 200
            assert inside.client.get("/v1/experiments").status_code == 200
            ready = inside.client.get("/ready")
            assert ready.status_code == 503
            assert "full" in ready.text
            inside.post("decisions", {"id": "d2"}, status=503)
        finally:
            Full.full = False
        for wait in itertools.count():
            if inside.client.get("/ready").status_code == 200:
                break
            assert wait < 100
            time.sleep(0.1)
        inside.post("decisions", {"id": "d2"})
        assert inside.get()["decisions"] == 2
    assert verify(tmp_path / "s.db").problems == []
