"""What an attack found, each in a short form; what concerns the disk is in test_acknowledged."""

from __future__ import annotations

import csv
import http.client
import io
import itertools
import logging
import socket
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from helpers.serve.in_process import Inside, Time, serving
from rotting._serve import recovery
from rotting._serve.access import check_token
from rotting._serve.archive import archive, begun
from rotting._serve.backup import backup, restore
from rotting._serve.clock import Clock
from rotting._serve.export import write
from rotting._serve.service import Limits
from rotting._serve.sqlite import LONG_LOG, Sqlite, SqliteDatabase
from rotting._serve.store import Store
from rotting._serve.verify import verify
from serve_process import Server

PLAIN = {"ROTTING_SERVE_COMPILED": "false"}
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"

# --------------------------------------------------------------------------------------- requests


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Server(tmp_path_factory.mktemp("attacked") / "s.db", environment=PLAIN) as made:
        yield made
        assert "Traceback" not in made.said()


def test_requests_whose_answers_are_not_read_are_not_read_either(server: Server) -> None:
    """It grew by gigabytes: 49 MB sent, 2,517 MB taken."""
    before = server.memory()
    lines = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
    until = time.monotonic() + 3.0
    for line in lines:
        line.settimeout(0.5)
        try:
            while time.monotonic() < until:
                line.sendall(HEALTH * 1000)
        except TimeoutError:
            pass
    assert server.memory() - before < 48 << 20
    for line in lines:
        line.close()


def test_a_client_that_reads_may_send_ahead(server: Server) -> None:
    line = socket.create_connection(("127.0.0.1", server.port))
    line.settimeout(20.0)
    many = 3000
    sender = threading.Thread(target=line.sendall, args=(HEALTH * many,))
    sender.start()
    got = b""
    while got.count(b'"alive":true') < many:
        got += line.recv(1 << 16)
    sender.join()
    line.close()
    assert got.count(b"HTTP/1.1 200") == many


def test_bodies_in_pieces_behind_requests_that_wait(server: Server) -> None:
    """A head after other requests, and its body in two parts."""
    client = server.client()
    client.post("/v1/experiments", {"name": "pieces", "arms": ["A"], "policy": "ucb1"})
    line = socket.create_connection(("127.0.0.1", server.port))
    line.settimeout(10.0)
    body = b'{"id": "later"}'
    head = b"POST /v1/experiments/pieces/decisions HTTP/1.1\r\nHost: localhost\r\n"
    head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    line.sendall(HEALTH * 200 + head + body[:5])
    time.sleep(0.2)
    line.sendall(body[5:] + HEALTH)
    got = b""
    while got.count(b"HTTP/1.1 ") < 202 or not got.endswith(b"}\n"):
        got += line.recv(1 << 16)
    line.close()
    assert got.count(b'"alive":true') == 201
    assert b'"id":"later","arm":"A"' in got


def test_two_hosts_are_refused(server: Server) -> None:
    line = socket.create_connection(("127.0.0.1", server.port))
    line.settimeout(10.0)
    line.sendall(b"GET /ready HTTP/1.1\r\nHost: localhost\r\nHost: elsewhere\r\n\r\n")
    got = line.recv(1 << 16)
    line.close()
    assert got.startswith(b"HTTP/1.1 400")
    assert b"one Host header" in got


def test_another_address_of_this_machine_is_one(tmp_path: Path) -> None:
    made = Server(tmp_path / "s.db", environment=PLAIN, options=("--host", "127.0.0.2"))
    made.launch()
    until = time.monotonic() + 30.0
    try:
        while "127.0.0.2" not in made.said():
            assert time.monotonic() < until
            time.sleep(0.05)
        line = http.client.HTTPConnection("127.0.0.2", made.port, timeout=10.0)
        line.request("GET", "/v1/status")
        assert line.getresponse().status == 200
        line.close()
    finally:
        made.kill()


@pytest.fixture
def inside(tmp_path: Path) -> Any:
    with serving(tmp_path / "s.db") as made:
        made.create()
        yield made


@pytest.mark.parametrize(
    "body",
    [
        b'{"id": "a", "id": "b"}',
        b'{"id": "a", "\\u0069d": "b"}',
        b'[{"id": "a"}, {"id": "b", "id": "c"}]',
        b'[{"id": "a", "among": ["A"], "among": ["B"]}, {"id": "b"}]',
    ],
)
def test_a_name_that_is_given_twice_is_refused(inside: Inside, body: bytes) -> None:
    kind = {"Content-Type": "application/json"}
    found = inside.client.post("/v1/experiments/e/decisions", content=body, headers=kind)
    assert found.status_code == 400
    assert "is given twice" in found.json()["error"]["message"]
    assert inside.get()["decisions"] == 0


def test_twice_in_what_is_nested_and_in_new_experiments(inside: Inside) -> None:
    kind = {"Content-Type": "application/json"}
    row = b'{"arm": "A", "reward": 1, "reward": 0}'
    past = b'{"id": "h", "rows": [%s, {"arm": "A", "reward": 1}]}' % row
    found = inside.client.post("/v1/experiments/e/history", content=past, headers=kind)
    assert found.status_code == 400
    made = b'{"name": "f", "arms": ["A"], "seed": 1, "seed": 2}'
    assert inside.client.post("/v1/experiments", content=made, headers=kind).status_code == 400


def test_a_value_that_reads_like_a_name_is_no_name(inside: Inside) -> None:
    assert inside.post("decisions", {"id": '"id"'})["id"] == '"id"'
    batch = [{"id": "id"}, {"id": "among", "among": ["A"]}]
    assert inside.post("decisions", batch)[1]["arm"] == "A"


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200f", "\ufeff"])
def test_ids_and_names_of_keys_that_deceive_the_eye(inside: Inside, sign: str) -> None:
    assert "bidirectional" in inside.post("decisions", {"id": f"a{sign}b"}, 400)["error"]["message"]
    many = [{"id": f"a{sign}b"}, {"id": "c"}]
    assert "error" in inside.post("decisions", many)[0]
    for name in (f"shop{sign}", "shop\n"):
        with pytest.raises(ValueError, match="control or bidirectional"):
            check_token(name, ["read"], [])


def test_answers_are_for_this_origin_alone(inside: Inside) -> None:
    for path in ("/v1/status", "/v1/experiments/e", "/metrics", "/health"):
        headers = inside.client.get(path).headers
        assert headers["cross-origin-resource-policy"] == "same-origin", path


def test_a_table_for_spreadsheets_has_no_formulas(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create(arms=["=1+2", "B"], policy="roundrobin", audience=True)
        for id_, key in (("@x", "-1"), ("+y", "plain")):
            inside.post("decisions", {"id": id_, "key": key})
        inside.post("rewards", {"decision": "@x", "reward": -2.5})
    write(path, "e", tmp_path / "e.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "e.csv").read_text())))
    assert [row["id"] for row in rows] == ["'@x", "'+y"]
    assert [row["key"] for row in rows] == ["'-1", "plain"]
    assert rows[0]["arm"] == "'=1+2"
    assert rows[0]["reward"] == "-2.5"  # a number


# ----------------------------------------------------------------------------------------- clocks


class Machine:
    """A machine's clock, and what goes on evenly."""

    def __init__(self) -> None:
        self.wall, self.even = 1_000_000.0, 50.0

    def passes(self, seconds: float) -> None:
        self.wall += seconds
        self.even += seconds


def test_service_time_goes_on_evenly(caplog: pytest.LogCaptureFixture) -> None:
    machine = Machine()
    clock = Clock(lambda: machine.wall, lambda: machine.even)
    clock.begin(0.0)
    assert clock.now() == 1_000_000.0
    with caplog.at_level(logging.INFO, "rotting.serve"):
        machine.wall += 3600.0  # somebody sets it, and sets it back
        machine.passes(10.0)
        clock.watch()
        assert clock.now() == 1_000_010.0
        assert clock.offset == pytest.approx(-3600.0)
        machine.wall -= 3600.0
        clock.watch()
        clock.watch()
    assert clock.jumps == 2
    said = [record.getMessage() for record in caplog.records]
    assert said[0].startswith("the clock jumped by +3600 s")
    assert said[1].startswith("the clock jumped by -3600 s")


def test_after_a_start_with_a_clock_that_was_ahead(caplog: pytest.LogCaptureFixture) -> None:
    machine = Machine()
    clock = Clock(lambda: machine.wall, lambda: machine.even)
    year = 365 * 86_400.0
    clock.begin(machine.wall + year)  # the last event is of then
    machine.passes(100.0)
    assert clock.now() == 1_000_000.0 + year + 100.0
    assert clock.offset == pytest.approx(year)
    assert "behind the last event" in caplog.text
    clock.begin(5.0)  # loaded again: nothing goes back
    assert clock.now() == 1_000_000.0 + year + 100.0


def test_windows_end_by_elapsed_time_after_a_jump(tmp_path: Path) -> None:
    """The clock was a year ahead at one start: windows still end, and late rewards are late."""
    path = tmp_path / "s.db"
    ahead, right = Time(2_000_000_000.0), Time(2_000_000_000.0 - 365 * 86_400.0)
    with serving(path, ahead) as inside:
        inside.create(reward_window=10.0, default_reward=0.0)
        inside.post("decisions", {"id": "before"})
    with serving(path, right) as inside:
        inside.post("decisions", {"id": "d"})
        assert inside.client.get("/ready").json()["clock_offset"] > 1e7
        assert inside.client.get("/v1/status").json()["clock_offset"] > 1e7
        assert b"rotting_clock_offset_seconds 3.1" in inside.client.get("/metrics").content
        right.now += 11.0
        found = inside.post("rewards", {"decision": "d", "reward": 1.0})
        assert (found["applied"], found["why"]) == (False, "late")
    assert verify(path).problems == []


# ---------------------------------------------------------------------------------------- archives


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


# ------------------------------------------------------------------------------- time and memory


def test_a_batch_of_slow_decisions_lets_others_through(tmp_path: Path) -> None:
    """With 1,000 arms in plain Python a batch of 100 blocked everybody for 1.1 s."""
    with Server(tmp_path / "s.db", environment=PLAIN) as server:
        client, other = server.client(), server.client()
        arms = [f"a{number}" for number in range(1000)]
        made = {"name": "e", "arms": arms, "policy": {"policy": "swucb", "tau": 50}}
        assert client.post("/v1/experiments", made)[0] == 201
        waits: list[float] = []
        done = threading.Event()

        def look() -> None:
            while not done.is_set():
                begin = time.perf_counter()
                other.get("/v1/status")
                waits.append(time.perf_counter() - begin)
                time.sleep(0.005)

        thread = threading.Thread(target=look)
        thread.start()
        begin = time.perf_counter()
        batch = [{"id": f"d{number}"} for number in range(300)]
        status, found = client.post("/v1/experiments/e/decisions", batch)
        took = time.perf_counter() - begin
        done.set()
        thread.join()
        assert status == 200
        assert len({each["id"] for each in found}) == 300
        # a moment of 10 ms, and what a busy machine adds
        assert max(waits) < max(0.25, 0.4 * took)


def test_events_of_a_rare_experiment_are_found_by_an_index(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    sql = "SELECT * FROM event WHERE seq > 5 AND seq <= 9 AND experiment = 2 ORDER BY seq LIMIT 9"
    ((*_, plan),) = store.database.read(f"EXPLAIN QUERY PLAN {sql}")
    assert "event_experiment" in plan
    assert "TEMP B-TREE" not in plan
    store.close()


def test_without_a_window_the_oldest_wait_no_longer(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with serving(path, limits=Limits(waiting=5)) as inside:
        inside.create()
        for number in range(12):
            inside.post("decisions", {"id": f"d{number}"})
        until = time.monotonic() + 10.0
        while len(inside.live().waiting) > 5:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert list(inside.live().waiting) == [f"d{number}" for number in range(7, 12)]
        assert inside.post("rewards", {"decision": "d0", "reward": 1.0})["why"] == "late"
        assert inside.post("rewards", {"decision": "d9", "reward": 1.0})["applied"] is True
    assert verify(path).problems == []


def test_a_long_start_says_what_it_is_doing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a million keys the log was silent for 13.6 s."""
    monkeypatch.setattr(recovery, "_MOMENT", 0.0)
    monkeypatch.setattr(recovery, "_LARGE", 100)
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create()
        inside.post("decisions", {"id": "d"})
    with serving(path) as inside:
        inside.post("decisions", [{"id": f"d{number}"} for number in range(250)])
        copy = tmp_path / "killed.db"
        backup(path, copy)
    with caplog.at_level(logging.INFO, "rotting.serve"), serving(copy):
        pass
    said = [record.getMessage() for record in caplog.records]
    assert [line for line in said if line.startswith("loading")] == [
        "loading e: a snapshot of 0.0 MB",
        "loading e: 100 of 250 events",
        "loading e: 200 of 250 events",
    ]
    assert any(line.startswith("killed.db is loaded, which took") for line in said)


def test_the_write_ahead_log_is_begun_anew(tmp_path: Path) -> None:
    """It grew to 206 MB beside a database of 10 MB."""
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


# --------------------------------------------------------------------- while nothing can be written


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
