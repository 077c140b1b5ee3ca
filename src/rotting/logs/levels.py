"""What a log says of means without a model: they fall with exposure, and by how much they scatter.

The decreasing curve that fits best (isotonic regression) hugs the last rewards: one zero at the
end, and its last level is zero. So the last N^(2/3) of an arm's N rewards count as one place. Means
only fall, so that can put the last level too high, not too low.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rotting.arrays import FloatArray


class Cells(NamedTuple):
    """Rewards by [arm, exposure - 1]."""

    count: FloatArray
    total: FloatArray
    squares: FloatArray

    @property
    def means(self) -> FloatArray:
        """The mean of each cell; NaN where it is empty."""
        with np.errstate(invalid="ignore"):
            found: FloatArray = self.total / self.count
        return found


def cells_of(
    cell: np.ndarray[tuple[int], np.dtype[np.int64]],
    reward: FloatArray,
    shape: tuple[int, int],
    weight: FloatArray | None = None,
) -> Cells:
    """Known rewards by their cell, arm * exposures + exposure - 1, perhaps with weights."""
    size = shape[0] * shape[1]
    each = np.ones(reward.size) if weight is None else weight
    sums = (np.bincount(cell, each * x, size) for x in (1.0, reward, reward * reward))
    return Cells(*(found.reshape(shape) for found in sums))


def levels_of(cells: Cells) -> tuple[FloatArray, float]:
    """Each arm's decreasing curve [arm, exposure - 1], and how many levels all of them have.

    Between exposures with rewards the level before is carried on. An arm without any rewards has
    the curve of all arms together.

    >>> cells = cells_of(np.array([0, 1, 2]), np.array([1.0, 0.2, 0.4]), (1, 3))
    >>> levels_of(cells)[0].round(2).tolist()
    [[1.0, 0.3, 0.3]]
    """
    everybody = Cells(*(x.sum(axis=0, keepdims=True) for x in cells))
    together, _ = _levels(everybody.count[0], everybody.total[0])
    found = np.empty(cells.count.shape)
    levels = 0.0
    for arm, (count, total) in enumerate(zip(cells.count, cells.total, strict=True)):
        if count.any():
            found[arm], steps = _levels(count, total)
            levels += steps
        else:
            found[arm] = together
    return found, levels


def _levels(count: FloatArray, total: FloatArray) -> tuple[FloatArray, int]:
    from scipy.optimize import isotonic_regression

    places = np.flatnonzero(count)
    left = np.cumsum(count[places][::-1])  # from each place to the end, last place first
    together = int(np.searchsorted(left, float(left[-1]) ** (2.0 / 3.0) - 1e-9)) + 1
    starts = np.arange(max(1, places.size - together + 1))
    weights = np.add.reduceat(count[places], starts)
    means = np.add.reduceat(total[places], starts) / weights
    fitted = isotonic_regression(means, weights=weights, increasing=False).x
    # the place whose level each exposure has: the last at or before it, or the first of all
    which = np.searchsorted(places[starts], np.arange(count.size), side="right") - 1
    levels: FloatArray = fitted[np.maximum(which, 0)]
    return levels, 1 + int(np.count_nonzero(np.diff(fitted)))


def scatter(cells: Cells, curve: FloatArray, levels: float) -> float:
    """The standard deviation of rewards around the levels of their arms."""
    residual = cells.squares - 2.0 * curve * cells.total + cells.count * curve * curve
    free = max(1.0, float(cells.count.sum()) - levels)
    return float(np.sqrt(max(0.0, float(residual.sum())) / free))
