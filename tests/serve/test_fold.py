"""An experiment's state is a fold over its events: live, from a snapshot, from the start."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.serve.in_process import Inside, Time, check_same, serving, take_snapshot, wait
from rotting._serve import book, event_types, recovery, settings, verify
from rotting._serve.event_types import Event, Kind
from rotting._serve.mark import Mark, linked, set_mark
from rotting._serve.snapshots import content_of
from rotting._serve.verify import verify as verified
from rotting.policies._base import POLICIES

FAMILY = {
    "type": "Family",
    "model": {"type": "Polynomial", "theta": None},
    "thetas": [0.1, 0.3, 0.5],
}
# what policies cannot do without
NEEDED: dict[str, dict[str, Any]] = {
    "capped": {"inner": {"policy": "ucb1"}, "cap": 3},
    "perkey": {"inner": {"policy": "ucb1"}},
    "dcto_ucb": {"family": FAMILY, "sigma": 0.5, "delta": 0.1, "exploration": 6},
    "dts": {"gamma": 0.9, "sigma": 0.5},
    "ducb": {"gamma": 0.9},
    "swa": {"alpha": 0.2, "sigma": 0.5},
    "swts": {"tau": 20, "sigma": 0.5},
    "swucb": {"tau": 20},
    "wswa": {"alpha": 0.2, "sigma": 0.5},
    "ccto": {"family": {"type": "Interval", "model": FAMILY["model"], "low": 0.1, "high": 0.4}},
    **{key: {"family": FAMILY} for key in ("cto", "lcto", "posterior")},
    **{key: {"family": FAMILY, "sigma": 0.5} for key in ("dcto", "guarded", "ldcto")},
    **{
        key: {"sigma": 0.5}
        for key in ("cellucb", "efffewa", "effrawucb", "fewa", "glrucb", "rawucb", "rawucbpp")
    },
}


class Traffic:
    """A seeded user of an experiment."""

    def __init__(self, inside: Inside, seed: int = 0, name: str = "e") -> None:
        self.inside, self.name = inside, name
        self.random = random.Random(seed)
        self.number = 0
        self.open: list[str] = []

    def post(self, verb: str, body: Any, status: int = 200) -> Any:
        return self.inside.post(verb, body, status, self.name)

    def go(self, steps: int, among: bool = False) -> None:
        one = self.inside.live(self.name)
        shown = one.settings.require_shown
        for _ in range(steps):
            self.inside.time.now += self.random.random()
            self.number += 1
            body: dict[str, Any] = {"id": f"d{self.number}"}
            if one.settings.audience:
                body["key"] = f"key {self.random.randrange(6)}"
            if among and self.random.random() < 0.5:
                labels = [x for x, is_open in zip(one.labels, one.open, strict=True) if is_open]
                body["among"] = self.random.sample(labels, min(2, len(labels)))
            self.post("decisions", body)
            if not shown or self.random.random() < 0.7:
                if shown:
                    self.post("shown", {"decision": body["id"]})
                self.open.append(body["id"])
            if self.open and self.random.random() < 0.8:
                id_ = self.open.pop(self.random.randrange(len(self.open)))
                reward = float(self.random.random() < 0.4)
                self.post("rewards", {"decision": id_, "reward": reward})


CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "recommended": {"policy": None},
    "recommended for an audience": {"policy": None, "audience": True},
    "audience": {"audience": True, "policy": "roundrobin"},
    "rest": {"audience": {"rest": {"half_life": 20, "unit": "decisions"}}, "policy": None},
    "control group": {"control": 0.3},
    "control group of an audience": {"control": 0.3, "policy": None, "audience": True},
    "shown": {"require_shown": True},
    "shown, control group": {"require_shown": True, "control": 0.3, "policy": None},
    "shown, audience": {
        **{"require_shown": True, "control": 0.2, "policy": None},
        **{"audience": True, "shown_window": 5.0, "reward_window": 9.0},
    },
    "default reward": {"reward_window": 5.0, "default_reward": 0.0},
    "window without default": {"reward_window": 5.0, "policy": None},
    "default reward, audience": {
        **{"reward_window": 5.0, "default_reward": 0.25, "policy": None, "audience": True},
    },
}


@pytest.mark.parametrize("case", CASES)
def test_live_snapshot_and_rebuild_are_the_same(tmp_path: Path, case: str) -> None:
    chosen = CASES[case]
    with serving(tmp_path / "s.db") as inside:
        inside.create(**chosen)
        traffic = Traffic(inside)
        traffic.go(25, among=True)
        check_same(inside)
        take_snapshot(inside)
        traffic.go(15)
        if "reward_window" in chosen or "require_shown" in chosen:
            wait(inside, 30.0)
            waiting = [id_ for id_ in traffic.open if id_ not in inside.live().waiting]
            for id_ in waiting[:3]:
                late = traffic.post("rewards", {"decision": id_, "reward": 1.0})
                assert not late["applied"]
            wait(inside, 4000.0)
            assert not inside.live().unshown
        traffic.open.clear()
        traffic.post("arms", {"add": "D"})
        traffic.go(6)
        traffic.post("arms", {"retire": "A"})
        take_snapshot(inside)
        traffic.go(6, among=True)
        traffic.post("arms", {"restore": "A"})
        key = {"key": "key 1"} if chosen.get("audience") else {}
        rows = [{"arm": "BCD"[n % 3], "reward": n / 5, **key} for n in range(5)]
        traffic.post("history", {"id": "h", "rows": rows})
        traffic.go(6)
        if key:
            assert traffic.post("erase", key)["erased"]
            assert not traffic.post("erase", key)["erased"]
            traffic.open = [id_ for id_ in traffic.open if id_ in inside.live().waiting]
            traffic.go(6)
        wait(inside, 0.0)
        state = check_same(inside)
    with serving(tmp_path / "s.db", inside.time) as again:  # the snapshot of the end
        assert content_of(again.live()) == state
        again.post("decisions", {"id": "more", **({"key": "new"} if key else {})})
        check_same(again)
    found = verified(tmp_path / "s.db")
    assert found.problems == []
    assert list(found.digests) == ["e"]


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_that_plays_online(tmp_path: Path, name: str) -> None:
    body = {"name": "e", "arms": ["A", "B", "C"], "seed": 5, "horizon": 100, "control": 0.2}
    refused: list[str] = []
    with serving(tmp_path / "s.db") as inside:
        for audience in (True, False):
            asked: dict[str, Any] = {
                **body,
                "name": f"e{audience:d}",
                "audience": audience,
                "policy": {"policy": name, **NEEDED.get(name, {})},
            }
            answer = inside.client.post("/v1/experiments", json=asked)
            if answer.status_code == 400:
                assert answer.json()["error"]["field"] == "policy", answer.text
                refused.append(answer.json()["error"]["message"])
                continue
            assert answer.status_code == 201, answer.text
            traffic = Traffic(inside, name=asked["name"])
            traffic.go(8)
            take_snapshot(inside)
            traffic.go(8)
            check_same(inside, asked["name"])
        assert inside.book.experiments or name == "oracle", refused


@pytest.mark.parametrize("audience", [False, True])
def test_another_policy_has_learnt_what_came_before(tmp_path: Path, audience: bool) -> None:
    with serving(tmp_path / "s.db") as inside:
        inside.create(audience=audience, control=0.2, reward_window=50.0, default_reward=0.0)
        traffic = Traffic(inside)
        traffic.go(20, among=True)
        traffic.post("arms", {"add": "D"})
        traffic.go(5)
        if audience:
            traffic.post("erase", {"key": "key 2"})
            traffic.open = [id_ for id_ in traffic.open if id_ in inside.live().waiting]
        take_snapshot(inside)
        pulls = [arm["pulls"] for arm in inside.get()["arms"]]
        for policy in (None, "roundrobin", {"policy": "ucb1", "c": 0.5}):
            made = traffic.post("policy", {"policy": policy})
            assert made["policy"]["since"] == made["seq"]
            assert [arm["pulls"] for arm in inside.get()["arms"]] == pulls
            check_same(inside)
        traffic.go(10)
        wait(inside, 100.0)
        check_same(inside)
    assert verified(tmp_path / "s.db").problems == []


def as_version(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let the code be another one."""
    for module in (book, recovery, verify, settings):
        monkeypatch.setattr(module, "code_version", lambda: text)


def test_an_upgrade_is_an_event_with_a_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, time = tmp_path / "s.db", Time()
    as_version(monkeypatch, "one")
    with serving(path, time) as inside:
        inside.create(control=0.2, policy=None)
        Traffic(inside).go(20)
    as_version(monkeypatch, "two")
    assert verified(path).problems == []  # a start will upgrade it
    with serving(path, time) as inside:
        traffic = Traffic(inside, seed=1)
        traffic.number = 100
        assert inside.client.portal is not None
        inside.client.portal.call(inside.service.journal.settle)  # readers see what is committed
        (event,) = (e for e in inside.get("/events")["events"] if e["kind"] == "upgraded")
        assert (event["version"], event["before"]) == ("two", "one")
        assert event["seq"] in {one.seq for one in inside.book.store.snapshots(1)}
        assert inside.get()["policy"]["version"] == "two"
        traffic.go(20)
        for _ in range(3):
            take_snapshot(inside)
            traffic.go(2)
        state = content_of(inside.live())
        assert event["seq"] in {one.seq for one in inside.book.store.snapshots(1)}  # kept
    found = verified(path)
    assert found.problems == []
    assert any("decided by one" in line for line in found.lines)
    with serving(path, time) as inside:
        assert content_of(inside.live()) == state
        kinds = [e["kind"] for e in inside.get("/events")["events"]]
        assert kinds.count("upgraded") == 1
    as_version(monkeypatch, "one")  # back again
    with serving(path, time) as inside:
        Traffic(inside, seed=2).post("decisions", {"id": "last"})
    assert verified(path).problems == []


def forge(path: Path, id_: str, kind: Kind, change: Callable[[Any], None]) -> None:
    """Change an event in the database, and the running checksums to fit: other code wrote it."""
    database = sqlite3.connect(path)
    sql = "SELECT seq, experiment, kind, id, at, body FROM event WHERE id = ? AND kind = ?"
    event = Event(*database.execute(sql, (id_, int(kind))).fetchone())
    body = event_types.decode(event)
    change(body)
    new = (event_types.encode(body), event.seq)
    database.execute("UPDATE event SET body = ? WHERE seq = ?", new)
    database.execute("DELETE FROM snapshot")
    columns = "SELECT seq, experiment, kind, id, at, body FROM event ORDER BY seq"
    chain = 0
    for row in database.execute(columns).fetchall():
        chain = linked(chain, Event(*row))
        database.execute("UPDATE event SET chain = ? WHERE seq = ?", (chain, row[0]))
    database.execute("UPDATE chain SET sum = ?", (chain,))
    database.commit()
    set_mark(path, Mark(row[0], chain))
    database.close()


@pytest.mark.parametrize("shown", [False, True])
def test_a_decision_that_comes_out_otherwise_is_noticed(
    tmp_path: Path, shown: bool, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create(policy="roundrobin", require_shown=shown)
        for number in range(9):
            inside.post("decisions", {"id": f"d{number}"})
            if shown:
                inside.post("shown", {"decision": f"d{number}"})
            if number != 7:
                inside.post("rewards", {"decision": f"d{number}", "reward": 1.0})

    def other(body: event_types.Decided) -> None:
        body.arm = 1

    forge(path, "d0", Kind.DECIDED, other)
    found = verified(path)
    assert len(found.problems) == 1
    assert "arm 1" in found.problems[0]
    with serving(path) as inside:  # it starts all the same, with what is written
        assert "is written" in caplog.text
        pulls = [arm["pulls"] for arm in inside.get()["arms"]]
        assert pulls == [2, 4, 3]
        assert inside.get()["rewards"] == 8
        assert inside.post("rewards", {"decision": "d7", "reward": 0.0})["applied"]
        made = inside.post("decisions", {"id": "next"})
        assert made["arm"] in "ABC"
        kinds = [event["kind"] for event in inside.get("/events")["events"]]
        assert kinds.count("upgraded") == 1
    with serving(path) as inside:  # from its snapshot: the same state
        kinds = [event["kind"] for event in inside.get("/events")["events"]]
        assert kinds.count("upgraded") == 1
    assert len(verified(path).problems) == 1  # but the log still says what was done to it


def test_draws_are_keyed_by_seed_and_decision(tmp_path: Path) -> None:
    """Whatever was decided before, and in whatever order."""
    arms: dict[tuple[int, str], list[str]] = {}
    for order in (1, -1):
        for seed in (1, 2):
            with serving(tmp_path / f"{order}{seed}.db") as inside:
                inside.create(policy=None, seed=seed, control=0.9)
                for number in range(30)[::order]:
                    made = inside.post("decisions", {"id": f"d{number}"})
                    if inside.get("/events?limit=10000")["events"][-1]["control"]:
                        arms.setdefault((seed, made["id"]), []).append(made["arm"])
    both = [found for found in arms.values() if len(found) == 2]
    assert len(both) > 40
    assert all(one == other for one, other in both)
    assert any(arms[1, i] != arms[2, i] for s, i in arms if s == 1 and (2, i) in arms)


def test_a_batch_is_what_its_items_are_one_by_one(tmp_path: Path) -> None:
    states = []
    for many in (False, True):
        with serving(tmp_path / f"{many}.db") as inside:
            inside.create(policy=None, audience=True, control=0.3)
            items = [{"id": f"d{n}", "key": f"k{n % 5}"} for n in range(40)]
            if many:
                inside.post("decisions", items)
            else:
                for item in items:
                    inside.post("decisions", item)
            check_same(inside)
            states.append(content_of(inside.live()))
    assert states[0] == states[1]


def test_a_snapshot_is_used_where_rest_is_counted_in_decisions_that_are_never_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "s.db"
    rest = {"rest": {"half_life": 20, "unit": "decisions"}}
    with serving(path) as inside:
        inside.create(policy={"policy": "cellucb", "sigma": 0.5}, audience=rest, require_shown=True)
        for number in range(9):
            inside.post("decisions", {"id": f"d{number}", "key": "ann"})
    with serving(path) as inside:
        assert "is not used" not in caplog.text
        assert inside.get()["decisions"] == 9
    assert verified(path).problems == []


def test_a_snapshot_that_cannot_be_used_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create()
        inside.post("decisions", {"id": "d"})

    def refuse(*args: Any, **settings: Any) -> Any:
        raise ValueError("it does not fit")

    monkeypatch.setattr(recovery, "restored", refuse)
    assert any("cannot be used" in problem for problem in verified(path).problems)
