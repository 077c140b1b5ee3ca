"""m^-theta and theta k, rounded such that values equal in exact arithmetic are equal as floats.

81^-0.15 and 27^-0.2 are both 3^-0.6; computed directly they differ in the last place, and rounding
would break a tie between arms. So m is written as base^e with the largest possible e, and
base^-(e theta) is computed, with e theta taken from the decimal number that theta is written as:
two powers with different m are equal only if their bases are equal, and their e theta.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rotting.kernel.arrays import FloatArray, IntArray

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61)  # up to 2^63
_FINEST = 8 * 2.0**-52  # a smaller relative step from m to m + 1 is lost to rounding
_WHOLE = 2**53  # whole numbers up to here are floats


def powers(m: npt.NDArray[Any], theta: float) -> FloatArray:
    """m^-theta for whole numbers m >= 1.

    >>> bool(powers(np.array(81), 0.15) == powers(np.array(27), 0.2))
    True
    >>> 81 ** -0.15 == 27 ** -0.2
    False
    """
    whole = np.asarray(m, dtype=np.int64)
    if whole.size == 0:
        return np.zeros(whole.shape)
    low, high = int(whole.min()), int(whole.max())
    if high - low < 2 * whole.size:  # consecutive numbers, or nearly: compute each once
        return _run(low, high, theta)[whole - low]
    flat = whole.ravel()
    found = flat.astype(np.float64) ** -theta
    _mend(found, _grouped(np.arange(flat.size), flat), theta)
    return found.reshape(whole.shape)


def multiples(theta: float, k: npt.NDArray[Any]) -> FloatArray:
    """theta k for whole numbers k >= 0, rounded once; the float product if theta has many digits.

    >>> float(multiples(0.1, np.array(3))), 0.1 * 3
    (0.3, 0.30000000000000004)
    """
    whole = np.asarray(k, dtype=np.int64)
    fraction = _as_written(theta)
    product = np.asarray(theta * whole.astype(np.float64))
    if max(fraction.denominator, fraction.numerator) > _WHOLE:
        return product
    exact = whole <= _WHOLE // max(1, fraction.numerator)
    rounded = (np.where(exact, whole, 0) * fraction.numerator) / fraction.denominator
    return np.asarray(np.where(exact, rounded, product))


@functools.lru_cache(maxsize=64)
def _as_written(theta: float) -> Fraction:
    return Fraction(repr(float(theta)))


def _run(low: int, high: int, theta: float) -> FloatArray:
    """m^-theta for m = low, ..., high."""
    found: FloatArray = np.arange(low, high + 1, dtype=np.float64) ** -theta
    _mend(found, _perfect_powers(low, high), theta)
    return found


class _Power(NamedTuple):
    """Numbers that are the same power of a smaller one, and their places in the array."""

    exponent: int
    values: IntArray
    bases: FloatArray
    places: IntArray


def _mend(found: FloatArray, grouped: list[_Power], theta: float) -> None:
    """Replace the values at base^e, e > 1, by base^-(e theta).

    Skipped where neighbours differ in their last places only, if at all: rounding must not make a
    model rise from one to the next.
    """
    fraction = _as_written(theta)
    for power in grouped:
        mended = power.bases ** -float(power.exponent * fraction)
        apart = theta >= _FINEST * power.values
        found[power.places[apart]] = mended[apart]


@functools.lru_cache(maxsize=64)
def _perfect_powers(low: int, high: int) -> list[_Power]:
    """The numbers from low to high, except 1, that are a power of a smaller one."""
    found = [np.zeros(0, dtype=np.int64)]
    for p in _PRIMES:
        if 1 << p > high:
            break
        # floating-point roots are off by one at most
        first, last = max(2, int(low ** (1 / p)) - 1), int(high ** (1 / p)) + 1
        bases = np.arange(first, last + 1, dtype=np.int64)
        values = bases**p
        found.append(values[(values >= low) & (values <= high)])
    values = np.unique(np.concatenate(found))
    return _grouped(values - low, values)


def _grouped(places: IntArray, values: IntArray) -> list[_Power]:
    """The values that are powers of smaller numbers, grouped by exponent."""
    if values.size == 0:
        return []
    base, exponent = _roots(values)
    return [
        _Power(e, values[here], base[here].astype(np.float64), places[here])
        for e in np.unique(exponent[exponent > 1]).tolist()
        for here in [exponent == e]
    ]


def _roots(values: IntArray) -> tuple[IntArray, IntArray]:
    """Each value as base^e with the largest possible e."""
    base, exponent = values.copy(), np.ones_like(values)
    most = int(values.max())
    for p in _PRIMES:
        if 1 << p > most:
            break
        while True:
            root = np.rint(base.astype(np.float64) ** (1.0 / p)).astype(np.int64)
            hit = (root > 1) & (root**p == base)
            if not hit.any():
                break
            base[hit] = root[hit]
            exponent[hit] *= p
    return base, exponent
