"""Families: the prior knowledge about the arms, a finite set of models with prior weights.

`Plateau(length=100).over([0.1, 0.2])` is the prior knowledge of the paper's parametric case, one
model with theta in a finite set. `Family.of([Exponential(0.1), Step(100, 1.0, 0.4)])` holds any
models.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rotting import _checks, _display, _plain
from rotting.kernel.arrays import FloatArray
from rotting.models._tables import CACHED, check_positive, ordered_rows, rows_by_pull
from rotting.parameters import Checked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rotting.models._base import Model
else:
    Model = Any  # models make families of themselves, so their module imports this one


@_plain.register
@dataclass(frozen=True, repr=False)
class Family(Checked):
    """A model with theta in a finite set Theta, the prior knowledge of the paper's parametric case.

    `model.over(thetas)` makes one; `Family.of(models)` makes one of any models.

    Attributes:
        model: The model, whose own theta is ignored.
        thetas: The set Theta, different numbers.
        weights: Prior probabilities, given up to a factor; None if all are equal.
        members: The models of the family, in Theta's order.
        prior: The members' prior weights relative to uniform ones, which are exactly 1; read-only.

    Raises:
        ValueError: The model has no theta or refuses one; thetas are missing or equal; weights are
            not positive numbers, one for each theta.

    >>> from rotting.models import Polynomial
    >>> family = Polynomial().over([0.1, 0.4])
    >>> family.table(3).shape, len(family), family.prior
    ((2, 3), 2, array([1., 1.]))
    >>> Polynomial().over([0.1, 0.4], weights=[3, 1]).weights
    (0.75, 0.25)
    """

    model: Model
    thetas: tuple[float, ...]
    weights: Sequence[float] | None = None

    @staticmethod
    def of(members: Iterable[Model], weights: Sequence[float] | None = None) -> Family:
        """A family of any models: of different shapes, or of different amplitudes (`Scaled`).

        Args:
            members: Different models, each with its theta.
            weights: Their prior probabilities, up to a factor; None for uniform ones.

        Returns:
            A `MixedFamily`; a plain `Family` if the models differ in theta only.

        Raises:
            ValueError: There is no model, one comes twice, or one has no theta.

        >>> from rotting.models import Exponential, Polynomial, Step
        >>> Family.of([Exponential(0.1), Step(100, 1.0, 0.4)], weights=[1, 3])
        Family.of([Exponential(theta=0.1), Step(at=100, before=1.0, after=0.4)],
                  weights=(0.25, 0.75))

        Models that differ in their theta only are that model over these thetas:

        >>> Family.of([Polynomial(0.1), Polynomial(0.4)]) == Polynomial().over([0.1, 0.4])
        True
        """
        found = _as_members(members)
        shapes = {_without_theta(member) for member in found}
        shape = next(iter(shapes))
        # a scaled model's theta is not its own field: such families were always listed, and streams
        # of random numbers are keyed by how a family is written
        if len(shapes) == 1 and "theta" in getattr(shape, "__dataclass_fields__", {}):
            return Family(shape, tuple(member.theta for member in found), weights)  # type: ignore[attr-defined]
        return MixedFamily(found, weights)

    def check(self) -> None:
        if not getattr(self.model, "has_theta", False):
            raise ValueError(f"model of Family must have a theta, got {self.model!r}")
        thetas = tuple(_checks.number("theta", theta) for theta in self.thetas)
        if not thetas:
            raise ValueError("Theta must hold at least one theta, got none")
        if len(set(thetas)) < len(thetas):
            raise ValueError(f"Theta must hold different thetas, got {list(thetas)}")
        self._set("thetas", thetas)
        self._set("weights", _normalised(self.weights, len(thetas)))
        _ = self.members  # each member checks its own theta

    def __repr__(self) -> str:
        # streams of random numbers are keyed by it: without weights it must not change
        weighted = "" if self.weights is None else f", weights={self.weights!r}"
        return f"Family(model={self.model!r}, thetas={self.thetas!r}{weighted})"

    def __len__(self) -> int:
        return len(self.members)

    def plain_fields(self) -> dict[str, Any]:
        """The fields that `rotting._plain` writes."""
        fields: dict[str, Any] = {"model": self.model, "thetas": self.thetas}
        return fields if self.weights is None else {**fields, "weights": self.weights}

    @functools.cached_property
    def members(self) -> tuple[Model, ...]:
        """The models of the family, in Theta's order."""
        return tuple(self.model.with_theta(theta) for theta in self.thetas)

    @property
    def unscaled(self) -> tuple[Family, float]:
        """The family with its model's amplitude divided out, and that amplitude.

        Noise sigma becomes sigma / amplitude there, so a theorem on a model holds for its
        multiples.

        >>> from rotting.models import Polynomial
        >>> Polynomial().times(0.05).over([0.1, 0.4]).unscaled
        (Family(model=Polynomial(theta=None), thetas=(0.1, 0.4)), 0.05)
        """
        model, factor = self.model.unscaled
        return (self if model is self.model else Family(model, self.thetas, self.weights)), factor

    @property
    def names(self) -> tuple[str, ...]:
        """The members' names in messages: their thetas, or the models themselves."""
        return tuple(f"{theta:g}" for theta in self.thetas)

    @functools.cached_property
    def prior(self) -> FloatArray:
        """The members' prior weights relative to uniform ones, which are exactly 1; read-only."""
        count = len(self)
        prior = np.ones(count) if self.weights is None else count * np.array(self.weights)
        prior.flags.writeable = False
        return prior

    def plot(self, axes: Axes | None = None, pulls: int | None = None) -> Axes:
        """Draw the members' mu(n).

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

    def table(self, length: int) -> FloatArray:
        """The means mu(n; theta) for n = 1..length.

        Args:
            length: The number of pulls.

        Returns:
            An array of shape [theta, n].

        Raises:
            ValueError: A member is no rotting model up to there, see `Model.table`.

        >>> from rotting.models import Polynomial
        >>> Polynomial().over([0.5, 1.0]).table(4).round(2)
        array([[1.  , 0.71, 0.58, 0.5 ],
               [1.  , 0.5 , 0.33, 0.25]])
        """
        return np.stack([member.table(length) for member in self.members])

    def sums(self, length: int) -> FloatArray:
        """The cumulative sums of the table, of shape [theta, n] for n = 0..length.

        >>> from rotting.models import Polynomial
        >>> Polynomial().over([1.0]).sums(2)
        array([[0. , 1. , 1.5]])
        """
        return np.pad(np.cumsum(self.table(length), axis=1), ((0, 0), (1, 0)))

    def by_pull(self, length: int) -> FloatArray:
        """The means as [n, theta] for n = 0..length, the order in which policies read them.

        All members' means of one pull are contiguous in memory. Row 0 stands for no pull and is
        zero.
        """
        return rows_by_pull(self, length)[0]

    def sums_by_pull(self, length: int) -> FloatArray:
        """The cumulative sums as [n, theta] for n = 0..length."""
        return rows_by_pull(self, length)[1]

    def rows(self, length: int) -> tuple[FloatArray, FloatArray, int]:
        """`by_pull`, `sums_by_pull`, and the number of leading rows with sums ordered along Theta.

        Very long tables are not cached, so one call is faster than two.
        """
        return rows_by_pull(self, length)


@_plain.register
class MixedFamily(Family):
    """A family of any models. `Family.of` makes it where they are not one model over thetas.

    It has no `model` and no `thetas`; both raise a ValueError.

    Attributes:
        members: The models.
        weights: Prior probabilities; None if all are equal.

    >>> from rotting.models import Exponential, Step
    >>> family = MixedFamily([Exponential(0.1), Step(100, 1.0, 0.4)])
    >>> family.names
    ('Exponential(theta=0.1)', 'Step(at=100, before=1.0, after=0.4)')
    """

    members: tuple[Model, ...]

    def __init__(self, members: Iterable[Model], weights: Sequence[float] | None = None) -> None:
        found = _as_members(members)
        self._set("members", found)
        self._set("weights", _normalised(weights, len(found)))

    def __repr__(self) -> str:
        weighted = "" if self.weights is None else f", weights={self.weights!r}"
        return f"Family.of({list(self.members)!r}{weighted})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MixedFamily):
            return NotImplemented
        return (self.members, self.weights) == (other.members, other.weights)

    def __hash__(self) -> int:
        return hash((self.members, self.weights))

    def plain_fields(self) -> dict[str, Any]:
        return {"members": self.members, "weights": self.weights}

    @property
    def model(self) -> Model:
        """Not available: the members are different models."""
        raise ValueError(f"model must be one for the whole family, but {self._differences}")

    @property
    def thetas(self) -> tuple[float, ...]:
        """Not available: only a family of one model has thetas."""
        raise ValueError(f"thetas must be those of one model, but {self._differences}")

    @property
    def unscaled(self) -> tuple[Family, float]:
        """The family itself, and 1: the members may have different amplitudes."""
        return self, 1.0

    @property
    def _differences(self) -> str:
        for member in self.members:
            if not member.has_theta:
                return f"{member!r} has no theta"
        first = _without_theta(self.members[0])
        other = next((m for m in self.members if _without_theta(m) != first), None)
        if other is None:
            return f"these are a list; a family over thetas is {first!r}.over([...])"
        return f"{self.members[0]!r} and {other!r} differ in more than theta"

    @property
    def names(self) -> tuple[str, ...]:
        """The models as text."""
        return tuple(map(repr, self.members))


def as_numbers(name: str, values: Any) -> tuple[Any, ...]:
    """The values of a list as a tuple; anything else is refused, the values are checked later."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of numbers, got {values!r}")
    return tuple(values)


def _as_members(members: Any) -> tuple[Model, ...]:
    """The models of a mixed family: at least one, all different, each with its theta."""
    if isinstance(members, str) or not isinstance(members, Iterable):
        raise ValueError(f"members must be a list of models, got {members!r}")
    found = tuple(members)
    if not found:
        raise ValueError("members must hold at least one model, got none")
    seen: set[Model] = set()
    for member in found:
        if not hasattr(member, "has_theta") or isinstance(member, type):
            raise ValueError(f"members must be models, as Exponential(0.1), got {member!r}")
        member.mean(1)  # a model without its theta is refused here
        if member in seen:
            raise ValueError(f"members must be different models, got {member!r} twice")
        seen.add(member)
    return found


def _without_theta(model: Any) -> Any:
    """The model with theta left open, or None if it has no theta."""
    return model.with_theta(None) if model.has_theta else None


def _normalised(weights: Any, count: int) -> tuple[float, ...] | None:
    """Weights as probabilities, or None if all are equal."""
    if weights is None:
        return None
    if isinstance(weights, str) or not isinstance(weights, Iterable):
        raise ValueError(f"weights must be a list of numbers, got {weights!r}")
    found = [_checks.number("weights", weight, least=1e-100, most=1e100) for weight in weights]
    if len(found) != count:
        raise ValueError(f"weights must be one for each of {count} models, got {len(found)}")
    if min(found) == max(found):
        return None
    total = math.fsum(found)
    # probabilities stay as they are, so that reading back what was written gives an equal family
    if abs(total - 1.0) > 1e-12:
        found = [weight / total for weight in found]
    return tuple(found)


__all__ = [
    "CACHED",
    "Family",
    "MixedFamily",
    "as_numbers",
    "check_positive",
    "ordered_rows",
]
