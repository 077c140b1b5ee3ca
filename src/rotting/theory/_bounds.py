"""Bounds on the regret: Theorem 3.1 and Corollary 3.1.1."""

from __future__ import annotations

import math

from rotting import _checks


def best_alpha(max_mean: float) -> float:
    """The alpha at which the bounds of SWA and wSWA are smallest: (2 max mu(1))^(-2/3).

    Args:
        max_mean: The largest first mean of the arms.

    Returns:
        The parameter.

    Raises:
        ValueError: `max_mean` is not positive.

    >>> round(best_alpha(1.0), 4)
    0.63
    """
    return float((2.0 * _checks.number("max_mean", max_mean, above=0)) ** (-2 / 3))


def swa_precision(arms: int, horizon: int, sigma: float, alpha: float) -> float:
    """The precision q of SWA's averages (Appendix C.1).

    q = alpha^(-1/2) 2^(1/3) sigma^(2/3) K^(1/3) T^(-1/3) ln^(1/3)(sqrt(2) T). Means of M rewards,
    see `averaging_window`, are within q of their expectation with probability 1 - 1/T^2.

    Args:
        arms: The number of arms, K.
        horizon: The number of rounds, T.
        sigma: The noise level.
        alpha: The policy's parameter.

    Returns:
        The precision.

    Raises:
        ValueError: An argument is outside its range.

    >>> round(swa_precision(arms=2, horizon=30_000, sigma=0.2 ** 0.5, alpha=0.2), 3)
    0.147
    """
    _check(arms, horizon, sigma, alpha, 1.0)
    scale = 2.0 * sigma**2 * arms / horizon * math.log(math.sqrt(2.0) * horizon)
    return float(scale ** (1 / 3) / math.sqrt(alpha))


def trivial_regret_bound(horizon: int, max_mean: float) -> float:
    """The trivial bound T max mu(1): with positive means no policy loses more.

    Args:
        horizon: The number of rounds, T.
        max_mean: The largest first mean of the arms.

    Raises:
        ValueError: An argument is not positive.
    """
    return _checks.integer("horizon", horizon, 1) * _checks.number("max_mean", max_mean, above=0)


def swa_regret_bound(arms: int, horizon: int, sigma: float, alpha: float, max_mean: float) -> float:
    """Theorem 3.1, SWA's regret at the horizon for which it is tuned.

    (alpha max mu(1) + alpha^(-1/2)) 4^(2/3) sigma^(2/3) K^(1/3) T^(2/3) ln^(1/3)(sqrt(2) T)
    + 3 K max mu(1).

    Args:
        arms: The number of arms, K.
        horizon: The number of rounds, T.
        sigma: The noise level.
        alpha: The policy's parameter, see `best_alpha`.
        max_mean: The largest first mean of the arms.

    Returns:
        The bound.

    Raises:
        ValueError: An argument is outside its range.

    >>> round(swa_regret_bound(arms=2, horizon=30_000, sigma=0.2 ** 0.5, alpha=0.2, max_mean=1.0))
    9615
    """
    _check(arms, horizon, sigma, alpha, max_mean)
    growth = _growth(arms, horizon, sigma, alpha, max_mean) * 4.0 ** (2 / 3)
    return float(growth + 3.0 * arms * max_mean)


def wswa_regret_bound(
    arms: int, horizon: int, sigma: float, alpha: float, max_mean: float
) -> float:
    """Corollary 3.1.1, wSWA's regret at any time T.

    (alpha max mu(1) + alpha^(-1/2)) 8 sigma^(2/3) K^(1/3) T^(2/3) ln^(1/3)(sqrt(2) T)
    + 3 K max mu(1) (log2 T + 1).

    Args:
        arms: The number of arms, K.
        horizon: The time, T.
        sigma: The noise level.
        alpha: The policy's parameter, see `best_alpha`.
        max_mean: The largest first mean of the arms.

    Returns:
        The bound.

    Raises:
        ValueError: An argument is outside its range.

    >>> round(wswa_regret_bound(arms=2, horizon=30_000, sigma=0.2 ** 0.5, alpha=0.2, max_mean=1.0))
    30603
    """
    _check(arms, horizon, sigma, alpha, max_mean)
    growth = _growth(arms, horizon, sigma, alpha, max_mean) * 8.0
    return growth + 3.0 * arms * max_mean * (math.log2(horizon) + 1.0)


def lower_bound_order(arms: int, horizon: int, sigma: float) -> float:
    """sigma sqrt(K T): the order of the least worst-case regret, whose constant is unknown.

    It holds in the non-parametric case. It is not in the paper, which leaves the question open:
    later work on FEWA and RAW-UCB (Seznec et al. 2019 and 2020) reaches it up to logarithms.

    Args:
        arms: The number of arms, K.
        horizon: The number of rounds, T.
        sigma: The noise level.

    Raises:
        ValueError: An argument is outside its range.

    >>> lower_bound_order(arms=4, horizon=10_000, sigma=0.5)
    100.0
    """
    _check(arms, horizon, sigma, 1.0, 1.0)
    return sigma * math.sqrt(arms * horizon)


def _growth(arms: int, horizon: int, sigma: float, alpha: float, max_mean: float) -> float:
    scale = sigma**2 * arms * horizon**2 * math.log(math.sqrt(2.0) * horizon)
    return float((alpha * max_mean + 1.0 / math.sqrt(alpha)) * scale ** (1 / 3))


def _check(arms: int, horizon: int, sigma: float, alpha: float, max_mean: float) -> None:
    _checks.integer("arms", arms, least=1)
    _checks.integer("horizon", horizon, least=1)
    _checks.number("sigma", sigma, above=0, most=1e100)
    _checks.number("alpha", alpha, above=0, most=1e100)
    _checks.number("max_mean", max_mean, above=0, most=1e100)
