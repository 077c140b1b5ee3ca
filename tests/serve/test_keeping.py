"""What a keeper does with the database: backups, archives, erasing, versions, settings."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars
import pytest

from helpers.serve.in_process import (
    WHO,
    Time,
    archive_closed,
    files_with,
    is_same,
    play,
    serving,
    take_snapshot,
)
from rotting._serve import backup as backups
from rotting._serve import book as books
from rotting._serve import config, demo, requests, schema, store
from rotting._serve.archive import all_events, archive
from rotting._serve.backup import backup, restore
from rotting._serve.erasure import list_of
from rotting._serve.lease import lease
from rotting._serve.recovery import load_one
from rotting._serve.server import check
from rotting._serve.snapshots import content_of
from rotting._serve.store import Store
from rotting._serve.verify import verify

# Backups.


def test_a_backup_while_running_comes_back(tmp_path: Path) -> None:
    path, copy = tmp_path / "s.db", tmp_path / "monday.db"
    with serving(path) as inside:
        inside.create(control=0.2)
        play(inside, 0, 30)
        state = content_of(inside.live())
        assert backup(path, copy) == inside.book.seq
        play(inside, 30, 60)
        with pytest.raises(ValueError, match="must be new"):
            backup(path, copy)
    assert verify(copy).problems == []
    with pytest.raises(ValueError, match="exists"):
        restore(copy, path)
    assert restore(copy, path, force=True)[:2] == (61, 0)
    assert verify(path).problems == []
    with serving(path, inside.time) as inside:
        assert content_of(inside.live()) == state
        inside.post("decisions", {"id": "d30"})
    assert {file.name for file in tmp_path.iterdir()} <= {
        *("s.db", "monday.db", "s.db.lock", "s.db.mark", "s.db.erased", "monday.db.erased"),
    }


def test_a_backup_is_not_the_database_itself(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create()
        for target in (path, tmp_path / ".." / tmp_path.name / "s.db"):
            with pytest.raises(ValueError, match="another file"):
                backup(path, target, force=True)
            with pytest.raises(ValueError, match="another file"):
                restore(target, path, force=True)
        inside.post("decisions", {"id": "d"})  # still writes into its own file
    for bad in (tmp_path / "none.db", tmp_path / "no" / "folder.db"):
        with pytest.raises(ValueError, match="must"):
            backup(bad, tmp_path / "x.db")
        with pytest.raises(ValueError, match="must"):
            restore(bad, path, force=True)
    with pytest.raises(ValueError, match="folder that exists"):
        backup(path, tmp_path / "no" / "folder.db")


def test_restoring_under_a_running_server_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create()
        backup(path, tmp_path / "copy.db")
    with lease(path), pytest.raises(ValueError, match="served already"):
        restore(tmp_path / "copy.db", path, force=True)


def test_archiving_while_a_backup_is_made_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events go from one file to the other: whoever copies first the one they go to has neither."""
    path = tmp_path / "s.db"
    (tmp_path / "copies").mkdir()
    with serving(path) as inside:
        inside.create()
        play(inside, 0, 10)
        inside.time.now += 10.0
        assert archive_closed(inside) > 0
        play(inside, 10, 30)
        inside.time.now += 10.0
        real = backups._copied
        done: list[int] = []

        def between(*args: Any) -> Any:
            if not done:
                done.append(archive_closed(inside))
            found = real(*args)
            if len(done) == 1:
                done.append(0)
            return found

        monkeypatch.setattr(backups, "_copied", between)
        backup(path, tmp_path / "copies" / "copy.db")
        assert done[0] > 0
    assert verify(tmp_path / "copies" / "copy.db").problems == []


def test_an_archive_that_went_on_is_put_back_too(tmp_path: Path) -> None:
    """Events that were archived after the backup belong to what is given up."""
    path, time = tmp_path / "s.db", Time()
    (tmp_path / "copies").mkdir()
    copy = tmp_path / "copies" / "copy.db"
    with serving(path, time) as inside:
        inside.create()
        play(inside, 0, 10)
        time.now += 10.0
        archive_closed(inside)
        backup(path, copy)
        play(inside, 10, 30)
        time.now += 10.0
        archive_closed(inside)
    restore(copy, path, force=True)
    with serving(path, time) as inside:
        play(inside, 100, 140)
        is_same(inside)
    assert verify(path).problems == []


# Archives.


def test_archived_events_are_counted_and_read(tmp_path: Path) -> None:
    path, time = tmp_path / "s.db", Time()
    with serving(path, time) as inside:
        inside.create(control=0.1)
        play(inside, 0, 20)
        play(inside, 20, 25, closed=False)
        time.now += 100.0
        play(inside, 25, 30)
        assert archive_closed(inside) == 50  # also the latest: nothing is older than now
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
        is_same(inside)
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


# Erasing.


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
        is_same(inside)
    assert files_with(tmp_path, WHO) == []
    assert verify(path).problems == []
    assert files_with(tmp_path / "safe", WHO) == ["copy.db"]
    for lost in (False, True):
        if lost:
            path.unlink()  # then the list beside it says who they were
        assert restore(copy, path, force=True).again == 1
        assert files_with(tmp_path, WHO) == []
        assert verify(path).problems == []
    with serving(path, time) as inside:
        assert inside.get()["keys"] == 1
        made = inside.post("decisions", {"id": "again", "key": WHO})  # somebody new
        assert made["pull"] == 1
        assert inside.live().counts.keys == 3


def test_the_same_key_comes_goes_and_comes_in_one_breath(tmp_path: Path) -> None:
    with serving(tmp_path / "s.db") as inside:
        inside.create(audience=True)
        for number in range(3):
            assert inside.post("decisions", {"id": f"d{number}", "key": WHO})["pull"] == 1
            assert [x["erased"] for x in inside.post("erase", [{"key": WHO}] * 2)] == [True, False]
        is_same(inside)
    assert files_with(tmp_path, WHO) == []
    assert len(set(list_of(tmp_path / "s.db").read_text().split())) == 3


def test_a_reader_does_not_keep_the_erased(tmp_path: Path) -> None:
    """Somebody who reads keeps the write-ahead log from being emptied: it is tried again."""
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
        is_same(inside)


# Exports.


def test_an_export_is_what_happened(tmp_path: Path) -> None:
    path, time = tmp_path / "s.db", Time()
    with serving(path, time) as inside:
        inside.create(
            audience=True,
            policy="roundrobin",
            control=0.2,
            reward_window=100.0,
            default_reward=0.5,
            require_shown=True,
            shown_window=50.0,
        )
        inside.post("decisions", [{"id": f"d{n}", "key": f"k {n % 3}"} for n in range(12)])
        inside.post("shown", [{"decision": f"d{n}"} for n in range(6)])
        inside.post("rewards", [{"decision": f"d{n}", "reward": n / 4} for n in range(3)])
        time.now += 60.0
        inside.post("shown", {"decision": "d6"}, 409)  # expires
        time.now += 60.0
        inside.post("rewards", {"decision": "d3", "reward": 9.0})  # late
        inside.post("decisions", [{"id": f"n{n}", "key": "last"} for n in range(3)])
        inside.post("shown", {"decision": "n0"})
        inside.post("decisions", {"id": "gone", "key": "gone"})
        inside.post("erase", {"key": "gone"})
        text = inside.client.get("/v1/experiments/e/export").text
        table = inside.client.get("/v1/experiments/e/export?format=parquet")
        log = {
            (event["kind"], event.get("id")): event
            for event in inside.get("/events?limit=10000")["events"]
        }
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["id"] for row in rows] == [
        *(f"d{n}" for n in range(12)),
        *(f"n{n}" for n in range(3)),
        "gone",
    ]
    by_id = {row["id"]: row for row in rows}
    for number in range(3):
        row = by_id[f"d{number}"]
        assert (row["outcome"], float(row["reward"])) == ("rewarded", number / 4)
        assert row["pull"] == str(log["shown", row["id"]]["pull"])
        assert row["key"] == f"k {number}"
        assert row["arm"] == log["decided", row["id"]]["arm"]
        assert float(row["propensity"]) == log["decided", row["id"]]["propensity"]
        assert (row["policy"], row["version"][:1]) == ("roundrobin", "1")
    late = by_id["d3"]
    assert (late["outcome"], late["reward"], late["late_reward"]) == ("default", "0.5", "9.0")
    assert by_id["d6"]["outcome"] == "never shown"
    assert (by_id["n0"]["outcome"], by_id["n0"]["reward"]) == ("waiting", "")
    assert by_id["n1"]["outcome"] == "not shown yet"
    assert (by_id["gone"]["outcome"], by_id["gone"]["key"]) == ("erased", "")
    frame = polars.read_parquet(io.BytesIO(table.content))
    assert frame.columns == list(rows[0])
    for row, other in zip(rows, frame.iter_rows(named=True), strict=True):
        for name, value in other.items():
            if value is None:
                assert row[name] == ""
            elif isinstance(value, str):
                assert row[name] == value
            else:
                assert float(row[name]) == float(value)


def test_an_export_does_not_depend_on_what_happens_meanwhile(tmp_path: Path) -> None:
    """A decision that was open when it was read and is rewarded now is not an erased one."""
    from rotting._serve.export import rows_of

    with serving(tmp_path / "s.db") as inside:
        inside.create()
        play(inside, 0, 3, closed=False)
        rows = rows_of(inside.book.store, inside.live())
        first = next(rows)
        inside.post("rewards", [{"decision": f"d{n}", "reward": 1.0} for n in range(3)])
        assert [row[12] for row in (first, *rows)] == ["waiting"] * 3


# Versions of the tables.


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


def test_one_server_for_each_database(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with lease(path):
        with pytest.raises(ValueError, match="served already"), lease(path):
            pass
        with lease(tmp_path / "other.db"):
            pass
    with lease(path):  # free again
        pass


# Settings.


@pytest.mark.parametrize(
    ("flags", "environ", "file", "port", "origin"),
    [
        ({}, {}, "", 8100, "default"),
        ({}, {}, "port = 1", 1, "file"),
        ({}, {}, "rate-limit = 5\nport = 1", 1, "file"),  # as the flag is written
        ({}, {"ROTTING_SERVE_PORT": "2"}, "port = 1", 2, "environment"),
        ({"port": 3}, {"ROTTING_SERVE_PORT": "2"}, "port = 1", 3, "flag"),
        ({"port": None}, {"ROTTING_SERVE_PORT": "2"}, "", 2, "environment"),
        ({"port": 3}, {}, "port = 1", 3, "flag"),
    ],
)
def test_flags_before_variables_before_the_file(
    tmp_path: Path,
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    file: str,
    port: int,
    origin: str,
) -> None:
    path = tmp_path / "serve.toml"
    path.write_text(file)
    made, found = config.resolve(flags, {"OTHER": "x", **environ}, path)
    assert made.port == port
    assert found["port"] == (str(path) if origin == "file" else origin)


@pytest.mark.parametrize(
    ("flags", "environ", "file", "words"),
    [
        ({}, {}, 'port = "x"', r"port cannot be 'x' \(.*serve\.toml\)"),
        ({}, {}, "port = 65536", r"port cannot be 65536 \(.*serve\.toml\)"),
        ({}, {}, "ports = 1", r"got 'ports' \(.*serve\.toml\)"),
        ({}, {}, "port =", "must be TOML"),
        ({}, {"ROTTING_SERVE_PORT": "many"}, "", r"port cannot be 'many' \(environment\)"),
        ({}, {"ROTTING_SERVE_PROT": "1"}, "", r"got 'prot' \(environment\)"),
        ({}, {"ROTTING_SERVE_RATE_LIMIT": "nan"}, "", r"rate_limit cannot be 'nan' \(environment"),
        ({}, {"ROTTING_SERVE_GRACE": "inf"}, "", r"grace cannot be 'inf' \(environment\)"),
        ({"rate_limit": -1.0}, {}, "", r"rate_limit cannot be -1\.0 \(flag\)"),
        ({"log": "xml"}, {}, "", r"log must be text or json, got 'xml' \(flag\)"),
        ({"body_limit": 1}, {}, "", r"body_limit cannot be 1 \(flag\)"),
        ({}, {"ROTTING_SERVE_VERBOSE": "perhaps"}, "", r"verbose cannot be 'perhaps'"),
    ],
)
def test_wrong_settings_name_where_they_are_from(
    tmp_path: Path, flags: Mapping[str, Any], environ: Mapping[str, str], file: str, words: str
) -> None:
    path = tmp_path / "serve.toml"
    path.write_text(file)
    with pytest.raises(ValueError, match=words):
        config.resolve(flags, environ, path)


def test_without_keys_it_listens_here_only(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    for host in ("0.0.0.0", "::", "192.168.0.1", "example.org", ""):
        with pytest.raises(ValueError, match="unless there are API keys"):
            check(config.Config(data=str(path), host=host, port=0))
    for host in ("127.0.0.1", "localhost"):
        assert check(config.Config(data=str(path), host=host, port=0))
    assert list(tmp_path.iterdir()) == []  # a look makes nothing


def test_the_demo_leaves_others_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An experiment of the demo's name that somebody made gets no simulated visitors."""
    from starlette.testclient import TestClient

    from rotting._serve.app import make_app

    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create(name=demo.NAME, audience=True, policy="roundrobin")
    app = make_app(path, compiled=False)
    demo.begin(app.service)
    with TestClient(app, "http://127.0.0.1") as client:
        for _ in range(20):
            import time

            time.sleep(0.05)
            if "demo" in caplog.text:
                break
        found = client.get(f"/v1/experiments/{demo.NAME}").json()
        assert client.get("/ready").status_code == 200
    assert found["decisions"] == 0
    assert "is not the demo's" in caplog.text
