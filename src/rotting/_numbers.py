"""How numbers are written: one format for each kind of number, in tables and sentences.

A hyphen stands where there is no number: None, NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

NONE = "-"
_SMALLEST_P = 1e-5  # the paper's Table 1 writes smaller ones as "<1e-5"


def figure(value: float | None) -> str:
    """A number in four digits; whole numbers stay whole up to a billion.

    >>> figure(0.123456), figure(-20.0), figure(1234567.0), figure(1e-7), figure(None)
    ('0.1235', '-20', '1234567', '1e-07', '-')
    """
    if value is None or math.isnan(value):
        return NONE
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.4g}"


def figures(values: Sequence[float | None]) -> list[str]:
    """Numbers of a column, with as many decimals as the largest needs for four digits.

    >>> figures([12.3456, 0.5, None])
    ['12.35', '0.50', '-']
    """
    sizes = [abs(value) for value in values if value is not None and math.isfinite(value)]
    largest = max((size for size in sizes if size), default=1.0)
    if not 1e-4 <= largest < 1e9:
        return [figure(value) for value in values]
    decimals = max(0, 3 - math.floor(math.log10(largest)))
    return [
        NONE if value is None or math.isnan(value) else f"{value:.{decimals}f}" for value in values
    ]


def count(value: float | None) -> str:
    """A whole number with thousands set off; powers of ten beyond a trillion, "none" at infinity.

    >>> count(1234567), count(3.2e15), count(math.inf)
    ('1,234,567', '3.20e+15', 'none')
    """
    if value is None or math.isnan(value):
        return NONE
    if math.isinf(value):
        return "none"
    return f"{value:,.0f}" if abs(value) < 1e12 else f"{value:.2e}"


def percent(part: float | None, digits: int = 1) -> str:
    """A part of a whole as per cent; 100 only if it is all of it.

    >>> percent(0.253), percent(0.99999), percent(1.0), percent(0.253, 0)
    ('25.3 %', '99.9 %', '100 %', '25 %')
    """
    if part is None or math.isnan(part):
        return NONE
    if part == 1.0:
        return "100 %"
    below = 100.0 - 10.0**-digits
    shown = 100.0 * part
    return f"{min(below, shown) if part < 1.0 else shown:.{digits}f} %"


def p_value(value: float | None) -> str:
    """A p-value as the paper's Table 1 writes it.

    >>> p_value(3e-9), p_value(0.048), p_value(0.8123)
    ('<1e-5', '0.048', '0.81')
    """
    if value is None or math.isnan(value):
        return NONE
    if value < _SMALLEST_P:
        return "<1e-5"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def signed(value: float | None) -> str:
    """A difference in four digits, with its sign.

    >>> signed(0.01234), signed(-3.0)
    ('+0.01234', '-3')
    """
    if value is None or math.isnan(value):
        return NONE
    return figure(value) if value < 0.0 else f"+{figure(value)}"


def interval(ends: tuple[float, float] | None) -> str:
    """Both ends of an interval, with the same decimals.

    >>> interval((0.25, 12.5)), interval((math.nan, math.nan))
    ('0.25 to 12.50', '-')
    """
    if ends is None or any(math.isnan(end) for end in ends):
        return NONE
    return " to ".join(figures(ends))
