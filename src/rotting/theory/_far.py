"""The sums of n^-theta and of plateaus in 60-digit decimals, for any number of pulls.

Floats lose the difference of two sums to cancellation long before 10^15 pulls; these do not. The
Euler-Maclaurin formula with Bernoulli numbers up to B_16, from 100 terms on, leaves an error below
10^-30. Every operation goes through `DIGITS`: operators, even a minus sign, round to the precision
of the caller's context.
"""

from __future__ import annotations

import functools
import math
from decimal import Context, Decimal
from typing import Any, NamedTuple

from rotting.models import Plateau, Polynomial

DIGITS = Context(prec=60, Emax=10**9, Emin=-(10**9))
_EXACT = 100
_BERNOULLI = (  # B_2, B_4, ..., B_16, as fractions
    (1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510),
)  # fmt: skip


def known(model: Any) -> bool:
    """Whether the model's sums are available here."""
    return isinstance(model, (Polynomial, Plateau)) and model.theta is not None


class Mean(NamedTuple):
    """A mean in exact arithmetic: base^-theta."""

    base: int
    theta: Decimal

    def __float__(self) -> float:
        return float(_power(self.base, self.theta))

    def at_most(self, other: Mean) -> bool:
        """Whether this mean is at most another one, of any size.

        Compares theta ln(base), in enough digits to separate neighbours, theta ln(n) and theta ln(n
        + 1); what still agrees is equal.
        """
        sizes = len(str(self.base)) + len(str(other.base))
        ours, theirs = (
            float(one.theta) * math.log(one.base) for one in (self, other)
        )  # floats are enough where the two are far apart
        if abs(ours - theirs) > 1e-9 * (1.0 + abs(ours)):
            return ours > theirs
        digits = Context(prec=60 + sizes, Emax=10**9, Emin=-(10**9))
        logs = [digits.multiply(one.theta, digits.ln(one.base)) for one in (self, other)]
        allowed = digits.scaleb(Decimal(1), -(40 + sizes))
        return digits.subtract(logs[0], logs[1]) >= digits.minus(allowed)


def mean(model: Any, n: int) -> Mean:
    """mu(n), with theta taken as the decimal number that it is written as.

    So 2^-0.4 and 16^-0.1 are equal, which the nearest floats of these thetas would not give. The
    sums below use the nearest floats: no two sums have to be equal.
    """
    place = n if isinstance(model, Polynomial) else n // model.length + 1
    return Mean(place, Decimal(repr(float(model.theta))))


def cumulative(model: Any, n: int) -> Decimal:
    """The sum of mu(j) over j = 1..n."""
    theta = Decimal(model.theta)
    if isinstance(model, Polynomial):
        return harmonic(n, theta)
    q, r = divmod(n, model.length)
    whole = DIGITS.subtract(DIGITS.multiply(model.length, harmonic(q, theta)), 1)
    return DIGITS.fma(r + 1, _power(q + 1, theta), whole)


def statistic(model: Any, n: int, rule: str) -> Decimal:
    """The sum over n pulls, or the difference of their halves."""
    total = cumulative(model, n)
    if rule == "sum":
        return total
    return DIGITS.subtract(DIGITS.multiply(2, cumulative(model, n // 2)), total)


def gap(first: Any, second: Any, n: int, rule: str) -> Decimal:
    """The difference of the two models' statistics."""
    return DIGITS.subtract(statistic(first, n, rule), statistic(second, n, rule))


def harmonic(n: int, theta: Decimal) -> Decimal:
    """The sum of j^-theta over j = 1..n."""
    if n <= _EXACT:
        return _first(theta)[n]
    return DIGITS.add(zeta(theta), _euler_maclaurin(n, theta))


@functools.lru_cache(maxsize=64)
def zeta(theta: Decimal) -> Decimal:
    """Riemann's zeta(theta), theta > 0, as the constant of the Euler-Maclaurin formula.

    >>> round(float(zeta(Decimal("0.5"))), 12)
    -1.46035450881
    """
    return DIGITS.subtract(_first(theta)[_EXACT], _euler_maclaurin(_EXACT, theta))


@functools.lru_cache(maxsize=64)
def _first(theta: Decimal) -> tuple[Decimal, ...]:
    sums = [Decimal(0)]
    for j in range(1, _EXACT + 1):
        sums.append(DIGITS.add(sums[-1], _power(j, theta)))
    return tuple(sums)


def _euler_maclaurin(n: int, theta: Decimal) -> Decimal:
    """The sum of j^-theta up to n, up to a constant."""
    last = _power(n, theta)
    if theta == 1:
        total = DIGITS.ln(n)
    else:
        total = DIGITS.divide(DIGITS.multiply(n, last), DIGITS.subtract(1, theta))
    total = DIGITS.add(total, DIGITS.divide(last, 2))
    # the k-th derivative's factor theta (theta + 1) ... over (2k)! n^(2k - 1), term by term
    factor = DIGITS.divide(DIGITS.multiply(theta, last), 2 * n)
    for k, (above, below) in enumerate(_BERNOULLI, start=1):
        total = DIGITS.subtract(total, DIGITS.divide(DIGITS.multiply(factor, above), below))
        rising = DIGITS.multiply(DIGITS.add(theta, 2 * k - 1), DIGITS.add(theta, 2 * k))
        steps = DIGITS.multiply((2 * k + 1) * (2 * k + 2), DIGITS.multiply(n, n))
        factor = DIGITS.divide(DIGITS.multiply(factor, rising), steps)
    return total


def _power(base: int, theta: Decimal) -> Decimal:
    return DIGITS.power(Decimal(base), DIGITS.minus(theta))
