"""An interval of thetas: theta may be any number between two, which the paper names as future work.

Policies work on equidistant nodes, `Plateau(length=100).between(0.1, 0.4).family`, and interpolate.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from rotting import _checks, _display, _plain
from rotting.kernel.arrays import FloatArray
from rotting.models._families import Family
from rotting.parameters import Checked, Real, Whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rotting.models._base import Model
else:
    Model = Any  # models make intervals of themselves, so their module imports this one


@_plain.register
@dataclass(frozen=True)
class Interval(Checked):
    """A model with theta anywhere in [low, high], known to policies on equidistant nodes.

    Between nodes they interpolate, so that theta is not bound to the grid. 33 nodes are plenty for
    the models here: doubling them changes nothing that matters.

    >>> from rotting.models import Polynomial
    >>> Polynomial().between(0.1, 0.4, nodes=4).family.thetas
    (0.1, 0.2, 0.30000000000000004, 0.4)
    """

    model: Model
    low: Real
    high: Real
    nodes: Annotated[int, Whole(least=3, most=100_000)] = 33

    def check(self) -> None:
        """The ends are in order, and the model takes all thetas between them."""
        _checks.number("high", self.high, above=self.low)
        _ = Family(self.model, (self.low, self.high)).members  # each checks its own theta
        try:
            _plain.to_plain(self.model)
        except ValueError:  # a function of the user's may do anything in between
            _ = self.family

    @functools.cached_property
    def family(self) -> Family:
        """The models at the nodes."""
        return Family(self.model, tuple(np.linspace(self.low, self.high, self.nodes).tolist()))

    def table(self, length: int) -> FloatArray:
        """mu(n; theta) for n = 1..length at the nodes, of shape [node, n]."""
        return self.family.table(length)

    def plot(self, axes: Axes | None = None, pulls: int | None = None) -> Axes:
        """Draw mu(n) of some of its thetas, into these axes or a new figure's; returns the axes.

        `pulls` is how far, by default until half of the fall is seen, or more.
        """
        drawn: Axes = _display.plot(self, axes=axes, pulls=pulls)
        return drawn

    def _repr_html_(self) -> str:
        """For notebooks: a few thetas with their means and curves."""
        return _display.html(self)
