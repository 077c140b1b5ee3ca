"""The point from which separations provably decrease: the proof's inequality by itself."""

from __future__ import annotations

import math

import pytest

from rotting import models
from rotting.theory import _far
from rotting.theory._decrease import _halves_from, decreasing_from


def zeta(s: float, terms: int = 2000) -> float:
    """Riemann's, for 0 < s < 1, by Euler and Maclaurin."""
    total = math.fsum(n**-s for n in range(1, terms + 1))
    n = float(terms)
    return float(total - n ** (1 - s) / (1 - s) - n**-s / 2 + s * n ** (-s - 1) / 12)


def holds(z: float, a: float, b: float | None, L: int, constant: float) -> bool:
    """The inequality as the module's docstring has it, and that eps(n) is positive."""
    c_a = L**a * (2**a - 1) / (1 - a)
    c_b, W = 0.0, L * zeta(a) + 3 * (1 + L) + 1 + 2 * constant
    if b is not None and b < 1:
        c_b = L**b * (2**b - 1) / (1 - b)
        W += 3 * (1 + L) - L * zeta(b)
    right = 2 * L**a * (2**a - 1 + 2**a * a * (1 + 2 * L)) / z + (c_b + max(0, W)) * z ** (a - 1)
    other = 0.0
    if b is not None:
        right += max(0.0, 2 * L**b * (2**b - 1) - c_b) * z ** (a - b)
        right += 2 * L**b * b * (1 + L) * z ** (a - b - 1)
        other = (L / z) ** b * (2**b - 1 + b * (1 + L) / z)
    rises = (L / z) ** a * (2**a - 1 - 2**a * a * (1 + 2 * L) / z) > other
    return bool(rises and 2 * L**a * (2**a - 1) - c_a >= right)


@pytest.mark.parametrize(
    ("a", "b", "L", "constant"),
    [
        (0.1, 0.4, 1, 0.0),
        (0.1, 0.4, 100, 0.0),
        (0.3, 0.35, 7, 2.5),
        (0.2, 0.95, 3, 0.0),
        (0.2, 1.5, 3, 1.0),
        (0.45, None, 1, 0.0),
        (0.05, 0.9, 20, 0.0),
    ],
)
def test_the_proofs_inequality_holds_from_there_on(
    a: float, b: float | None, L: int, constant: float
) -> None:
    """And not much earlier: the proof needs no far larger start."""
    start = _halves_from(a, b, L, constant)
    assert isinstance(start, int)
    assert start >= 2 * L + 3
    for factor in (1.0, 1.01, 3.0, 1e3, 1e6):
        assert holds(start * factor, a, b, L, constant)
    if start > 2 * L + 3:
        assert not holds(start * (1 - 1e-6) - 1, a, b, L, constant)


def test_which_pairs_have_a_proof() -> None:
    poly, plateau, fading = models.Polynomial, models.Plateau, models.Exponential
    for rule in ("sum", "difference"):
        assert decreasing_from(poly(0.1), poly(0.1), rule) is None
        assert decreasing_from(poly(0.1), plateau(0.4, length=5), rule) is None
        assert decreasing_from(plateau(0.1, length=4), plateau(0.4, length=5), rule) is None
        assert decreasing_from(models.Constant(0.1), models.Constant(0.2), rule) is None
        assert decreasing_from(fading(0.1), fading(0.2), rule) == math.inf
        assert decreasing_from(fading(0.0), fading(0.2), rule) is None
        assert decreasing_from(poly(0.6), poly(0.7), rule) == math.inf
    assert decreasing_from(poly(0.4), poly(0.1)) == 2
    plain, shifted = (decreasing_from(poly(0.1), poly(0.4), "difference", c) for c in (0.0, 50.0))
    assert plain == decreasing_from(poly(0.1), poly(0.4), "difference")
    assert plain is not None
    assert shifted is not None
    assert plain < shifted == decreasing_from(poly(0.1), poly(0.4), "difference", -50.0)
    assert decreasing_from(poly(0.5), poly(0.9)) == 2
    assert decreasing_from(plateau(0.1, length=5), plateau(0.4, length=5)) == 45
    assert decreasing_from(poly(0.5), poly(0.9), "difference") is None
    assert decreasing_from(poly(0.1), poly(31.0), "difference") is None
    assert decreasing_from(poly(0.0), poly(0.7), "difference") == math.inf


@pytest.mark.parametrize("thetas", [(0.1, 0.4), (0.4, 0.1), (0.0, 0.3), (0.3, 0.0)])
def test_the_half_differences_have_their_sign_from_there_on(thetas: tuple[float, float]) -> None:
    """Of the larger theta where the other is zero, for a constant's halves vanish."""
    first, second = (models.Polynomial(theta) for theta in thetas)
    start = decreasing_from(first, second, "difference")
    assert start is not None
    assert start >= 5
    for n in (int(start), int(start) + 1, 2 * int(start), 10 * int(start)):
        gap = _far.gap(first, second, n, "difference")
        lower = (thetas[0] < thetas[1]) == (min(thetas) > 0)
        assert (gap > 0) == lower
        later = _far.gap(first, second, n + 2, "difference")
        assert n / gap**2 >= (n + 2) / later**2  # Ddet does not rise
