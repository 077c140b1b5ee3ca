"""The reward of a pull, and the total of the best single arm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rotting import (
    Arm,
    Bernoulli,
    Gaussian,
    NoNoise,
    RandomArms,
    Scenario,
    models,
    policies,
    simulate,
)
from rotting._engines.baseline import BASELINES, play_baseline
from rotting._engines.loop import INTERRUPTED, NO_SUCH_ARM, play
from rotting._engines.plan import (
    Request,
    check_stop,
    empty_outcome,
    prepare,
    run_chunk,
    stream_keys,
)
from rotting.kernel import random
from rotting.kernel.verbs import KINDS

SEEN: list[tuple[int, float]] = []


class Listener:
    """Plays arms in a given order and notes their rewards."""

    def __init__(self, order: Callable[[int], int]) -> None:
        self.order = order
        self.round = 0

    def select(self) -> int:
        self.round += 1
        return self.order(self.round)

    def update(self, decision: int, reward: float) -> None:
        SEEN.append((decision, reward))


def rewards_of(scenario: Scenario, order: Callable[[int], int], seed: int = 0) -> Any:
    """The rewards of each arm, in the order of its pulls."""
    SEEN.clear()
    simulate(Listener(order), scenario, runs=1, seed=seed)
    return [[reward for arm, reward in SEEN if arm == k] for k in range(scenario.arm_count)]


@pytest.mark.parametrize("at", [1, 2, 7, 40])
def test_the_noise_of_a_pull_has_the_sigma_of_its_number(at: int) -> None:
    """Noise at one pull of each arm only: that reward is off, and no other."""
    noise = Gaussian(lambda n: np.where(n == at, 1.0, 1e-12))
    scenario = Scenario([Arm(models.Constant(2.0)), Arm(models.Polynomial(0.5))], noise, 80)
    for k, seen in enumerate(rewards_of(scenario, lambda t: t % 2)):
        means = 2.0 if k == 0 else np.arange(1, 41) ** -0.5
        off = np.abs(np.array(seen) - means)
        assert off[at - 1] > 1e-3
        assert np.delete(off, at - 1).max() < 1e-10


def test_a_sigma_for_all_pulls() -> None:
    """Rewards less their means have that standard deviation, and no two pulls share their noise."""
    scenario = Scenario(
        [Arm(models.Exponential(0.01)), Arm(models.Constant(-1.0))], Gaussian(3), 4000
    )
    fading, constant = rewards_of(scenario, lambda t: t % 2)
    for noise in (
        np.array(fading) - np.exp(-0.01 * (np.arange(1, 2001) - 1)),
        np.array(constant) + 1.0,
    ):
        assert abs(noise.mean()) < 4 * 3 / np.sqrt(2000)
        assert noise.std() == pytest.approx(3, rel=0.07)
        assert len(set(noise)) == 2000


def test_rewards_without_noise_are_the_means() -> None:
    table = [0.9, 0.5, 0.4, 0.2]
    for horizon in (3, 4, 6):
        scenario = Scenario([Arm(models.Table(table), 0.25)], NoNoise(), horizon)
        means = [x + 0.25 for x in [*table, 0.2, 0.2]]
        assert rewards_of(scenario, lambda t: 0) == [means[:horizon]]


def test_bernoulli_rewards_come_as_often_as_their_mean_says() -> None:
    rates = [0.0, 0.3, 1.0]
    scenario = Scenario([Arm(models.Constant(rate)) for rate in rates], Bernoulli(), 6000)
    for rate, seen in zip(rates, rewards_of(scenario, lambda t: t % 3), strict=True):
        assert set(seen) <= {0.0, 1.0}
        assert abs(np.mean(seen) - rate) <= 4 * np.sqrt(rate * (1 - rate) / 2000)


def test_the_best_single_arm_by_hand() -> None:
    """The best is neither the first nor the last, and is the best at the horizon only."""
    arms = [
        Arm(models.Constant(0.3)),
        Arm(models.Step(at=5, before=2.0, after=0.0)),
        Arm(models.Constant(0.5), constant=0.25),
        Arm(models.Polynomial(0.5), constant=-0.5),
    ]
    best = max(sum(float(arm.mean(n)) for n in range(1, 21)) for arm in arms)
    assert best == 15.0  # 0.75 a pull; the step has 10, the first arm 6
    collected = sum(float(arm.mean(n)) for arm in arms for n in range(1, 6))
    for first in range(4):  # wherever it is
        scenario = Scenario(arms[first:] + arms[:first], NoNoise(), horizon=20)
        result = simulate(policies.RoundRobin(), scenario, runs=1, engine="reference")
        assert result.total_reward[0] == pytest.approx(collected)
        assert result.adversarial_regret[0] == pytest.approx(best - collected)


def test_noise_is_the_normal_of_its_pull() -> None:
    """A reward is its mean plus sigma times the number at its pull of (seed, run, arm)'s stream."""
    scenario = Scenario([Arm(models.Constant(1.0)), Arm(models.Constant(2.0))], Gaussian(0.5), 12)
    noise = stream_keys(4, "independent", "Listener").noise
    for arm, seen in enumerate(rewards_of(scenario, lambda t: t % 2, seed=4)):
        key = random.fold(random.fold(noise, np.uint64(0)), np.uint64(arm))
        step = random.step_of(key)
        normals = [random.normal_at(key, step, np.uint64(pull)) for pull in range(1, 7)]
        assert seen == [arm + 1.0 + 0.5 * z for z in normals]


def test_why_a_run_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is not taken for a policy that names an arm which is not there."""
    check_stop(INTERRUPTED, arms=3)
    check_stop(0, arms=3)
    with pytest.raises(ValueError, match="an arm from 0 to 2"):
        check_stop(NO_SUCH_ARM, arms=3)
    scenario = Scenario([Arm(models.Constant(1.0))] * 3, NoNoise(), 5)
    verbs = policies.RoundRobin.verbs
    for wrong in (-1, 3):
        astray = verbs._replace(choose=lambda params, state, draw, wrong=wrong: wrong)
        monkeypatch.setitem(KINDS, verbs.params, astray)
        with pytest.raises(ValueError, match="an arm from 0 to 2"):
            simulate(policies.RoundRobin(), scenario, runs=1, engine="reference")


def test_runs_differ_and_are_the_same_wherever_they_start() -> None:
    scenario = Scenario([Arm(models.Constant(0.5)), Arm(models.Constant(0.4))], Gaussian(1.0), 60)
    whole = simulate(policies.UCB1(), scenario, runs=6, seed=2, engine="reference")
    part = simulate(policies.UCB1(), scenario, runs=2, seed=2, first_run=3, engine="reference")
    np.testing.assert_array_equal(part.regret, whole.regret[3:5])
    assert len({tuple(row) for row in whole.regret}) > 1


def test_each_run_draws_for_itself() -> None:
    """A policy that chooses by chance: every arm in every run, and no two runs alike."""
    scenario = Scenario([Arm(models.Constant(0.5))] * 3, NoNoise(), 60)
    pulls = simulate(policies.Uniform(), scenario, runs=8, seed=1, engine="reference").pulls
    assert pulls.min() > 0
    assert len({tuple(row) for row in pulls.tolist()}) > 4
    other = simulate(policies.Uniform(), scenario, runs=8, seed=2, engine="reference").pulls
    assert (other != pulls).any()


FAMILY = models.Plateau(length=5).over([0.1, 0.4])
FIXED = [Arm(models.Constant(0.4)), Arm(models.Polynomial(0.2)), Arm(models.Constant(0.1), 0.2)]


@pytest.mark.parametrize("arms", [RandomArms(FAMILY, 3, (0.0, 0.5)), FIXED], ids=["drawn", "fixed"])
def test_runs_of_one_chunk_are_those_played_one_by_one(arms: Any) -> None:
    """What a run leaves behind in the arrays that a chunk works in does not reach the next one."""
    scenario = Scenario(arms, Gaussian(0.5), 40)
    times = np.array([10, 25, 40])
    request = Request(policies.UCB1(), scenario, 7, "independent", times, 2, 4)
    plan, stop = prepare(request), np.zeros(1, dtype=np.int64)
    whole, single = empty_outcome(4, 3, 3), empty_outcome(4, 3, 3)
    run_chunk((play, play_baseline), plan, 0, 4, whole, stop)
    BASELINES.clear()
    for run in range(4):
        run_chunk((play, play_baseline), plan, run, run + 1, single, stop)
    for found, expected in zip(whole, single, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert whole.pulls.sum(axis=1).tolist() == [40] * 4
    stop[0] = INTERRUPTED
    untouched = empty_outcome(4, 3, 3)
    untouched.regret[:] = -1.0
    run_chunk((play, play_baseline), plan, 0, 4, untouched, stop)
    assert np.all(untouched.regret == -1.0)
