"""What a log says of means without a model: they fall with exposure, and by how much they scatter.

The decreasing curve that fits best (isotonic regression) hugs the last rewards: one zero at the
end, and its last level is zero. So the last N^(2/3) of an arm's N rewards count as one place.

That curve falls too far still: it takes chance for steps, and of a constant arm it makes stairs.
Where a curve must not be too low (as a bound) or too eager (as a world to draw logs from), steps
are joined that are no larger than chance makes them ("reduced", after Schell & Singh 1997): again
and again the least of them, while it is below 2.5 standard errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray

_SURE = 2.5  # standard errors; the best of many places to cut a constant arm reaches 2


class Cells(NamedTuple):
    """Rewards by [arm, exposure - 1]."""

    many: FloatArray
    total: FloatArray
    squares: FloatArray

    @property
    def means(self) -> FloatArray:
        """The mean of each cell; NaN where it is empty."""
        with np.errstate(invalid="ignore"):
            found: FloatArray = self.total / self.many
        return found


def cells_of(
    cell: IntArray,
    reward: FloatArray,
    shape: tuple[int, int],
    weight: FloatArray | None = None,
    binary: bool = False,
) -> Cells:
    """Known rewards by their cell, arm * exposures + exposure - 1, perhaps with weights.

    `binary` rewards are their own squares, which saves a third of the work.
    """
    each = np.ones(reward.size) if weight is None else weight
    parts = [each, each * reward]
    parts += [] if binary else [parts[1] * reward]
    size = shape[0] * shape[1]
    sums: list[FloatArray] = [
        np.bincount(cell, part, size).astype(np.float64, copy=False).reshape(shape)
        for part in parts
    ]
    return Cells(sums[0], sums[1], sums[-1])


class Levels(NamedTuple):
    """Decreasing curves [arm, exposure - 1]; an arm without rewards has that of all together."""

    best: FloatArray  # that fits best
    sure: FloatArray  # with sure steps alone
    sigma: float  # the scatter of rewards around the first


def levels_of(cells: Cells) -> Levels:
    """Each arm's curves. Between exposures with rewards the level before is carried on.

    >>> rewards = np.array([1.0, 0.9, 0.2, 0.4, 0.3, 0.0, 0.5, 0.0])
    >>> levels_of(cells_of(np.arange(8), rewards, (1, 8))).best.round(2).tolist()
    [[1.0, 0.9, 0.3, 0.3, 0.2, 0.2, 0.2, 0.2]]
    """
    everybody = Cells(*(x.sum(axis=0, keepdims=True) for x in cells))
    seen: list[bool] = np.any(cells.many > 0.0, axis=1).tolist()
    fits = [
        _Steps(many, total) if any_seen else _Steps(everybody.many[0], everybody.total[0])
        for many, total, any_seen in zip(cells.many, cells.total, seen, strict=True)
    ]
    best = np.array([fit.curve() for fit in fits])
    steps = sum(int(fit.levels.size) for fit, any_seen in zip(fits, seen, strict=True) if any_seen)
    sigma = _scatter(cells, best, steps)
    for fit in fits:
        fit.reduce(sigma)
    return Levels(best, np.array([fit.curve() for fit in fits]), sigma)


class _Steps:
    """The decreasing curve of one arm as steps: where each begins, its level and its weight."""

    def __init__(self, many: FloatArray, total: FloatArray) -> None:
        from scipy.optimize import isotonic_regression

        self._size = many.size
        places = np.flatnonzero(many)
        left = np.cumsum(many[places][::-1])  # from each place to the end, last place first
        together = int(np.searchsorted(left, float(left[-1]) ** (2.0 / 3.0) - 1e-9)) + 1
        starts = np.arange(max(1, places.size - together + 1))
        weights = np.add.reduceat(many[places], starts)
        means = np.add.reduceat(total[places], starts) / weights
        fitted = isotonic_regression(means, weights=weights, increasing=False)
        first = fitted.blocks[:-1]
        self.begin = places[starts[first]]
        self.levels: FloatArray = fitted.x[first]
        self.weights: FloatArray = np.add.reduceat(weights, first)

    def reduce(self, sigma: float) -> None:
        """Join steps that chance may have made."""
        begin, levels, weights = (list(x) for x in (self.begin, self.levels, self.weights))
        while len(levels) > 1:
            drops = -np.diff(levels) / np.sqrt(
                1.0 / np.array(weights[:-1]) + 1.0 / np.array(weights[1:])
            )
            i = int(np.argmin(drops))
            if drops[i] >= _SURE * sigma:
                break
            weight = weights[i] + weights[i + 1]
            levels[i] = (weights[i] * levels[i] + weights[i + 1] * levels[i + 1]) / weight
            weights[i] = weight
            del begin[i + 1], levels[i + 1], weights[i + 1]
        self.begin, self.levels = np.array(begin), np.array(levels)
        self.weights = np.array(weights)

    def curve(self) -> FloatArray:
        """The level of every exposure."""
        which = np.searchsorted(self.begin, np.arange(self._size), side="right") - 1
        found: FloatArray = self.levels[np.maximum(which, 0)]
        return found


def _scatter(cells: Cells, curve: FloatArray, steps: int) -> float:
    """The standard deviation of rewards around the levels of their arms."""
    residual = cells.squares - 2.0 * curve * cells.total + cells.many * curve * curve
    free = max(1.0, float(cells.many.sum()) - steps)
    return float(np.sqrt(max(0.0, float(residual.sum())) / free))
