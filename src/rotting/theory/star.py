"""The star-down of det (Definitions 4.1 and 4.2), exact for answers of any size.

For the models n^-theta and their plateaus det is bisected on its closed form, but only from a
point on after which it is proved never to rise. Let a < b be the two thetas, d = mu(.; a) -
mu(.; b), D(n) the sum of d up to n; det(n) = n sigma^2 / D(n)^2 does not rise from n to n + 1 if
and only if D(n) <= d(n+1) g(n), with g(n) = n + sqrt(n^2 + n).

*Polynomial, a <= 1/2: from n = 2 on.* sqrt(x) d(x) = x^(1/2-a) - x^(1/2-b) does not fall for
x >= 1, since (1/2 - a) x^(b-a) >= 1/2 - b. So d(j) <= d(n+1) sqrt((n+1)/j) for j <= n, and because
the sum of j^(-1/2) is at most 2 sqrt(n) - 1, D(n) <= d(n+1) sqrt(n+1) (2 sqrt(n) - 1) <=
d(n+1) g(n); the last step is sqrt(n+1) - sqrt(n) <= sqrt((n+1)/n).

*Plateaus of length L, a <= 1/2: from n = 9L on.* Let d_m be d on the m-th plateau. Inside a
plateau a step that does not rise is followed by another, since D grows by d and g by more than 1.
On entering plateau m + 1, at n = mL - 1, the first part gives D(n) = L (d_1 + ... + d_m) <=
L d_{m+1} sqrt(m+1) (2 sqrt(m) - 1), and g(n) >= 2n = 2 (mL - 1); so it is enough that
sqrt(m+1) (2 sqrt(m) - 1) <= 2 (m - 1/L), which holds for m >= 9 and every L >= 1.

*a > 1/2:* D(n) is at most of order n^(1-a), so det grows without bound and no N will do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rotting import checks
from rotting.models import Model, Plateau, Polynomial
from rotting.theory.balance import first_true
from rotting.theory.detection import det


def det_star(first: Model, second: Model, sigma: float, level: float) -> float:
    """The smallest N with det(n) <= level for all n >= N, or infinity.

    For two `Polynomial` models or two `Plateau` models of the same length; see the module's
    docstring for the proof. Exact up to the rounding of det itself, which matters for answers
    beyond 10^14 or so; infinite also if the answer is beyond 2^62.

    >>> from rotting import models
    >>> det_star(models.Polynomial(0.1), models.Polynomial(0.4), sigma=1.0, level=0.01)
    473.0
    """
    level = checks.number("level", level, above=0)
    start = _decreasing_from(first, second)
    if start is None:
        return math.inf
    beyond = first_true(lambda n: float(det(first, second, sigma, n)) <= level, start=start)
    if beyond > start:
        return beyond
    above = np.flatnonzero(det(first, second, sigma, np.arange(1, start)) > level)
    return float(above[-1] + 2) if above.size else 1.0


def _decreasing_from(first: Any, second: Any) -> int | None:
    """From where on det is proved never to rise; None if it grows without bound."""
    plateaus = isinstance(first, Plateau) and isinstance(second, Plateau)
    if plateaus and first.length != second.length:
        raise ValueError(f"second must have the first's length {first.length}, got {second.length}")
    if not plateaus and not (isinstance(first, Polynomial) and isinstance(second, Polynomial)):
        raise ValueError(
            f"first and second must be both Polynomial or both Plateau, got {second!r}"
        )
    if first.theta == second.theta:
        raise ValueError(f"second must have another theta than the first, got {second.theta}")
    if min(first.theta, second.theta) > 0.5:
        return None
    return 9 * first.length if plateaus else 2
