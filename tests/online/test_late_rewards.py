"""Rewards that come late, out of order, or never."""

from __future__ import annotations

import random as python_random

import numpy as np
import pytest

from helpers.cases import FAMILY, examples, name_of, player_of, shorter
from rotting import Decision, Player, policies
from rotting.kernel.state import leaves
from rotting.policies import Oracle, Policy


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_late_lost_and_shuffled_rewards(policy: Policy) -> None:
    """Rewards up to 40 decisions late, out of order, a fifth of them never."""
    rounds = shorter(policy, 1200)
    for compiled in (False, True):
        player = player_of(policy, compiled)
        rng = python_random.Random(2)
        waiting: list[Decision] = []
        for _ in range(rounds):
            waiting.append(player.select())
            while len(waiting) > 40 or (waiting and rng.random() < 0.4):
                decision = waiting.pop(rng.randrange(len(waiting)))
                if rng.random() < 0.8:
                    player.update(decision, rng.gauss(0.3, 0.5))
        assert sum(player.pulls.values()) == rounds
        finite = [
            leaf.value
            for leaf in leaves(player.core.state)
            if leaf.value.dtype == np.float64
            and not any(np.inf in getattr(mark, "exceptions", ()) for mark in leaf.marks)
        ]
        assert all(not np.any(np.isposinf(x)) for x in finite)
        if not compiled:
            plain = player
    assert player.pulls == plain.pulls
    for a, b in zip(leaves(player.core.state), leaves(plain.core.state), strict=True):
        np.testing.assert_array_equal(a.value, b.value, err_msg=a.path)


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_no_reward_ever(policy: Policy) -> None:
    """Without any information, no arm is played to the exclusion of the others."""
    player = player_of(policy)
    for _ in range(300):
        player.select()
    if isinstance(policy, Oracle):
        return
    assert min(player.pulls.values()) >= 60
    assert len(player.outstanding) == 300


@pytest.mark.parametrize(
    "policy", [p for p in examples() if not isinstance(p, (Oracle, policies.SWA))], ids=name_of
)
def test_an_arm_that_never_answers_does_not_take_over(policy: Policy) -> None:
    player = player_of(policy)
    for _ in range(900):
        decision = player.select()
        if decision.arm != "b":
            player.update(decision, 0.5)
    if not isinstance(policy, (policies.Uniform, policies.RoundRobin)):
        assert player.pulls["b"] <= 400


@pytest.mark.parametrize(
    "policy",
    [p for p in examples() if not isinstance(p, (Oracle, policies.Uniform, policies.RoundRobin))],
    ids=name_of,
)
def test_an_arm_whose_first_rewards_were_lost_is_not_forgotten(policy: Policy) -> None:
    """Nothing of arm b arrives for 300 rounds; then it proves to be the best by far."""
    if isinstance(policy, policies.GreedyLast):
        return  # it looks at one reward, and 5 is soon seen
    player = policy.online(["a", "b"], horizon=3000)
    for t in range(3000):
        decision = player.select()
        if decision.arm == "a":
            player.update(decision, 0.1)
        elif t >= 300:
            player.update(decision, 5.0)
    assert player.pulls["b"] > 1000


def late_order(policy: Policy, order: list[int]) -> Player:
    """Six decisions, then their rewards in the given order."""
    player = player_of(policy, compiled=False)
    decisions = [player.select() for _ in range(9)]
    for place in order:
        player.update(decisions[place], 0.1 * place)
    return player


@pytest.mark.parametrize(
    "policy",
    [
        policies.CTO(FAMILY),
        policies.DCTO(FAMILY, sigma=0.5),
        policies.WSWA(alpha=1.0, sigma=0.5, restart="keep"),
        policies.SWUCB(tau=100),
        policies.UCB1(),
        policies.GreedyLast(),
    ],
    ids=name_of,
)
def test_the_order_of_arrival_does_not_matter(policy: Policy) -> None:
    """Rewards are credited to the pull they belong to, so what is known is the same."""
    in_order = late_order(policy, list(range(9)))
    shuffled = late_order(policy, [8, 2, 5, 7, 1, 0, 6, 3, 4])
    known = [
        (one, other)
        for one, other in zip(leaves(in_order.core.state), leaves(shuffled.core.state), strict=True)
        if one.path.rpartition(".")[2] in ("mean", "total", "value", "last_pull", "closest", "lead")
    ]
    assert known
    for one, other in known:
        np.testing.assert_allclose(one.value, other.value, rtol=1e-12, err_msg=one.path)
    a, b = in_order.select(), shuffled.select()
    assert a == b
