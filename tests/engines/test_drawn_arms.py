"""Arms drawn for every run: the same bits everywhere, and regret against each run's best."""

from __future__ import annotations

import numpy as np
import pytest

from rotting import Arm, Gaussian, RandomArms, Result, Scenario, models, policies, simulate
from rotting._engines import cpu
from rotting.bandits import ArmDraw
from rotting.policies import Policy

FAMILY = models.Plateau(length=10).over([0.1, 0.3, 0.45], weights=[1, 2, 3])


def fading(draw: ArmDraw) -> Arm:
    """The first arm never fades; the others fade, each at its own speed."""
    if draw.arm == 0:
        return Arm(models.Constant(draw.choice([0.25, 0.5])))
    return Arm(models.Exponential(draw.uniform(0.001, 0.05)), draw.normal(0.0, 0.1))


SOURCES = {
    "weights": RandomArms(FAMILY, 3),
    "amplitudes": RandomArms(FAMILY, 3, (0.0, 0.2), amplitudes=(0.25, 1.5)),
    "interval": RandomArms(models.Polynomial().between(0.1, 0.4), 3, (-0.2, 0.0)),
    "function": RandomArms.drawn(fading, 3),
}
POLICIES: list[Policy] = [
    policies.WSWA(0.2, 0.3),
    policies.Posterior(FAMILY, sigma=0.3),
    policies.Oracle(),
]


def scenario_of(name: str) -> Scenario:
    return Scenario(SOURCES[name], Gaussian(0.3), 200)


def assert_same(a: Result, b: Result) -> None:
    for field in ("checkpoints", "regret", "pulls", "total_reward", "adversarial_regret"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field), err_msg=field)


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.key)
def test_engines_threads_and_chunks_agree_to_the_bit(
    policy: Policy, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = scenario_of(name)
    one = simulate(policy, scenario, runs=7, seed=3, threads=1)
    reference = simulate(policy, scenario, runs=7, seed=3, engine="reference")
    assert_same(one, reference)
    monkeypatch.setattr(cpu, "CHUNK_TABLES", 2)  # bytes: each run in a chunk of its own
    assert_same(one, simulate(policy, scenario, runs=7, seed=3, threads=2))
    later = simulate(policy, scenario, runs=3, seed=3, first_run=4)
    np.testing.assert_array_equal(later.regret, one.regret[4:])
    assert len(np.unique(one.total_reward)) > 1


@pytest.mark.parametrize("name", SOURCES)
def test_regret_is_against_the_best_of_each_runs_own_arms(name: str) -> None:
    scenario = scenario_of(name)
    oracle = simulate(policies.Oracle(), scenario, runs=6, seed=2)
    assert np.all(np.abs(oracle.regret) < 1e-10)
    other = simulate(policies.RoundRobin(), scenario, runs=6, seed=2)
    assert np.all(other.final_regret > -1e-10)
    assert other.final_regret.max() > 1.0
    np.testing.assert_allclose(
        oracle.total_reward, other.total_reward + other.final_regret, rtol=1e-12
    )
    source = SOURCES[name]
    pulls = np.arange(1, 201)
    for run in range(6):  # pi_max by hand: with falling means, the highest of all of them
        means = np.concatenate([arm.mean(pulls) for arm in source.arms(2, run)])
        best = np.sort(means)[::-1][:200].sum()
        assert oracle.total_reward[run] == pytest.approx(best, rel=1e-12)


def test_the_prior_is_part_of_the_posterior() -> None:
    """Equal weights are no weights; others make other decisions, from the same rewards."""
    model, thetas = models.Exponential(), [0.002, 0.05]
    scenario = Scenario(RandomArms(model.over(thetas), 5), Gaussian(0.5), 150)

    def pulls(weights: list[float] | None) -> list[list[int]]:
        policy = policies.Posterior(model.over(thetas, weights=weights), sigma=0.5)
        found = simulate(policy, scenario, runs=20, seed=1, noise="common", checkpoints=1).pulls
        return [[int(count) for count in row] for row in found]

    assert pulls([3, 3]) == pulls(None)
    assert pulls([1, 9]) != pulls(None)
