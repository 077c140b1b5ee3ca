"""The client of the service: batches, and setting up experiments."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from helpers.serve.fake_transport import Fake
from rotting import policies
from rotting._serve.client import Away, PartlyRefused, Refused


def answer(status: int, code: str = "unavailable", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"code": code, "message": "no"}}, headers=headers)


# --------------------------------------------------------------------------------- in batches


def test_decisions_in_batches(fake: Fake) -> None:
    client = fake.client()
    choices = client.decide_many("banner", 2500, among=["A", "B"])
    assert [len(body) for body in fake.bodies("decisions")] == [1000, 1000, 500]
    assert len({choice.id for choice in choices}) == 2500
    assert [choice.seq for choice in choices] == list(range(1, 2501))
    assert {choice.arm for choice in choices} == {"A", "B"}
    assert [c.key for c in client.decide_many("banner", ["ann", "bob"])] == ["ann", "bob"]
    assert client.decide_many("banner", 0) == []
    told = client.reward_many("banner", [(choice, 0.0) for choice in choices[:1500]])
    assert told == [True] * 1500
    assert [len(body) for body in fake.bodies("rewards")] == [1000, 500]


def test_batches_are_no_larger_than_the_service_takes(fake: Fake) -> None:
    keys = [f"{'ü€😀' * 160}{n:04}" for n in range(1000)]
    choices = fake.client().decide_many("banner", keys)
    assert [choice.key for choice in choices] == keys
    sizes = [len(r.content) for r in fake.requests if r.method == "POST"]
    assert len(sizes) > 1
    assert max(sizes) <= 2**20


def test_a_batch_whose_reply_is_lost_is_decided_once(fake: Fake) -> None:
    fake.lose = 1
    assert len(fake.client().decide_many("banner", 10)) == len(fake.decisions) == 10


def test_items_that_are_refused_do_not_hide_the_others(fake: Fake) -> None:
    client = fake.client()
    with pytest.raises(PartlyRefused, match="1 of 3 refused; item 1: nobody") as caught:
        client.decide_many("banner", ["ann", "nobody", "bob"])
    first, wrong, last = caught.value.answers
    assert (first.key, wrong.code, last.key) == ("ann", "bad_request", "bob")
    assert caught.value.code == "bad_request"
    with pytest.raises(PartlyRefused) as unknown:
        client.reward_many("banner", [(first, 1.0), ("unknown", 1.0), (last, 0.0)])
    assert unknown.value.answers[::2] == [True, True]
    assert fake.rewards == {first.id: 1.0, last.id: 0.0}
    assert str(pickle.loads(pickle.dumps(unknown.value))) == str(unknown.value)


def test_items_that_cannot_be_done_now_are_sent_again(fake: Fake) -> None:
    part = [{"error": {"code": "unavailable", "message": "later"}}] * 2
    fake.answers = [httpx.Response(200, json=part)]
    choices = fake.client(fallback="A").decide_many("banner", 2)
    assert [choice.fallback for choice in choices] == [False, False]


def test_when_it_goes_away_between_batches_the_rest_are_fallbacks(fake: Fake) -> None:
    def leave(path: str) -> None:
        fake.away = len(fake.decisions) >= 1000

    fake.before = leave
    choices = fake.client(fallback="C").decide_many("banner", 5000)
    assert [choice.fallback for choice in choices] == [False] * 1000 + [True] * 4000
    assert fake.time.now < 1.0  # one batch waited, the others did not
    with pytest.raises(Away) as caught:
        fake.client().decide_many("banner", 3)
    assert caught.value.answers == []


# ------------------------------------------------------------------------------- setting up


def test_what_create_sends(fake: Fake, tmp_path: Path) -> None:
    client = fake.client()
    client.create("plain", ["A", "B"])
    assert fake.bodies("experiments")[-1] == {"name": "plain", "arms": ["A", "B"]}
    client.create(
        "full",
        ["A", "B"],
        policy=policies.UCB1(c=0.5),
        audience={"rest": {"half_life": 20, "unit": "decisions"}},
        control=0.1,
        reward_window=600,
        default_reward=0,
        require_shown=True,
        shown_window=60,
        fallback="A",
        seed=3,
        horizon=1000,
    )
    assert fake.bodies("experiments")[-1] == {
        "name": "full",
        "arms": ["A", "B"],
        "policy": {"policy": "ucb1", "c": 0.5},
        "audience": {"rest": {"half_life": 20, "unit": "decisions"}},
        "control": 0.1,
        "reward_window": 600.0,
        "default_reward": 0.0,
        "require_shown": True,
        "shown_window": 60.0,
        "fallback": "A",
        "seed": 3,
        "horizon": 1000,
    }
    file = tmp_path / "fit.toml"
    file.write_text("[policy]\n", encoding="utf-8")
    for policy, sent in (("ucb1", "ucb1"), ({"policy": "fewa"}, {"policy": "fewa"}), (file, None)):
        client.change_policy("plain", policy, horizon=10)
        expected = "[policy]\n" if sent is None else sent
        assert fake.bodies("policy")[-1] == {"policy": expected, "horizon": 10}
    fake.lose = 1
    assert client.create("plain", ["A", "B"])["name"] == "plain"
    with pytest.raises(Refused) as caught:
        client.create("plain", ["A", "B", "C"])
    assert caught.value.conflict
    assert [each["name"] for each in client.experiments()] == ["banner", "plain", "full"]


def test_arms_keys_and_status(fake: Fake) -> None:
    client = fake.client()
    assert client.add("banner", "D")
    assert not client.add("banner", "D")
    assert client.retire("banner", "D")
    assert client.restore("banner", "D")
    assert not client.restore("banner", "D")
    with pytest.raises(Refused):
        client.retire("banner", "unknown")
    assert client.erase("banner", "ann")
    assert not client.erase("banner", "bob")
    assert client.status()["version"] == "1"
    assert client.ready()
    fake.answers = [answer(503)]
    assert not client.ready()
    fake.away = True
    assert not client.ready()


def test_history_goes_in_chunks_and_is_never_learnt_twice(fake: Fake) -> None:
    client = fake.client()
    rows = [("A", n % 2, f"k{n}") for n in range(2300)]
    fake.lose = 1
    assert client.learn("banner", rows, id="import") == 2300
    assert list(fake.history) == ["import-0", "import-1", "import-2"]
    learnt = [row for chunk in fake.history.values() for row in chunk]
    assert learnt[:2] == [
        {"arm": "A", "reward": 0.0, "key": "k0"},
        {"arm": "A", "reward": 1.0, "key": "k1"},
    ]
    assert len(learnt) == 2300

    def leave(path: str) -> None:
        fake.away = len(fake.history) >= 5

    fake.before = leave
    plain = [{"arm": "B", "reward": 0.5}] * 3000
    with pytest.raises(Away, match="2000 rows arrived before") as caught:
        client.learn("banner", plain)
    fake.before = lambda path: None
    fake.away = False
    assert client.learn("banner", plain, id=caught.value.id) == 3000
    assert sum(map(len, fake.history.values())) == 5300
    assert client.learn("banner", []) == 0
    with pytest.raises(Refused) as refused:
        client.learn("nothing", plain, id="other")
    assert refused.value.__notes__ == ["0 rows were learnt before; id='other' goes on from there"]


def test_a_log_is_history_in_the_order_of_time(fake: Fake) -> None:
    from rotting.logs import Log

    def log(rewards: list[float], columns: dict[str, str]) -> Log:
        small = np.array([0, 0, 1], dtype=np.int32)
        return Log(
            key=small,
            arm=np.array([0, 1, 0], dtype=np.int32),
            time=np.array([5.0, 2.0, 3.0]),
            reward=np.array(rewards),
            exposure=np.ones(3, dtype=np.int32),
            arms=("A", "B"),
            columns=columns,
        )

    client = fake.client()
    client.learn("banner", log([1.0, 0.0, 0.5], {"key": "user"}), id="x")
    assert fake.history["x-0"] == [
        {"arm": "B", "reward": 0.0, "key": "log x 0"},
        {"arm": "A", "reward": 0.5, "key": "log x 1"},
        {"arm": "A", "reward": 1.0, "key": "log x 0"},
    ]
    client.learn("banner", log([1.0, 0.0, 0.5], {}), id="y")
    assert fake.history["y-0"][0] == {"arm": "B", "reward": 0.0}
    with pytest.raises(ValueError, match="1 of 3 rows of the log have none"):
        client.learn("banner", log([1.0, math.nan, 0.5], {}), id="z")


def test_events_come_by_the_page(fake: Fake) -> None:
    client = fake.client()
    fake.seq = 2345
    events = client.events("banner", after=5)
    assert not fake.requests
    assert [event["seq"] for event in events] == list(range(6, 2346))
    assert len(fake.paths("events")) == 4
    fake.answers = [httpx.Response(200, json={"events": [{"seq": 3}], "last": 9})]
    with pytest.raises(Away, match="in order"):
        list(client.events("banner", after=5))


def test_an_export_is_whole_or_not_there(fake: Fake, tmp_path: Path) -> None:
    client = fake.client()
    client.decide_many("banner", 20)
    target = tmp_path / "out.csv"
    fake.lose = 1
    assert client.export("banner", target) == target
    assert len(target.read_text().splitlines()) == 21
    assert fake.requests[-1].url.params["format"] == "csv"

    kept = tmp_path / "kept.csv"
    kept.hardlink_to(target)  # a reader that has the old file open
    client.decide("banner")
    client.export("banner", target)
    assert len(target.read_text().splitlines()) == 22
    assert len(kept.read_text().splitlines()) == 21
    kept.unlink()

    class Broken(httpx.SyncByteStream):
        def __iter__(self) -> Any:
            yield b"id,arm\n"
            raise httpx.RemoteProtocolError("closed in the middle")

    before = target.read_text()
    fake.answers = [httpx.Response(200, stream=Broken()) for _ in range(5)]
    with pytest.raises(Away, match="closed in the middle"):
        client.export("banner", target)
    with pytest.raises(Refused):
        client.export("nothing", target)
    assert target.read_text() == before
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    client.export("banner", tmp_path / "data", format="parquet")
    assert fake.requests[-1].url.params["format"] == "parquet"
    with pytest.raises(ValueError, match="ending of path must be one of 'csv', 'parquet'"):
        client.export("banner", tmp_path / "out.xlsx")
    with pytest.raises(ValueError, match="folder that exists"):
        client.export("banner", tmp_path / "nowhere" / "out.csv")


def test_rewards_that_stop_on_the_way_are_away_and_may_be_sent_again(fake: Fake) -> None:
    client = fake.client()
    pairs = [(choice, 1.0) for choice in client.decide_many("banner", 1500)]

    def leave(path: str) -> None:
        fake.away = len(fake.rewards) >= 1000

    fake.before = leave
    with pytest.raises(Away, match="1000 rewards arrived before"):
        client.reward_many("banner", pairs)
    fake.before = lambda path: None
    fake.away = False
    assert client.reward_many("banner", pairs) == [False] * 1000 + [True] * 500


@pytest.mark.parametrize("strange", [{}, [], [1, 2], [{}, {}], [{"error": 1}, {"error": {}}]])
def test_a_strange_answer_to_a_batch_is_away(fake: Fake, strange: Any) -> None:
    client = fake.client()
    fake.answers = [httpx.Response(200, json=strange)]
    with pytest.raises(Away):
        client.reward_many("banner", [("one", 1.0), ("two", 1.0)])
    assert len(fake.requests) == 1
