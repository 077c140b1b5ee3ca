"""Random curves mu(n) of an arm for one user, from a top rate down.

A shape is a function of an arm's random numbers and its top, the mean of the first showing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rotting import _checks
from rotting.bandits import Arm, ArmDraw
from rotting.models import Constant, Exponential, Function, Polynomial, Step, Table

Shape = Callable[[ArmDraw, float], Arm]
_FAR = 64  # showings after which a tabulated curve stays constant


def power(draw: ArmDraw, top: float) -> Arm:
    """Top times n^-theta, theta from 0.1 to 1."""
    return Arm(Polynomial(draw.uniform(0.1, 1.0)).times(top))


def exponential(draw: ArmDraw, top: float) -> Arm:
    """An exponential, of a rate from 0.02 to 0.7, down to a floor of 0 to 0.5 of the top."""
    rate, floor = draw.uniform(0.02, 0.7), draw.uniform(0.0, 0.5)
    return Arm(Exponential(rate).times(top * (1.0 - floor)), top * floor)


def step(draw: ArmDraw, top: float) -> Arm:
    """One step, after 1 to 14 showings, down to 0.05 to 0.6 of the top."""
    return Arm(Step(_whole(draw, 1, 14), top, top * draw.uniform(0.05, 0.6)))


def flat(draw: ArmDraw, top: float) -> Arm:
    """Constant."""
    return Arm(Constant(top))


def plateau(draw: ArmDraw, top: float) -> Arm:
    """The top for 2 to 10 showings, then an exponential to 0 to 0.3 of it."""
    length, rate, floor = _whole(draw, 2, 10), draw.uniform(0.1, 0.7), draw.uniform(0.0, 0.3)
    fall = np.exp(-rate * np.maximum(0, _numbers() - length))
    return _table(top, floor + (1.0 - floor) * fall)


def logarithm(draw: ArmDraw, top: float) -> Arm:
    """Top / (1 + theta ln n), theta from 0.1 to 1: a fall that never ends."""
    return Arm(Function(_logarithm, draw.uniform(0.1, 1.0)).times(top))


def two_steps(draw: ArmDraw, top: float) -> Arm:
    """Two steps, the first after 1 to 6 showings, the second 3 to 12 later."""
    first = _whole(draw, 1, 6)
    second = first + _whole(draw, 3, 12)
    middle = draw.uniform(0.4, 0.8)
    last = middle * draw.uniform(0.1, 0.7)
    n = _numbers()
    return _table(top, np.where(n <= first, 1.0, np.where(n <= second, middle, last)))


def convex(draw: ArmDraw, top: float) -> Arm:
    """A hyperbola with a steep start, down to 0 to 0.4 of the top."""
    speed, floor = draw.uniform(0.1, 1.5), draw.uniform(0.0, 0.4)
    return _table(top, floor + (1.0 - floor) / (1.0 + speed * (_numbers() - 1.0)))


def concave(draw: ArmDraw, top: float) -> Arm:
    """A parabola that falls faster and faster, to 0.05 of the top after 6 to 40 showings."""
    length = draw.uniform(6.0, 40.0)
    return _table(top, np.maximum(0.05, 1.0 - ((_numbers() - 1.0) / length) ** 2))


SHAPES: dict[str, Shape] = {
    shape.__name__: shape
    for shape in (
        *(power, exponential, step, flat),
        *(plateau, logarithm, two_steps, convex, concave),
    )
}


@dataclass(frozen=True)
class Curves:
    """Draws an arm: a top, uniform between two ends, and one of the shapes."""

    shapes: tuple[str, ...]
    low: float = 0.02
    high: float = 0.1

    def __post_init__(self) -> None:
        for name in self.shapes:
            _checks.known("shape", name, SHAPES)

    def __call__(self, draw: ArmDraw) -> Arm:
        top = draw.uniform(self.low, self.high)
        shape = self.shapes[0] if len(self.shapes) == 1 else draw.choice(self.shapes)
        return SHAPES[shape](draw, top)


def _whole(draw: ArmDraw, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    return draw.choice(range(low, high + 1))


def _numbers() -> Any:
    return np.arange(1, _FAR + 1)


def _table(top: float, values: Any) -> Arm:
    return Arm(Table((top * values).tolist()))


def _logarithm(n: Any, theta: float) -> Any:
    return 1.0 / (1.0 + theta * np.log(n))
