"""C-CTO: theta in an interval is the limit of finer grids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cases import regret
from rotting import Gaussian, RandomArms, Scenario, models, policies
from rotting.papers import levine2017

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
