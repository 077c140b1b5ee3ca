"""The named shapes: n^-theta, its plateaus, exponentials, steps, tables and functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rotting.kernel.arrays import FloatArray
from rotting.models._base import PROBE, Model, function_name, theta_of
from rotting.models._powers import multiples, powers
from rotting.models._tables import check_means
from rotting.parameters import Count, Real


def _check_theta(model: Any, first_change: int = 2) -> None:
    if model.theta is not None and model.theta < 0:
        raise ValueError(
            f"{model.argument('theta')} must be >= 0, got {model.theta}: the model would rise, "
            f"first at n = {first_change}"
        )


@dataclass(frozen=True)
class Polynomial(Model):
    """mu(n) = n^-theta (the paper's Example 4.1).

    Attributes:
        theta: The exponent, >= 0; None leaves it open, for `over` and `between`.

    >>> Polynomial(0.5).mean([1, 4, 100])
    array([1. , 0.5, 0.1])
    """

    theta: Real | None = None

    def check(self) -> None:
        _check_theta(self)

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return powers(n, theta_of(self))


@dataclass(frozen=True)
class Plateau(Model):
    """mu(n) = (int(n / length) + 1)^-theta (the paper's section Simulations).

    The first plateau is one pull shorter than the others, as in the formula.

    Attributes:
        theta: The exponent, >= 0; None leaves it open, for `over` and `between`.
        length: The pulls of a plateau.

    >>> Plateau(1.0, length=100).mean([99, 100, 200])
    array([1.        , 0.5       , 0.33333333])
    """

    theta: Real | None = None
    length: Count = 100

    def check(self) -> None:
        _check_theta(self, first_change=max(2, self.length))

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return powers(n // self.length + 1, theta_of(self))


@dataclass(frozen=True)
class Exponential(Model):
    """mu(n) = exp(-theta (n - 1)).

    Attributes:
        theta: The rate, >= 0; None leaves it open, for `over` and `between`.

    >>> Exponential(0.1).mean([1, 11])
    array([1.        , 0.36787944])
    """

    theta: Real | None = None

    def check(self) -> None:
        _check_theta(self)

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return np.exp(-multiples(theta_of(self), n - 1))


@dataclass(frozen=True)
class Settling(Model):
    """mu(n) = floor + (1 - floor) exp(-theta (n - 1)): it fades to a floor above zero.

    Attributes:
        theta: The rate, >= 0; None leaves it open, for `over` and `between`.
        floor: The limit, from 0 to 1.

    >>> Settling(0.5, floor=0.2).mean([1, 2, 1000])
    array([1.        , 0.68522453, 0.2       ])
    """

    theta: Real | None = None
    floor: Real = 0.0

    def check(self) -> None:
        _check_theta(self)
        if not 0.0 <= self.floor <= 1.0:
            raise ValueError(
                f"{self.argument('floor')} must be a number from 0 to 1, got {self.floor}"
            )

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        faded = np.exp(-multiples(theta_of(self), n - 1))
        return self.floor + (1.0 - self.floor) * faded


@dataclass(frozen=True)
class Constant(Model):
    """mu(n) = value: an arm that does not rot.

    Attributes:
        value: The mean of every pull.

    >>> Constant(0.5).mean([1, 1000])
    array([0.5, 0.5])
    """

    value: Real

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return np.full(n.shape, self.value)


@dataclass(frozen=True)
class Step(Model):
    """mu(n) = before for the first `at` pulls, after for all later ones.

    Attributes:
        at: The last pull before the step.
        before: The mean before it.
        after: The mean after it, at most `before`.

    >>> Step(at=7500, before=1.0, after=0.4).mean([7500, 7501])
    array([1. , 0.4])
    """

    at: Count
    before: Real
    after: Real

    def check(self) -> None:
        if self.after > self.before:
            raise ValueError(
                f"Step must never rise, but after = {self.after} > before = {self.before}, "
                f"first at n = {self.at + 1}"
            )

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return np.where(n <= self.at, self.before, self.after)


@dataclass(frozen=True)
class Table(Model):
    """mu(n) = values[n - 1]; pulls beyond the table keep its last value.

    Attributes:
        values: Numbers that never rise, at least one; kept as a tuple.

    >>> Table([1.0, 0.8, 0.7]).mean([1, 3, 50])
    array([1. , 0.7, 0.7])
    """

    values: Sequence[float]

    def check(self) -> None:
        try:
            values = np.asarray(self.values, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"values of Table must be numbers, got {self.values!r}") from None
        if values.ndim != 1 or values.size < 1:
            raise ValueError(
                f"values of Table must be a list of at least one number, got shape {values.shape}"
            )
        check_means("Table", values)
        self._set("values", tuple(values.tolist()))

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        values: FloatArray = np.array(self.values)
        chosen: FloatArray = values[np.minimum(n, len(self.values)) - 1]
        return chosen


@dataclass(frozen=True)
class Function(Model):
    """mu(n) = function(n) or function(n, theta), any vectorised function of the pull numbers.

    Its first 4,096 values are checked when the model is made, or when theta is known; all values
    that a run can reach are checked when its tables are made.

    Attributes:
        function: Gets an array of pull numbers, and theta if it takes two arguments; returns an
            array of the same shape.
        theta: For a function of two arguments; None leaves it open, for `over` and `between`.

    >>> Function(lambda n: 1 / (1 + np.log(n))).mean(1)
    array(1.)
    >>> Function(lambda n, theta: 1 / (1 + theta * n)).over([0.25, 1.0]).table(1).tolist()
    [[0.8], [0.5]]
    """

    function: Callable[..., Any]
    theta: Real | None = None

    def check(self) -> None:
        if not callable(self.function):
            raise ValueError(f"function of Function must be callable, got {self.function!r}")
        if not _takes(self.function):
            raise ValueError(
                "function of Function must take the pull numbers n, or n and theta, got "
                f"{function_name(self.function)}"
            )
        if self.theta is not None and not self.has_theta:
            raise ValueError(
                f"theta of Function must be None for a function of the pull numbers alone, as "
                f"{function_name(self.function)}, got {self.theta}"
            )
        if self.theta is not None or not self.has_theta:
            check_means(repr(self), self.mean(np.arange(1, PROBE + 1)))

    @property
    def has_theta(self) -> bool:
        """Whether the function takes theta as its second argument."""
        return _takes(self.function) == 2

    def __repr__(self) -> str:
        # a stable name: addresses would change the random streams from one process to the next
        theta = f", theta={self.theta!r}" if self.has_theta else ""
        return f"Function({function_name(self.function)}{theta})"

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        further = (theta_of(self, "function, "),) if self.has_theta else ()
        means = np.asarray(self.function(n, *further), dtype=np.float64)
        if means.shape != n.shape:
            raise ValueError(
                f"{self!r} must be vectorised: for n of shape {n.shape} it returned {means.shape}"
            )
        return means


def _takes(function: Any) -> int:
    """The number of arguments a function is called with: 1, or 2 if it needs both.

    0 if neither fits, 1 where Python cannot read the signature.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return 1
    for count in (1, 2):
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count
    return 0
