"""Kaggle's Candy Cane Contest of 2020, for one player: a hundred machines that wear out.

https://www.kaggle.com/c/santa-2020: each pull of a machine multiplies its probability of a reward
by 0.97. The first probabilities are unknown, and uniform from 0 to 1.
"""

from __future__ import annotations

import math

from rotting.bandits import Bernoulli, RandomArms, Scenario
from rotting.models import Amplitude, Exponential

MACHINES = 100
PULLS = 2_000
KEPT = 0.97  # the factor of a pull on a machine's probability

# theta 0.97^(n - 1), theta unknown
MACHINE = Amplitude(Exponential(-math.log(KEPT)))

# the prior of a player who has read the rules: theta uniform, on a grid of 20 values
FAMILY = MACHINE.over([(2 * k + 1) / 40 for k in range(20)])


def candy_cane() -> Scenario:
    """Candy Cane: a hundred machines pay with probability theta 0.97^(n-1), theta uniform.

    Returns:
        The scenario, with 2,000 rounds; theta is drawn for every run.

    >>> candy_cane().arm_count
    100
    """
    return Scenario(
        RandomArms(MACHINE.between(0.0, 1.0), MACHINES), Bernoulli(), PULLS, name="candy_cane"
    )
