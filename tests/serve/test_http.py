"""HTTP: answers that are not read, hosts, repeated and deceptive names, and slow batches."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from helpers.serve.in_process import Inside, serving
from rotting._serve.access import check_token
from rotting._serve.service import Limits
from rotting._serve.verify import verify
from serve_process import Server

PLAIN = {"ROTTING_SERVE_COMPILED": "false"}


HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


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
