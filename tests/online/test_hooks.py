"""Hooks: called after every call, without cost to unwatched players, and never in the way."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from rotting import Player, policies
from rotting._online.hooks import Event


def watched() -> tuple[Player, list[Event]]:
    player = policies.UCB1().online(["a", "b"], reward_window=3, compiled=False)
    events: list[Event] = []
    player.watch(events.append)
    return player, events


def test_every_call_is_told() -> None:
    player, events = watched()
    one = player.select()
    player.update(one, reward=0.5)
    two = player.select_many(2)
    player.update_many(two, [0.1, 0.2])
    three = player.select(among=["a"])
    player.drop(three)
    player.learn(["a", "b", "b"], [1.0, 0.0, 1.0])
    player.add("c")
    player.retire("c")
    player.restore(label="c")
    late = player.select_many(count=5)
    player.expire()
    told = [(event.call, event.size) for event in events]
    assert told == [
        ("select", 1),
        ("update", 1),
        ("select_many", 2),
        ("update_many", 2),
        ("select", 1),
        ("drop", 1),
        ("learn", 3),
        ("add", 1),
        ("retire", 1),
        ("restore", 1),
        ("select_many", 5),
        ("expire", 1),
    ]
    assert events[0].decision == events[1].decision == one
    assert events[1].reward == 0.5
    assert events[2].decision is two is events[3].decision
    assert events[3].reward == [0.1, 0.2]
    assert events[5].decision == three
    assert [event.arm for event in events[7:10]] == ["c", "c", "c"]
    assert events[10].decision is late
    assert all(event.seconds > 0.0 and event.error is None for event in events)


def test_watching_changes_no_answer() -> None:
    plain = policies.UCB1().online(["a", "b"], compiled=False)
    player, _ = watched()
    for reward in (0.2, 0.8, 0.4, 0.6):
        decision = plain.select()
        assert player.select() == decision
        plain.update(decision, reward)
        player.update(decision, reward)
    assert plain.table().rows == player.table().rows
    assert repr(player) == repr(plain)


def test_refusals_are_told_and_raised() -> None:
    player, events = watched()
    with pytest.raises(ValueError, match="pull must be one of the 0 pulls"):
        player.update(("a", 1), 0.5)
    assert events[-1].size == 0
    assert isinstance(events[-1].error, ValueError)
    assert events[-1].decision == ("a", 1)


def test_a_hook_that_fails_comes_after_the_work() -> None:
    player, _ = watched()

    def fail(event: Event) -> None:
        raise OSError("full")

    player.watch(fail)
    with pytest.raises(OSError, match="full"):
        player.select()
    assert player.pulls == {"a": 1, "b": 0}
    with pytest.raises(OSError, match="full"):
        player.update(("a", 1), 0.5)
    assert player.outstanding == []
    player.watch(None)
    assert player.select() == ("b", 1)


def test_a_hook_may_look_at_the_player() -> None:
    player, _ = watched()
    seen: list[object] = []
    player.watch(lambda event: seen.append((player.explain(), player.pulls["a"])))
    player.select()
    assert seen == [("'a' was chosen (pull 1) to ramp up: no reward of it was known.", 1)]


def test_watching_ends_and_is_by_one_hook_at_a_time() -> None:
    player = policies.UCB1().online(["a", "b"], compiled=False)
    player.watch(None)
    events: list[Event] = []
    player.watch(events.append)
    player.watch(None)
    player.select()
    assert events == []
    other: list[Event] = []
    player.watch(events.append)
    player.watch(other.append)  # instead of the one before
    player.select()
    assert (len(events), len(other)) == (0, 1)
    with pytest.raises(ValueError, match="hook must be a function of one event, or None, got 3"):
        player.watch(3)  # type: ignore[arg-type]


def test_copies_and_saved_players_are_not_watched() -> None:
    player, events = watched()
    player.update(player.select(), 0.5)
    told = len(events)
    others = [
        copy.deepcopy(player),
        copy.copy(player),
        pickle.loads(pickle.dumps(player)),
        Player.from_bytes(player.to_bytes()),
        player.from_json(player.to_json()),
    ]
    for other in others:
        assert other.select() == ("b", 1)
    assert len(events) == told
    assert player.select() == ("b", 1)
    assert len(events) == told + 1


class Named(Player):
    """A user's own player, with something to remember."""

    name: str


def test_a_subclass_can_be_watched() -> None:
    player = Named(policies.UCB1(), ["a", "b"], compiled=False)
    player.name = "mine"
    events: list[Event] = []
    player.watch(events.append)
    player.select()
    assert isinstance(player, Named)
    assert type(copy.deepcopy(player)) is Named
    assert copy.deepcopy(player).name == player.name == "mine"
    player.watch(None)
    assert type(player) is Named
    assert len(events) == 1


def test_threads() -> None:
    """Hooks are added and removed while other threads play: no call is lost or reported twice."""
    player = policies.UCB1().online(["a", "b"], compiled=False)
    told: list[Event] = []
    done = threading.Event()

    def play(_: int) -> int:
        for _ in range(150):
            player.update(player.select(), 0.5)
        return 150

    def change() -> None:
        while not done.is_set():
            player.watch(told.append)
            player.watch(None)

    changing = threading.Thread(target=change)
    changing.start()
    with ThreadPoolExecutor(4) as pool:
        played = sum(pool.map(play, range(4)))
    done.set()
    changing.join()
    assert sum(player.pulls.values()) == played == 600
    assert player.outstanding == []
    decisions = [event.decision for event in told if event.call == "select"]
    assert len(decisions) == len(set(decisions)) <= 600
    assert all(event.error is None for event in told)
