"""D-CTO_UCB: its exploration, by theory and within the horizon."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from rotting import models, policies
from rotting.kernel import verbs
from rotting.papers import levine2017
from rotting.policies.parts.arms import TIME


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
    assert player.core.state.halves.closest.tolist() == [1, 1]


def test_rewards_of_the_exploration_detect_and_all_of_them_estimate_the_constant() -> None:
    """In any order: theta-hat by the halves of the rewards that came of pulls 1..m (Eq. 10)."""
    family = models.Polynomial().over([0.1, 0.9])
    means = np.array([member.table(200) for member in family.members])
    policy = policies.DCTO_UCB(family, sigma=0.5, delta=0.1, exploration=9)
    params = policy.prepare(2, None, 200)
    assert params.exploration == 10
    state = policy.verbs.init(params, 2, 200)
    rng = np.random.default_rng(6)
    seen: list[dict[int, float]] = [{}, {}]
    for t in range(20):
        assert policy.verbs.choose(params, state, None) == t % 2
        policy.verbs.pulled(params, state, t % 2)  # type: ignore[misc]
        assert state.exploring[0] == 1
    assert state.value.tolist() == [-math.inf, -math.inf]
    order = [(0, 3)] + [(arm, pull) for arm in (1, 0) for pull in rng.permutation(15) + 1]
    waiting = sorted((arm, pull) for arm in (0, 1) for pull in range(1, 16))
    for place, (arm, pull) in enumerate(order):
        if pull in seen[arm]:
            continue
        while state.arms.pulls[arm] < 15:
            policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
        seen[arm][pull] = float(means[arm, pull - 1] + 0.3 + 0.1 * rng.normal())
        policy.verbs.update(params, state, arm, int(pull), seen[arm][pull])
        waiting.remove((arm, pull))
        assert state.wrong(state, params, waiting) is None
        early = sorted(n for n in seen[arm] if n <= 10)
        assert state.explored[arm] == len(early)
        detected = 0
        if early:
            signs = np.where(np.arange(len(early)) < len(early) // 2, 1.0, -1.0)
            places = np.array(early) - 1
            off = signs @ np.array([seen[arm][n] for n in early]) - means[:, places] @ signs
            detected = int(np.argmin(np.abs(off)))
        assert state.halves.closest[arm] == detected
        if place == 0:  # the first decision after the exploration scores the arms
            policy.verbs.choose(params, state, None)
            assert state.exploring[0] == 0
        known = np.array(list(seen[arm]))
        constant = np.mean([seen[arm][n] for n in known] - means[detected, known - 1])
        for ahead in (int(state.arms.pulls[arm]) + 1, 100):
            worth = verbs.score(params, state, arm, ahead)
            assert worth == pytest.approx(constant + means[detected, ahead - 1])
        assert state.value[arm] == verbs.score(params, state, arm, state.arms.pulls[arm] + 1)
        assert state.width[arm] == pytest.approx(1 / math.sqrt(len(seen[arm])))
    assert state.halves.closest.tolist() == [0, 1]
    t = int(state.arms.clock[TIME]) + 1
    bonus = [math.sqrt(8 * math.log(t) * 0.25 / len(known)) for known in seen]
    index = [float(value) + more for value, more in zip(state.value, bonus, strict=True)]
    assert policy.verbs.choose(params, state, None) == int(np.argmax(index))


def test_states_that_no_exploration_leads_to() -> None:
    family = models.Polynomial().over([0.1, 0.9])
    policy = policies.DCTO_UCB(family, sigma=0.5, delta=0.1, exploration=4)
    params = policy.prepare(2, None, 200)
    state = policy.verbs.init(params, 2, 200)
    for n in range(1, 7):
        policy.verbs.pulled(params, state, 1)  # type: ignore[misc]
        policy.verbs.update(params, state, 1, n, 0.5)
    assert state.wrong(state, params, []) is None
    assert state.wrong(state, params, [(1, 5), (0, 2), (1, 6)]) is None
    message = "explored must leave out the pulls that wait for their rewards"
    assert state.wrong(state, params, [(1, 4)]) == message
    assert state.wrong(state, params, [(1, 1)]) == message
    state.explored[1] = 5
    assert state.wrong(state, params, []) == message
    state.explored[1] = 4
    state.halves.settled[1] = 3
    assert str(state.wrong(state, params, [])).startswith("halves.settled must be")
