"""Mean rewards by exposure without a parametric model: isotonic regression, and the noise.

The best decreasing curve (isotonic regression) overfits the last rewards: with one zero at the end
its last level is zero. So the last N^(2/3) of an arm's N rewards count as one place.

That curve still falls too far: noise becomes steps, even on a constant arm. Where a curve is a
lower bound, or the truth of simulated logs, the smallest step is removed again and again while it
is below 2.5 standard errors (reduced isotonic regression, after Schell & Singh 1997).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray

_SURE = 2.5  # standard errors; on a constant arm the largest of many possible steps reaches 2


class Cells(NamedTuple):
    """Count, sum and sum of squares of the rewards, by [arm, exposure - 1]."""

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
    """Known rewards summed by cell, arm * exposures + exposure - 1, with weights if given.

    Binary rewards are their own squares, which saves a third of the work.
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
    """Decreasing curves [arm, exposure - 1]; an arm without rewards has the curve of all arms."""

    best: FloatArray  # isotonic regression
    sure: FloatArray  # without the steps that noise explains
    sigma: float  # standard deviation of rewards around `best`


def levels_of(cells: Cells) -> Levels:
    """Each arm's curves. An exposure without rewards has the level before it.

    >>> rewards = np.array([1.0, 0.9, 0.2, 0.4, 0.3, 0.0, 0.5, 0.0])
    >>> levels_of(cells_of(np.arange(8), rewards, (1, 8))).best.round(2).tolist()
    [[1.0, 0.9, 0.3, 0.3, 0.2, 0.2, 0.2, 0.2]]
    """
    all_arms = Cells(*(x.sum(axis=0, keepdims=True) for x in cells))
    seen: list[bool] = np.any(cells.many > 0.0, axis=1).tolist()
    fits = [
        _Steps(many, total) if any_seen else _Steps(all_arms.many[0], all_arms.total[0])
        for many, total, any_seen in zip(cells.many, cells.total, seen, strict=True)
    ]
    best = np.array([fit.curve() for fit in fits])
    steps = sum(int(fit.levels.size) for fit, any_seen in zip(fits, seen, strict=True) if any_seen)
    sigma = _scatter(cells, best, steps)
    for fit in fits:
        fit.reduce(sigma)
    return Levels(best, np.array([fit.curve() for fit in fits]), sigma)


class _Steps:
    """The decreasing curve of one arm as steps, each with its first place, level and weight."""

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
        """Join steps that noise explains."""
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
        which = np.searchsorted(self.begin, np.arange(self._size), side="right") - 1
        found: FloatArray = self.levels[np.maximum(which, 0)]
        return found


def _scatter(cells: Cells, curve: FloatArray, steps: int) -> float:
    """The standard deviation of rewards around the curves of their arms."""
    residual = cells.squares - 2.0 * curve * cells.total + cells.many * curve * curve
    free = max(1.0, float(cells.many.sum()) - steps)
    return float(np.sqrt(max(0.0, float(residual.sum())) / free))
