"""theta-hat: the model whose expected sum lies nearest to the sum of the rewards (Eqs. 7, 10).

Where the expected sums of all models are in one order, or its reverse, the distances fall towards
theta-hat and rise beyond it, so a walk from the last theta-hat finds it. Nearly always it has not
moved and the branches are predicted: counting the sums below the total, without branches, is
slower.
"""

from __future__ import annotations

from typing import Any

from rotting.kernel.compilable import on_gpu, shared

__all__ = [
    "nearest",
    "nearest_of_all",
]


@shared
def nearest(total: Any, sums: Any, row: Any, start: Any, ordered: Any) -> Any:
    """The first theta with |total - sums[row, theta]| smallest, by a walk from a start.

    Args:
        total: The sum of the rewards.
        sums: A table [row, theta] of expected sums.
        row: The row.
        start: The theta to begin with, nearly always the result.
        ordered: Rows below this one are in order; others are scanned.

    Returns:
        Its place in Theta.

    >>> import numpy as np
    >>> nearest(2.2, np.array([[1.0, 2.0, 3.0]]), 0, 0, 1)
    1
    """
    if row >= ordered:
        return nearest_of_all(total, sums, row)
    return _walk(total, sums, row, start)


@on_gpu(nearest)
def nearest_at_once(total: Any, sums: Any, row: Any, start: Any, ordered: Any) -> Any:
    """Reads both neighbours before it needs them, instead of one after the other."""
    if row >= ordered:
        return nearest_of_all(total, sums, row)
    distance = abs(total - sums[row, start])
    below = abs(total - sums[row, max(start - 1, 0)])
    above = abs(total - sums[row, min(start + 1, sums.shape[1] - 1)])
    if (below > distance or start == 0) and above >= distance:
        return start
    return _walk(total, sums, row, start)


@shared
def _walk(total: Any, sums: Any, row: Any, start: Any) -> Any:
    """Along an ordered row, as far as the sums come nearer."""
    closest = start
    distance = abs(total - sums[row, closest])
    while closest > 0 and abs(total - sums[row, closest - 1]) <= distance:
        closest -= 1
        distance = abs(total - sums[row, closest])
    while closest + 1 < sums.shape[1] and abs(total - sums[row, closest + 1]) < distance:
        closest += 1
        distance = abs(total - sums[row, closest])
    return closest


@shared
def nearest_of_all(total: Any, sums: Any, row: Any) -> Any:
    """The first theta with |total - sums[row, theta]| smallest, for sums in any order.

    Args:
        total: The sum of the rewards.
        sums: A table [row, theta] of expected sums.
        row: The row.

    Returns:
        Its place in Theta.
    """
    closest = 0
    distance = abs(total - sums[row, 0])
    for k in range(1, sums.shape[1]):
        y = abs(total - sums[row, k])
        if y < distance:
            distance = y
            closest = k
    return closest
