"""Twins of the bounds of SWA and wSWA (Theorem 3.1 and Corollary 3.1.1)."""

import math


def swa_q(arms: int, horizon: int, sigma: float, alpha: float) -> float:
    """q of Appendix C.1: a window's mean is off by q with probability at most 1 / T^2."""
    cube = 2 * sigma**2 * arms / horizon * math.log(math.sqrt(2) * horizon)
    return math.pow(cube, 1 / 3) / math.sqrt(alpha)


def swa_bound(arms: int, horizon: int, sigma: float, alpha: float, max_mean: float) -> float:
    """Regret bound of SWA (Theorem 3.1)."""
    cube = 16 * sigma**2 * arms * horizon**2 * math.log(math.sqrt(2) * horizon)
    slope = alpha * max_mean + 1 / math.sqrt(alpha)
    return slope * math.pow(cube, 1 / 3) + 3 * arms * max_mean


def wswa_bound(arms: int, horizon: int, sigma: float, alpha: float, max_mean: float) -> float:
    """Regret bound of wSWA (Corollary 3.1.1)."""
    cube = 512 * sigma**2 * arms * horizon**2 * math.log(math.sqrt(2) * horizon)
    slope = alpha * max_mean + 1 / math.sqrt(alpha)
    return slope * math.pow(cube, 1 / 3) + 3 * arms * max_mean * (math.log2(horizon) + 1)


def best_alpha(max_mean: float) -> float:
    """Alpha that minimises the bound of Theorem 3.1, as noted under it."""
    return math.pow(2 * max_mean, -2 / 3)
