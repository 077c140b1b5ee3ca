"""What a rotting model is: mu(n), the mean reward of the n-th pull, n = 1, 2, ...

A model never rises (the paper's Assumption 2.1); one that does is refused with the first pull at
which it does. It need not be positive here: positivity is asked for by the policies whose theory
needs it. A model of your own is a frozen dataclass derived from `Model` that defines `_mean`.
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

PROBE = 4096  # how far a Python function is checked when the model is made

MODELS: dict[str, type[Model]] = {}  # by class name in lower case, as in files


class Model(Checked):
    """What every model offers: `mean(n)`, `table(length)`, families of it, and a readable repr.

    Defining a subclass registers it, in `MODELS` and for saving.
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
        length = _checks.integer("length", length, least=1)
        return _cached_table(self, length) if length <= CACHED else uncached_table(self, length)

    def times(self, factor: float) -> Scaled:
        """This model with an amplitude: `factor` times its means, as a `Scaled`.

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
        """This model with theta running over a finite set Theta, as a `Family`.

        `amplitudes` are factors of its means: with thetas every theta with every amplitude, without
        them a model whose theta is known with every amplitude. `weights` are the members' prior
        probabilities, up to a factor, each theta's amplitudes in turn; None for uniform.

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
        """This model with theta anywhere between two numbers, as an `Interval`."""
        self._check_has_theta("an interval")
        return Interval(self, low, high, nodes)

    def plot(self, axes: Axes | None = None, pulls: int | None = None) -> Axes:
        """Draw mu(n), into these axes or a new figure's; returns the axes.

        `pulls` is how far, by default until half of the fall is seen, or more.
        """
        drawn: Axes = _display.plot(self, axes=axes, pulls=pulls)
        return drawn

    def _repr_html_(self) -> str:
        """For notebooks: a few means and the curve."""
        return _display.html(self)

    @property
    def has_theta(self) -> bool:
        """Whether the model has a theta, known or still open."""
        return any(field.name == "theta" for field in dataclasses.fields(self))  # type: ignore[arg-type]

    def with_theta(self, theta: float | None) -> Self:
        """The same model with another theta; None leaves it open."""
        changed: Self = dataclasses.replace(self, theta=theta)  # type: ignore[type-var]
        return changed

    @property
    def unscaled(self) -> tuple[Model, float]:
        """The model without a known amplitude, and that amplitude."""
        return self, 1.0

    def _check_has_theta(self, what: str) -> None:
        if not self.has_theta:
            raise ValueError(f"{type(self).__name__} has no theta to put {what} over")


@dataclass(frozen=True)
class Scaled(Model):
    """mu(n) = factor times another model's: a click rate that starts at 3 %, say.

    `model.times(factor)` makes one. Its theta is the other model's, so that it has families and
    intervals as that has them.

    >>> from rotting.models import Exponential
    >>> Scaled(Exponential(0.001), factor=0.03).mean([1, 1001])
    array([0.03      , 0.01103638])
    >>> Exponential().times(0.03).over([0.001, 0.01]).members[1]
    Scaled(model=Exponential(theta=0.01), factor=0.03)
    """

    model: Model
    factor: Positive

    def check(self) -> None:
        """What is scaled is a model."""
        if not isinstance(self.model, Model):
            raise ValueError(f"model of Scaled must be a model, got {self.model!r}")

    @property
    def has_theta(self) -> bool:
        """Whether the scaled model has one."""
        return self.model.has_theta

    @property
    def theta(self) -> Any:
        """The scaled model's."""
        return self.model.theta  # type: ignore[attr-defined]  # where it has one

    @property
    def unscaled(self) -> tuple[Model, float]:
        """The scaled model, and the factor."""
        inner, factor = self.model.unscaled
        return inner, factor * self.factor

    def with_theta(self, theta: float | None) -> Self:
        """The scaled model with another theta, and the same factor."""
        return type(self)(self.model.with_theta(theta), self.factor)

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return self.factor * self.model.mean(n)


@dataclass(frozen=True)
class Amplitude(Model):
    """mu(n) = theta times another model's: the amplitude is what is not known.

    `model.over(amplitudes=[...])` makes a family of it. An arm of amplitude 0 never pays.

    >>> from rotting.models import Exponential
    >>> Amplitude(Exponential(0.01)).between(0.02, 0.1, nodes=3).table(1).tolist()
    [[0.02], [0.06], [0.1]]
    """

    model: Model
    theta: NonNegative | None = None

    def check(self) -> None:
        """A complete model."""
        if not isinstance(self.model, Model):
            raise ValueError(f"model of Amplitude must be a model, got {self.model!r}")
        self.model.mean(1)  # one without its theta is refused here

    def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
        return theta_of(self, "model, ") * self.model.mean(n)


def theta_of(model: Any, first: str = "") -> float:
    """The theta of a model that needs one; `first` is what its other arguments are called."""
    if model.theta is None:
        raise ValueError(
            f"{type(model).__name__} needs a theta, as {type(model).__name__}({first}theta=0.3) "
            "or a family with .over([...])"
        )
    return float(model.theta)


def uncached_table(model: Model, length: int) -> FloatArray:
    """A model's table for those that need it once."""
    means = np.array(model.mean(np.arange(1, length + 1)), dtype=np.float64)
    check_means(repr(model), means)
    means.flags.writeable = False
    return means


_cached_table = functools.lru_cache(maxsize=32)(uncached_table)


def function_name(function: Any) -> str:
    """Where a function is from; for other callable things, their type."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"
