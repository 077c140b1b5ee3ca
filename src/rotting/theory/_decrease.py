"""The pulls from which det and Ddet never rise: proofs, for n^-theta and its plateaus.

Notation. a < b are the two thetas, d = mu(.; a) - mu(.; b); D(n) is the sum of d up to n, and
E(n) = 2 D(floor(n/2)) - D(n) the difference of its halves. L is the plateaus' length (1 for
n^-theta), and phi(j) = m(j)^-theta with j/L <= m(j) <= j/L + 1, which both kinds of model meet.

det(n) = n sigma^2 / D(n)^2 does not rise from n to n + 1 if and only if D(n) <= d(n+1) g(n), with
g(n) = n + sqrt(n^2 + n).

*det of n^-theta, a <= 1/2: from n = 2 on.* sqrt(x) d(x) = x^(1/2-a) - x^(1/2-b) does not fall for
x >= 1, since (1/2 - a) x^(b-a) >= 1/2 - b. So d(j) <= d(n+1) sqrt((n+1)/j) for j <= n, and because
the sum of j^(-1/2) is at most 2 sqrt(n) - 1, D(n) <= d(n+1) sqrt(n+1) (2 sqrt(n) - 1) <=
d(n+1) g(n); the last step is sqrt(n+1) - sqrt(n) <= sqrt((n+1)/n).

*det of plateaus, a <= 1/2: from n = 9L on.* Let d_m be d on the m-th plateau. Inside a plateau a
step that does not rise is followed by another, since D grows by d and g by more than 1. On
entering plateau m + 1, at n = mL - 1, the first part gives D(n) = L (d_1 + ... + d_m) <=
L d_{m+1} sqrt(m+1) (2 sqrt(m) - 1), and g(n) >= 2n = 2 (mL - 1); so it is enough that
sqrt(m+1) (2 sqrt(m) - 1) <= 2 (m - 1/L), which holds for m >= 9 and every L >= 1.

*Ddet, even n and odd n apart, 0 < a < 1/2: from the z on at which one inequality holds.* Where
E(n) > 0, Ddet(n+2) <= Ddet(n) if n eps(n) >= E(n), for eps(n) = E(n+2) - E(n) = 2 d(h+1) - d(n+1) -
d(n+2), h = floor(n/2), because sqrt(1 + 2/n) - 1 <= 1/n. With z = n + 1, the bracket of m(j) and
(1+u)^-a >= 1 - au give

    eps(n) / 2 >= (L/z)^a [2^a - 1 - 2^a a (1+2L)/z] - (L/z)^b [2^b - 1 + b (1+L)/z].

Sums are integrals up to 1 + L: |S(n) - L G(n/L)| <= 1 + L for n >= L, G(x) = x^(1-theta) /
(1-theta) + zeta(theta). So, with c_theta = L^theta (2^theta - 1) / (1-theta),

    E(n) <= c_a n^(1-a) - c_b n^(1-b) + W,   W = L (zeta(a) - zeta(b)) + 6 (1+L) + 1,

with the last 1 for odd n. If b >= 1, or a = 0 (the leading theta is then b, and E is taken with the
other sign), the other model's half-difference is only known to be at least -1, and its c and zeta
are dropped. Divided by z^(1-a), the inequality n eps(n) >= E(n) follows from

    2 L^a (2^a - 1) - c_a  >=  max(0, 2 L^b (2^b - 1) - c_b) z^(a-b) + 2 L^b b (1+L) z^(a-b-1)
                               + 2 L^a (2^a - 1 + 2^a a (1+2L)) / z + (c_b + max(0, W)) z^(a-1),

whose right side falls as z grows: where it holds once, it holds for ever. The same is true of
eps(n) > 0. Then E grows for ever, and once it is positive Ddet never rises again. A shift of the
statistic by a constant c, as at odd n, requires n eps(n) >= E(n) + 2|c|: 2|c| more in W.

*a > 1/2:* D and E are at most of order n^(1-a), so det and Ddet grow without bound and there is no
such N. The same holds for exp(-theta (n-1)), whose sums are bounded. At a = 1/2, det tends to a
limit from above; no claim is made about Ddet.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from rotting.models import Exponential, Model, Plateau, Polynomial
from rotting.theory import _far
from rotting.theory._balance import first_true


def decreasing_from(
    first: Model, second: Model, rule: str = "sum", constant: float = 0.0
) -> float | None:
    """The n from which the separation of two models (det or Ddet) is proved to decrease for ever.

    Args:
        first: A model with its theta.
        second: Another theta of the same shape.
        rule: "sum" for det, "difference" for Ddet.
        constant: A constant that shifts the difference at odd n.

    Returns:
        A number of pulls; infinite if a proof says that the separation stays above some level,
        None if nothing is proved.

    >>> from rotting import models
    >>> decreasing_from(models.Polynomial(0.1), models.Polynomial(0.4))
    2
    """
    pair = _ordered(first, second)
    if pair is None:
        return None
    low, high, length = pair
    if isinstance(first, Exponential):
        return math.inf if low > 0 else None
    if rule == "sum":
        if low > 0.5:
            return math.inf
        return 9 * length if isinstance(first, Plateau) else 2
    lead, other = (low, high) if low > 0 else (high, None)
    if lead > 0.5:
        return math.inf
    if lead == 0.5 or high > _STEEP:
        return None
    start = _halves_from(lead, other, length, abs(constant))
    if math.isinf(start):
        return None

    def positive(n: int) -> bool:
        sign = 1 if (_theta(first) < _theta(second)) == (low > 0) else -1
        gaps = (_far.gap(first, second, m, "difference") for m in (n, n + 1))
        return all(gap > 0 if sign > 0 else gap < 0 for gap in gaps)

    return first_true(positive, start=int(start))


_STEEP = 30.0  # thetas beyond this overflow the inequality; such models vanish after one pull


def _theta(model: Any) -> float:
    return float(model.theta)


def _ordered(first: Any, second: Any) -> tuple[float, float, int] | None:
    """The smaller theta, the larger, and the plateaus' length; None if the kinds differ."""
    for kind in (Polynomial, Plateau, Exponential):
        if isinstance(first, kind) and isinstance(second, kind):
            lengths = getattr(first, "length", 1), getattr(second, "length", 1)
            if lengths[0] != lengths[1] or first.theta == second.theta:
                return None
            low, high = sorted((_theta(first), _theta(second)))
            return low, high, lengths[0]
    return None


def _halves_from(a: float, b: float | None, length: int, constant: float) -> float:
    """The z of the module's docstring, at least 2L + 3."""
    size = float(length)

    def lead(theta: float) -> float:
        return float(size**theta * (2.0**theta - 1.0))

    known_sum = b is not None and b < 1.0
    rest = size * float(_far.zeta(Decimal(a))) + 3.0 * (1.0 + size) + 1.0 + 2.0 * constant
    c_a, c_b = lead(a) / (1.0 - a), 0.0
    if b is not None and known_sum:
        c_b = lead(b) / (1.0 - b)
        rest += 3.0 * (1.0 + size) - size * float(_far.zeta(Decimal(b)))

    def holds(n: int) -> bool:
        z = float(n)
        steps = (lead(a) + (2.0 * size) ** a * a * (1.0 + 2.0 * size)) / z
        against = 2.0 * steps + (c_b + max(0.0, rest)) * z ** (a - 1.0)
        slope = 0.0
        if b is not None:
            edge = size**b * b * (1.0 + size) / z
            against += z ** (a - b) * (max(0.0, 2.0 * lead(b) - c_b) + 2.0 * edge)
            slope = z ** (a - b) * (lead(b) + edge)
        return bool(2.0 * lead(a) - c_a >= against and lead(a) > slope + steps)

    return first_true(holds, start=2 * length + 3)
