"""Hostile bodies and connections: refused or timed out, while others are served."""

from __future__ import annotations

import contextlib
import http.client
import json
import select
import time
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.serve.raw import Raw, error, head, post, status
from serve_process import Client, Server

PATH = "/v1/experiments/e/decisions"
GROWTH = 96 << 20  # bytes by which the service may grow
HUGE = 100_000_000
LET_GO = 20.0  # seconds after which an idle client is disconnected


class Service:
    """A service with one experiment, and what it took in memory at first."""

    def __init__(self, server: Server) -> None:
        self.server, self.port, self.client = server, server.port, server.client(timeout=5.0)
        self.number = 0
        made = {"name": "e", "arms": ["A", "B"], "policy": "ucb1"}
        assert self.client.post("/v1/experiments", made)[0] == 201
        self.good()
        self.before = server.memory()

    def good(self) -> float:
        """A proper request is answered; seconds that took."""
        self.number += 1
        begin = time.perf_counter()
        code, answer = self.client.post(PATH, {"id": f"good {self.number}"})
        assert code == 200, answer
        return time.perf_counter() - begin

    def bounded(self) -> None:
        grown = self.server.memory() - self.before
        assert grown < GROWTH, f"grew by {grown / 1e6:.0f} MB"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    # compiled code takes memory, which is not counted here
    plain = {"ROTTING_SERVE_COMPILED": "false"}
    path = tmp_path_factory.mktemp("hostile") / "rotting.db"
    with Server(path, environment=plain) as server:
        made = Service(server)
        yield made
        assert server.process is not None
        assert server.process.poll() is None, server.said()
        made.good()
        server.stop()
        code, said = server.verify()
        assert code == 0, said
        assert "Traceback" not in server.said(), server.said()


# ----------------------------------------------------------------------------------------- bodies


def test_a_huge_body_with_its_length(service: Service) -> None:
    with Raw(service.port) as raw:
        raw.send(head(PATH, [f"Content-Length: {HUGE}"]))
        piece = b"x" * 1_000_000
        for _ in range(HUGE // len(piece)):
            if not raw.send(piece):
                break
        got = raw.answer()
    assert status(got) in (413, None)  # None: it hung up on us before we could read
    service.bounded()
    service.good()


def test_a_huge_length_is_refused_before_the_body_comes(service: Service) -> None:
    with Raw(service.port, timeout=3.0) as raw:
        raw.send(head(PATH, [f"Content-Length: {HUGE}"]))
        got = raw.answer()
    assert status(got) == 413
    assert error(got)["code"] == "too_large"


def test_a_huge_body_in_chunks(service: Service) -> None:
    with Raw(service.port) as raw:
        raw.send(head(PATH, ["Transfer-Encoding: chunked"]))
        piece = b"f4240\r\n" + b"x" * 1_000_000 + b"\r\n"
        for _ in range(100):
            if not raw.send(piece):
                break
        else:
            raw.send(b"0\r\n\r\n")
        got = raw.answer()
    assert status(got) in (413, None)
    service.bounded()
    service.good()


def test_chunks_just_over_the_bound(service: Service) -> None:
    body = b'{"id": "' + b"x" * (1 << 20) + b'"}'
    with Raw(service.port) as raw:
        raw.send(head(PATH, ["Transfer-Encoding: chunked", "Connection: close"]))
        raw.send(b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n")
        got = raw.answer()
    assert status(got) == 413


DEEP = 100_000
BAD_BODIES: dict[str, bytes] = {
    "nested lists": b"[" * DEEP + b"]" * DEEP,
    "nested lists, unclosed": b"[" * (10 * DEEP),
    "nested objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "nested in a field": b'{"id": "n1", "among": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "NaN": b'{"id": NaN}',
    "Infinity": b'{"id": "n2", "among": [Infinity]}',
    "a lone surrogate": rb'{"id": "\ud800"}',
    "a lone low surrogate": rb'{"id": "a\udc00b"}',
    "NUL": rb'{"id": "a\u0000b"}',
    "a raw NUL": b'{"id": "a\x00b"}',
    "a newline": rb'{"id": "a\nb"}',
    "delete": rb'{"id": "a\u007fb"}',
    "a C1 control character": rb'{"id": "a\u0085b"}',
    "not UTF-8": b'{"id": "\xff\xfe"}',
    "overlong UTF-8": b'{"id": "\xc0\x80"}',
    "a surrogate in UTF-8": b'{"id": "\xed\xa0\x80"}',
    "UTF-16": '{"id": "n3"}'.encode("utf-16"),
    "nothing": b"",
    "white space": b"   ",
    "half": b'{"id": "n4"',
    "two": b'{"id": "n5"} {"id": "n6"}',
    "null": b"null",
    "a number": b"5",
    "a text": b'"n7"',
    "an id that is a number": b'{"id": 5}',
    "an id that is true": b'{"id": true}',
    "an id that is null": b'{"id": null}',
    "an id that is a list": b'{"id": ["a"]}',
    "no id": b"{}",
    "an empty id": b'{"id": ""}',
    "a long id": b'{"id": "%s"}' % (b"x" * 201),
    "a long id of wide characters": json.dumps({"id": "🍌" * 201}).encode(),
    "a key for no audience": b'{"id": "n8", "key": "k"}',
    "among as text": b'{"id": "n9", "among": "A"}',
    "among nothing": b'{"id": "n10", "among": []}',
    "among numbers": b'{"id": "n11", "among": [1]}',
    "an endless number": b'{"id": "n12", "among": [' + b"9" * 100_000 + b"]}",
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_bad_body_is_refused(service: Service, name: str) -> None:
    got = post(service.port, PATH, BAD_BODIES[name])
    assert status(got) == 400, got
    assert error(got)["code"] == "bad_request"
    assert error(got)["message"]
    service.good()


GOOD_IDS = [
    "x" * 200,
    "🍌" * 200,
    "é",
    "e\u0301",
    " ",
    "'; DROP TABLE events; --",
    "%00",
    "../..",
]


@pytest.mark.parametrize("id_", GOOD_IDS)
def test_a_strange_id_is_kept_as_it_is(service: Service, id_: str) -> None:
    code, answer = service.client.post(PATH, {"id": id_})
    assert code == 200, answer
    assert answer["id"] == id_
    assert service.client.post(PATH, {"id": id_}) == (200, answer)


BAD_REWARDS = [
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"1e400",
    b"-1e999",
    b"9" * 400,
    b"9" * 5000,
    b'"1"',
    b"true",
    b"null",
    b"[1]",
    b"{}",
]


@pytest.mark.parametrize("value", BAD_REWARDS, ids=lambda value: str(value[:12]))
def test_a_bad_reward_is_refused(service: Service, value: bytes) -> None:
    assert service.client.post(PATH, {"id": "to reward"})[0] == 200
    body = b'{"decision": "to reward", "reward": ' + value + b"}"
    got = post(service.port, "/v1/experiments/e/rewards", body)
    assert status(got) == 400, got
    _, page = service.client.get("/v1/experiments/e")
    assert page["rewards"] == 0


def test_batches_have_a_bound(service: Service) -> None:
    bodies = [{"id": f"b{number}"} for number in range(1001)]
    code, answer = service.client.post(PATH, bodies)
    assert code in (400, 413), answer
    assert "error" in answer
    assert service.client.post(PATH, []) == (200, [])
    code, answer = service.client.post(PATH, bodies[:1000])
    assert code == 200
    assert [item["id"] for item in answer] == [item["id"] for item in bodies[:1000]]


@pytest.mark.parametrize("deep", ["[]", "null", "5", '"x"', "[[]]", '{"id": []}'])
def test_bad_items_of_a_batch_fail_alone(service: Service, deep: str) -> None:
    service.number += 1
    body = f'[{deep}, {{"id": "item {service.number}"}}]'.encode()
    got = post(service.port, PATH, body)
    assert status(got) == 200, got
    first, second = json.loads(got.partition(b"\r\n\r\n")[2])
    assert first["error"]["code"] == "bad_request"
    assert second["id"] == f"item {service.number}"


BAD_EXPERIMENTS: list[Any] = [
    {},
    {"name": "x"},
    {"name": "x", "arms": []},
    {"name": "x", "arms": ["A", "A"]},
    {"name": "x", "arms": ["A", 5]},
    {"name": "x", "arms": [""]},
    {"name": "x", "arms": ["a\x00"]},
    {"name": "x", "arms": "AB"},
    {"name": "", "arms": ["A", "B"]},
    {"name": ".x", "arms": ["A", "B"]},
    {"name": "../x", "arms": ["A", "B"]},
    {"name": "x" * 101, "arms": ["A", "B"]},
    {"name": "x\n", "arms": ["A", "B"]},
    {"name": "x", "arms": ["A", "B"], "policy": "no such policy"},
    {"name": "x", "arms": ["A", "B"], "policy": 5},
    {"name": "x", "arms": ["A", "B"], "policy": {"policy": "ucb1", "nonsense": 1}},
    {"name": "x", "arms": ["A", "B"], "policy": {"policy": "ucb1", "c": "x"}},
    {"name": "x", "arms": ["A", "B"], "policy": "[[[ not TOML"},
    {"name": "x", "arms": ["A", "B"], "control": 1},
    {"name": "x", "arms": ["A", "B"], "control": -0.1},
    {"name": "x", "arms": ["A", "B"], "reward_window": 0},
    {"name": "x", "arms": ["A", "B"], "reward_window": -1},
    {"name": "x", "arms": ["A", "B"], "reward_window": "1"},
    {"name": "x", "arms": ["A", "B"], "default_reward": 0},
    {"name": "x", "arms": ["A", "B"], "fallback": "C"},
    {"name": "x", "arms": ["A", "B"], "seed": "x"},
    {"name": "x", "arms": ["A", "B"], "seed": 10**30},
    {"name": "x", "arms": ["A", "B"], "seed": -1},
    {"name": "x", "arms": ["A", "B"], "horizon": 0},
    {"name": "x", "arms": ["A", "B"], "horizon": 10**30},
    {"name": "x", "arms": ["A", "B"], "require_shown": "yes"},
    {"name": "x", "arms": ["A", "B"], "shown_window": -5, "require_shown": True},
    {"name": "x", "arms": ["A", "B"], "audience": {"rest": {"half_life": -1}}},
    {"name": "x", "arms": ["A", "B"], "audience": "yes"},
]


@pytest.mark.parametrize("body", BAD_EXPERIMENTS, ids=lambda body: json.dumps(body)[:60])
def test_a_bad_experiment_is_refused(service: Service, body: Any) -> None:
    code, answer = service.client.post("/v1/experiments", body)
    assert code == 400, answer
    assert answer["error"]["code"] == "bad_request"
    assert service.client.get("/v1/experiments/x")[0] == 404


def test_many_arms_do_not_take_it_down(service: Service) -> None:
    arms = [f"{number:x}" for number in range(100_000)]
    begin = time.perf_counter()
    code, answer = service.client.post("/v1/experiments", {"name": "wide", "arms": arms})
    assert code in (201, 400, 413), answer
    assert time.perf_counter() - begin < 10
    service.good()
    service.bounded()


def test_roads_that_do_not_exist(service: Service) -> None:
    for method, path, wanted in (
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1/experiments/none", 404),
        ("GET", "/v1/experiments/..%2f..%2fetc", 404),
        ("GET", "/static/../../pyproject.toml", 404),
        ("GET", "/static/..%2f..%2f..%2fapp.py", 404),
        ("DELETE", "/v1/experiments/e", 405),
        ("PUT", PATH, 405),
        ("GET", PATH, 405),
    ):
        code, _, read = service.client.send(method, path, None)
        assert code == wanted, (method, path, code, read)
    for query in ("after=x", "after=-1", "limit=0", "limit=-5", "limit=1e9", "after=" + "9" * 400):
        code, answer = service.client.get(f"/v1/experiments/e/events?{query}")
        assert code in (200, 400), (query, answer)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""):
        code, _, read = service.client.send("POST", PATH, b'{"id": "t"}', {"Content-Type": kind})
        assert code == 415, (kind, read)


def test_requests_that_are_no_http(service: Service) -> None:
    for data in (
        b"\x00" * 1000,
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(300),  # TLS
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 1_000_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"".join(b"X%d: y\r\n" % n for n in range(50_000)) + b"\r\n",
        head(PATH, ["Content-Length: 5", "Content-Length: 6"]) + b"12345",
        head(PATH, ["Content-Length: -1"]),
        head(PATH, ["Content-Length: x"]),
        head(PATH, ["Content-Length: 5", "Transfer-Encoding: chunked"]) + b"0\r\n\r\n",
        head(PATH, ["Transfer-Encoding: chunked"]) + b"zz\r\n",
        head(PATH, ["Transfer-Encoding: chunked"]) + b"fffffffffffffffff\r\nx",
        head(PATH, ["Transfer-Encoding: gzip"]) + b"x",
    ):
        with Raw(service.port, timeout=2.0) as raw:
            raw.send(data)
            code = status(raw.answer())
        assert code is None or 400 <= code < 500 or code == 501, (data[:80], code)
        service.good()
    service.bounded()


# ------------------------------------------------------------------------------------ connections


def test_many_idle_connections(service: Service) -> None:
    """Two thousand idle or half-sent requests: proper requests are still answered."""
    with contextlib.ExitStack() as stack:
        for number in range(2000):
            try:
                raw = stack.enter_context(Raw(service.port))
            except OSError:
                continue  # refused: right as well
            raw.send([b"", b"POST /v1", head(PATH, ["Content-Length: 50"]) + b"{"][number % 3])
            if number % 200 == 0:
                service.good()
        assert max(service.good() for _ in range(20)) < 2.0
        assert newcomer(service.port), "no newcomer is served while idle clients stay"
        service.bounded()
    service.good()


def newcomer(port: int) -> bool:
    """Whether a new client is answered, soon if not at once."""
    end = time.monotonic() + LET_GO
    while time.monotonic() < end:
        with (
            contextlib.suppress(OSError, ValueError, http.client.HTTPException),
            contextlib.closing(Client(port, timeout=5.0)) as another,
        ):
            if another.get("/health")[0] == 200:
                return True
        time.sleep(0.2)
    return False


def test_heads_and_trailers_have_a_bound(service: Service) -> None:
    """Bytes before a request begins or after it ends are not kept, however many."""
    lines = b"".join(b"X%d: y\r\n" % number for number in range(50_000))
    begin = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    for what, first, piece in (
        ("a long header", begin + b"X: ", b"y" * 500_000),
        ("many headers", begin, lines),
        ("a long path", b"GET /", b"y" * 500_000),
        ("trailers", head(PATH, ["Transfer-Encoding: chunked"]) + b"0\r\n", lines),
    ):
        with Raw(service.port) as raw:
            raw.send(first)
            for _ in range(40):
                if not raw.send(piece):
                    break
            grown = service.server.memory() - service.before
            assert grown < GROWTH, f"{what}: grew by {grown / 1e6:.0f} MB"
            assert service.good() < 1.0, what


def test_slow_clients_are_let_go(service: Service) -> None:
    """A byte now and then, or an unread answer, does not hold a connection."""
    openapi = b"GET /v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    begun = {
        "silent": b"",
        "in the head": head(PATH)[:-2] + b"X: ",
        "in the body": head(PATH, ["Content-Length: 500"]),
        "in chunks": head(PATH, ["Transfer-Encoding: chunked"]),
        "after too large a length": head(PATH, [f"Content-Length: {HUGE}"]),
        "not reading": openapi * 1000,
    }
    with contextlib.ExitStack() as stack:
        held = {name: stack.enter_context(Raw(service.port)) for name in begun}
        for name, raw in held.items():
            raw.send(begun[name])
        end = time.monotonic() + LET_GO
        while held and time.monotonic() < end:
            time.sleep(0.5)
            for name, raw in list(held.items()):
                drip = {"in chunks": b"1\r\n \r\n", "silent": b"", "not reading": b""}.get(
                    name, b" "
                )
                if not raw.send(drip) or gone(raw, name != "not reading"):
                    del held[name]
        assert not held, f"still connected after {LET_GO} s: {', '.join(held)}"


def gone(raw: Raw, read: bool) -> bool:
    """Whether the other side has ended this connection; what it said is read, or left."""
    if read:
        return raw.hung_up(0.01)
    watch = select.poll()
    watch.register(raw.socket, select.POLLERR | select.POLLHUP)
    return bool(watch.poll(0))


def test_slow_clients_do_not_hold_up_others(service: Service) -> None:
    """Some bytes a second, in the head and in the body."""
    data = head(PATH, ["Content-Length: 500"]) + b" " * 500
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(Raw(service.port)) for _ in range(100)]
        places = [0 if number % 2 else len(data) - 500 for number in range(100)]
        for raw, place in zip(slow, places, strict=True):
            raw.send(data[:place])
        for _ in range(3):
            for number, raw in enumerate(slow):
                raw.send(data[places[number] : places[number] + 1])
                places[number] += 1
            assert service.good() < 2.0
            time.sleep(0.3)


def test_clients_that_leave_before_their_answer(service: Service) -> None:
    """Their requests are stored once or not at all."""
    bodies = [b'{"id": "left %d"}' % number for number in range(200)]
    for body in bodies:
        with Raw(service.port) as raw:
            raw.send(head(PATH, [f"Content-Length: {len(body)}"]) + body)
    service.good()
    for body in bodies:
        answers = {post(service.port, PATH, body).partition(b"\r\n\r\n")[2] for _ in range(2)}
        assert len(answers) == 1


def test_many_requests_on_one_connection_without_waiting(service: Service) -> None:
    """Pipelined: all are answered, in order."""
    count = 200
    bodies = [b'{"id": "piped %d"}' % number for number in range(count)]
    with Raw(service.port) as raw:
        asked = [head(PATH, [f"Content-Length: {len(body)}"]) + body for body in bodies]
        asked[-1] = asked[-1].replace(b"Host:", b"Connection: close\r\nHost:")
        raw.send(b"".join(asked))
        got = b""
        while part := raw.socket.recv(65536):
            got += part
    places = [got.find(b'"piped %d"' % number) for number in range(count)]
    assert -1 not in places
    assert places == sorted(places)
