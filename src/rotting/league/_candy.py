"""Kaggle's Candy Cane Contest of 2020, played alone: a hundred machines that wear out.

https://www.kaggle.com/c/santa-2020: each pull of a machine multiplies the probability that it pays
by 0.97, and all begin with probabilities of their own, unknown, anywhere from 0 to 1.
"""

from __future__ import annotations

import math

from rotting.bandits import Bernoulli, RandomArms, Scenario
from rotting.models import Amplitude, Exponential

MACHINES = 100
PULLS = 2_000
KEPT = 0.97  # what a pull leaves of a machine's probability

# theta 0.97^(n - 1), theta unknown
MACHINE = Amplitude(Exponential(-math.log(KEPT)))

# what a player who has read the rules believes: as uniform as a finite set of positive numbers is
FAMILY = MACHINE.over([(2 * k + 1) / 40 for k in range(20)])


def candy_cane() -> Scenario:
    """Candy Cane: a hundred machines pay with probability theta 0.97^(n-1), theta uniform.

    >>> candy_cane().arm_count
    100
    """
    return Scenario(
        RandomArms(MACHINE.between(0.0, 1.0), MACHINES), Bernoulli(), PULLS, name="candy_cane"
    )
