"""Twins of det, Ddet, star-down and bal (Definitions 4.1 to 4.3)."""

import math
from collections.abc import Callable

from twins.common import Model


def total(n: int, theta: float, mu: Model) -> float:
    """sum_{j<=n} mu(j; theta): what Y (Eq. 6) compares with the sum of the first n rewards."""
    return math.fsum(mu(j, theta) for j in range(1, n + 1))


def half_difference(n: int, theta: float, mu: Model) -> float:
    """First floor(n/2) means minus the others: what Z (Eq. 9) compares with the rewards' own."""
    return math.fsum(mu(j, theta) if j <= n // 2 else -mu(j, theta) for j in range(1, n + 1))


def det(n: int, theta1: float, theta2: float, mu: Model, sigma: float) -> float:
    """det_{theta1,theta2}(n) of Definition 4.2; infinite where the sums are equal."""
    difference = total(n, theta1, mu) - total(n, theta2, mu)
    return n * sigma**2 / difference**2 if difference**2 > 0 else math.inf


def ddet(n: int, theta1: float, theta2: float, mu: Model, sigma: float) -> float:
    """Ddet_{theta1,theta2}(n) of Definition 4.2; infinite where the half-differences are equal."""
    difference = half_difference(n, theta1, mu) - half_difference(n, theta2, mu)
    return n * sigma**2 / difference**2 if difference**2 > 0 else math.inf


def star_down(f: Callable[[int], float], zeta: float, limit: int) -> int | None:
    """f-star-down(zeta) of Definition 4.1 up to limit: smallest N with f <= zeta on N..limit."""
    answer = None
    for n in range(limit, 0, -1):
        if not f(n) <= zeta:
            break
        answer = n
    return answer


def ddet_star(
    zeta: float, theta1: float, theta2: float, mu: Model, sigma: float, limit: int
) -> int | None:
    """f-star-down of section 4 for Ddet, up to limit: smallest N with Ddet <= zeta on N..limit."""
    prefix = [0.0]
    for j in range(1, limit + 1):
        prefix.append(prefix[-1] + (mu(j, theta1) - mu(j, theta2)))
    answer = None
    for n in range(1, limit + 1):
        difference = 2 * prefix[n // 2] - prefix[n]
        value = n * sigma**2 / difference**2 if difference**2 > 0 else math.inf
        if value > zeta:
            answer = None
        elif answer is None:
            answer = n
    return answer


def bal(n: int, thetas: list[float], mu: Model, limit: int) -> int | None:
    """bal(n) of Definition 4.3: smallest alpha with max mu(alpha; .) <= min mu(n; .) over Theta."""
    target = min(mu(n, theta) for theta in thetas)
    for alpha in range(1, limit + 1):
        if max(mu(alpha, theta) for theta in thetas) <= target:
            return alpha
    return None
