"""Families: what is known of the arms before playing, a finite set of models with prior weights.

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
    """A model with a finite set Theta, or any models (see `of`): the parametric case's knowledge.

    `weights` are prior probabilities, given up to a factor; None if all are alike.

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
        """A family of any models: of different shapes, of different amplitudes (`Scaled`).

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
        """Different thetas, each of which the model takes."""
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
        # streams of random numbers are keyed by it: it must not change where nothing is weighted
        weighted = "" if self.weights is None else f", weights={self.weights!r}"
        return f"Family(model={self.model!r}, thetas={self.thetas!r}{weighted})"

    def __len__(self) -> int:
        return len(self.members)

    def plain_fields(self) -> dict[str, Any]:
        """What `rotting._plain` writes."""
        fields: dict[str, Any] = {"model": self.model, "thetas": self.thetas}
        return fields if self.weights is None else {**fields, "weights": self.weights}

    @functools.cached_property
    def members(self) -> tuple[Model, ...]:
        """The models of the family, in Theta's order."""
        return tuple(self.model.with_theta(theta) for theta in self.thetas)

    @property
    def unscaled(self) -> tuple[Family, float]:
        """The same family in the unit in which its model has no amplitude, and that unit.

        Noise sigma is sigma / unit there. So what is proved of a model holds for its multiples.

        >>> from rotting.models import Polynomial
        >>> Polynomial().times(0.05).over([0.1, 0.4]).unscaled
        (Family(model=Polynomial(theta=None), thetas=(0.1, 0.4)), 0.05)
        """
        model, factor = self.model.unscaled
        return (self if model is self.model else Family(model, self.thetas, self.weights)), factor

    @property
    def names(self) -> tuple[str, ...]:
        """What tells the members apart, for messages: their thetas, or the models themselves."""
        return tuple(f"{theta:g}" for theta in self.thetas)

    @functools.cached_property
    def prior(self) -> FloatArray:
        """The members' prior weights relative to uniform ones, which are exactly 1; read-only."""
        count = len(self)
        prior = np.ones(count) if self.weights is None else count * np.array(self.weights)
        prior.flags.writeable = False
        return prior

    def plot(self, axes: Axes | None = None, pulls: int | None = None) -> Axes:
        """Draw the members' mu(n), into these axes or a new figure's; returns the axes.

        `pulls` is how far, by default until half of the fall is seen, or more.
        """
        drawn: Axes = _display.plot(self, axes=axes, pulls=pulls)
        return drawn

    def _repr_html_(self) -> str:
        """For notebooks: the members, a few of their means and their curves."""
        return _display.html(self)

    def table(self, length: int) -> FloatArray:
        """mu(n; theta) for n = 1..length, of shape [theta, n]."""
        return np.stack([member.table(length) for member in self.members])

    def sums(self, length: int) -> FloatArray:
        """Cumulative sums of the table: the sum over j <= n of mu(j; theta), for n = 0..length."""
        return np.pad(np.cumsum(self.table(length), axis=1), ((0, 0), (1, 0)))

    def by_pull(self, length: int) -> FloatArray:
        """The table as [n, theta], n = 0..length: what a policy reads at one pull is contiguous.

        Row 0 stands for no pull and is zero.
        """
        return rows_by_pull(self, length)[0]

    def sums_by_pull(self, length: int) -> FloatArray:
        """The cumulative sums as [n, theta], n = 0..length."""
        return rows_by_pull(self, length)[1]

    def rows(self, length: int) -> tuple[FloatArray, FloatArray, int]:
        """`by_pull`, `sums_by_pull`, and how many rows of sums are ordered (`ordered_rows`).

        Very long tables are not cached: ask for what belongs together at once.
        """
        return rows_by_pull(self, length)


@_plain.register
class MixedFamily(Family):
    """A family of any models, as `Family.of` makes it where they are not one model over thetas."""

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
        """What `rotting._plain` writes."""
        return {"members": self.members, "weights": self.weights}

    @property
    def model(self) -> Model:
        """Refused: there is no one model."""
        raise ValueError(f"model must be one for the whole family, but {self._differences}")

    @property
    def thetas(self) -> tuple[float, ...]:
        """Refused: only one model over its thetas has them."""
        raise ValueError(f"thetas must be those of one model, but {self._differences}")

    @property
    def unscaled(self) -> tuple[Family, float]:
        """Itself, in its own unit: the members may have amplitudes of their own."""
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
        """The models themselves."""
        return tuple(map(repr, self.members))


def as_numbers(name: str, values: Any) -> tuple[Any, ...]:
    """The values of a list; what is no list is refused, and the values are checked later."""
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
    """Weights as probabilities, or None if all are alike."""
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
