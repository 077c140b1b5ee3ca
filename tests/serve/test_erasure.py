"""Erasing a key: from the database, its files, readers and names that are remembered."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from helpers.serve.in_process import (
    WHO,
    Time,
    check_same,
    files_with,
    play,
    serving,
    take_snapshot,
)
from rotting._serve import book as books
from rotting._serve import requests
from rotting._serve.backup import backup, restore
from rotting._serve.erasure import list_of
from rotting._serve.verify import verify


def test_whoever_is_erased_is_nowhere(tmp_path: Path) -> None:
    path, time = tmp_path / "s.db", Time()
    (tmp_path / "safe").mkdir()
    copy = tmp_path / "safe" / "copy.db"
    with serving(path, time) as inside:
        inside.create(audience=True, policy="roundrobin")
        play(inside, 0, 5, key=WHO)
        play(inside, 5, 8, closed=False, key=WHO)
        play(inside, 8, 40, key="somebody else")
        inside.post("history", {"id": "h", "rows": [{"arm": "A", "reward": 1.0, "key": WHO}]})
        take_snapshot(inside)
        assert files_with(tmp_path, WHO)
        backup(path, copy)
        assert inside.post("erase", {"key": WHO})["erased"]
        assert files_with(tmp_path, WHO) == []  # while it runs, too
        assert not inside.post("erase", {"key": WHO})["erased"]
        assert WHO not in inside.client.get("/v1/experiments/e/export").text
        for page in ("", "/events"):
            assert WHO not in str(inside.get(page))
        found = [event for event in inside.get("/events")["events"] if event["kind"] == "decided"]
        assert {event["key"] for event in found} == {1, 2}  # the surrogate stays
        inside.post("decisions", {"id": "d0", "key": WHO}, 409)
        check_same(inside)
    assert files_with(tmp_path, WHO) == []
    assert verify(path).problems == []
    assert files_with(tmp_path / "safe", WHO) == ["copy.db"]
    for lost in (False, True):
        if lost:
            path.unlink()  # then the list beside it has their names
        assert restore(copy, path, force=True).again == 1
        assert files_with(tmp_path, WHO) == []
        assert verify(path).problems == []
    with serving(path, time) as inside:
        assert inside.get()["keys"] == 1
        made = inside.post("decisions", {"id": "again", "key": WHO})  # a new key
        assert made["pull"] == 1
        assert inside.live().counts.keys == 3


def test_the_same_key_comes_goes_and_comes_in_one_breath(tmp_path: Path) -> None:
    with serving(tmp_path / "s.db") as inside:
        inside.create(audience=True)
        for number in range(3):
            assert inside.post("decisions", {"id": f"d{number}", "key": WHO})["pull"] == 1
            assert [x["erased"] for x in inside.post("erase", [{"key": WHO}] * 2)] == [True, False]
        check_same(inside)
    assert files_with(tmp_path, WHO) == []
    assert len(set(list_of(tmp_path / "s.db").read_text().split())) == 3


def test_a_reader_does_not_keep_the_erased(tmp_path: Path) -> None:
    """A reader keeps the write-ahead log from being emptied: it is tried again."""
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create(audience=True)
        reader = sqlite3.connect(path)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM event").fetchall()
        inside.post("decisions", {"id": "d", "key": WHO})
        assert inside.post("erase", {"key": WHO})["erased"]
        assert files_with(tmp_path, WHO) == ["s.db-wal"]
        reader.close()
        for _ in range(40):
            if not files_with(tmp_path, WHO):
                break
            import time

            time.sleep(0.05)
        assert files_with(tmp_path, WHO) == []


def test_an_erasure_that_was_interrupted_is_finished(tmp_path: Path) -> None:
    """The row is deleted with a commit, the list is written after it."""
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create(audience=True)
        inside.post("decisions", {"id": "d", "key": WHO})
        inside.post("erase", {"key": WHO})
    (mark,) = list_of(path).read_text().split()
    list_of(path).unlink()
    with serving(path):
        assert list_of(path).read_text().split() == [mark]


def test_names_that_are_remembered_have_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when there is always something that is not committed yet."""
    monkeypatch.setattr(books, "_NAMES", 50)
    with serving(tmp_path / "s.db") as inside:
        inside.create(audience=True)
        book = inside.book
        real = book.note_commit

        def never_alone(seq: int) -> None:
            one = inside.live()
            number = one.counts.decisions
            if number > 400:  # once it has to end
                real(seq)
                return
            asked = requests.NewDecision(f"extra{number}", f"extra{number}")
            book.decide(one, asked, {}, {})
            real(seq)

        monkeypatch.setattr(book, "note_commit", never_alone)
        for number in range(500):
            inside.post("decisions", {"id": f"d{number}", "key": f"key {number}"})
            if number >= 100 and inside.live().counts.decisions > 405:  # a slow disk commits less
                break
        assert len(book._names) <= 60
        assert len(book._marks) <= 10
        monkeypatch.setattr(book, "note_commit", real)
        for number in range(100):
            body = {"id": f"d{number}", "key": f"key {number}"}
            assert inside.post("decisions", body)["seq"]  # the same key, looked up
        check_same(inside)
