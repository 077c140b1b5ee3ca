"""Rotting models: mu(n; theta), the mean reward of the n-th pull, n = 1, 2, ...

A model never rises (the paper's Assumption 2.1); one that does is refused with the first pull at
which it does. It need not be positive here: positivity is asked for by the policies whose theory
needs it. A *family* is a model with a finite set Theta, `Plateau(length=100).over([0.1, 0.2])`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rotting import checks
from rotting.arrays import FloatArray
from rotting.models.families import Family, Interval, check_positive

PROBE = 4096  # how far a Python function is checked when the model is made
_CACHED = 1 << 20  # tables longer than this are made anew each time: caching would hoard memory


class Model:
    """What every model offers: `mean(n)`, `table(length)` and a readable repr."""

    def mean(self, n: npt.ArrayLike) -> FloatArray:
        """mu(n) for 1-based pull numbers n, an integer or an array of integers.

        >>> Step(at=2, before=1.0, after=0.4).mean([1, 2, 3])
        array([1. , 1. , 0.4])
        """
        pulls = np.asarray(n)
        if not np.issubdtype(pulls.dtype, np.integer):
            raise ValueError(f"n must be integers >= 1 (pull numbers), got {n!r}")
        if pulls.size and pulls.min() < 1:
            raise ValueError(f"n must be integers >= 1 (pull numbers), got {int(pulls.min())}")
        return np.asarray(self._mean(pulls), dtype=np.float64)

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        raise TypeError(f"{type(self).__name__} does not define _mean")

    def table(self, length: int) -> FloatArray:
        """mu(1), ..., mu(length), checked; read-only, and cached unless very long."""
        length = checks.integer("length", length, least=1)
        return _cached_table(self, length) if length <= _CACHED else _table(self, length)

    def over(self, thetas: Any) -> Family:
        """This model with theta running over a finite set Theta, as a `Family`."""
        if not any(field.name == "theta" for field in dataclasses.fields(self)):  # type: ignore[arg-type]
            raise ValueError(f"{type(self).__name__} has no theta to put a family over")
        if isinstance(thetas, str) or not isinstance(thetas, Iterable):
            raise ValueError(f"Theta must be a list of numbers, got {thetas!r}")
        return Family(self, tuple(thetas))

    def between(self, low: float, high: float, nodes: int = 33) -> Interval:
        """This model with theta anywhere between two numbers, as an `Interval`."""
        if not any(field.name == "theta" for field in dataclasses.fields(self)):  # type: ignore[arg-type]
            raise ValueError(f"{type(self).__name__} has no theta to put an interval over")
        return Interval(self, low, high, nodes)


def _table(model: Model, length: int) -> FloatArray:
    means = np.array(model.mean(np.arange(1, length + 1)), dtype=np.float64)
    check_means(repr(model), means)
    means.flags.writeable = False
    return means


_cached_table = functools.lru_cache(maxsize=32)(_table)


def check_means(name: str, means: FloatArray) -> None:
    """Refuse means that are not finite or that rise, naming the first offending pull."""
    bad = np.flatnonzero(~np.isfinite(means))
    if bad.size:
        n = int(bad[0]) + 1
        raise ValueError(f"{name} must be finite, got {means[n - 1]} at n = {n}")
    rising = np.flatnonzero(means[1:] > means[:-1])
    if rising.size:
        n = int(rising[0]) + 2
        raise ValueError(
            f"{name} must never rise, but mu({n}) = {means[n - 1]} > mu({n - 1}) = {means[n - 2]}"
        )


def function_name(function: Any) -> str:
    """Where a function is from; for other callable things, their type."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"


def _exponent(model: Any) -> float:
    if model.theta is None:
        raise ValueError(
            f"{type(model).__name__} needs a theta, as {type(model).__name__}(theta=0.3) "
            "or a family with .over([...])"
        )
    return float(model.theta)


def _check_theta(model: Any) -> None:
    if model.theta is not None:
        theta = checks.number(f"theta of {type(model).__name__}", model.theta)
        if theta < 0:
            raise ValueError(
                f"theta of {type(model).__name__} must be >= 0, got {theta}: the model would rise, "
                f"first at n = {max(2, getattr(model, 'length', 2))}"
            )
        object.__setattr__(model, "theta", theta)


@dataclass(frozen=True)
class Polynomial(Model):
    """mu(n) = n^-theta (the paper's Example 4.1).

    >>> Polynomial(0.5).mean([1, 4, 100])
    array([1. , 0.5, 0.1])
    """

    theta: float | None = None

    def __post_init__(self) -> None:
        _check_theta(self)

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return np.asarray(n, dtype=np.float64) ** -_exponent(self)


@dataclass(frozen=True)
class Plateau(Model):
    """mu(n) = (int(n / length) + 1)^-theta (the paper's section Simulations).

    The first plateau is one pull shorter than the others, as the formula has it.

    >>> Plateau(1.0, length=100).mean([99, 100, 200])
    array([1.        , 0.5       , 0.33333333])
    """

    theta: float | None = None
    length: int = 100

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", checks.integer("length of Plateau", self.length, 1))
        _check_theta(self)

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return (n // self.length + 1).astype(np.float64) ** -_exponent(self)


@dataclass(frozen=True)
class Exponential(Model):
    """mu(n) = exp(-theta (n - 1)).

    >>> float(Exponential(0.1).mean(1))
    1.0
    """

    theta: float | None = None

    def __post_init__(self) -> None:
        _check_theta(self)

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return np.exp(-_exponent(self) * (np.asarray(n, dtype=np.float64) - 1.0))


@dataclass(frozen=True)
class Constant(Model):
    """mu(n) = value: an arm that does not rot.

    >>> Constant(0.5).mean([1, 1000])
    array([0.5, 0.5])
    """

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", checks.number("value of Constant", self.value))

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return np.full(n.shape, self.value)


@dataclass(frozen=True)
class Step(Model):
    """mu(n) = before for the first `at` pulls, after for all later ones.

    >>> Step(at=7500, before=1.0, after=0.4).mean([7500, 7501])
    array([1. , 0.4])
    """

    at: int
    before: float
    after: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", checks.integer("at of Step", self.at, least=1))
        for name in ("before", "after"):
            object.__setattr__(self, name, checks.number(f"{name} of Step", getattr(self, name)))
        if self.after > self.before:
            raise ValueError(
                f"Step must never rise, but after = {self.after} > before = {self.before}, "
                f"first at n = {self.at + 1}"
            )

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return np.where(n <= self.at, self.before, self.after)


@dataclass(frozen=True)
class Scaled(Model):
    """mu(n) = factor times another model's: a click rate that starts at 3 %, say.

    >>> Scaled(Exponential(0.001), factor=0.03).mean([1, 1001])
    array([0.03      , 0.01103638])
    """

    model: Model
    factor: float

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise ValueError(f"model of Scaled must be a model, got {self.model!r}")
        factor = checks.number("factor of Scaled", self.factor, above=0)
        object.__setattr__(self, "factor", factor)

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return self.factor * self.model.mean(n)


@dataclass(frozen=True)
class Table(Model):
    """mu(n) = values[n - 1]; pulls beyond the table keep its last value.

    >>> Table([1.0, 0.8, 0.7]).mean([1, 3, 50])
    array([1. , 0.7, 0.7])
    """

    values: Sequence[float]

    def __post_init__(self) -> None:
        try:
            values = np.asarray(self.values, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"values of Table must be numbers, got {self.values!r}") from None
        if values.ndim != 1 or values.size < 1:
            raise ValueError(
                f"values of Table must be a list of at least one number, got shape {values.shape}"
            )
        check_means("Table", values)
        object.__setattr__(self, "values", tuple(values.tolist()))

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        values: FloatArray = np.array(self.values)
        chosen: FloatArray = values[np.minimum(n, len(self.values)) - 1]
        return chosen


@dataclass(frozen=True)
class Function(Model):
    """mu(n) = function(n), any vectorised Python function of the pull numbers.

    Its first 4,096 values are checked here; all that a run can reach, when its tables are made.

    >>> Function(lambda n: 1 / (1 + np.log(n))).mean(1)
    array(1.)
    """

    function: Callable[[Any], Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"function of Function must be callable, got {self.function!r}")
        check_means(repr(self), self.mean(np.arange(1, PROBE + 1)))

    def __repr__(self) -> str:
        # a stable name: addresses would change the random streams from one process to the next
        return f"Function({function_name(self.function)})"

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        means = np.asarray(self.function(n), dtype=np.float64)
        if means.shape != n.shape:
            raise ValueError(
                f"{self!r} must be vectorised: for n of shape {n.shape} it returned {means.shape}"
            )
        return means


__all__ = [
    "Constant", "Exponential", "Family", "FloatArray", "Function", "Interval", "Model", "Plateau",
    "Polynomial",
    "Scaled", "Step", "Table", "check_means", "check_positive", "function_name",
]  # fmt: skip
