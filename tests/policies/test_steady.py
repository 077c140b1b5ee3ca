"""SteadyUCB: untuned, with known or estimated noise."""

from __future__ import annotations

import math

import pytest

from cases import regret
from rotting import Arm, Bernoulli, Scenario, models, policies, simulate
from rotting.papers import levine2017
from rotting.random import new_draw, normal

SIGMA = levine2017.SIGMA


def test_untuned_and_better_than_wswa() -> None:
    """NP: at most 0.6 of wSWA's mean regret."""
    np_ = levine2017.non_parametric()
    ours = simulate(policies.SteadyUCB(SIGMA), np_, runs=200, seed=6, checkpoints=1)
    theirs = simulate(policies.WSWA(0.2, SIGMA), np_, runs=200, seed=6, checkpoints=1)
    assert ours.mean_regret[-1] < 0.6 * theirs.mean_regret[-1]


def test_clicks_are_waited_for_on_every_arm() -> None:
    """The first arm never pays, the second in one of twenty: all share the turns before a click."""
    arms = [Arm(models.Constant(0.0)), Arm(models.Constant(0.05))]
    scenario = Scenario(arms, Bernoulli(), 5000)
    mean, _ = regret(policies.SteadyUCB(None), scenario, runs=40)
    known, _ = regret(policies.SteadyUCB(0.5), scenario, runs=40)
    assert mean < known


def test_estimated_noise_is_right() -> None:
    """After 2,000 rewards with sigma = 0.3 the estimate is within 5 %."""
    player = policies.SteadyUCB(None).online([0, 1], compiled=False)
    draw = new_draw(1)
    for _ in range(2000):
        player.update(player.select(), 0.5 + 0.3 * float(normal(draw)))
    state = player._state
    estimate = math.sqrt(state.scattered[0] / (state.arms.observed.sum() - 2))
    assert estimate == pytest.approx(0.3, rel=0.05)
