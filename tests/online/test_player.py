"""The online object: labels, wrong rewards, dropped decisions, copies."""

from __future__ import annotations

import copy
import pickle

import pytest

from helpers.cases import player_of
from rotting import Player, policies


def test_labels() -> None:
    arms = [("ad", 1), frozenset({2}), None, 3.5]
    player = policies.RoundRobin().online(arms, compiled=False)
    assert [player.select().arm for _ in range(4)] == arms
    for wrong, words in (
        ([], "at least one label"),
        (["a", "a"], "got 'a' twice"),
        ([[1]], "hashable"),
        ("ab", "list of labels"),
        ([float("nan"), 1], "equal themselves"),
        (3, "list of labels"),
    ):
        with pytest.raises(ValueError, match=words):
            policies.RoundRobin().online(wrong, compiled=False)  # type: ignore[arg-type]


def test_wrong_rewards_are_refused_and_change_nothing() -> None:
    player = policies.UCB1().online(["red", "blue"], seed=0)
    decision = player.select()
    before = player.to_json()
    bad = [
        (decision, float("nan"), "reward must be a finite number, got nan"),
        (decision, float("inf"), "reward must be a finite number, got inf"),
        (decision, None, "reward must be a finite number, got None"),
        (decision, "0.5", "reward must be a finite number, got '0.5'"),
        (decision, 10**400, "reward must be a finite number"),
        (("green", 1), 1.0, "with an arm of 'red', 'blue'"),
        (("red", 2), 1.0, "pull must be one of the 1 pulls made of arm 'red', got 2"),
        (("blue", 1), 1.0, "pull must be one of the 0 pulls made of arm 'blue', got 1"),
        (("red", []), 1.0, "pull must be one of the 1 pulls"),
        ("red", 1.0, "decision must be a pair"),
        (7, 1.0, "decision must be a pair"),
    ]
    for wrong, reward, words in bad:
        with pytest.raises(ValueError, match=words):
            player.update(wrong, reward)
    assert player.to_json() == before
    player.update(decision, 1.0)
    with pytest.raises(ValueError, match="pull 1 of arm 'red' was rewarded or dropped before"):
        player.update(decision, 1.0)


def test_dropping_a_decision() -> None:
    player = policies.UCB1().online(["red", "blue"], compiled=False)
    decision = player.select()
    player.drop(decision)
    assert player.outstanding == []
    with pytest.raises(ValueError, match="rewarded or dropped"):
        player.update(decision, 1.0)
    with pytest.raises(ValueError, match="must be one that waits"):
        player.drop(decision)


def test_a_copy_goes_its_own_way() -> None:
    player = player_of(policies.UCB1())
    player.update(player.select(), 1.0)
    twin = copy.deepcopy(player)
    twin.select()
    assert sum(player.pulls.values()) == 1
    assert sum(twin.pulls.values()) == 2
    assert len(player.outstanding) == 0


class Named(Player):
    """A user's own player, with something to remember."""

    def __init__(self, name: str) -> None:
        super().__init__(policies.UCB1(), ["a", "b"], compiled=False)
        self.name = name


def test_a_copy_has_all_that_a_player_has() -> None:
    """By their names, not by a `__dict__`: a look into that slows down all that follows."""
    assert not hasattr(player_of(policies.UCB1(), compiled=False), "__dict__")
    player = Named("ours")
    player.update(player.select(), 1.0)
    for twin in (pickle.loads(pickle.dumps(player)), copy.copy(player), copy.deepcopy(player)):
        assert twin.name == "ours"
        assert twin.to_json() == player.to_json()


def test_pickling_and_copying_share_nothing() -> None:
    player = player_of(policies.UCB1())
    player.update(player.select(), 1.0)
    for twin in (pickle.loads(pickle.dumps(player)), copy.copy(player)):
        expected = copy.deepcopy(player).select()
        assert twin.select() == expected
        assert sum(player.pulls.values()) == 1
        assert player.core.state.arms.clock[0] == 1
        assert twin.core.state.arms.clock[0] == 2
