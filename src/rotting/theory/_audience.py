"""A proved bound for audiences: upper confidence bounds over cells of exposures.

`docs/paper/theory.md`, "Audiences", has the proofs.
"""

from __future__ import annotations

import math

from rotting import _checks


def cell_scale(cells: int, delta: float) -> float:
    """a = pi^2 cells / (3 delta), in the padding sigma sqrt(2 ln(a n^2) / n) of n rewards' mean.

    A mean of n rewards is further off than that with probability at most 2 / (a n^2). Over all n
    and all cells of an arm that adds up to delta, since 1 + 1/4 + 1/9 + ... = pi^2 / 6.
    """
    return math.pi**2 * cells / (3.0 * delta)


def audience_regret_bound(
    arms: int,
    cells: int,
    horizon: int,
    sigma: float,
    delta: float = 0.05,
    span: float = 1.0,
    variation: float = 0.0,
) -> float:
    """The bound on the regret of `CellUCB` in an audience, with probability 1 - arms delta.

    It is K C span + 4 sigma sqrt(2 K C T ln(pi^2 C T^2 / (3 delta))) + 2 variation T, and at most
    span T. It holds at all rounds up to T together, under these conditions: each arm's means do not
    rise from one showing to the next and are the same for every key, rewards are independent with
    sigma-sub-Gaussian noise (1/2 for rewards in [0, 1]), nothing recovers and no arm closes. Keys
    may arrive in any order, and their number plays no part; but a key that comes often reaches the
    last cell, where `variation` counts. No bound is proved for keys with factors, for exposures
    that fade, or for policies that draw (Thompson) or fit curves.

    Args:
        arms: The number of arms, K.
        cells: The policy's number of cells, C.
        horizon: T, the decisions of all keys together.
        sigma: The policy's noise level.
        delta: The policy's probability of failure for each arm.
        span: The highest first mean less the lowest mean.
        variation: The largest difference of means within a cell.

    Returns:
        The bound.

    Raises:
        ValueError: An argument is outside its range.

    >>> round(audience_regret_bound(arms=10, cells=10, horizon=10**6, sigma=0.5, span=0.1))
    100000
    >>> round(audience_regret_bound(arms=10, cells=10, horizon=10**8, sigma=0.5, span=0.1))
    1861848
    """
    arms = _checks.integer("arms", arms, least=1)
    cells = _checks.integer("cells", cells, least=1)
    horizon = _checks.integer("horizon", horizon, least=1)
    sigma = _checks.number("sigma", sigma, above=0, most=1e100)
    delta = _checks.number("delta", delta, above=0, below=1)
    span = _checks.number("span", span, least=0, most=1e100)
    variation = _checks.number("variation", variation, least=0, most=1e100)
    logarithm = math.log(cell_scale(cells, delta)) + 2.0 * math.log(horizon)
    explored = 4.0 * sigma * math.sqrt(2.0 * arms * cells * horizon * logarithm)
    return min(span * horizon, arms * cells * span + explored + 2.0 * variation * horizon)
