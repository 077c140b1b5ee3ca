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
    """A model with theta anywhere in [low, high].

    Made by `model.between(low, high)`. Policies compute at equidistant nodes and interpolate
    between them, so estimates of theta are not bound to the grid. 33 nodes are plenty for the
    models here: doubling them changes nothing that matters.

    Attributes:
        model: The model, whose own theta is ignored.
        low: The lower end.
        high: The upper end, above `low`.
        nodes: The number of nodes, from 3 to 100,000.

    Raises:
        ValueError: The model has no theta, or refuses one of the interval.

    >>> from rotting.models import Polynomial
    >>> Polynomial().between(0.1, 0.4, nodes=4).family.thetas
    (0.1, 0.2, 0.30000000000000004, 0.4)
    """

    model: Model
    low: Real
    high: Real
    nodes: Annotated[int, Whole(least=3, most=100_000)] = 33

    def check(self) -> None:
        _checks.number("high", self.high, above=self.low)
        _ = Family(self.model, (self.low, self.high)).members  # each checks its own theta
        try:
            _plain.to_plain(self.model)
        except ValueError:  # a user's function: all nodes are checked, not the ends alone
            _ = self.family

    @functools.cached_property
    def family(self) -> Family:
        """The `Family` of the models at the nodes."""
        return Family(self.model, tuple(np.linspace(self.low, self.high, self.nodes).tolist()))

    def table(self, length: int) -> FloatArray:
        """The means at the nodes.

        Args:
            length: The number of pulls.

        Returns:
            mu(n; theta) for n = 1..length, of shape [node, n].
        """
        return self.family.table(length)

    def plot(self, axes: Axes | None = None, pulls: int | None = None) -> Axes:
        """Draw mu(n) of some of its thetas.

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
