"""The twelve settings for audience policies: four curves, three sizes.

200,000 showings with clicks as rewards; users arrive uniformly at random; top rates are 2 to 10 %;
curves are drawn for every run.
"""

from __future__ import annotations

from rotting.bandits import Audience, Bernoulli, RandomArms, Scenario
from rotting.league._curves import Curves
from rotting.league._entry import Entry
from rotting.models import Family, Polynomial

HORIZON = 200_000
SIZES = {"2k_10": (2_000, 10), "20k_10": (20_000, 10), "2k_40": (2_000, 40)}  # users, arms
ABOUT = {
    "power": "click rates fall as n^-theta with each showing to a user",
    "exponential": "click rates fall exponentially to a floor with each showing to a user",
    "step": "click rates fall once, after 1 to 14 showings to a user",
    "flat": "nothing rots",
}


def power_family(low: float = 0.02, high: float = 0.1, steps: int = 9) -> Family:
    """The prior of a user who knows the shape n^-theta and the range of the top rates.

    >>> len(power_family())
    90
    """
    tops = [low + (high - low) * k / (steps - 1) for k in range(steps)]
    return Polynomial().over([k / 10 for k in range(1, 11)], amplitudes=tops)


def _setting(curve: str, users: int, arms: int) -> Entry:
    scenario = Scenario(
        RandomArms.drawn(Curves((curve,)), arms), Bernoulli(), HORIZON, audience=Audience(users)
    )
    family = power_family() if curve == "power" else None
    return Entry(f"{users:,} users, {arms} arms: {ABOUT[curve]}", scenario, family)


SETTINGS: dict[str, Entry] = {
    f"{curve}_{size}": _setting(curve, *numbers)
    for curve in ABOUT
    for size, numbers in SIZES.items()
}
