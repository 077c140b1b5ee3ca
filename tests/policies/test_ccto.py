"""C-CTO: theta in an interval is the limit of finer grids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from helpers.cases import regret
from rotting import Gaussian, RandomArms, Scenario, models, policies
from rotting.kernel import verbs
from rotting.papers import levine2017
from rotting.policies import _ccto

SIGMA = levine2017.SIGMA


def test_an_interval_is_the_limit_of_finer_grids() -> None:
    """theta* between the points of a coarse grid: CTO on finer grids approaches C-CTO."""
    truth = models.Plateau(length=100).over([0.13, 0.22, 0.31, 0.37])
    scenario = Scenario(RandomArms(truth, 10), Gaussian(SIGMA), 10_000)
    interval = models.Plateau(length=100).between(0.1, 0.4)
    ours, error = regret(policies.CCTO(interval), scenario)

    def grid(points: int) -> float:
        thetas = np.linspace(0.1, 0.4, points).tolist()
        return regret(policies.CTO(models.Plateau(length=100).over(thetas)), scenario)[0]

    coarse, fine, finer = grid(2), grid(9), grid(65)
    assert ours < coarse  # theta* is not in the coarse grid, and that is lost
    assert abs(finer - ours) < 4 * error
    assert abs(finer - ours) <= abs(coarse - ours)
    assert fine < coarse
    nodes = regret(policies.CCTO(models.Plateau(length=100).between(0.1, 0.4, 129)), scenario)[0]
    assert abs(nodes - ours) < 4 * error


@dataclass(frozen=True)
class Level(models.Model):
    """A model that rises with theta."""

    theta: float | None = None

    def _mean(self, n: Any) -> Any:
        return (self.theta or 0.0) * np.asarray(n, dtype=float) ** -0.2


def test_means_may_rise_with_theta() -> None:
    scenario = Scenario(RandomArms(Level().over([0.2, 0.5, 1.0]), 5), Gaussian(0.2), 2000)
    ours, _ = regret(policies.CCTO(Level().between(0.2, 1.0)), scenario, runs=20)
    theirs, _ = regret(policies.CTO(Level().over([0.2, 0.5, 1.0])), scenario, runs=20)
    assert ours < 20 * theirs  # with the nodes the wrong way round it is hundreds of times more


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("rising", [False, True])
@pytest.mark.parametrize("theta", [0.3, 0.36, 0.8])  # a node, between two nodes, beyond the end
def test_theta_is_where_the_expected_sum_is_that_of_the_rewards(
    theta: float, rising: bool, late: bool
) -> None:
    """The sums of the observed pulls at the nodes, joined by lines; so are the means."""
    interval = (Level() if rising else models.Polynomial()).between(0.2, 0.5, nodes=7)
    thetas = np.array(interval.family.thetas)
    means = np.array([np.asarray(m.mean(np.arange(1, 400))) for m in interval.family.members])
    if rising:
        means, thetas = means[::-1], thetas[::-1]
    policy = policies.CCTO(interval)
    params = policy.prepare(2, None, 300)
    state = policy.verbs.init(params, 2, 300)
    rng = np.random.default_rng(4)
    seen: list[int] = []
    total = 0.0
    inside = 0
    for pull in 1 + np.arange(80) if not late else 1 + 2 * rng.permutation(80):
        truth = Level(theta) if rising else models.Polynomial(theta)
        reward = float(truth.mean(pull) + 0.1 * rng.normal())
        policy.verbs.pulled(params, state, 1)  # type: ignore[misc]
        policy.verbs.update(params, state, 1, int(pull), reward)
        seen.append(int(pull))
        total += reward
        sums = means[:, np.array(seen) - 1].sum(axis=1)
        if np.all(sums == sums[0]):
            place = 0.0
        else:
            place = float(np.interp(-total, -sums, np.arange(7)))
            inside += 0.0 < place < 6.0
        assert state.sums.closest[1] + state.part[1] == pytest.approx(place, abs=1e-9)
        assert state.wrong(state, params, []) is None
        for ahead in (1, 7, 300):
            worth = np.interp(place, np.arange(7), means[:, ahead - 1])
            assert verbs.score(params, state, 1, ahead) == pytest.approx(worth, abs=1e-9)
    assert verbs.score(params, state, 0, 1) == -np.inf
    assert inside > (20 if theta == 0.36 else -1)
    state.sums.closest[0] = 6
    assert state.wrong(state, params, []) is not None


def test_sums_that_are_met_exactly() -> None:
    """theta-hat is then at that node; where several nodes have one sum, at the first of all."""
    rows = [[0.0] * 4, [4.0, 3.0, 2.0, 1.0], [2.0] * 4, [4.0, 3.0, 3.0, 1.0]]
    params = _ccto.Params(np.ones((4, 4)), np.array(rows))
    state = _ccto.init(params, 1, 10)
    for total, row, place in (
        *((4.0, 1, 0.0), (3.0, 1, 1.0), (2.0, 1, 2.0), (1.0, 1, 3.0), (9.0, 1, 0.0)),
        *((0.5, 1, 3.0), (2.5, 1, 1.5), (3.75, 1, 0.25), (0.0, 1, 3.0), (4.0, 1, 0.0)),
        *((2.0, 2, 0.0), (1.0, 1, 3.0), (1.0, 2, 0.0), (1.0, 1, 3.0), (9.0, 2, 0.0)),
        *((1.0, 3, 3.0), (3.0, 3, 1.0), (4.0, 3, 0.0), (3.0, 3, 1.0)),
    ):
        state.sums.total[0] = total
        _ccto._locate(state, 0, params.sums, row)
        assert state.sums.closest[0] + state.part[0] == place, (total, row)
        assert 0.0 <= state.part[0] <= 1.0
