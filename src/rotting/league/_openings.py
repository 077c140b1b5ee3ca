"""Scenarios whose arms come and go, as in a service that runs for months.

Regret is measured against greedy play, which takes the best next mean among the open arms: pi_max
is not optimal where arms close.
"""

from __future__ import annotations

from rotting.bandits import Arm, Bernoulli, Gaussian, Scenario
from rotting.league._entry import Entry
from rotting.models import Constant, Exponential, Scaled, Step

CREATIVES, LIVE, PERIOD = 40, 10, 1000


def live_creatives() -> Scenario:
    """Forty creatives, ten live at a time: every thousand rounds a new one replaces the oldest.

    >>> live_creatives().first_arms, live_creatives().horizon
    (10, 31000)
    """
    rates = [0.01 + 0.00125 * (7 * k % CREATIVES) for k in range(CREATIVES)]
    lives = [400 + 100 * (11 * k % 20) for k in range(CREATIVES)]  # showings until 37 % are left
    arms = [
        Arm(Scaled(Exponential(1.0 / life), rate)) for rate, life in zip(rates, lives, strict=True)
    ]
    begins = [max(0, k - LIVE + 1) * PERIOD for k in range(CREATIVES)]
    openings = {k: (begins[k] + 1, (k + 1) * PERIOD) for k in range(CREATIVES)}
    return Scenario(arms, Bernoulli(), (CREATIVES - LIVE + 1) * PERIOD, openings=openings)


def late_arrival() -> Scenario:
    """Good arms arrive late, while others are retired.

    >>> late_arrival().first_arms, late_arrival().arm_count
    (4, 6)
    """
    arms = [
        Arm(Constant(0.3)),
        Arm(Scaled(Exponential(0.0004), 0.9)),
        Arm(Step(2000, 0.7, 0.4)),
        Arm(Constant(0.5)),
        Arm(Scaled(Exponential(0.0002), 1.0)),
        Arm(Step(1000, 0.8, 0.6)),
    ]
    openings = {
        1: (1, 6000),
        2: [(1, 3000), (9001, None)],  # away for a while
        3: (1, 9000),
        4: (5001, None),
        5: (8001, None),
    }
    return Scenario(arms, Gaussian(0.5), 15_000, openings=openings)


OPENINGS: dict[str, Entry] = {
    "live_creatives": Entry(
        "forty creatives with click rates from 1 % to 6 % that wear out, ten of them live: every "
        "thousand rounds the oldest makes room for a new one",
        live_creatives(),
    ),
    "late_arrival": Entry(
        "two good arms arrive late, while others are retired; one comes back", late_arrival()
    ),
}
