"""Batches of decisions or rewards give the results of single calls."""

from __future__ import annotations

import random as python_random
import threading
from typing import Any

import numpy as np
import pytest

from helpers.cases import examples, name_of, player_of, slow
from helpers.happenings import check_same_players
from rotting import policies
from rotting._online.decision_types import Assigned, Decision, Decisions
from rotting.policies import Policy

FEW = [policies.UCB1(), policies.RAWUCB(0.5)]  # that are played compiled


def closable(policy: Policy) -> bool:
    return policy.verbs.set_open is not None


def check_both_ways(policy: Policy, compiled: bool, **settings: Any) -> None:
    """One player in batches, the other one by one; growth in between."""
    many, single = (player_of(policy, compiled, **settings) for _ in range(2))
    rng = python_random.Random(3)
    at = 0.0
    sizes = (1, 7, 0, 40, 150, 3) if slow(policy) else (1, 7, 0, 40, 150, 300, 3)
    for size in sizes:
        at += rng.random()
        asked: dict[str, Any] = {"at": at} if "reward_time" in settings else {}
        if not size and "reward_time" in settings:
            continue  # the time would be recorded, though nothing is decided
        if size < 100 and closable(policy) and rng.random() < 0.5:
            asked["among"] = ["c", "a"]
        batch = many.select_many(size, **asked)
        decisions = [single.select(**asked) for _ in range(size)]
        assert list(batch) == decisions
        check_same_players(many, single)
        waiting = many.outstanding
        assert waiting == single.outstanding
        shuffled = rng.sample(waiting, len(waiting) // 2)
        rewards = [rng.gauss(0.4, 0.3) for _ in shuffled]
        many.update_many(shuffled, rewards)
        for decision, reward in zip(shuffled, rewards, strict=True):
            single.update(decision, reward)
        check_same_players(many, single)
    assert sum(many.pulls.values()) == sum(sizes)


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_a_batch_is_so_many_decisions_in_a_row(policy: Policy) -> None:
    check_both_ways(policy, compiled=False)


@pytest.mark.parametrize("policy", FEW, ids=name_of)
def test_compiled_batches(policy: Policy) -> None:
    check_both_ways(policy, compiled=True)
    check_both_ways(policy, compiled=True, reward_window=25, default_reward=0.0, explore=0.3)


@pytest.mark.parametrize(
    "settings",
    [
        {"reward_window": 30},
        {"reward_window": 2, "default_reward": 0.5},
        {"reward_time": 1.0, "default_reward": 0.0},
        {"explore": 0.4},
    ],
    ids=str,
)
def test_batches_with_windows_and_a_control_group(settings: dict[str, Any]) -> None:
    for policy in (policies.UCB1(), policies.RAWUCB(0.5)):
        check_both_ways(policy, compiled=False, **settings)


def test_a_batch_is_iterated_sliced_and_named() -> None:
    player = policies.UCB1().online(["red", ("shop", 3)], compiled=False)
    batch = player.select_many(4)
    assert batch.labels == ["red", ("shop", 3), "red", ("shop", 3)]
    assert batch.numbers.tolist() == [0, 1, 0, 1]
    assert batch.pulls.tolist() == [1, 1, 2, 2]
    assert batch[-1] == Decision(("shop", 3), 2)
    assert type(batch[0].pull) is int
    assert list(batch[1:3]) == list(batch)[1:3]
    assert isinstance(batch[::2], Decisions)
    assert batch[::2].labels == ["red", "red"]
    assert Decision("red", 2) in batch
    assert batch.propensities is None
    assert batch.control is None
    assert repr(batch[:1]) == "<1 decisions: 'red' (1)>"
    with pytest.raises(IndexError):
        batch[4]
    player.update_many(batch[1:3], [1.0, 0.0])
    assert player.outstanding == [Decision("red", 1), Decision(("shop", 3), 2)]
    # the arrays are the caller's own
    batch.pulls[:] = 9
    assert player.pulls == {"red": 2, ("shop", 3): 2}


def test_a_batch_of_a_player_with_a_control_group() -> None:
    player = player_of(policies.UCB1(), compiled=False, explore=0.5)
    batch = player.select_many(60)
    assert batch.control is not None
    assert batch.propensities is not None
    assert 10 < batch.control.sum() < 50
    assert all(isinstance(decision, Assigned) for decision in batch)
    assert batch[7:9][1] == batch[8]
    player.update_many(batch[:30], np.ones(30, dtype=bool))
    player.update_many(list(batch)[30:], np.zeros(30))
    assert player.outstanding == []


@pytest.mark.parametrize("compiled", [False, True])
def test_rewards_of_a_batch_are_learnt_all_or_none(compiled: bool) -> None:
    player = player_of(policies.UCB1(), compiled)
    batch = player.select_many(6)
    player.update(batch[2], 0.5)
    before = player.to_json()
    rest = [batch[k] for k in (0, 1, 3)]
    wrong: list[tuple[Any, Any, str]] = [
        ([*rest, batch[2]], [1.0] * 4, "pull 1 of arm 'c' was rewarded or dropped before"),
        (batch, [1.0] * 6, "pull 1 of arm 'c' was rewarded or dropped before"),
        ([*rest, rest[0]], [1.0] * 4, "pull 1 of arm 'a' must come once, got it twice"),
        ([*rest, ("a", 3)], [1.0] * 4, "pull must be one of the 2 pulls made of arm 'a', got 3"),
        ([*rest, ("a", 1.5)], [1.0] * 4, "pull must be one of the 2 pulls made of arm 'a'"),
        ([*rest, ("a", -1)], [1.0] * 4, "pull must be one of the 2 pulls made of arm 'a'"),
        ([*rest, ("nobody", 1)], [1.0] * 4, "decision must be a pair"),
        ([*rest, 3], [1.0] * 4, "decision must be a pair"),
        (rest, [1.0] * 2, "rewards must be 3, one for each decision, got 2"),
        (rest, [], "rewards must be 3, one for each decision, got 0"),
        (rest, 1.0, "rewards must be a list of finite numbers"),
        (rest, None, "rewards must be a list of finite numbers"),
        (rest, [1.0, float("nan"), 0.0], "got nan at place 1"),
        (rest, [1.0, 0.0, float("inf")], "got inf at place 2"),
        (rest, [1.0, 0.0, 1e101], "got 1e[+]101 at place 2"),
        (rest, [1.0, None, 0.0], "reward must be a finite number, got None"),
        (rest, ["1", "2", "3"], "rewards must be a list of finite numbers"),
        (rest, [[1.0], [2.0], [3.0]], "rewards must be a list of finite numbers"),
        (7, [1.0], "decisions must be a list of them, got 7"),
    ]
    for decisions, rewards, words in wrong:
        with pytest.raises(ValueError, match=words):
            player.update_many(decisions, rewards)
        assert player.to_json() == before, words
    player.update_many(rest, [1, True, 0.25])
    player.update_many([], [])
    assert len(player.outstanding) == 2


@pytest.mark.parametrize("count", [-1, 1.5, None, "3", True, 10**9])
def test_a_batch_of_a_wrong_size_is_refused(count: Any) -> None:
    player = player_of(policies.UCB1(), compiled=False)
    before = player.to_json()
    with pytest.raises(ValueError, match="count must be an integer from 0 to 100000000"):
        player.select_many(count)
    assert player.to_json() == before


def test_decisions_of_another_player_are_known_by_their_labels() -> None:
    """Whose arms stand in another order, or are more by now."""
    one, other = (policies.UCB1().online(list(arms), compiled=False) for arms in ("abc", "cba"))

    mine, theirs = one.select_many(3), other.select_many(3)
    one.update_many(theirs[:2], [0.25, 0.5])  # c and b
    assert one.outstanding == [Decision("a", 1)]
    assert one.core.ledger.total.tolist() == [0.0, 0.5, 0.25]
    one.add("d")
    one.update_many(mine[:1], [1.0])
    assert one.outstanding == []


def test_threads_share_batches() -> None:
    player = player_of(policies.UCB1())
    wrong: list[BaseException] = []

    def work(seed: int) -> None:
        rng = python_random.Random(seed)
        try:
            for _ in range(60):
                batch = player.select_many(rng.randint(0, 50))
                keys = {(d.arm, d.pull) for d in batch}
                assert len(keys) == len(batch)
                player.update_many(batch, np.full(len(batch), 0.5))
                one = player.select()
                player.update(one, 1.0)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert player.outstanding == []
    assert player.core.ledger.rewarded.tolist() == player.core.ledger.pulls.tolist()
    assert int(player.core.ledger.clock[0]) == sum(player.pulls.values()) > 240
