"""What a rotting model is: mu(n), the mean reward of the n-th pull, n = 1, 2, ...

A model never rises (the paper's Assumption 2.1); one that does is refused with the first pull at
which it does. It need not be positive here: positivity is asked for by the policies whose theory
needs it. A model of your own is a frozen dataclass derived from `Model` that defines `_mean`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rotting import checks, plain
from rotting.arrays import FloatArray
from rotting.models.families import CACHED, Family
from rotting.models.interval import Interval
from rotting.parameters import Checked

PROBE = 4096  # how far a Python function is checked when the model is made

MODELS: dict[str, type[Model]] = {}  # by class name in lower case, as in files


class Model(Checked):
    """What every model offers: `mean(n)`, `table(length)`, families of it, and a readable repr.

    Defining a subclass registers it, in `MODELS` and for saving.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        plain.register(cls)
        name = cls.__name__.lower()
        if name in MODELS and MODELS[name].__name__ != cls.__name__:
            raise ValueError(
                f"name of {cls.__name__} must differ from {MODELS[name].__name__} in more than case"
            )
        MODELS[name] = cls

    def argument(self, field: str) -> str:
        """Refusals name the model, too: a scenario holds many."""
        return f"{field} of {type(self).__name__}"

    def mean(self, n: npt.ArrayLike) -> FloatArray:
        """mu(n) for 1-based pull numbers n, an integer or an array of integers.

        >>> from rotting.models import Step
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
        return _cached_table(self, length) if length <= CACHED else uncached_table(self, length)

    def over(self, thetas: Any, weights: Sequence[float] | None = None) -> Family:
        """This model with theta running over a finite set Theta, as a `Family`.

        `weights` are the prior probabilities of the thetas, up to a factor; None for uniform.
        """
        self._check_has_theta("a family")
        if isinstance(thetas, str) or not isinstance(thetas, Iterable):
            raise ValueError(f"Theta must be a list of numbers, got {thetas!r}")
        return Family(self, tuple(thetas), weights)

    def between(self, low: float, high: float, nodes: int = 33) -> Interval:
        """This model with theta anywhere between two numbers, as an `Interval`."""
        self._check_has_theta("an interval")
        return Interval(self, low, high, nodes)

    def _check_has_theta(self, what: str) -> None:
        if not any(field.name == "theta" for field in dataclasses.fields(self)):  # type: ignore[arg-type]
            raise ValueError(f"{type(self).__name__} has no theta to put {what} over")


def uncached_table(model: Model, length: int) -> FloatArray:
    """A model's table for those that need it once."""
    means = np.array(model.mean(np.arange(1, length + 1)), dtype=np.float64)
    check_means(repr(model), means)
    means.flags.writeable = False
    return means


_cached_table = functools.lru_cache(maxsize=32)(uncached_table)


def check_means(name: str, means: FloatArray) -> None:
    """Refuse means that are not finite, too large or that rise, naming the first such pull."""
    bad = np.flatnonzero(~(np.abs(means) <= checks.HUGE))
    if bad.size:
        n = int(bad[0]) + 1
        allowed = "at most 1e100 in size" if np.isfinite(means[n - 1]) else "finite"
        raise ValueError(f"{name} must be {allowed}, got {means[n - 1]} at n = {n}")
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
