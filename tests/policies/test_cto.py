"""CTO: its ties, and its tables."""

from __future__ import annotations

import numpy as np

from helpers.cases import FAMILY
from rotting import models, policies
from twins import common
from twins.cto import cto
from twins.models import polynomial

SMALL = models.Plateau(length=7).over([0.4, 0.1, 0.2])


def test_random_ties_of_cto_are_random() -> None:
    """In a full tie every arm is chosen about equally often; the least pulled go first."""
    first = []
    for seed in range(300):
        player = policies.CTO(SMALL).online(range(3), seed=seed, compiled=False)
        for _ in range(3):
            player.update(player.select(), 1.0)
        again = [player.select().arm for _ in range(3)]
        assert sorted(again) == [0, 1, 2]  # nothing is pulled a third time before all are twice
        first.append(again[0])
    counts = np.bincount(first, minlength=3)
    assert np.all(np.abs(counts - 100) < 4 * np.sqrt(300 * (1 / 3) * (2 / 3)))


def test_ties_over_theta_go_to_the_first() -> None:
    """All plateau models coincide at first: theta-hat is Theta's first, whatever its value."""
    family = models.Plateau(length=100).over([0.4, 0.1])
    player = policies.CTO(family).online(range(2), compiled=False)
    for _ in range(150):
        player.update(player.select(), 1.0)
    assert player.core.state.sums.closest.tolist() == [0, 0]


def test_cto_runs_past_its_first_table() -> None:
    player = policies.CTO(FAMILY).online([0, 1])
    for _ in range(5000):
        player.update(player.select(), 0.1)
    assert sum(player.pulls.values()) == 5000


def test_equal_means_are_ties() -> None:
    """Algorithm 2 breaks a tie of 27^-0.2 and 81^-0.15 (both 3^-0.6) by least pulls, not rounding.

    The twin's means are rounded from fifty digits. The last test of both is at the crossing: the
    arm that rots faster has been pulled 26 times then, the other one 80 times.
    """
    thetas = [0.15, 0.2]
    player = policies.CTO(models.Polynomial().over(thetas)).online(range(2), compiled=False)
    history: common.History = []
    crossed = False
    for _ in range(130):
        allowed = cto(history, 2, thetas, polynomial)
        decision = player.select()
        assert {decision.arm} <= allowed
        pulls = [sum(arm == own for own, _ in history) for arm in range(2)]
        if sorted(pulls) == [26, 80]:
            crossed = True
            assert allowed == {pulls.index(26)} == {decision.arm}
        reward = polynomial(decision.pull, thetas[decision.arm])
        player.update(decision, reward)
        history.append((decision.arm, reward))
    assert crossed
