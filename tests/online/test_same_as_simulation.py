"""Online play is the simulation, compiled or plain, though tables grow."""

from __future__ import annotations

import random as python_random

import numpy as np
import pytest

from helpers.cases import examples, name_of, player_of, scenarios
from helpers.cases import slow as is_slow
from rotting._engines import plan
from rotting._engines.loop import reward_of
from rotting.kernel.random import fold, step_of
from rotting.kernel.state import leaves
from rotting.policies import Oracle, Policy

HORIZON = 3000


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_compiled_and_plain_agree_past_several_growths(policy: Policy) -> None:
    fast, slow = player_of(policy), player_of(policy, compiled=False)
    rng = python_random.Random(1)
    for _ in range(200 if is_slow(policy) else 1500):
        decision = fast.select()
        assert slow.select() == decision
        reward = rng.gauss(0.3, 0.5)
        fast.update(decision, reward)
        slow.update(decision, reward)
    for a, b in zip(leaves(fast.core.state), leaves(slow.core.state), strict=True):
        np.testing.assert_array_equal(a.value, b.value, err_msg=a.path)


@pytest.mark.parametrize("known", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "policy", [p for p in examples() if not isinstance(p, Oracle)], ids=name_of
)
def test_online_play_is_the_simulation(policy: Policy, known: bool) -> None:
    """An online object fed a run's rewards makes that run's pulls, though its tables grow.

    Not the oracle's: a simulation tells it each run's own arms.
    """
    scenario = scenarios(HORIZON)["constants"]
    noise_key, draw_key = plan.stream_keys(4, "independent", policy.label)
    bandit, world = scenario.bandits(4, 2, 3), scenario.world()
    player = policy.online(range(3), horizon=HORIZON if known or policy.needs_horizon else None)
    player.core.draw[:2] = fold(draw_key, np.uint64(2)), step_of(fold(draw_key, np.uint64(2)))
    for _ in range(HORIZON):
        decision = player.select()
        key = fold(fold(noise_key, np.uint64(2)), np.uint64(decision.arm))
        arm = decision.arm
        mean = bandit.constants[0, arm] + world.means[bandit.models[0, arm], decision.pull - 1]
        reward = reward_of(world, mean, key, step_of(key), decision.pull)
        player.update(decision, reward)
    from rotting import simulate

    result = simulate(policy, scenario, runs=3, seed=4)
    assert list(player.pulls.values()) == result.pulls[2].tolist()
