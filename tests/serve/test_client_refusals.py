"""The client of the service: requests it refuses to send, its secret, and threads."""

from __future__ import annotations

import math
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from helpers.serve.fake_transport import Fake
from rotting._serve.client import Away, Choice, Client, Refused

KEY = "rk_very-secret-0123456789"


def answer(status: int, code: str = "unavailable", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"code": code, "message": "no"}}, headers=headers)


# --------------------------------------------------------------------------- refused before


HOSTILE = ["", "a" * 201, "a\0b", "a\nb", "\x7f", "\x85", "\ud800", None, 3, b"A", ["A"]]


@pytest.mark.parametrize("label", HOSTILE, ids=repr)
def test_bad_labels_and_ids_are_refused_before_sending(fake: Fake, label: Any) -> None:
    client = fake.client()
    calls: list[Any] = [
        lambda: client.create("x", ["A", label]),
        lambda: client.decide("banner", among=[label]),
        lambda: client.decide_many("banner", 1, among=[label]),
        lambda: client.add("banner", label),
        lambda: client.reward("banner", label, 1.0),
        lambda: client.shown("banner", label),
        lambda: client.learn("banner", [(label, 1.0)]),
        lambda: client.decide(label),
        lambda: client.experiment(label),
    ]
    if label is not None:
        calls += [
            lambda: client.decide("banner", id=label),
            lambda: client.decide("banner", label * 3 if isinstance(label, str) else label),
            lambda: client.reward("banner", "id", 1.0, id=label),
            lambda: Client(fallback=label),
        ]
    for call in calls:
        with pytest.raises(ValueError, match=r"must (be|hold)"):
            call()
    assert not fake.requests


@pytest.mark.parametrize("label", ["💥", "</script>", "../..", '"', "\\", "%00", "\u202eA", " "])
def test_strange_but_allowed_labels_arrive_as_they_are(fake: Fake, label: str) -> None:
    client = fake.client()
    client.create("x", [label, "other"])
    assert client.decide("x", label, among=[label]).arm == label
    assert fake.bodies("decisions")[-1]["key"] == label


@pytest.mark.parametrize("name", ["../x", "a/b", ".x", "a b", "a?b", "x" * 101, "ä", "a\n"])
def test_names_cannot_lead_elsewhere(fake: Fake, name: str) -> None:
    client = fake.client()
    for call in (client.experiment, client.decide, client.events):
        with pytest.raises(ValueError, match="experiment must be a name"):
            call(name)
    assert not fake.requests


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e101, "1", None, 1j, [1.0]])
def test_bad_rewards_are_refused_before_sending(fake: Fake, value: Any) -> None:
    client = fake.client()
    with pytest.raises(ValueError, match="reward must be a"):
        client.reward("banner", "id", value)
    with pytest.raises(ValueError, match="reward must be a"):
        client.reward_many("banner", [("one", 1.0), ("two", value)])
    with pytest.raises(ValueError, match=r"reward of rows\[1\] must be a"):
        client.learn("banner", [("A", 1.0), ("A", value)])
    assert not fake.requests


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"arms": []}, "arms must hold at least one"),
        ({"arms": "AB"}, "arms must be a list"),
        ({"arms": ["A", "A"]}, "'A' twice"),
        ({"control": 1.0}, "control must be a number >= 0 and < 1, got 1.0"),
        ({"reward_window": 0}, "reward_window must be a number > 0"),
        ({"default_reward": 0.0}, "default_reward must come with reward_window"),
        ({"default_reward": math.nan, "reward_window": 1}, "default_reward must be a"),
        ({"fallback": "Z"}, "fallback must be one of arms"),
        ({"audience": "yes"}, "audience must be True, False"),
        ({"policy": 3}, "policy must be a policy"),
        ({"policy": {"policy": "ucb1", "c": math.inf}}, "finite"),
        ({"policy": Path("x.json")}, "policy must be a .toml file"),
        ({"seed": -1}, "seed must be an integer >= 0"),
        ({"horizon": 0}, "horizon must be an integer >= 1"),
    ],
)
def test_bad_settings_are_refused_before_sending(
    fake: Fake, settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        fake.client().create("x", **{"arms": ["A", "B"], **settings})
    assert not fake.requests


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"url": "127.0.0.1:8100"}, "url must be like"),
        ({"url": "ftp://host"}, "url must be like"),
        ({"url": 3}, "url must be like"),
        ({"timeout": 0}, "timeout must be a number > 0"),
        ({"timeout": math.nan}, "timeout must be a number > 0"),
        ({"retries": -1}, "retries must be an integer from 0"),
    ],
)
def test_bad_clients_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Client(**settings)


# ------------------------------------------------------------------------- secrets and threads


def test_the_key_is_sent_and_never_shown(fake: Fake) -> None:
    client = fake.client(KEY)
    client.decide("banner")
    assert fake.requests[0].headers["authorization"] == f"Bearer {KEY}"
    shown = [repr(client), str(client), str(vars(client)), str(vars(client._caller))]
    fake.away = True
    for failing in (lambda: client.reward("banner", "id", 1.0), lambda: client.status()):
        with pytest.raises(Away) as caught:
            failing()
        shown += traceback.format_exception(caught.value)
    fake.away = False
    fake.answers = [answer(401, "unauthorized")]
    with pytest.raises(Refused) as refused:
        client.status()
    shown += traceback.format_exception(refused.value)
    for key in (f"{KEY}\n", f"{KEY} {KEY}", f"{KEY}é", f"{KEY}" * 50, KEY.encode()):
        with pytest.raises(ValueError, match="not shown") as bad:
            Client(key=key)  # type: ignore[arg-type]
        shown.append(str(bad.value))
    with pytest.raises(ValueError, match="no password") as address:
        Client(f"http://me:{KEY}@host")
    shown.append(str(address.value))
    assert not any(KEY in text for text in shown)


def test_redirections_do_not_get_the_key(fake: Fake) -> None:
    fake.answers = [httpx.Response(307, headers={"location": "http://elsewhere/v1/status"})]
    with pytest.raises(Away):
        fake.client(KEY).status()
    assert [request.url.host for request in fake.requests] == ["fake"]


def test_the_environment_does_not_send_the_key_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://elsewhere:1")
    with Client(key=KEY) as client:
        assert not client._caller._http.trust_env
        assert not client._caller._http._mounts


def test_threads_share_a_client(fake: Fake) -> None:
    client = fake.client(fallback="A", timeout=100.0, retries=50)
    fake.lose = 40

    def work(number: int) -> Choice:
        choice = client.decide("banner", f"k{number}")
        client.reward("banner", choice, number % 2)
        return choice

    with ThreadPoolExecutor(8) as pool:
        choices = list(pool.map(work, range(200)))
    assert [choice.key for choice in choices] == [f"k{number}" for number in range(200)]
    assert len(fake.decisions) == len(fake.rewards) == 200
    assert not any(choice.fallback for choice in choices)


def test_messages_of_the_service_cannot_move_the_cursor(fake: Fake) -> None:
    fake.answers = [
        httpx.Response(
            400, json={"error": {"code": "bad_request", "message": "\x1b[2J" + "x" * 9999}}
        )
    ]
    with pytest.raises(Refused) as caught:
        fake.client().decide("banner")
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_without_httpx_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    monkeypatch.delitem(sys.modules, "rotting._serve.client.transport")
    with pytest.raises(ImportError, match=r"pip install 'rotting\[serve\]'"):
        __import__("rotting._serve.client.transport")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("AB", "rows must be tuples"),
        (3, "rows must be tuples"),
        ([("A",)], r"rows\[0\] must be"),
        ([("A", 1.0)] * 5000 + [("A", "1")], r"reward of rows\[5000\] must be"),
        ([("A", 1.0), "B"], r"rows\[1\] must be"),
        ([{"arm": "A"}], r"rows\[0\] must have arm, reward"),
        ([{"arm": "A", "reward": 1, "at": 3}], r"rows\[0\] must have arm, reward"),
    ],
)
def test_bad_history_is_refused_before_sending(fake: Fake, rows: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fake.client().learn("banner", rows)
    assert not fake.requests


def test_one_key_is_no_list_of_keys(fake: Fake) -> None:
    with pytest.raises(ValueError, match="keys must be a list of keys or a number, got 'ann'"):
        fake.client().decide_many("banner", "ann")
    with pytest.raises(ValueError, match="count must be an integer"):
        fake.client().decide_many("banner", -1)
    assert not fake.requests
