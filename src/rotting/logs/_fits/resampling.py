"""What else a fit might have been: keys are drawn anew, and each time the fit takes one step.

The step is Newton's, by each key's own part in the fit's score. That takes the place of a fit for
every resample, and counts what is not known of the keys' factors along with the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.logs._fits.curves import Curves
from rotting.logs._fits.factors import Factors
from rotting.logs._fits.likelihood import HIGHEST
from rotting.logs._fits.rows import Rows
from rotting.logs._fits.shapes import FLAT, LOWEST, PICKED, STEEPEST, Shape, shape_tables

_MOST_GROUPS, _FEWEST = 20_000, 2_000  # groups that are resampled; more are put together,
_NUMBERS = 20_000_000  # and so are fewer where they would need more numbers than this
_PRIOR = 0.1  # precision of numbers of which the log says nothing


@dataclass(frozen=True, eq=False)
class Draws:
    """Curves that might have been: amplitudes [draw, arm], shapes' numbers [draw, arm, number]."""

    kind: str
    amplitudes: FloatArray
    numbers: FloatArray
    firsts: tuple[int, ...]

    def left(self, arm: int, n: Any) -> FloatArray:
        """The shapes of an arm at these exposures, [draw, exposure]."""
        numbers = self.numbers[:, arm]
        if self.kind == "table":
            places = np.searchsorted(np.array(self.firsts), n, side="right") - 1
            found: FloatArray = numbers[:, np.maximum(places, 0)]
            return found
        return shape_tables(self.kind, numbers, n)

    def means(self, arm: int, n: Any) -> FloatArray:
        """The curves of an arm, [draw, exposure]."""
        return self.amplitudes[:, arm, None] * self.left(arm, n)

    def shape(self, draw: int, arm: int) -> Shape:
        """One of the shapes."""
        numbers = tuple(float(number) for number in self.numbers[draw, arm])
        return Shape(self.kind, numbers, self.firsts)


def resample(
    rows: Rows, factors: Factors, curves: Curves, borrow: float, resamples: int, seed: int
) -> Draws:
    """Curves for keys that are drawn anew, each with a Poisson weight."""
    kind = curves.shapes[0].kind
    free = _slopes(curves.shapes[0], rows).shape[1]
    size = max(_FEWEST, min(rows.groups, _MOST_GROUPS, _NUMBERS // (rows.arms * (free + 1))))
    size = min(size, rows.groups)
    score, info = _scores(rows, factors, curves, free, size)
    unknown = len(factors.values) > 1
    if unknown:
        score = _residual(score, factors)
        info = np.einsum("gai,gaj->aij", score, score)
    weights = np.random.default_rng(seed).poisson(1.0, (resamples, size)) - 1.0
    moved = np.tensordot(weights, score, axes=(1, 0))  # [draw, arm, free + 1]
    if borrow == 1.0:
        matrix = _products(score, free) if unknown else _matrix(info, free)
        off = _together(moved, matrix, free, curves.shapes[0])
    else:
        off = _each(moved, info, free, borrow, curves.shapes)
    amplitudes = curves.amplitudes * np.exp(np.clip(off[:, :, -1] * np.sqrt(curves.own), -3.0, 3.0))
    numbers = np.stack(
        [_moved(shape, off[:, arm, :-1], rows) for arm, shape in enumerate(curves.shapes)], axis=1
    )
    if rows.binary:
        amplitudes = np.minimum(amplitudes, 1.0)
    return Draws(kind, amplitudes, numbers, curves.shapes[0].firsts)


def _scores(
    rows: Rows, factors: Factors, curves: Curves, free: int, size: int
) -> tuple[FloatArray, FloatArray]:
    """Groups' scores by arm, [group, arm, free + 1], amplitude last, and each arm's information."""
    mean = (curves.means(rows.nodes)[rows.arm, rows.cell] * rows.unit)[:, None] * factors.values
    if factors.sigma is None:
        mean = np.minimum(mean, HIGHEST)
        slope, bend = (rows.reward[:, None] - mean) / (1.0 - mean), mean / (1.0 - mean)
    else:
        variance = factors.sigma**2
        slope, bend = (rows.reward[:, None] - mean) * mean / variance, mean**2 / variance
    share = factors.posterior[rows.group]
    slope = rows.weight * np.sum(share * slope, axis=1)
    bend = rows.weight * np.sum(share * bend, axis=1)
    slopes = np.stack([_slopes(shape, rows) for shape in curves.shapes])  # [arm, cell, free]
    by = np.concatenate([slopes, np.ones((*slopes.shape[:2], 1))], axis=2)
    place = rows.group % size * rows.arms + rows.arm
    score = np.zeros((size * rows.arms, free + 1))
    for k in range(free + 1):
        part = slope * by[rows.arm, rows.cell, k]
        score[:, k] = np.bincount(place, part, len(score))
    cells = rows.by_cell(bend)
    info = np.stack([by[arm].T @ (cells[arm][:, None] * by[arm]) for arm in range(rows.arms)])
    return score.reshape(size, rows.arms, free + 1), info


def _slopes(shape: Shape, rows: Rows) -> FloatArray:
    """How the logarithm of a shape changes with its free numbers (`_moved`), [cell, free]."""
    cells = len(rows.nodes)
    if shape.kind == "table":
        return np.eye(cells)[:, 1:]
    numbers = np.array(shape.numbers)
    free = len(numbers) - PICKED.get(shape.kind, 0)
    found = np.zeros((cells, free))
    for k in range(free):
        ends = []
        for sign in (-1.0, 1.0):
            moved = numbers.copy()
            if shape.kind == "exponential" and k == 0:
                moved[0] *= np.exp(sign * 1e-4)
            else:
                moved[k] = moved[k] + sign * 1e-4
            ends.append(np.log(shape_tables(shape.kind, moved[None, :], rows.nodes)[0]))
        found[:, k] = (ends[1] - ends[0]) / 2e-4
    return found


def _moved(shape: Shape, off: FloatArray, rows: Rows) -> FloatArray:
    """Numbers that are off by so much, kept where shapes are; [draw, number]."""
    if shape.kind == "table":
        return _moved_table(np.array(shape.numbers), off)
    found = np.tile(np.array(shape.numbers), (len(off), 1))
    if shape.kind == "exponential":
        found[:, 0] = np.minimum(found[:, 0] * np.exp(off[:, 0]), STEEPEST)
        found[:, 1] = np.clip(found[:, 1] + off[:, 1], 0.0, FLAT)
    elif off.shape[1]:
        most = 1.0 if shape.kind == "step" else STEEPEST
        found[:, 0] = np.clip(found[:, 0] + off[:, 0], 0.0, most)
    return found


def _moved_table(left: FloatArray, off: FloatArray) -> FloatArray:
    from scipy.optimize import isotonic_regression

    moved = left * np.exp(np.clip(np.pad(off, ((0, 0), (1, 0))), -3.0, 3.0))
    falling = np.stack([isotonic_regression(row, increasing=False).x for row in moved])
    found: FloatArray = np.maximum(falling / falling[:, :1], LOWEST)
    return found


def _residual(score: FloatArray, factors: Factors) -> FloatArray:
    """Scores less what the weights of factors, which are not known either, explain of them.

    Weights may change as long as they add up to 1 and the mean factor stays 1.
    """
    some = factors.weights > 1e-4
    weights, values = factors.weights[some], factors.values[some]
    if len(weights) < 3:
        return score
    _, _, rotated = np.linalg.svd(np.stack([weights, weights * values]))
    off = factors.posterior[:, some] @ rotated[2:].T
    other = np.zeros((len(score), off.shape[1]))
    np.add.at(other, np.arange(len(off)) % len(score), off)
    flat = score.reshape(len(score), -1)
    square = other.T @ other
    explained = np.linalg.solve(square + 1e-6 * np.eye(len(square)), other.T @ flat)
    found: FloatArray = (flat - other @ explained).reshape(score.shape)
    return found


def _products(score: FloatArray, free: int) -> FloatArray:
    """The information on one shape and all amplitudes, by the products of scores."""
    every = np.hstack([score[:, :, :free].sum(axis=1), score[:, :, free]])
    found: FloatArray = every.T @ every
    return found


def _matrix(info: FloatArray, free: int) -> FloatArray:
    """The same from each arm's own."""
    size = free + len(info)
    found = np.zeros((size, size))
    found[:free, :free] = info[:, :free, :free].sum(axis=0)
    found[free:, :free] = info[:, free, :free]
    found[:free, free:] = found[free:, :free].T
    found[free:, free:] = np.diag(info[:, free, free])
    return found


def _bounded(off: FloatArray, matrix: FloatArray, shape: Shape) -> FloatArray:
    """Steps that end where shapes do; all other numbers are then the likeliest beside that one."""
    for k, low, high in reversed(_ends(shape)):
        rest = np.arange(len(matrix)) != k
        kept = np.clip(off[:, k], low, high)
        response = np.linalg.solve(matrix[np.ix_(rest, rest)], matrix[rest, k])
        off[:, rest] -= np.outer(kept - off[:, k], response)
        off[:, k] = kept
    return off


def _ends(shape: Shape) -> list[tuple[int, float, float]]:
    """How far down and up each free number may move."""
    if shape.kind in ("constant", "table"):
        return []
    first = shape.numbers[0]
    if shape.kind == "exponential":
        floor = shape.numbers[1]
        return [(0, -3.0, float(np.log(STEEPEST / first))), (1, -floor, FLAT - floor)]
    most = 1.0 if shape.kind == "step" else STEEPEST
    return [(0, -first, most - first)]


def _together(moved: FloatArray, matrix: FloatArray, free: int, shape: Shape) -> FloatArray:
    """One shape for all: [draw, arm, free + 1]."""
    arms = moved.shape[1]
    score = np.hstack([moved[:, :, :free].sum(axis=1), moved[:, :, free]])
    matrix = matrix + _PRIOR * np.eye(len(matrix))
    off = _bounded(np.linalg.solve(matrix, score.T).T, matrix, shape)
    shared = np.repeat(off[:, None, :free], arms, axis=1)
    return np.concatenate([shared, off[:, free:, None]], axis=2)


def _each(
    moved: FloatArray, info: FloatArray, free: int, borrow: float, shapes: Sequence[Shape]
) -> FloatArray:
    """A shape for each arm, by its own score and a part of the others'."""
    arms = moved.shape[1]
    own = info + _PRIOR * np.eye(free + 1)
    ratio = own[:, :free, free] / own[:, free, free, None]  # a level's part in the shape's score
    score = moved[:, :, :free] - moved[:, :, free, None] * ratio
    needed = own[:, :free, :free] - ratio[:, :, None] * own[:, None, free, :free]
    found = np.zeros_like(moved)
    for arm in range(arms):
        parts = np.full(arms, borrow)
        parts[arm] = 1.0
        matrix = np.tensordot(parts, needed, axes=(0, 0))
        shape = np.linalg.solve(matrix, np.tensordot(score, parts, axes=(1, 0)).T).T
        shape = _bounded(shape, matrix, shapes[arm])
        found[:, arm, :free] = shape
        level = moved[:, arm, free] - shape @ own[arm, free, :free]
        found[:, arm, free] = level / own[arm, free, free]
    return found
