"""SteadyUCB: untuned, with known or estimated noise."""

from __future__ import annotations

import math
import random as python_random
from typing import Any

import numpy as np
import pytest

from helpers.cases import regret
from rotting import Arm, Bernoulli, Gaussian, Scenario, models, policies, simulate
from rotting.kernel.state import leaves
from rotting.league import SCENARIOS
from rotting.papers import levine2017
from rotting.policies import _steady
from rotting.policies.parts.milestones import WINDOW
from twins.steady import steady_scores

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


def paired(scenario: Scenario, sigma: float, runs: int) -> tuple[float, float]:
    """Regret with sigma unknown over that with it known, on the same rewards, and its error."""
    known, unknown = (
        simulate(policy, scenario, runs=runs, seed=3, noise="common", checkpoints=1).final_regret
        for policy in (policies.SteadyUCB(sigma), policies.SteadyUCB(None))
    )
    ratio = float(unknown.mean() / known.mean())
    error = np.std(unknown - ratio * known, ddof=1) / math.sqrt(runs) / known.mean()
    return ratio, float(error)


FAR_FALLS: dict[str, list[models.Model]] = {
    "fall": [models.Step(1000, 20.0, 0.0), models.Constant(0.5)],
    "early fall": [models.Step(10, 2000.0, 0.0), models.Constant(0.5)],
    "exponentials": [
        models.Scaled(models.Exponential(rate), 10.0) for rate in (0.0003, 0.001, 0.003, 0.01)
    ],
    "powers": [models.Scaled(models.Polynomial(0.5), 100.0 * k) for k in range(1, 6)],
    "apart": [models.Constant(100.0 * k) for k in range(20)],
}


@pytest.mark.parametrize("kind", FAR_FALLS)
def test_a_fall_is_not_taken_for_noise(kind: str) -> None:
    """Not significantly above 1.10 of the regret with sigma known."""
    scenario = Scenario([Arm(model) for model in FAR_FALLS[kind]], Gaussian(1.0), 5000)
    ratio, error = paired(scenario, 1.0, runs=60)
    assert ratio - 2.0 * error <= 1.10


@pytest.mark.parametrize("entry", ["stationary_1", "fall_20", "sudden"])
def test_not_knowing_sigma_costs_little(entry: str) -> None:
    """The same on scenarios of the league; `benchmarks/sigma_unknown.py` plays them all."""
    scenario: Any = SCENARIOS[entry].scenario
    ratio, error = paired(scenario, scenario.noise.sigma, runs=60)
    assert ratio - 2.0 * error <= 1.10


def chosen_arms(policy: policies.Policy, offset: float, scale: float) -> list[int]:
    """600 decisions about rewards in another unit, counted from another zero.

    Rewards are multiples of 1/1024, which doubles hold exactly even so far from zero.
    """
    player = policy.online(range(3), compiled=False)
    rng = python_random.Random(1)
    chosen = []
    for _ in range(600):
        arm, pull = decision = player.select()
        mean = (0.5, 8.0 if pull < 40 else -1.0, 1.0 / pull)[arm]
        reward = round(1024 * rng.gauss(mean, 0.5)) / 1024
        player.update(decision, scale * (reward + offset))
        chosen.append(arm)
    return chosen


@pytest.mark.parametrize(
    ("offset", "scale"),
    [(0.0, 2.0**-20), (0.0, 2.0**20), (1e8, 1.0), (-1e8, 2.0**-20), (1e8, 2.0**20)],
)
def test_offsets_and_scales_change_no_decision(offset: float, scale: float) -> None:
    assert chosen_arms(policies.SteadyUCB(None), offset, scale) == chosen_arms(
        policies.SteadyUCB(None), 0.0, 1.0
    )
    assert chosen_arms(policies.SteadyUCB(0.5 * scale), offset, scale) == chosen_arms(
        policies.SteadyUCB(0.5), 0.0, 1.0
    )


@pytest.mark.parametrize("sigma", [1e-6, None])
def test_a_small_difference_between_large_rewards_is_seen(sigma: float | None) -> None:
    """1e8 and two millionths more, with noise of a millionth: doubles there are 1.5e-8 apart."""
    player = policies.SteadyUCB(sigma).online([0, 1, 2], compiled=False)
    rng = python_random.Random(6)
    for _ in range(1500):
        decision = player.select()
        player.update(decision, 1e8 + rng.gauss(2e-6 * (decision.arm == 1), 1e-6))
    assert player.pulls[1] > 1350


def test_guarded_trusts_a_family_far_from_zero_as_it_does_near() -> None:
    """SteadyUCB's history, which Guarded looks at, has then another zero than the family."""
    family = models.Plateau(length=20).over([0.4, 0.1])
    policy = policies.Guarded(family, sigma=0.1, constants=True)
    found = []
    for offset in (0.0, 1e5):
        player = policy.online(range(3), compiled=False)
        rng = python_random.Random(3)
        for _ in range(400):
            arm, pull = decision = player.select()
            mean = float(family.members[arm % 2].mean(pull)) if pull else 0.0
            player.update(decision, offset + rng.gauss(mean, 0.1))
        found.append(int(player.core.state.doubted[0]))
        assert (player.core.state.fallback.shift[0] != 0.0) == (offset != 0.0)
    assert found == [0, 0]


@pytest.mark.parametrize("sigma", [0.5, None])
@pytest.mark.parametrize("few", [0.0, 0.3])
def test_the_index_is_that_of_the_formula(sigma: float | None, few: float) -> None:
    """To nine digits, while arms are pulled at random and one of them falls."""
    policy = policies.SteadyUCB(sigma, alpha=1.0, c=0.5, few=few)
    params = policy.prepare(3, None, 400)
    state = policy.verbs.init(params, 3, 400)
    rng = python_random.Random(7)
    history: list[tuple[int, float]] = []
    pulls = [0, 0, 0]
    for t in range(1, 241):
        arm = t - 1 if t <= 3 else rng.choice([0, 1, 1, 2])
        pulls[arm] += 1
        reward = rng.gauss((0.5, 3.0 if pulls[1] < 30 else -1.0, 2.0 / pulls[arm])[arm], 0.5)
        policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
        policy.verbs.update(params, state, arm, pulls[arm], reward)
        history.append((arm, reward))
        if t >= 3 and (t < 20 or t % 12 == 0):
            padding = _steady.exploring(params, state)
            for i, score in enumerate(steady_scores(history, 3, sigma, 1.0, 0.5, few)):
                index = _steady.index_of(state, i, padding) + state.shift[0]
                assert index == pytest.approx(score, rel=1e-9), (t, i)


def test_equal_arms_share_the_turns() -> None:
    """The least pulled of those that tie, the first if several; nothing scatters here."""
    policy = policies.SteadyUCB(None)
    params = policy.prepare(4, None, 100)
    state = policy.verbs.init(params, 4, 100)
    for arm, pull in ((0, 1), (1, 1), (2, 1), (3, 1), (0, 2), (1, 2), (3, 2)):
        policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
        policy.verbs.update(params, state, arm, pull, 0.0)
    for expected in (2, 0, 1, 2, 3, 0):
        arm = policy.verbs.choose(params, state, None)
        assert arm == expected
        policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
        policy.verbs.update(params, state, arm, int(state.arms.pulls[arm]), 0.0)


@pytest.mark.parametrize("sigma", [0.5, None])
@pytest.mark.parametrize(("first", "far"), [(4999.0, False), (5001.0, True), (-5001.0, True)])
def test_only_a_far_first_reward_is_subtracted(
    sigma: float | None, first: float, far: bool
) -> None:
    """One that is more than 10,000 sigmas from zero, or any where sigma is not known."""
    policy = policies.SteadyUCB(sigma)
    params = policy.prepare(2, None, 100)
    state = policy.verbs.init(params, 2, 100)
    for arm, pull, reward in ((1, 1, first), (0, 1, 9e9), (1, 2, 8e9)):
        policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
        policy.verbs.update(params, state, arm, pull, reward)
        assert state.shift[0] == (first if far or sigma is None else 0.0)


def state_bytes(player: Any) -> int:
    return sum(int(leaf.value.nbytes) for leaf in leaves(player.core.state))


def test_memory_is_small_and_does_not_grow() -> None:
    """At most 8 kB for ten arms, however many rewards they have shown."""
    player = policies.SteadyUCB(None).online(range(10), compiled=True)
    sizes = []
    for t in range(40_000):
        decision = player.select()
        player.update(decision, 1.0 / decision.pull + 0.01 * (t % 7))
        if t + 1 in (10_000, 20_000, 40_000):
            sizes.append(state_bytes(player))
    assert sizes[0] <= 8000
    assert sizes[2] == sizes[0]
    assert not any(isinstance(leaf.value, np.ndarray) for leaf in leaves(player.core.params))


@pytest.mark.parametrize("sigma", [0.5, None])
def test_the_logarithm_is_taken_anew_when_t_has_grown_by_a_64th(sigma: float | None) -> None:
    """ln(t / K + 10) of the last round of 1, 2, ..., 64, 66, 68, ..., 128, 131, ..."""
    policy = policies.SteadyUCB(sigma)
    params = policy.prepare(5, None, 1000)
    state = policy.verbs.init(params, 5, 1000)
    rounds = [*range(1, 65), *range(66, 129, 2), *range(131, 192, 3)]
    for t in range(1, 190):
        policy.verbs.pulled(params, state, t % 5)  # type: ignore[misc]
        last = max(r for r in rounds if r <= t)
        assert state.shift[_steady.ROOT] == math.sqrt(math.log(last / 5 + 10))
        assert _steady.exploring(params, state) == pytest.approx(
            0.0 if sigma is None else math.sqrt(2 * 0.9 * math.log(last / 5 + 10)) * sigma
        )


def test_rewards_in_any_order_lead_to_the_same_sums() -> None:
    """Late, or lost: totals, counts and means are those of the pulls that answered."""
    rng = python_random.Random(2)
    player = policies.SteadyUCB(0.5).online(range(3), compiled=False)
    waiting: list[Any] = []
    shown: dict[tuple[int, int], float] = {}
    for _ in range(900):
        waiting.append(player.select())
        while len(waiting) > 30:
            arm, pull = decision = waiting.pop(rng.randrange(len(waiting)))
            if rng.random() < 0.9:
                shown[arm, pull] = rng.gauss(0.5 * arm if pull < 100 else 0.2, 0.5)
                player.update(decision, shown[arm, pull])
    state = player.core.state
    for arm in range(3):
        kept = state.milestones
        window = [
            r
            for (i, pull), r in shown.items()
            if i == arm and pull > (kept.seen[arm, WINDOW] + kept.lost[arm, WINDOW])
        ]
        assert state.mean[arm] == pytest.approx(sum(window) / len(window), abs=1e-9)
        assert kept.total[arm] == pytest.approx(sum(r for (i, _), r in shown.items() if i == arm))
