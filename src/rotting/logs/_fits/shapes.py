"""Shapes of curves that fall with exposure, as they are fitted: 1 at the first, then never higher.

A curve is an amplitude times a shape. Each kind has a few free numbers, which are searched on a
grid that becomes finer around the best, and perhaps one that is picked from a list (the length of
plateaus, where a step is).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from rotting import models
from rotting.kernel.arrays import FloatArray, IntArray

# in the order of how many numbers a shape takes
KINDS = ("constant", "power", "exponential", "plateau", "step", "table")
NAMES = {  # of the numbers; those that are picked from a list come last
    "constant": (),
    "power": ("theta",),
    "exponential": ("theta", "floor"),
    "plateau": ("theta", "length"),
    "step": ("after", "at"),
}
FORMULAS = {
    "constant": "1",
    "power": "n^-theta",
    "exponential": "floor + (1 - floor) exp(-theta (n - 1))",
    "plateau": "(int(n / length) + 1)^-theta",
    "step": "1 up to n = at, then after",
    "table": "any that never rises",
}
PICKED = {"plateau": 1, "step": 1}  # how many of the numbers are picked
STEEPEST = 3.0  # theta of powers and plateaus, and of exponentials
LOWEST = (
    1e-3  # of what an arm paid at first: shapes do not fall further, policies need positive ones
)
FLAT = 0.99  # the highest floor of exponentials
LONGEST_TABLE = 20_000  # exposures for which a table is fitted
_LENGTHS = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000)
_STEPS = 20  # places at which steps are tried
_ZOOM, _SIDE = 4.0, 3  # a finer grid is so many times finer, with so many points to each side


@dataclass(frozen=True)
class Shape:
    """A shape and its numbers; those of a table are its values, `firsts` where each begins."""

    kind: str
    numbers: tuple[float, ...]
    firsts: tuple[int, ...] = ()

    def at(self, n: Any) -> FloatArray:
        """What is left at these exposures.

        >>> Shape("power", (0.5,)).at([1, 4])
        array([1. , 0.5])
        """
        exposures = np.asarray(n)
        if self.kind == "table":
            places = np.searchsorted(np.array(self.firsts), exposures, side="right") - 1
            found: FloatArray = np.array(self.numbers)[np.maximum(places, 0)]
            return found
        tables = shape_tables(self.kind, np.array([self.numbers]), exposures)
        return np.asarray(tables[0])

    def named(self) -> dict[str, float]:
        """The numbers by name; none for a table, whose values are a curve."""
        return dict(zip(NAMES.get(self.kind, ()), self.numbers, strict=False))

    def model(self, amplitude: float, longest: int) -> models.Model:
        """The curve as a model; a table has values up to the exposure `longest`.

        >>> Shape("exponential", (0.5, 0.2)).model(0.1, 10)
        Scaled(model=Settling(theta=0.5, floor=0.2), factor=0.1)
        """
        amplitude = float(amplitude)
        if self.kind == "power":
            return models.Polynomial(self.numbers[0]).times(amplitude)
        if self.kind == "exponential":
            return models.Settling(*self.numbers).times(amplitude)
        if self.kind == "plateau":
            return models.Plateau(self.numbers[0], int(self.numbers[1])).times(amplitude)
        if self.kind == "step":
            return models.Step(int(self.numbers[1]), amplitude, amplitude * self.numbers[0])
        if self.kind == "table":
            return models.Table((amplitude * self.at(np.arange(1, longest + 1))).tolist())
        return models.Constant(amplitude)


def shape_tables(kind: str, numbers: FloatArray, n: Any) -> FloatArray:
    """The shapes with these numbers, a row each, at these exposures: [shape, exposure]."""
    n = np.asarray(n, dtype=np.float64)[None, :]
    first = numbers[:, :1]
    found: FloatArray
    if kind == "power":
        found = n**-first
    elif kind == "exponential":
        found = numbers[:, 1:2] + (1.0 - numbers[:, 1:2]) * np.exp(-first * (n - 1.0))
    elif kind == "plateau":
        found = (n // numbers[:, 1:2] + 1.0) ** -first
    elif kind == "step":
        found = np.where(n <= numbers[:, 1:2], 1.0, first)
    else:
        found = np.ones((len(numbers), n.shape[1]))
    found = np.maximum(found, LOWEST)
    return found


def first_grid(kind: str, nodes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Numbers of the shapes that are tried first, and how far apart they are (`around`)."""
    longest = int(nodes[-1])
    if kind == "constant":
        return np.zeros((1, 0)), np.zeros(0)
    if kind == "power":
        side = np.linspace(0.0, 1.0, 61)
        return STEEPEST * side[:, None] ** 2, np.array([side[1]])
    if kind == "exponential":
        rates = np.geomspace(0.3 / longest, STEEPEST, 20)
        floors = np.linspace(0.0, 0.9, 13)
        return _all(rates, floors), np.array([np.log(rates[1] / rates[0]), floors[1]])
    side = np.linspace(0.0, 1.0, 21)
    if kind == "plateau":
        lengths = [length for length in _LENGTHS if length <= longest]
        return _all(STEEPEST * side**2, np.array(lengths, dtype=np.float64)), np.array([side[1]])
    ends = nodes[:-1]
    some = np.unique(ends[np.linspace(0, len(ends) - 1, _STEPS).round().astype(np.int64)])
    return _all(side, some.astype(np.float64)), np.array([side[1]])


def _all(*axes: FloatArray) -> FloatArray:
    return np.array(list(product(*axes)), dtype=np.float64)


def around(kind: str, numbers: FloatArray, apart: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A finer grid around some numbers, and how far apart its points are."""
    finer = apart / _ZOOM
    offsets = np.arange(-_SIDE, _SIDE + 1)
    axes = [to_line(kind, numbers)[k] + finer[k] * offsets for k in range(len(finer))]
    points = [from_line(kind, np.array(point), numbers) for point in product(*axes)]
    return np.unique(np.array(points), axis=0), finer


def to_line(kind: str, numbers: FloatArray) -> FloatArray:
    """The free numbers as coordinates in which a grid is even."""
    if kind in ("power", "plateau"):
        return np.sqrt(numbers[:1] / STEEPEST)
    if kind == "exponential":
        return np.array([np.log(numbers[0]), numbers[1]])
    return numbers[:1].copy()


def from_line(kind: str, line: FloatArray, numbers: FloatArray) -> FloatArray:
    """The other way, kept where shapes are; what was picked stays."""
    found = numbers.copy()
    if kind in ("power", "plateau"):
        found[0] = STEEPEST * np.clip(line[0], 0.0, 1.0) ** 2
    elif kind == "exponential":
        found[0] = np.exp(np.clip(line[0], -20.0, np.log(STEEPEST)))
        found[1] = np.clip(line[1], 0.0, FLAT)
    else:
        found[0] = np.clip(line[0], 0.0, 1.0)
    return found
