"""The client of the service when replies are lost, late, refused, or never come."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from helpers.serve.fake_transport import Fake
from rotting._serve.client import Away, Choice, Refused, transport


def answer(status: int, code: str = "unavailable", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"code": code, "message": "no"}}, headers=headers)


# ------------------------------------------------------------------------------- the usual way


def test_a_decision_and_its_reward(fake: Fake) -> None:
    with fake.client() as client:
        choice = client.decide("banner", "ann", among=["A", "C"])
        assert choice.arm in ("A", "C")
        assert choice == Choice(choice.id, choice.arm, 1, "ann", 1, False)
        assert client.shown("banner", choice) == 1
        assert client.reward("banner", choice, True) is True
        assert client.reward("banner", choice.id, 1.0) is False
        assert fake.rewards == {choice.id: 1.0}
        assert client.decide("banner", "ann", among=["A", "C"], id=choice.id) == choice
    assert len(choice.id) == 32
    with pytest.raises(RuntimeError):
        client.decide("banner")


def test_new_ids_differ(fake: Fake) -> None:
    client = fake.client()
    assert len({client.decide("banner").id for _ in range(50)}) == 50


def test_refusals_have_their_code_and_field(fake: Fake) -> None:
    client = fake.client()
    choice = client.decide("banner")
    client.reward("banner", choice, 0.0)
    with pytest.raises(Refused, match="another reward came before") as caught:
        client.reward("banner", choice, 1.0)
    error = caught.value
    assert (error.code, error.field, error.status) == ("conflict", "reward", 409)
    assert error.conflict
    assert not error.not_found
    with pytest.raises(Refused) as missing:
        client.decide("nothing")
    assert missing.value.not_found
    assert len(fake.paths("nothing/decisions")) == 1  # not tried again
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code) == (str(error), "conflict")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 410, 413, 415, 422])
def test_other_statuses_are_never_tried_again(fake: Fake, status: int) -> None:
    fake.answers = [answer(status, "some_code")]
    with pytest.raises(Refused) as caught:
        fake.client().decide("banner")
    assert (caught.value.status, caught.value.code) == (status, "some_code")
    assert len(fake.requests) == 1
    # not in the service's words: a proxy's, say, and no refusal unless it is about the key
    fake.answers = [httpx.Response(status, text="<html>")]
    kind = Refused if status in (401, 403) else Away
    with pytest.raises(kind, match=f"status {status}"):
        fake.client().decide("banner")
    assert len(fake.requests) == 2


@pytest.mark.parametrize(
    "strange",
    [
        httpx.Response(500, text="oh"),
        httpx.Response(502, text="<html>"),
        httpx.Response(302, headers={"location": "http://elsewhere/"}),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[1]),
        httpx.Response(200, json={"id": "another", "arm": "A", "pull": 1, "key": None, "seq": 1}),
    ],
)
def test_what_is_no_answer_of_the_service_is_away(fake: Fake, strange: httpx.Response) -> None:
    fake.answers = [strange]
    assert fake.client(fallback="C").decide("banner").fallback
    assert len(fake.requests) == 1


# ------------------------------------------------------------------------------ lost and refused


def test_a_lost_reply_is_asked_for_again_with_the_same_id(fake: Fake) -> None:
    client = fake.client()
    fake.lose = 2
    choice = client.decide("banner")
    sent = fake.bodies("decisions")
    assert sent == [{"id": choice.id}] * 3
    assert len(fake.decisions) == 1
    assert not choice.fallback
    fake.lose = 1
    assert client.reward("banner", choice, 0.5) is False  # the first try was applied
    assert fake.rewards == {choice.id: 0.5}


def test_pauses_grow_and_are_drawn(fake: Fake) -> None:
    fake.answers = [answer(503), answer(429), answer(503)]
    assert not fake.client(fallback="A").decide("banner").fallback
    assert fake.time.slept == [0.05, 0.1, 0.2]
    fake.time.slept.clear()
    fake.answers = [answer(503), answer(429)]
    fake.client(fallback="A", jitter=0.25).decide("banner")
    assert fake.time.slept == [0.0125, 0.025]


def test_retry_after_is_kept_within_the_deadline(fake: Fake) -> None:
    fake.answers = [answer(503, **{"Retry-After": "0.7"})]
    assert not fake.client(fallback="A").decide("banner").fallback
    assert fake.time.slept == [0.7]
    fake.requests.clear()
    fake.answers = [answer(429, **{"Retry-After": "2"})]
    before = fake.time.now
    assert fake.client(fallback="A").decide("banner").fallback
    assert fake.time.now == before  # no use in waiting
    assert len(fake.requests) == 1


@pytest.mark.parametrize("odd", ["Wed, 21 Oct 2026 07:28:00 GMT", "-5", "nan", "inf", ""])
def test_odd_retry_after_counts_for_nothing(fake: Fake, odd: str) -> None:
    fake.answers = [answer(503, **{"Retry-After": odd})]
    assert not fake.client(fallback="A").decide("banner").fallback
    assert fake.time.slept == [0.05]


def test_tries_are_counted(fake: Fake) -> None:
    fake.away = True
    for retries in (0, 1, 4):
        fake.requests.clear()
        with pytest.raises(Away, match=f"after {retries + 1} tr"):
            fake.client(retries=retries, timeout=10.0).reward("banner", "some-id", 1.0)
        assert len(fake.requests) == retries + 1


def test_a_slow_service_is_left_at_the_deadline(fake: Fake) -> None:
    client = fake.client(timeout=1.0, fallback="C")
    fake.slow = 0.3
    assert not client.decide("banner").fallback
    fake.slow = 100.0
    before = fake.time.now
    assert client.decide("banner").fallback
    assert 0.5 <= fake.time.now - before <= 1.0
    reads = [request.extensions["timeout"]["read"] for request in fake.requests[1:]]
    assert reads[0] == 0.5
    assert len(reads) >= 2
    assert sum(reads) <= 1.0
    before = fake.time.now
    with pytest.raises(Away):
        client.create("other", ["A"])
    assert 20 < fake.time.now - before <= 60


def test_an_answer_in_drops_is_left_at_the_deadline(fake: Fake) -> None:
    class Drops(httpx.SyncByteStream):
        def __iter__(self) -> Any:
            for _ in range(100):
                fake.time.now += 0.2
                yield b" "

    fake.answers = [httpx.Response(200, stream=Drops())]
    assert fake.client(fallback="A").decide("banner").fallback
    assert fake.time.now == pytest.approx(1.0)


# --------------------------------------------------------------------------------- being away


def test_without_a_fallback_it_is_away(fake: Fake) -> None:
    fake.away = True
    with pytest.raises(Away, match="no fallback is known") as caught:
        fake.client().decide("banner", id="mine")
    assert isinstance(caught.value, ConnectionError)
    assert caught.value.id == "mine"
    assert fake.time.now < 1.0


def test_the_fallback_of_the_client(fake: Fake) -> None:
    fake.away = True
    client = fake.client(fallback="C")
    choice = client.decide("banner", "ann", id="mine")
    assert choice == Choice("mine", "C", None, "ann", None, True)
    assert client.decide("banner", among=["A", "C"]).arm == "C"
    assert client.decide("banner", among=["B", "A"]).arm == "B"
    by_name = fake.client(fallback={"banner": "A"})
    assert by_name.decide("banner").arm == "A"
    with pytest.raises(Away):
        by_name.decide("other")


@pytest.mark.parametrize("learnt", ["create", "experiment", "decide", "decide_many"])
def test_the_fallback_of_the_experiment(fake: Fake, learnt: str) -> None:
    client = fake.client()
    if learnt == "create":
        client.create("banner", ["A", "B", "C"], fallback="B")
    elif learnt == "experiment":
        client.experiment("banner")
    elif learnt == "decide":
        client.decide("banner")
        client.decide("banner")
    else:
        client.decide_many("banner", 3)
    assert len([r for r in fake.requests if r.method == "GET"]) == (learnt != "create")
    fake.away = True
    assert client.decide("banner").arm == "B"


def test_a_key_that_may_not_read_has_no_fallback_but_decides(fake: Fake) -> None:
    def forbidden(path: str) -> None:
        if path.endswith("/banner"):
            fake.answers = [answer(403, "forbidden")]

    fake.before = forbidden
    client = fake.client()
    assert not any(client.decide("banner").fallback for _ in range(3))
    assert len(fake.paths("/banner")) == 1
    fake.away = True
    with pytest.raises(Away):
        client.decide("banner")


def test_a_fallback_that_could_not_be_asked_for_is_asked_for_later(fake: Fake) -> None:
    mood = [httpx.ConnectError("gone")]

    def flaky(path: str) -> None:
        if path.endswith("/banner") and mood:
            raise mood.pop()

    fake.before = flaky
    client = fake.client()
    for _ in range(3):
        assert not client.decide("banner").fallback
    assert not fake.paths("/banner")
    fake.time.now += 61
    client.decide("banner")
    fake.away = True
    assert client.decide("banner").arm == "B"


def test_rewards_that_cannot_be_delivered_are_away(fake: Fake) -> None:
    client = fake.client(fallback="A")
    choice = client.decide("banner")
    fake.away = True
    with pytest.raises(Away):
        client.reward("banner", choice, 1.0)
    with pytest.raises(Away):
        client.shown("banner", choice)
    fake.away = False
    fake.requests.clear()
    client.decide("banner")
    assert not fake.paths("rewards")  # nothing was queued
    assert client.reward("banner", choice, 1.0)


# -------------------------------------------------------------------------------- the breaker


def test_the_breaker_opens_probes_and_closes(fake: Fake) -> None:
    client = fake.client(fallback="A")
    fake.slow = 100.0
    for _ in range(transport.FAILURES):
        assert client.decide("banner").fallback
    fake.requests.clear()
    before = fake.time.now
    assert all(client.decide("banner").fallback for _ in range(100))
    assert fake.time.now == before
    assert not fake.requests
    fake.time.now += transport.FIRST_PAUSE
    assert client.decide("banner").fallback  # the probe
    assert fake.requests
    fake.requests.clear()
    fake.time.now += transport.FIRST_PAUSE
    assert client.decide("banner").fallback  # the second pause is longer
    assert not fake.requests
    fake.slow = 0.0
    fake.time.now += transport.FIRST_PAUSE
    assert not client.decide("banner").fallback
    fake.away = True
    fake.requests.clear()
    client.decide("banner")
    assert fake.requests  # one failure is not several


def test_failures_must_be_in_a_row_and_refusals_are_none(fake: Fake) -> None:
    client = fake.client(fallback="A", retries=0)
    for _ in range(3):
        for n in range(transport.FAILURES):
            fake.answers = [answer(503) if n < transport.FAILURES - 1 else answer(409, "conflict")]
            if n < transport.FAILURES - 1:
                assert client.decide("banner").fallback
            else:
                with pytest.raises(Refused):
                    client.decide("banner")
    assert not client.decide("banner").fallback


def test_one_probe_at_a_time(fake: Fake) -> None:
    client = fake.client(fallback="A")
    fake.away = True
    for _ in range(transport.FAILURES):
        client.decide("banner")
    fake.away = False
    fake.time.now += transport.FIRST_PAUSE
    arrived, go = threading.Event(), threading.Event()

    def wait(path: str) -> None:
        arrived.set()
        assert go.wait(5)

    fake.before = wait
    with ThreadPoolExecutor(1) as pool:
        probe = pool.submit(client.decide, "banner")
        assert arrived.wait(5)
        fake.requests.clear()
        assert all(client.decide("banner").fallback for _ in range(20))
        assert not fake.requests
        go.set()
        assert not probe.result().fallback
    assert not client.decide("banner").fallback


def test_a_probe_that_is_broken_off_lets_the_next_go() -> None:
    now = 0.0
    found = transport.Breaker(lambda: now)
    for _ in range(transport.FAILURES):
        found.leave(found.enter(), ok=False)
    now = 1.5
    assert found.enter() == found.PROBE
    found.leave(found.PROBE, ok=None)
    assert found.enter() == found.PROBE
    pauses = []
    for _ in range(8):
        found.leave(found.PROBE, ok=False)
        start = now
        while found.enter() == found.STOP:
            now += 0.5
        pauses.append(now - start)
    assert pauses == [2, 4, 8, 16, 30, 30, 30, 30]
