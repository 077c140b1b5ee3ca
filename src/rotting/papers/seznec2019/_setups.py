"""The two benchmarks, and the policies of the figures.

Arms are rested, means may be negative, and noise is Gaussian with sigma = 1. Seznec et al. 2020 use
the same benchmarks for RAW-UCB.
"""

from __future__ import annotations

from rotting import _checks
from rotting.bandits import Arm, Gaussian, Scenario
from rotting.models import Constant, Step
from rotting.policies import EFFFEWA, EFFRAWUCB, FEWA, RAWUCB, WSWA, Policy

SIGMA = 1.0
LEVELS = 30


def level(i: int) -> float:
    """The size L of the fall in the i-th setup of Fig. 1: L = 0.02 * 1.25^i.

    Args:
        i: From 0 to 29.

    Returns:
        L, from 0.02 to about 12.9.

    Raises:
        ValueError: `i` is out of its range.

    >>> round(level(11), 3), round(level(24), 2)
    (0.233, 4.24)
    """
    return float(0.02 * 1.25 ** _checks.integer("i", i, least=0, most=LEVELS - 1))


def two_arms(i: int = 11) -> Scenario:
    """The setup of Fig. 1: one arm stays at 0, the other falls from L/2 to -L/2.

    It falls after 2,501 pulls; the horizon is 10,000.

    Args:
        i: The size of the fall is `level(i)`.

    Returns:
        The scenario.

    Raises:
        ValueError: `i` is not from 0 to 29.

    >>> two_arms(24).name, two_arms(24).horizon
    ('seznec2019 L = 4.24', 10000)
    """
    half = level(i) / 2
    arms = [Arm(Step(at=2501, before=half, after=-half)), Arm(Constant(0.0))]
    return Scenario(arms, Gaussian(SIGMA), 10_000, name=f"seznec2019 L = {level(i):.3g}")


def ten_arms() -> Scenario:
    """The setup of Fig. 2: one arm stays at 0, the means of nine change sign after 1,000 pulls.

    The nine means go from 0.001 to 10; the horizon is 25,000.

    >>> ten_arms().arm_count, ten_arms().horizon
    (10, 25000)
    """
    means = [0.001 * 10 ** (i / 2) for i in range(9)]
    arms = [Arm(Constant(0.0)), *(Arm(Step(at=1000, before=m, after=-m)) for m in means)]
    return Scenario(arms, Gaussian(SIGMA), 25_000, name="seznec2019 ten arms")


def policies() -> dict[str, Policy]:
    """The policies of the figures in both papers, with their parameters.

    Returns:
        Policies by their names in the figures, for noise of `SIGMA`.

    >>> policies()["FEWA 4"].label
    'FEWA(sigma=1.0, alpha=4.0)'
    """
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
