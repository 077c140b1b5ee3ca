"""D-CTO_UCB: its exploration, by theory and within the horizon."""

from __future__ import annotations

import dataclasses

import pytest

from rotting import models, policies
from rotting.papers import levine2017


def test_dcto_ucb_refuses_what_does_not_fit() -> None:
    """The paper's own ANV setup: exploration takes millions of pulls an arm, T = 30,000."""
    policy = policies.DCTO_UCB(levine2017.FAMILY, sigma=levine2017.SIGMA, delta=0.1)
    with pytest.raises(ValueError, match=r"10 arms 4249800 times, .*horizon is 30000"):
        policy.prepare_for(levine2017.anv())
    short = dataclasses.replace(policy, exploration=4000)
    with pytest.raises(ValueError, match=r"10 arms 4000 times, that is 40000 decisions.*30000"):
        short.prepare_for(levine2017.anv())
    assert dataclasses.replace(policy, exploration=2999).prepare_for(levine2017.anv())


def test_dcto_ucb_takes_its_exploration_from_theory() -> None:
    """Two distant models: the paper's bound for p = 0.01 is 117,630 pulls (over all n)."""
    family = models.Plateau(length=100).over([0.1, 0.4])
    policy = policies.DCTO_UCB(family, sigma=0.2**0.5, delta=0.02)
    assert policy.prepare(2, 300_000, 300_000).exploration == 117_630
    with pytest.raises(ValueError, match="2 arms 117630 times, that is 235260 decisions"):
        policy.prepare(2, 200_000, 200_000)


def test_dcto_ucb_detects_from_late_rewards_of_its_exploration() -> None:
    family = models.Polynomial().over([0.1, 0.9])
    policy = policies.DCTO_UCB(family, sigma=0.1, delta=0.1, exploration=50)
    player = policy.online([0, 1], compiled=False)
    decisions = [player.select() for _ in range(150)]
    for decision in reversed(decisions):
        player.update(decision, decision.pull**-0.9)
    assert player._state.halves.closest.tolist() == [1, 1]
