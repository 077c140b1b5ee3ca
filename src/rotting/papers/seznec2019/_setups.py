"""The two benchmarks, and the policies of the figures.

Rested arms with means that may be negative, and Gaussian noise with sigma = 1. The same benchmarks
are used by Seznec et al. 2020 for RAW-UCB.
"""

from __future__ import annotations

from rotting import _checks
from rotting.bandits import Arm, Gaussian, Scenario
from rotting.models import Constant, Step
from rotting.policies import EFFFEWA, EFFRAWUCB, FEWA, RAWUCB, WSWA, Policy

SIGMA = 1.0
LEVELS = 30


def level(i: int) -> float:
    """L = 0.02 * 1.25^i, i = 0..29.

    >>> round(level(11), 3), round(level(24), 2)
    (0.233, 4.24)
    """
    return float(0.02 * 1.25 ** _checks.integer("i", i, least=0, most=LEVELS - 1))


def two_arms(i: int = 11) -> Scenario:
    """Fig. 1: one arm stays at 0, the other falls from L/2 to -L/2 after 2,501 pulls."""
    half = level(i) / 2
    arms = [Arm(Step(at=2501, before=half, after=-half)), Arm(Constant(0.0))]
    return Scenario(arms, Gaussian(SIGMA), 10_000, name=f"seznec2019 L = {level(i):.3g}")


def ten_arms() -> Scenario:
    """Fig. 2: one arm stays at 0, nine change their sign after 1,000 pulls, from 0.001 to 10."""
    means = [0.001 * 10 ** (i / 2) for i in range(9)]
    arms = [Arm(Constant(0.0)), *(Arm(Step(at=1000, before=m, after=-m)) for m in means)]
    return Scenario(arms, Gaussian(SIGMA), 25_000, name="seznec2019 ten arms")


def policies() -> dict[str, Policy]:
    """The policies of the two papers' figures, with their parameters."""
    return {
        "RAW-UCB 1.4": RAWUCB(SIGMA, alpha=1.4),
        "RAW-UCB 4": RAWUCB(SIGMA, alpha=4.0),
        "EFF-RAW 1.4, m = 1.1": EFFRAWUCB(SIGMA, alpha=1.4, growth=1.1),
        "EFF-RAW 1.4, m = 2": EFFRAWUCB(SIGMA, alpha=1.4, growth=2.0),
        "FEWA 0.06": FEWA(SIGMA, alpha=0.06),
        "FEWA 4": FEWA(SIGMA, alpha=4.0),
        "EFF-FEWA 0.06, m = 2": EFFFEWA(SIGMA, alpha=0.06, growth=2.0),
        "wSWA .002": WSWA(0.002, SIGMA),
        "wSWA .02": WSWA(0.02, SIGMA),
        "wSWA .2": WSWA(0.2, SIGMA),
    }
