"""Twins of misdetection by the proximity rules (Eqs. 7 and 10) and of m* (Eq. 11)."""

import math
from collections.abc import Callable

from twins.common import Model
from twins.theory_star import ddet, det, half_difference, star_down, total

Probability = Callable[[int, float, list[float], Model, float], float]


def normal_cdf(x: float) -> float:
    """Phi(x), with full relative precision far in the lower tail."""
    return math.erfc(-x / math.sqrt(2)) / 2


def misdetection_nearest(values: list[float], true: int, shift: float, deviation: float) -> float:
    """P(the value nearest to Normal(values[true] + shift, deviation^2) is not values[true]).

    The cell of a value ends half way to its neighbours; of equal values the first has the cell.
    """
    if values[true] in values[:true]:
        return 1.0
    gaps = [value - values[true] for value in values]
    below = max((gap for gap in gaps if gap < 0), default=-math.inf)
    above = min((gap for gap in gaps if gap > 0), default=math.inf)
    under = normal_cdf((below / 2 - shift) / deviation)
    over = normal_cdf((shift - above / 2) / deviation)
    return under + over


def misdetection_sum(n: int, theta: float, thetas: list[float], mu: Model, sigma: float) -> float:
    """P(theta-hat != theta) by the sum rule (Eq. 7) after n pulls with Gaussian noise, exactly."""
    values = [total(n, candidate, mu) for candidate in thetas]
    return misdetection_nearest(values, thetas.index(theta), 0.0, math.sqrt(n) * sigma)


def misdetection_difference(
    n: int, theta: float, thetas: list[float], mu: Model, sigma: float, constant: float = 0.0
) -> float:
    """P(theta-hat != theta) by the half-difference rule (Eq. 10), Gaussian noise, exactly.

    The arm's mean is constant + mu(j; theta): at odd n one constant is left, with a minus sign.
    """
    values = [half_difference(n, candidate, mu) for candidate in thetas]
    shift = (n // 2 - (n - n // 2)) * constant
    return misdetection_nearest(values, thetas.index(theta), shift, math.sqrt(n) * sigma)


def misdetection_bound_sum(
    n: int, theta: float, thetas: list[float], mu: Model, sigma: float
) -> float:
    """2 exp(-1 / (8 det)) with the model nearest to theta at n (Appendix D.1): the largest det."""
    d = max((det(n, theta, o, mu, sigma) for o in thetas if o != theta), default=0.0)
    return 2 * math.exp(-1 / (8 * d)) if d > 0 else 0.0


def misdetection_bound_difference(
    n: int, theta: float, thetas: list[float], mu: Model, sigma: float
) -> float:
    """2 exp(-1 / (8 Ddet)) with the model nearest to theta at n (D.2: even n or no constant)."""
    d = max((ddet(n, theta, o, mu, sigma) for o in thetas if o != theta), default=0.0)
    return 2 * math.exp(-1 / (8 * d)) if d > 0 else 0.0


def m_star(
    p: float,
    theta: float,
    thetas: list[float],
    mu: Model,
    sigma: float,
    probability: Probability,
    limit: int,
    step: int = 1,
) -> int | None:
    """m*(p; theta) of Eq. 11: smallest m with probability <= p at every step-th n, m..limit."""
    steps = star_down(lambda k: probability(k * step, theta, thetas, mu, sigma), p, limit // step)
    return None if steps is None else steps * step
