"""The client's fallbacks and their reports, hostile answers, and deadlines."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from helpers.serve.fake_transport import Fake
from rotting._serve.client import Away, Choice, Client, Refused, fallbacks
from serve_process import Server

# ------------------------------------------------------------------------- fallbacks


def test_a_fallback_is_reported_with_its_reward(fake: Fake) -> None:
    client = fake.client(fallback="C")
    fake.lose = 99  # the service stores a decision, and its answer is lost
    choice = client.decide("banner", "ann")
    assert choice == Choice(choice.id, "C", None, "ann", None, True)
    assert fake.decisions[choice.id][1]["arm"] != "C"
    assert client.reward("banner", choice, 1.0) is False  # not now
    fake.lose = 0
    client.decide("banner", "bob")
    assert fake.reported == [
        {"decision": choice.id, "arm": "C", "key": "ann", "confirmed": False},
    ]
    assert fake.decisions[choice.id][1]["arm"] == "C"
    assert fake.rewards == {choice.id: 1.0}
    assert client.report() == 0
    client.decide("banner", "bob")
    assert len(fake.reported) == 1  # once


def test_a_reward_after_the_report_is_sent(fake: Fake) -> None:
    client = fake.client(fallback="B")
    fake.away = True
    choice = client.decide("banner")
    fake.away = False
    assert client.report() == 0
    assert client.reward("banner", choice, 0.5) is True
    assert client.reward_many("banner", [(choice, 0.5)]) == [False]
    assert fake.rewards == {choice.id: 0.5}


def test_what_was_seen_is_confirmed(fake: Fake) -> None:
    client = fake.client(fallback="B")
    fake.away = True
    first, second = client.decide("banner"), client.decide("banner")
    assert client.shown("banner", first) is None
    fake.away = False
    assert client.report() == 0
    assert [body.get("confirmed", True) for body in fake.reported] == [True, False]
    assert client.shown("banner", second) == 1  # reported before, and seen only now
    assert fake.reported[2] == {"decision": second.id, "arm": "B"}


def test_a_decision_that_is_shown_after_all_is_not_reported(fake: Fake) -> None:
    client = fake.client(fallback="B")
    fake.away = True
    client.decide("banner", id="one")
    fake.away = False
    assert client.decide("banner", id="one").fallback is False
    assert fake.reported == []


def test_reports_are_sent_when_the_client_is_closed_and_go_on_after_a_failure(fake: Fake) -> None:
    client = fake.client(fallback={"banner": "B", "gone": "A"}, retries=0)
    fake.away = True
    for number in range(fallbacks.BATCH + 20):
        client.decide("banner", id=f"d{number}")
    client.decide("gone", id="x")
    assert client.report() == fallbacks.BATCH + 21
    fake.away = False
    fake.time.now += 60.0
    client.close()
    assert [body["decision"] for body in fake.reported] == [
        f"d{number}" for number in range(fallbacks.BATCH + 20)
    ]


def test_only_the_latest_are_kept(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallbacks, "MOST", 5)
    client = fake.client(fallback="B")
    fake.away = True
    for number in range(9):
        client.decide("banner", id=f"d{number}")
    fake.away = False
    client.report()
    assert [body["decision"] for body in fake.reported] == [f"d{n}" for n in range(4, 9)]


def test_batches_that_fall_back_are_reported_too(fake: Fake) -> None:
    client = fake.client(fallback="B")
    fake.away = True
    choices = client.decide_many("banner", ["ann", "bob"])
    assert client.reward_many("banner", [(choice, 1.0) for choice in choices]) == [False, False]
    fake.away = False
    assert client.report() == 0
    assert {body["key"] for body in fake.reported} == {"ann", "bob"}
    assert set(fake.rewards.values()) == {1.0}


def test_with_the_real_service(tmp_path: Path) -> None:
    """Shown red, stored blue, and a zero learnt for blue: the service has red afterwards."""
    plain = {"ROTTING_SERVE_COMPILED": "false"}
    with Server(tmp_path / "s.db", environment=plain) as server:
        client = Client(f"http://127.0.0.1:{server.port}", timeout=5.0)
        client.create("e", ["red", "blue"], audience=True, fallback="red", policy="fatigue")
        stored = next(c for c in iter(lambda: client.decide("e", "ann"), None) if c.arm == "blue")
        given_up = stored._replace(arm="red", pull=None, seq=None, fallback=True)
        client._reports.add("e", stored.id, "red", "ann")
        before = {row["arm"]: row["observed"] for row in client.experiment("e")["arms"]}
        client.reward("e", given_up, 1.0)
        assert client.report() == 0
        after = {row["arm"]: row["observed"] for row in client.experiment("e")["arms"]}
        assert (after["red"] - before["red"], after["blue"] - before["blue"]) == (1, 0)
        client.close()


# ----------------------------------------------------------------------------------- who is let in


@pytest.mark.parametrize("status", [401, 403, 429, 500, 502, 503])
def test_fallbacks_are_shown_whoever_says_no(
    fake: Fake, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    code = {401: "unauthorized", 403: "forbidden"}.get(status, "unavailable")
    error = {"error": {"code": code, "message": "no"}}
    client = fake.client(fallback="B", retries=0)
    fake.answers = [httpx.Response(status, json=error) for _ in range(3)]
    assert [client.decide("banner").arm for _ in range(2)] == ["B", "B"]
    assert [choice.arm for choice in client.decide_many("banner", 2)] == ["B", "B"]
    refused = [record for record in caplog.records if "refused the key" in record.getMessage()]
    assert len(refused) == (status in (401, 403))  # said once
    assert all(record.levelno == logging.WARNING for record in refused)


def test_without_a_fallback_the_refusal_of_a_key_is_told(fake: Fake) -> None:
    error = {"error": {"code": "unauthorized", "message": "a key is needed"}}
    fake.answers = [httpx.Response(401, json=error)]
    with pytest.raises(Refused, match="a key is needed"):
        fake.client().decide("banner")


def test_a_closed_client_says_so(fake: Fake) -> None:
    client = fake.client(fallback="B")
    client.close()
    for call in (lambda: client.decide("banner"), client.status, client.experiments):
        with pytest.raises(RuntimeError, match="the client is closed"):
            call()
    client.close()


# -------------------------------------------------------------------------------- strange answers


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"key": "bob"}, "another key"),
        ({"key": None}, "another key"),
        ({"arm": "C"}, "not allowed"),
        ({"id": "other"}, "another decision"),
    ],
)
def test_an_answer_for_somebody_else_is_not_believed(
    fake: Fake, change: dict[str, Any], said: str
) -> None:
    answer = {"id": "d", "arm": "A", "pull": 1, "key": "ann", "seq": 1}
    fake.answers = [httpx.Response(200, json={**answer, **change})]
    with pytest.raises(Away, match=said):
        fake.client().decide("banner", "ann", among=["A", "B"], id="d")


@pytest.mark.parametrize("status", [200, 404, 503])
def test_deeply_nested_answers_are_no_answers(fake: Fake, status: int) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    fake.answers = [httpx.Response(status, text=deep)]
    assert fake.client(fallback="B", retries=0).decide("banner").fallback


Answer = Callable[[socket.socket], None]


@pytest.fixture
def answering() -> Iterator[Callable[[Answer], str]]:
    """Servers that answer every connection in a given way."""
    open_ones: list[socket.socket] = []

    def start(answer: Answer) -> str:
        listening = socket.create_server(("127.0.0.1", 0))
        open_ones.append(listening)

        def run() -> None:
            while True:
                try:
                    line, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=served, args=(line,), daemon=True).start()

        def served(line: socket.socket) -> None:
            with line:
                line.recv(1 << 16)
                with contextlib.suppress(OSError):
                    answer(line)

        threading.Thread(target=run, daemon=True).start()
        return f"http://127.0.0.1:{listening.getsockname()[1]}"

    yield start
    for one in open_ones:
        one.close()


def test_a_head_that_comes_byte_by_byte_is_left_at_the_deadline(
    answering: Callable[[Answer], str],
) -> None:
    def slowly(line: socket.socket) -> None:
        for byte in b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX: " + b"x" * 999:
            line.sendall(bytes([byte]))
            time.sleep(0.02)

    with Client(answering(slowly), timeout=0.4, fallback="B") as client:
        begin = time.monotonic()
        assert client.decide("banner").fallback
        assert time.monotonic() - begin < 0.8
        begin = time.monotonic()
    assert time.monotonic() - begin < 0.8  # the report when it is closed has its deadline, too


def test_an_endless_answer_takes_no_memory(answering: Callable[[Answer], str]) -> None:
    def forever(line: socket.socket) -> None:
        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while True:
            line.sendall(b" " * (1 << 20))

    client = Client(answering(forever), timeout=20.0, fallback="B", retries=0)
    tracemalloc.start()
    assert client.decide("banner").fallback
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 32 << 20
