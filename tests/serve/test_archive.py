"""Archives of closed events: what is moved, counted, read and missed."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from helpers.serve.in_process import (
    Time,
    archive_closed,
    check_same,
    play,
    serving,
    take_snapshot,
)
from rotting._serve import store
from rotting._serve.archive import all_events, archive, begun
from rotting._serve.backup import backup, restore
from rotting._serve.export import write
from rotting._serve.recovery import load_one
from rotting._serve.snapshots import content_of
from rotting._serve.store import Store
from rotting._serve.verify import verify


def test_archived_events_are_counted_and_read(tmp_path: Path) -> None:
    path, time = tmp_path / "s.db", Time()
    with serving(path, time) as inside:
        inside.create(control=0.1)
        play(inside, 0, 20)
        play(inside, 20, 25, closed=False)
        time.now += 100.0
        play(inside, 25, 30)
        assert archive_closed(inside) == 50  # also the latest: no event is later than now
        state = content_of(inside.live())
        numbers = [event.seq for event in all_events(inside.book.store)]
        assert numbers == list(range(1, inside.book.seq + 1))
        assert len(list(inside.book.store.events())) == inside.book.seq - 50
        for verb, body in (
            ("decisions", {"id": "d3"}),
            ("rewards", {"decision": "d3", "reward": 1.0}),
            ("shown", {"decision": "d3"}),
        ):
            assert inside.post(verb, body, 410)["error"]["code"] == "archived"
        batch = inside.post("decisions", [{"id": "d3"}, {"id": "new"}])
        assert batch[0]["error"]["code"] == "archived"
        assert batch[1]["arm"]
        assert inside.post("rewards", {"decision": "d21", "reward": 1.0})["applied"]
        assert inside.post("decisions", {"id": "nothing"})
        inside.post("shown", {"decision": "unheard of"}, 404)
        pulls = [arm["pulls"] for arm in inside.get()["arms"]]
        inside.post("policy", {"policy": {"policy": "ucb1", "c": 1.0}})
        assert [arm["pulls"] for arm in inside.get()["arms"]] == pulls
        check_same(inside)
        state = content_of(inside.live())
    assert verify(path).problems == []
    with serving(path, time) as inside:
        assert content_of(inside.live()) == state
        assert archive_closed(inside) > 0  # more into the same file
    assert verify(path).problems == []


def test_a_missing_archive_says_so(tmp_path: Path) -> None:
    path, time = tmp_path / "s.db", Time()
    with serving(path, time) as inside:
        inside.create()
        play(inside, 0, 10)
        time.now += 1.0
        archive_closed(inside)
    (tmp_path / "old.db").rename(tmp_path / "elsewhere.db")
    with serving(path, time) as inside:  # a start needs its snapshot only
        assert inside.get()["decisions"] == 10
        for answer in (
            inside.client.get("/v1/experiments/e/export"),
            inside.client.post("/v1/experiments/e/policy", json={"policy": "roundrobin"}),
        ):
            assert answer.status_code == 503
            assert "archive old.db" in answer.json()["error"]["message"]
        inside.post("decisions", {"id": "goes on"})
    with pytest.raises(ValueError, match=r"archive old\.db must lie beside"):
        verify(path)
    with pytest.raises(ValueError, match=r"old\.db"):
        backup(path, tmp_path / "copy.db")
    with pytest.raises(ValueError, match="beside"):
        archive(path, tmp_path.parent / "x.db", older=0.0)
    (tmp_path / "other.db").write_bytes(b"something")
    with pytest.raises(ValueError, match="new or one of this database"):
        archive(path, tmp_path / "other.db", older=0.0, wait=0.0)


def test_an_older_snapshot_goes_with_archived_events(tmp_path: Path) -> None:
    """Where the latest snapshots are damaged, what was archived since an older one is read."""
    path, time = tmp_path / "s.db", Time()
    with serving(path, time) as inside:
        inside.create()
        inside.post("policy", {"policy": {"policy": "ucb1", "c": 1.0}})
        take_snapshot(inside)  # is kept: it goes with a policy
        play(inside, 0, 20)
        time.now += 1.0
        assert archive_closed(inside) == 40
        state, number = content_of(inside.live()), inside.live().number
    database = sqlite3.connect(path)
    database.execute("UPDATE snapshot SET checksum = 'no' WHERE seq > 5")
    left = database.execute("SELECT count(*) FROM snapshot WHERE checksum != 'no'").fetchone()
    database.commit()
    database.close()
    assert left == (1,)
    opened = Store.open(path)
    found, behind = load_one(opened, number, compiled=False)
    opened.close()
    assert content_of(found) == state
    assert behind > 40


def test_old_snapshots_are_forgotten_without_reading_the_log(tmp_path: Path) -> None:
    opened = Store.open(tmp_path / "s.db")
    plan = opened.database.read(f"EXPLAIN QUERY PLAN {store._DELETE_SNAPSHOTS}", (1, 1))
    opened.close()
    assert not [row[3] for row in plan if row[3].startswith("SCAN event")]
    assert not [row[3] for row in plan if "SCAN event" in row[3]]


def test_an_archive_that_was_only_begun_is_ignored_and_named(tmp_path: Path) -> None:
    path, copy = tmp_path / "s.db", tmp_path / "monday.db"
    with serving(path) as inside:
        inside.create()
        inside.post("decisions", {"id": "d"})
        inside.post("rewards", {"decision": "d", "reward": 1.0})
    store = Store.open(path)
    store.begin_archive("old.db")  # and then it was interrupted
    assert begun(store) == ["old.db"]
    store.close()
    found = verify(path)
    assert found.problems == []
    assert "archive old.db was begun and is empty: ignored" in found.lines
    assert backup(path, copy) == 3
    write(path, "e", tmp_path / "e.csv")
    with serving(path) as inside:
        inside.post("policy", {"policy": "roundrobin"})
        assert len(inside.get("/events")["events"]) == 4
    restore(copy, tmp_path / "again.db")
    assert verify(tmp_path / "again.db").problems == []
    # the same command once more goes on with it
    archive(path, tmp_path / "old.db", older=-1e9, wait=0.0)
    assert verify(path).problems == []
