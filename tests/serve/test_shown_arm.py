"""Arms that a client showed by its own choice, without an answer in time, are recorded."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from helpers.serve.in_process import Inside, Time, check_same, serving, wait
from rotting._serve.archive import archive
from rotting._serve.export import write
from rotting._serve.verify import verify


@pytest.fixture
def path(tmp_path: Path) -> Any:
    """A database whose state is, at the end of each test, that of its events."""
    yield tmp_path / "s.db"
    assert verify(tmp_path / "s.db").problems == []


def other(of: Inside, arm: str) -> str:
    return next(label for label in ("A", "B", "C") if label != arm)


def waiting(inside: Inside) -> dict[str, tuple[str, int]]:
    one = inside.live()
    return {id_: (one.labels[entry.arm], entry.pull) for id_, entry in one.waiting.items()}


@pytest.mark.parametrize("audience", [False, True])
def test_a_stored_decision_gets_the_arm_that_was_shown(path: Path, audience: bool) -> None:
    key = {"key": "ann"} if audience else {}
    policy = "fatigue" if audience else "ucb1"
    with serving(path) as inside:
        inside.create(audience=audience, policy=policy)
        decided = inside.post("decisions", {"id": "d", **key})
        arm = other(inside, decided["arm"])
        shown = inside.post("shown", {"decision": "d", "arm": arm, **key})
        assert (shown["decision"], shown["pull"]) == ("d", 1)
        assert inside.post("shown", {"decision": "d", "arm": arm, **key}) == shown  # once
        assert inside.post("shown", {"decision": "d"}) == shown
        again = inside.post("decisions", {"id": "d", **key})
        assert (again["arm"], again["pull"]) == (arm, 1)
        assert waiting(inside) == {"d": (arm, 1)}
        check_same(inside)
        third = next(label for label in "ABC" if label not in (arm, decided["arm"]))
        assert "another arm" in refused(inside, {"decision": "d", "arm": third, **key}, 409)
        assert inside.post("rewards", {"decision": "d", "reward": 1.0})["applied"] is True
        found = {row["arm"]: row for row in inside.get()["arms"]}
        assert found[arm]["observed"] == 1
        assert found[decided["arm"]]["observed"] == 0
        assert (inside.get()["decisions"], inside.get()["rewards"]) == (1, 1)
        assert [event["kind"] for event in inside.get("/events")["events"]] == [
            *("created", "decided", "corrected", "rewarded")
        ]


def refused(inside: Inside, body: Any, status: int = 400, verb: str = "shown") -> str:
    return str(inside.post(verb, body, status)["error"]["message"])


def test_after_the_window_nothing_is_learnt_for_what_was_not_shown(path: Path) -> None:
    """The client showed red, the service had blue, and learnt a zero for blue."""
    clock = Time()
    with serving(path, clock) as inside:
        inside.create(reward_window=10.0, default_reward=0.0)
        blue = inside.post("decisions", {"id": "d"})["arm"]
        red = other(inside, blue)
        inside.post("shown", {"decision": "d", "arm": red})
        wait(inside, 11.0)
        found = {row["arm"]: row for row in inside.get()["arms"]}
        assert (found[blue]["observed"], found[red]["observed"]) == (0, 1)
        late = inside.post("rewards", {"decision": "d", "reward": 1.0})
        assert (late["applied"], late["why"]) == (False, "late")


def test_a_decision_that_never_arrived_is_made_with_what_was_shown(path: Path) -> None:
    with serving(path) as inside:
        inside.create(audience=True, policy="fatigue")
        assert inside.post("shown", {"decision": "d", "arm": "B", "key": "ann"})["pull"] == 1
        assert inside.post("shown", {"decision": "e", "arm": "B", "key": "ann"})["pull"] == 2
        again = inside.post("decisions", {"id": "d", "key": "ann", "among": ["A", "B"]})
        assert (again["arm"], again["pull"]) == ("B", 1)
        refused(inside, {"id": "d", "key": "ann", "among": ["A"]}, 409, "decisions")
        assert inside.post("rewards", {"decision": "e", "reward": 1.0})["applied"] is True
        assert inside.post("decisions", {"id": "f", "key": "ann"})["pull"] in (1, 3)
        assert inside.get()["decisions"] == 3
        assert "another key" in refused(inside, {"decision": "d", "arm": "B", "key": "bob"}, 409)
        assert "another arm" in refused(inside, {"decision": "d", "arm": "A", "key": "ann"}, 409)


def test_where_showings_are_confirmed_only_those_count(path: Path) -> None:
    with serving(path) as inside:
        inside.create(require_shown=True)
        first = inside.post("decisions", {"id": "d"})
        red = other(inside, first["arm"])
        handed = {"decision": "d", "arm": red, "confirmed": False}
        assert inside.post("shown", handed)["pull"] is None
        assert inside.post("shown", {**handed, "decision": "never seen"})["pull"] is None
        assert inside.get()["pulls"] == 0
        assert inside.post("shown", {"decision": "d", "arm": red})["pull"] == 1
        pulls = {row["arm"]: row["pulls"] for row in inside.get()["arms"]}
        assert pulls == {**dict.fromkeys("ABC", 0), red: 1}  # exactly what was seen
        assert inside.post("shown", {"decision": "e", "arm": "C"})["pull"] >= 1
        same = inside.post("decisions", {"id": "g"})["arm"]
        assert inside.post("shown", {"decision": "g", "arm": same})["pull"] >= 1
        assert "another arm" in refused(inside, {"decision": "g", "arm": other(inside, same)}, 409)
        assert inside.post("rewards", {"decision": "d", "reward": 1.0})["applied"] is True
        kinds = [event["kind"] for event in inside.get("/events")["events"]]
        assert kinds.count("corrected") == 1


def test_what_is_closed_stays(path: Path) -> None:
    clock = Time()
    with serving(path, clock) as inside:
        inside.create(reward_window=10.0)
        arms = {id_: inside.post("decisions", {"id": id_})["arm"] for id_ in ("d", "e")}
        inside.post("rewards", {"decision": "d", "reward": 1.0})
        clock.now += 11.0  # and before the window was ended
        for id_, arm in arms.items():
            assert "is closed" in refused(inside, {"decision": id_, "arm": other(inside, arm)}, 409)


def test_what_cannot_be_is_refused(path: Path) -> None:
    with serving(path) as inside:
        inside.create()
        assert "arm must be an arm" in refused(inside, {"decision": "d", "arm": "Z"})
        assert "key must be left out" in refused(inside, {"decision": "d", "arm": "A", "key": "k"})
        assert "goes with an arm" in refused(inside, {"decision": "d", "key": "k"})
        assert "goes with an arm" in refused(inside, {"decision": "d", "confirmed": False})
        inside.post("history", {"id": "h", "rows": [{"arm": "A", "reward": 1}]})
        assert "something else" in refused(inside, {"decision": "h", "arm": "A"}, 409)
        assert inside.get()["decisions"] == 0


def test_other_policies_learn_what_was_shown_and_exports_say_it(tmp_path: Path) -> None:
    path, clock = tmp_path / "s.db", Time()
    with serving(path, clock) as inside:
        inside.create(control=0.5, reward_window=100.0)
        for number in range(8):
            arm = inside.post("decisions", {"id": f"d{number}"})["arm"]
            shown = {"decision": f"d{number}", "arm": other(inside, arm)}
            inside.post("shown", shown)
            inside.post("rewards", {"decision": f"d{number}", "reward": 1.0})
        inside.post("shown", {"decision": "own", "arm": "C"})
        inside.post("policy", {"policy": "exp3s"})
        inside.post("decisions", {"id": "after"})
        inside.post("rewards", {"decision": "own", "reward": 0.0})
        assert sum(row["pulls"] for row in inside.get()["arms"]) >= 10
        check_same(inside)
    write(path, "e", tmp_path / "e.csv")
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO((tmp_path / "e.csv").read_text()))}
    assert rows["own"]["policy"] == rows["d0"]["policy"] == "fallback"
    assert rows["own"]["arm"] == "C"
    assert (rows["d0"]["propensity"], rows["d0"]["control"]) == ("1.0", "0")
    assert rows["after"]["policy"] != "fallback"
    clock.now += 1000.0
    assert verify(path).problems == []
    archive(path, tmp_path / "old.db", older=1.0, wait=0.0, now=clock.now)
    assert verify(path).problems == []
    write(path, "e", tmp_path / "again.csv")
    found = list(csv.DictReader(io.StringIO((tmp_path / "again.csv").read_text())))
    assert {row["id"]: row for row in found} == rows


def test_a_batch_of_them(path: Path) -> None:
    with serving(path) as inside:
        inside.create(audience=True, policy="ucb1")
        batch = [{"decision": f"d{n}", "arm": "A", "key": f"u{n % 3}"} for n in range(30)]
        found = inside.post("shown", [*batch, {"decision": "x", "arm": "Z", "key": "u"}])
        assert [each["pull"] for each in found[:6]] == [1, 1, 1, 2, 2, 2]
        assert found[30]["error"]["field"] == "arm"
        assert len(inside.live().waiting) == 30
        check_same(inside)
