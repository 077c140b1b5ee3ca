"""Families in which both theta and the amplitude are unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rotting import _checks, _plain
from rotting.models._families import Family, MixedFamily, as_numbers

if TYPE_CHECKING:
    from rotting.models._base import Model
else:
    Model = Any  # models make grids of themselves, so their module imports this one


MOST = 10_000  # members, whose number is the product of the two lists' lengths


@_plain.register
class Grid(MixedFamily):
    """One model with every theta of a list and every amplitude of another: both are unknown.

    Made by `model.over(thetas, amplitudes=[...])`. Its members are `Scaled` models, each theta's
    amplitudes in turn. It has no `thetas`, because each theta belongs to several members.

    Raises:
        ValueError: A list is empty or has a value twice, or there are more than 10,000 members.

    >>> from rotting.models import Exponential
    >>> family = Exponential().over([0.001, 0.01], amplitudes=[0.02, 0.1])
    >>> family
    Grid(model=Exponential(theta=None), thetas=(0.001, 0.01), amplitudes=(0.02, 0.1))
    >>> family.members[1]
    Scaled(model=Exponential(theta=0.001), factor=0.1)
    """

    def __init__(
        self, model: Model, thetas: Any, amplitudes: Any, weights: Sequence[float] | None = None
    ) -> None:
        rows = Family(model, as_numbers("Theta", thetas))
        factors = tuple(
            _checks.number("amplitudes", factor, above=0)
            for factor in as_numbers("amplitudes", amplitudes)
        )
        if len(set(factors)) < len(factors):
            raise ValueError(f"amplitudes must be different numbers, got {list(factors)}")
        _checks.integer("thetas times amplitudes", len(rows.thetas) * len(factors), 0, MOST)
        self._set("_axes", {"model": model, "thetas": rows.thetas, "amplitudes": factors})
        super().__init__([m.times(factor) for m in rows.members for factor in factors], weights)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.plain_fields().items())
        return f"Grid({shown})"

    def plain_fields(self) -> dict[str, Any]:
        axes: dict[str, Any] = self.__dict__["_axes"]
        return {**axes, **({} if self.weights is None else {"weights": self.weights})}
