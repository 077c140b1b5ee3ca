"""The control group: membership, its probability, and that nothing else changes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from helpers.cases import examples, name_of, player_of
from helpers.happenings import check_same_players
from rotting import Player, policies
from rotting._online.decision_types import Assigned, Decision
from rotting.policies import Policy

UCB = policies.UCB1()


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_without_a_control_group_nothing_changes(policy: Policy) -> None:
    """`explore=0` is not there: the same decisions and the same file, to the bit."""
    one, other = player_of(policy, compiled=False), player_of(policy, compiled=False, explore=0.0)
    for k in range(60):
        decision = one.select()
        assert type(decision) is Decision
        assert other.select() == decision
        for player in (one, other):
            player.update(decision, 0.1 * (k % 5))
    assert one.to_json() == other.to_json()


@pytest.mark.parametrize("share", [0.05, 0.5, 0.99])
def test_the_control_group_is_a_share_and_uniform(share: float) -> None:
    """Within five standard errors; the policy's own decisions are those of one arm, the best."""
    player = player_of(UCB, compiled=False, seed=3, explore=share)
    player.learn(["a", "b", "c"] * 3000, [0.0, 5.0, 0.0] * 3000)
    count = 4000
    batch = player.select_many(count)
    assert batch.control is not None
    assert batch.propensities is not None
    control = batch.control
    assert abs(control.mean() - share) < 5 * math.sqrt(share * (1 - share) / count)
    for arm in range(3):
        found = np.mean(batch.numbers[control] == arm)
        assert abs(found - 1 / 3) < 5 * math.sqrt(2 / 9 / control.sum())
    assert set(batch.numbers[~control]) == {1}  # a mean of 5 stays ahead for long
    own = share / 3 + (1 - share)
    np.testing.assert_allclose(batch.propensities[batch.numbers == 1], own, rtol=1e-12)
    np.testing.assert_allclose(batch.propensities[batch.numbers != 1], share / 3, rtol=1e-12)


def test_a_decision_says_its_propensity_and_that_it_is_control() -> None:
    player = player_of(UCB, compiled=False, seed=1, explore=0.3)
    seen = set()
    for _ in range(300):
        decision = player.select()
        assert isinstance(decision, Assigned)
        seen.add(decision.control)
        ways = (round(0.1, 12), round(0.8, 12))
        assert round(decision.propensity, 12) in (ways if decision.control else ways[1:])
        player.update(decision, 0.5)
    assert seen == {True, False}
    assert player.outstanding == []


def test_among_is_whom_the_control_group_is_drawn_from() -> None:
    player = player_of(UCB, compiled=False, explore=0.9)
    player.retire("b")
    batch = player.select_many(400, among=["a", "b", "c"])
    assert batch.propensities is not None
    assert batch.control is not None
    assert set(batch.labels) == {"a", "c"}
    assert {round(float(x), 12) for x in batch.propensities} == {0.45, 0.55}
    control = batch.numbers[batch.control]
    assert abs(np.mean(control == 0) - 0.5) < 5 * math.sqrt(0.25 / control.size)
    one = [player.select(among=["c"]) for _ in range(50)]
    assert {(d.arm, d.propensity) for d in one} == {("c", 1.0)}
    assert {d.control for d in one} == {True, False}


def test_the_policy_is_asked_all_the_same_and_learns_what_was_done() -> None:
    """Its random numbers are spent once a decision, whichever group is drawn."""
    for policy in (policies.Uniform(), policies.DTS(gamma=0.95, sigma=0.4)):
        plain = player_of(policy, compiled=False)
        mixed = player_of(policy, compiled=False, explore=0.99)
        plain.select_many(30)
        mixed.select_many(30)
        assert plain.core.draw[0] == mixed.core.draw[0]
    uniform = player_of(policies.Uniform(), compiled=False)
    mixed = player_of(policies.Uniform(), compiled=False, explore=0.5)
    ours, theirs = uniform.select_many(500), mixed.select_many(500)
    assert theirs.control is not None
    np.testing.assert_array_equal(ours.numbers[~theirs.control], theirs.numbers[~theirs.control])


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_the_same_calls_give_the_same_decisions_saved_in_between_or_not(policy: Policy) -> None:
    one, other = (player_of(policy, compiled=False, explore=0.4) for _ in range(2))
    for k in range(60):
        decision = one.select()
        assert other.select() == decision
        for player in (one, other):
            player.update(decision if k % 2 else (decision.arm, decision.pull), 0.1 * (k % 5))
        if k % 20 == 10:
            other = Player.from_json(other.to_json())
    check_same_players(one, other)


def test_compiled_is_plain() -> None:
    fast, slow = (player_of(UCB, compiled, explore=0.4) for compiled in (True, False))
    for k in range(500):
        decision = fast.select()
        assert slow.select() == decision
        for player in (fast, slow):
            player.update(decision, math.sin(k))
    check_same_players(fast, slow)


def test_what_the_policy_earns_over_equal_shares_has_no_bias() -> None:
    """The weights of rewards: their mean over what may be drawn is the difference itself."""
    worth = {"a": 0.2, "b": 1.0, "c": 0.4}
    player = player_of(UCB, compiled=False, seed=5, explore=0.5)
    player.learn(["a", "b", "c"] * 2000, [0.0, 50.0, 0.0] * 2000)
    batch = player.select_many(3000)
    player.update_many(batch, [worth[label] for label in batch.labels])
    numbers = player.core.ledger.numbers
    from rotting._live import ledger as at

    count, total, squares = (numbers[k] for k in (at.LIFT_COUNT, at.LIFT_SUM, at.LIFT_SQUARES))
    assert count == 3000
    mean = total / count
    error = math.sqrt((squares / count - mean * mean) / count)
    assert abs(mean - (1.0 - 1.6 / 3)) < 5 * error


@pytest.mark.parametrize("share", [-0.1, 1.0, 2, float("nan"), "x", None, True])
def test_shares_that_cannot_be(share: Any) -> None:
    with pytest.raises(ValueError, match="explore must be a number >= 0 and < 1"):
        player_of(UCB, compiled=False, explore=share)
