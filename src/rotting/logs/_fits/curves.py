"""Curves of all arms from sums over cells: one shape for all, or each its own with help of others.

An arm's own shape is the likeliest by its own rewards and, with a weight `borrow` from 0 to 1, by
those of the others (a power prior, Ibrahim and Chen 2000): 0 is each for itself, 1 is one shape for
all. Held-out keys say how much to borrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.logs._fits.likelihood import Cells, information, profile, shrink
from rotting.logs._fits.shapes import (
    LOWEST,
    Shape,
    around,
    first_grid,
    from_line,
    shape_tables,
    to_line,
)

_TURNS = 12  # levels and a table's values are found in turns
_ZOOMS = 4  # grids, each finer than the one before


@dataclass(frozen=True, eq=False)
class Curves:
    """An amplitude and a shape for each arm; `own`: how much of the amplitude is the arm's own."""

    amplitudes: FloatArray
    shapes: tuple[Shape, ...]
    own: FloatArray

    def means(self, n: Any) -> FloatArray:
        """The curves at these exposures, [arm, exposure]."""
        return self.amplitudes[:, None] * self.left(n)

    def left(self, n: Any) -> FloatArray:
        """The shapes at these exposures, [arm, exposure]."""
        tables = {shape: shape.at(n) for shape in set(self.shapes)}
        return np.stack([tables[shape] for shape in self.shapes])


@dataclass(frozen=True, eq=False)
class Grid:
    """The log-likelihood of each arm with each shape of a grid."""

    kind: str
    numbers: FloatArray
    apart: FloatArray
    values: FloatArray  # [arm, shape]
    sizes: tuple[int, ...]  # of the grid; its free numbers come first

    def best(self, borrow: float, arm: int) -> Shape:
        """The likeliest shape of an arm that borrows so much from the others.

        A parabola through its neighbours says where between the points it is.
        """
        own = self.values[arm]
        value = own + borrow * (self.values.sum(axis=0) - own)
        place = int(np.argmax(value))
        numbers = self.numbers[place]
        if self.apart.size:
            step = _parabola(value.reshape(self.sizes), place, len(self.apart))
            line = to_line(self.kind, numbers) + step * self.apart
            numbers = from_line(self.kind, line, numbers)
        return Shape(self.kind, _numbers(numbers))


def grid_of(kind: str, cells: Cells, nodes: IntArray) -> Grid:
    """All shapes of the first grid, for each arm."""
    numbers, apart = first_grid(kind, nodes)
    tables = shape_tables(kind, numbers, nodes)
    values = np.stack([profile(cells, arm, tables)[1] for arm in range(cells.arms)])
    sizes = tuple(len(np.unique(column)) for column in numbers.T)
    return Grid(kind, numbers, apart, values, sizes)


def _parabola(value: FloatArray, place: int, free: int) -> FloatArray:
    """How far the highest point is from the highest value, in steps of a grid, at most 0.6."""
    at = np.array(np.unravel_index(place, value.shape))
    if any(not 0 < at[k] < value.shape[k] - 1 for k in range(free)):
        return np.zeros(free)

    def near(*moves: tuple[int, int]) -> float:
        where = at.copy()
        for axis, move in moves:
            where[axis] += move
        return float(value[tuple(where)])

    slope = np.array([0.5 * (near((k, 1)) - near((k, -1))) for k in range(free)])
    bend = np.zeros((free, free))
    for k in range(free):
        bend[k, k] = near((k, 1)) - 2.0 * near() + near((k, -1))
        for j in range(k):
            up = near((k, 1), (j, 1)) + near((k, -1), (j, -1))
            bend[j, k] = bend[k, j] = 0.25 * (up - near((k, 1), (j, -1)) - near((k, -1), (j, 1)))
    if np.linalg.eigvalsh(bend).max() >= -1e-12:
        return np.zeros(free)
    return np.clip(-np.linalg.solve(bend, slope), -0.6, 0.6)


def by_grid(grid: Grid, borrow: float, cells: Cells, nodes: IntArray) -> Curves:
    """Curves with shapes of the grid, and between its points; quick, and nearly the likeliest."""
    arms = range(cells.arms) if borrow < 1.0 else range(1)
    shapes = [grid.best(borrow, arm) for arm in arms]
    return with_amplitudes(cells, nodes, shapes if borrow < 1.0 else shapes * cells.arms)


def refined(
    curves: Curves, apart: FloatArray, borrow: float, cells: Cells, nodes: IntArray
) -> Curves:
    """The same with shapes between the points of the grid."""
    if not apart.size:
        return with_amplitudes(cells, nodes, curves.shapes)
    if borrow == 1.0:
        one = _zoom(curves.shapes[0], apart, np.ones(cells.arms), cells, nodes)
        return with_amplitudes(cells, nodes, [one] * cells.arms)
    shapes = []
    for arm, shape in enumerate(curves.shapes):
        parts = np.full(cells.arms, borrow)
        parts[arm] = 1.0
        shapes.append(_zoom(shape, apart, parts, cells, nodes))
    return with_amplitudes(cells, nodes, shapes)


def _zoom(
    shape: Shape, apart: FloatArray, parts: FloatArray, cells: Cells, nodes: IntArray
) -> Shape:
    """The likeliest numbers near these, arms counting by their parts."""
    best = np.array(shape.numbers)
    for _ in range(_ZOOMS):
        numbers, apart = around(shape.kind, best, apart)
        tables = shape_tables(shape.kind, numbers, nodes)
        counted = np.flatnonzero(parts > 0.0)
        value = sum(parts[arm] * profile(cells, int(arm), tables)[1] for arm in counted)
        best = numbers[int(np.argmax(value))]
    return Shape(shape.kind, _numbers(best))


def _numbers(numbers: FloatArray) -> tuple[float, ...]:
    return tuple(float(number) for number in numbers)


def with_amplitudes(
    cells: Cells, nodes: IntArray, shapes: list[Shape] | tuple[Shape, ...]
) -> Curves:
    """The amplitudes that go with shapes, drawn towards each other as far as arms are alike."""
    curves = Curves(np.ones(cells.arms), tuple(shapes), np.ones(cells.arms))
    left = curves.left(nodes)
    found = np.array([profile(cells, arm, left[arm : arm + 1])[0][0] for arm in range(cells.arms)])
    seen = ~np.isnan(found)
    counts = cells.count.sum(axis=(1, 2))
    level = max(float(found[seen] @ counts[seen] / counts[seen].sum()), cells.least())
    amplitudes, own = shrink(found, information(cells, left, level), cells.least())
    return Curves(amplitudes, tuple(shapes), own)


def table_curves(cells: Cells, nodes: IntArray, firsts: IntArray, borrow: float) -> Curves:
    """Tables that never rise: isotonic regression on what is left of each arm's level."""
    level = cells.total.sum((1, 2)) / np.maximum(cells.count.sum((1, 2)), 1e-300)
    level = np.maximum(level, 1e-3 * cells.overall)
    pooled = np.ones(len(nodes))
    for _ in range(_TURNS):
        seen, weight = _left(cells, level, pooled)
        pooled = _falling(seen.sum(axis=0), weight.sum(axis=0))
        level = level * pooled[0]
        pooled = pooled / pooled[0]
        seen, weight = _left(cells, level, pooled)
        arms = weight @ pooled**2
        ratio = np.where(arms > 0.0, (seen @ pooled) / np.maximum(arms, 1e-300), 1.0)
        level = level * np.clip(ratio, 0.2, 5.0)
    if borrow == 1.0:
        return with_amplitudes(cells, nodes, [_table(pooled, firsts)] * cells.arms)
    seen, weight = _left(cells, level, pooled)
    shapes = []
    for arm in range(cells.arms):
        value = seen[arm] + borrow * (seen.sum(axis=0) - seen[arm])
        mass = weight[arm] + borrow * (weight.sum(axis=0) - weight[arm])
        enough = mass.sum() > 1e-9 * weight.sum()
        shapes.append(_table(_falling(value, mass) if enough else pooled, firsts))
    return with_amplitudes(cells, nodes, shapes)


def _left(cells: Cells, level: FloatArray, shape: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What is seen to be left at each exposure, times its weight, and that: [arm, exposure]."""
    unit = level[:, None, None] * cells.unit
    if cells.sigma is not None:
        return (unit * cells.total).sum(axis=2), (unit**2 * cells.count).sum(axis=2)
    rate = np.clip(unit * shape[None, :, None], 1e-9, 0.999)
    per = unit / (rate * (1.0 - rate))
    return (per * cells.total).sum(axis=2), (per * unit * cells.count).sum(axis=2)


def _falling(seen: FloatArray, weight: FloatArray) -> FloatArray:
    """The nearest values that never rise; exposures without rows go with those before them."""
    from scipy.optimize import isotonic_regression

    known = weight > 0.0
    fitted = isotonic_regression(
        seen[known] / weight[known], weights=weight[known], increasing=False
    ).x
    before = np.maximum(np.cumsum(known) - 1, 0)
    found: FloatArray = np.maximum(fitted[before], 0.0)
    return found if found[0] > 0.0 else np.ones(len(seen))


def _table(values: FloatArray, firsts: IntArray) -> Shape:
    left = np.maximum(values / values[0], LOWEST)
    return Shape("table", _numbers(left), tuple(firsts.tolist()))


def curves_of_kind(
    kind: str, borrow: float, cells: Cells, nodes: IntArray, firsts: IntArray
) -> Curves:
    """Curves of one kind from the cells alone."""
    if kind == "table":
        return table_curves(cells, nodes, firsts, borrow)
    grid = grid_of(kind, cells, nodes)
    return refined(by_grid(grid, borrow, cells, nodes), grid.apart, borrow, cells, nodes)
