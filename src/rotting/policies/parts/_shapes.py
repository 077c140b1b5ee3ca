"""Fatigue curves that arms may have, as shapes over cells of exposures: 1 in the first cell.

A shape is what is left of an arm's first mean: all of it (flat), a part of it from some cell on
(one step), or less and less (gradual: powers of the exposure, and exponentials to a floor). A
policy weighs them by evidence; curves that are none of these have a kind of their own
(`parts.curves`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray

FLAT, STEP, GRADUAL, FREE = 0, 1, 2, 3  # kinds of curves
_LEFT = (0.08, 0.2, 0.35, 0.5, 0.65, 0.8)  # what a step leaves
_THETAS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)  # n^-theta
_RATES = (0.02, 0.04, 0.08, 0.15, 0.3, 0.6)  # floor + (1 - floor) exp(-rate (n - 1)),
_FLOORS = (0.0, 0.2, 0.4, 0.6)  # the floor
_LEAST = 1e-3  # no shape is lower: an arm that was paid once is not worth nothing
_BEYOND = 1.6  # how far the last cell is thought to reach, in ends of the one before


def library(ends: Sequence[int]) -> tuple[FloatArray, IntArray]:
    """Shapes [shape, cell] and their kinds; `ends` are the last exposures of all cells but one.

    >>> shapes, kinds = library((1, 2, 4))
    >>> shapes[0].tolist(), kinds[:3].tolist()
    ([1.0, 1.0, 1.0, 1.0], [0, 1, 1])
    """
    cells = len(ends) + 1
    shapes, kinds = [np.ones(cells)], [FLAT]
    for cell in range(1, cells):
        for left in _LEFT:
            shapes.append(np.where(np.arange(cells) < cell, 1.0, left))
            kinds.append(STEP)
    first = [1, *(end + 1 for end in ends)]
    last = [*ends, max(int(_BEYOND * ends[-1]), ends[-1] + 1)]
    spans = [np.arange(low, high + 1.0) for low, high in zip(first, last, strict=True)]

    def add(curve: Callable[[FloatArray], FloatArray]) -> None:
        shapes.append(np.array([curve(span).mean() for span in spans]))
        kinds.append(GRADUAL)

    for theta in _THETAS:
        add(lambda n, theta=theta: n**-theta)  # type: ignore[misc]
    for rate in _RATES:
        for floor in _FLOORS:
            add(lambda n, r=rate, f=floor: f + (1 - f) * np.exp(-r * (n - 1)))  # type: ignore[misc]
    return np.maximum(np.array(shapes), _LEAST), np.array(kinds, dtype=np.int64)
