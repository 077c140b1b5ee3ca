"""Twins of the models that the paper names."""

import math


def polynomial(n: int, theta: float) -> float:
    """Return n^(-theta), the rotting model of Example 4.1."""
    return math.pow(n, -theta)


def plateau(n: int, theta: float, length: int) -> float:
    """Return (int(n / length) + 1)^(-theta), the rotting model of section Simulations."""
    return math.pow(n // length + 1, -theta)
