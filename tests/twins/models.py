"""Twins of the models that the paper names.

Powers are rounded once, from fifty digits, theta being the decimal number that it is written as: so
means that are equal are equal floats.
"""

from decimal import Context, Decimal
from functools import cache

DIGITS = Context(prec=60)


@cache
def polynomial(n: int, theta: float) -> float:
    """Return n^(-theta), the rotting model of Example 4.1."""
    exact = DIGITS.power(Decimal(n), DIGITS.minus(Decimal(repr(theta))))
    return float(exact.normalize(Context(prec=50)))


def plateau(n: int, theta: float, length: int) -> float:
    """Return (int(n / length) + 1)^(-theta), the rotting model of section Simulations."""
    return polynomial(n // length + 1, theta)
