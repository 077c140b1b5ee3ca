"""The base of all rotting models: mu(n), the mean reward of the n-th pull, n = 1, 2, ...

A model never rises (the paper's Assumption 2.1); one that does is refused with the first pull at
which it does. It need not be positive here: policies whose theory needs positive means check that.
A model of your own is a frozen dataclass derived from `Model` that defines `_mean`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from rotting import _checks, _display, _plain
from rotting.kernel.arrays import FloatArray
from rotting.models._families import CACHED, Family, as_numbers
from rotting.models._grid import Grid
from rotting.models._interval import Interval
from rotting.models._tables import check_means
from rotting.parameters import Checked, NonNegative, Positive

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PROBE = 4096  # pulls up to which a Python function is checked when the model is made

MODELS: dict[str, type[Model]] = {}  # by class name in lower case, as in files


class Model(Checked):
    """Base class of all rotting models: `mean(n)`, `table(length)`, and families of the model.

    To write a model of your own, derive a frozen dataclass and define `_mean(n)`, which gets a
    NumPy array of pull numbers and returns their means. A field called `theta` gives the model
    families and intervals. Defining the subclass registers it, in `MODELS` and for saving.

    Raises:
        ValueError: A subclass has the name of another model, but for upper and lower case.

    >>> from dataclasses import dataclass
    >>> from rotting.models import MODELS, Model
    >>> @dataclass(frozen=True)
    ... class Harmonic(Model):
    ...     def _mean(self, n):
    ...         return 1 / n
    >>> Harmonic().mean([1, 2, 4])
    array([1.  , 0.5 , 0.25])
    >>> MODELS.pop("harmonic").__name__
    'Harmonic'
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _plain.register(cls)
        name = cls.__name__.lower()
        if name in MODELS and MODELS[name].__name__ != cls.__name__:
            raise ValueError(
                f"name of {cls.__name__} must differ from {MODELS[name].__name__} in more than case"
            )
        MODELS[name] = cls

    def argument(self, field: str) -> str:
        """The name of a field in a refusal, with the model's name: a scenario holds many models."""
        return f"{field} of {type(self).__name__}"

    def mean(self, n: npt.ArrayLike) -> FloatArray:
        """The means mu(n) of pulls.

        Args:
            n: A pull number, or an array of them, from 1.

        Returns:
            An array of floats with the shape of `n`.

        Raises:
            ValueError: A number is no integer or below 1, or the model's theta is open.

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
        """The means mu(1), ..., mu(length).

        Args:
            length: The number of pulls.

        Returns:
            A read-only array. It is cached up to 2^20 pulls.

        Raises:
            ValueError: A mean is not finite or above 1e100 in size, or the model rises.

        >>> from rotting.models import Step
        >>> Step(at=2, before=1.0, after=0.4).table(3)
        array([1. , 1. , 0.4])
        """
        length = _checks.integer("length", length, least=1)
        return _cached_table(self, length) if length <= CACHED else uncached_table(self, length)

    def times(self, factor: float) -> Scaled:
        """This model with an amplitude.

        Args:
            factor: A positive number by which all means are multiplied.

        Returns:
            A `Scaled`.

        >>> from rotting.models import Exponential
        >>> Exponential(0.01).times(0.05).mean(1)
        array(0.05)
        """
        return Scaled(self, factor)

    def over(
        self,
        thetas: Any = None,
        weights: Sequence[float] | None = None,
        *,
        amplitudes: Any = None,
    ) -> Family:
        """This model with theta, or its amplitude, in a finite set.

        Args:
            thetas: The values of theta, the set Theta; None if theta is known.
            weights: The members' prior probabilities, up to a factor, each theta's amplitudes in
                turn; None for uniform ones.
            amplitudes: Factors of the means. With `thetas` every theta is combined with every
                amplitude.

        Returns:
            A `Family`; a `Grid` where both theta and the amplitude are unknown.

        Raises:
            ValueError: The model has no theta, or a list is empty, has a value twice or one that
                the model refuses.

        >>> from rotting.models import Exponential
        >>> Exponential(0.01).over(amplitudes=[0.02, 0.05]).table(1).tolist()
        [[0.02], [0.05]]
        >>> len(Exponential().over([0.001, 0.01], amplitudes=[0.02, 0.05, 0.1]))
        6
        """
        if amplitudes is None:
            self._check_has_theta("a family")
            return Family(self, as_numbers("Theta", thetas), weights)
        if thetas is None:
            return Family(Amplitude(self), as_numbers("amplitudes", amplitudes), weights)
        self._check_has_theta("a family")
        return Grid(self, thetas, amplitudes, weights)

    def between(self, low: float, high: float, nodes: int = 33) -> Interval:
        """This model with theta anywhere in an interval.

        Args:
            low: The lower end.
            high: The upper end, above `low`.
            nodes: The number of equidistant thetas between which policies interpolate, at least 3.

        Returns:
            An `Interval`.

        Raises:
            ValueError: The model has no theta, or refuses one of the interval.

        >>> from rotting.models import Polynomial
        >>> Polynomial().between(0.1, 0.4)
        Interval(model=Polynomial(theta=None), low=0.1, high=0.4, nodes=33)
        """
        self._check_has_theta("an interval")
        return Interval(self, low, high, nodes)

    def plot(self, axes: Axes | None = None, pulls: int | None = None) -> Axes:
        """Draw mu(n).

        Args:
            axes: Matplotlib's axes to draw into; a new figure's without them.
            pulls: The last pull drawn; by default half of the fall is seen, or more.

        Returns:
            The axes.
        """
        drawn: Axes = _display.plot(self, axes=axes, pulls=pulls)
        return drawn

    def _repr_html_(self) -> str:
        return _display.html(self)

    @property
    def has_theta(self) -> bool:
        """Whether the model has a parameter theta, known or open."""
        return any(field.name == "theta" for field in dataclasses.fields(self))  # type: ignore[arg-type]

    def with_theta(self, theta: float | None) -> Self:
        """The same model with another theta.

        Args:
            theta: The new value; None leaves it open.

        >>> from rotting.models import Plateau
        >>> Plateau(0.3, length=50).with_theta(0.1)
        Plateau(theta=0.1, length=50)
        """
        changed: Self = dataclasses.replace(self, theta=theta)  # type: ignore[type-var]
        return changed

    @property
    def unscaled(self) -> tuple[Model, float]:
        """The model without its amplitude, and that amplitude: 1 unless it is a `Scaled`."""
        return self, 1.0

    def _check_has_theta(self, what: str) -> None:
        if not self.has_theta:
            raise ValueError(f"{type(self).__name__} has no theta for {what}")


@dataclass(frozen=True)
class Scaled(Model):
    """mu(n) = factor times another model's: a click rate that starts at 3 %, say.

    `model.times(factor)` makes one. Its theta is the other model's, so it has families and
    intervals where that model has them.

    Attributes:
        model: The other model.
        factor: The amplitude, positive.

    >>> from rotting.models import Exponential
    >>> Scaled(Exponential(0.001), factor=0.03).mean([1, 1001])
    array([0.03      , 0.01103638])
    >>> Exponential().times(0.03).over([0.001, 0.01]).members[1]
    Scaled(model=Exponential(theta=0.01), factor=0.03)
    """

    model: Model
    factor: Positive

    def check(self) -> None:
        if not isinstance(self.model, Model):
            raise ValueError(f"model of Scaled must be a model, got {self.model!r}")

    @property
    def has_theta(self) -> bool:
        return self.model.has_theta

    @property
    def theta(self) -> Any:
        """The other model's theta."""
        return self.model.theta  # type: ignore[attr-defined]  # where it has one

    @property
    def unscaled(self) -> tuple[Model, float]:
        """The other model, and the product of all factors around it."""
        inner, factor = self.model.unscaled
        return inner, factor * self.factor

    def with_theta(self, theta: float | None) -> Self:
        return type(self)(self.model.with_theta(theta), self.factor)

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return self.factor * self.model.mean(n)


@dataclass(frozen=True)
class Amplitude(Model):
    """mu(n) = theta times another model's: the shape is known, the amplitude is not.

    `model.over(amplitudes=[...])` makes a family of it.

    Attributes:
        model: The other model, with its own theta.
        theta: The amplitude, >= 0; None leaves it open. An arm of amplitude 0 never pays.

    >>> from rotting.models import Exponential
    >>> Amplitude(Exponential(0.01)).between(0.02, 0.1, nodes=3).table(1).tolist()
    [[0.02], [0.06], [0.1]]
    """

    model: Model
    theta: NonNegative | None = None

    def check(self) -> None:
        if not isinstance(self.model, Model):
            raise ValueError(f"model of Amplitude must be a model, got {self.model!r}")
        self.model.mean(1)  # refuses a model whose theta is open

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return theta_of(self, "model, ") * self.model.mean(n)


def theta_of(model: Any, first: str = "") -> float:
    """The theta of a model, refused if open; `first` names the arguments before it in the hint."""
    if model.theta is None:
        raise ValueError(
            f"{type(model).__name__} needs a theta, as {type(model).__name__}({first}theta=0.3) "
            "or a family with .over([...])"
        )
    return float(model.theta)


def uncached_table(model: Model, length: int) -> FloatArray:
    means = np.array(model.mean(np.arange(1, length + 1)), dtype=np.float64)
    check_means(repr(model), means)
    means.flags.writeable = False
    return means


_cached_table = functools.lru_cache(maxsize=32)(uncached_table)


def function_name(function: Any) -> str:
    """The module and name of a function; of other callable objects, those of their type.

    It names functions in refusals and in the keys of random streams, where an address would change
    from one process to the next.

    >>> import math
    >>> function_name(math.exp)
    'math.exp'
    """
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"
