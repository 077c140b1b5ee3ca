"""Families: a model with theta in a finite set, or anywhere in an interval.

A `Family` is the prior knowledge of the paper's parametric case, `Plateau(length=100).over([0.1,
0.2])`. An `Interval` lets theta be any number between two, `Plateau(length=100).between(0.1, 0.4)`,
which the paper names as future work; policies work on its nodes and interpolate between them.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rotting import checks
from rotting.arrays import FloatArray

if TYPE_CHECKING:
    from rotting.models import Model

CACHED = 1 << 20  # tables longer than this are made anew each time: caching would hoard memory


@dataclass(frozen=True)
class Family:
    """A model with a finite set Theta: the prior knowledge of the parametric case.

    >>> from rotting.models import Polynomial
    >>> family = Polynomial().over([0.1, 0.4])
    >>> family.table(3).shape, len(family)
    ((2, 3), 2)
    """

    model: Model
    thetas: tuple[float, ...]

    def __post_init__(self) -> None:
        if not hasattr(self.model, "theta"):
            raise ValueError(f"model of Family must have a theta, got {self.model!r}")
        thetas = tuple(checks.number("theta", theta) for theta in self.thetas)
        if not thetas:
            raise ValueError("Theta must hold at least one theta, got none")
        if len(set(thetas)) < len(thetas):
            raise ValueError(f"Theta must hold different thetas, got {list(thetas)}")
        object.__setattr__(self, "thetas", thetas)
        _ = self.members  # each member checks its own theta

    def __len__(self) -> int:
        return len(self.thetas)

    @functools.cached_property
    def members(self) -> tuple[Model, ...]:
        """The models of the family, in Theta's order."""
        return tuple(dataclasses.replace(self.model, theta=t) for t in self.thetas)  # type: ignore[type-var]

    def table(self, length: int) -> FloatArray:
        """mu(n; theta) for n = 1..length, of shape [theta, n]."""
        return np.stack([member.table(length) for member in self.members])

    def sums(self, length: int) -> FloatArray:
        """Cumulative sums of the table: the sum over j <= n of mu(j; theta), for n = 0..length."""
        return np.pad(np.cumsum(self.table(length), axis=1), ((0, 0), (1, 0)))

    def by_pull(self, length: int) -> FloatArray:
        """The table as [n, theta], n = 0..length: what a policy reads at one pull lies together.

        Row 0 stands for no pull and is zero.
        """
        return _rows(self, length)[0]

    def sums_by_pull(self, length: int) -> FloatArray:
        """The cumulative sums as [n, theta], n = 0..length."""
        return _rows(self, length)[1]

    def rows(self, length: int) -> tuple[FloatArray, FloatArray, int]:
        """`by_pull`, `sums_by_pull`, and how many rows of sums are ordered (`ordered_rows`).

        Very long tables are made anew each time: ask for what belongs together at once.
        """
        return _rows(self, length)


@dataclass(frozen=True)
class Interval:
    """A model with theta anywhere in [low, high], known to policies on equidistant nodes.

    Between nodes they interpolate, so that theta is not bound to the grid. 33 nodes are plenty for
    the models here: doubling them changes nothing that matters.

    >>> from rotting.models import Polynomial
    >>> Polynomial().between(0.1, 0.4, nodes=4).family.thetas
    (0.1, 0.2, 0.30000000000000004, 0.4)
    """

    model: Model
    low: float
    high: float
    nodes: int = 33

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", checks.number("low", self.low))
        object.__setattr__(self, "high", checks.number("high", self.high, above=self.low))
        object.__setattr__(self, "nodes", checks.integer("nodes", self.nodes, 3, 100_000))
        _ = self.family  # its members check their thetas

    @functools.cached_property
    def family(self) -> Family:
        """The models at the nodes."""
        return Family(self.model, tuple(np.linspace(self.low, self.high, self.nodes).tolist()))


def ordered_rows(sums: FloatArray) -> int:
    """How many rows from the first on have sums that rise, fall or are all equal along Theta."""
    steps = np.diff(sums, axis=1)
    one_way = np.all(steps > 0, axis=1) | np.all(steps < 0, axis=1) | np.all(steps == 0, axis=1)
    return len(one_way) if one_way.all() else int(np.argmin(one_way))


def _make_rows(family: Family, length: int) -> tuple[FloatArray, FloatArray, int]:
    rows = np.ascontiguousarray(np.pad(family.table(length), ((0, 0), (1, 0))).T)
    sums = np.cumsum(rows, axis=0)
    rows.flags.writeable = sums.flags.writeable = False
    return rows, sums, ordered_rows(sums)


_cached_rows = functools.lru_cache(maxsize=8)(_make_rows)


def _rows(family: Family, length: int) -> tuple[FloatArray, FloatArray, int]:
    return (_cached_rows if length <= CACHED else _make_rows)(family, length)


def check_positive(who: str, family: Family, length: int) -> None:
    """Refuse a family that is not positive up to `length`, as Assumption 4.1 asks of it.

    A mean that has faded below the smallest float reads as zero and is let pass.
    """
    found = _not_positive(family, length)
    if found is not None:
        n, theta, mean = found
        raise ValueError(
            f"{who} needs a positive family (Assumption 4.1), but mu({n}; {theta:g}) = {mean:g}"
        )


@functools.lru_cache(maxsize=32)
def _not_positive(family: Family, length: int) -> tuple[int, float, float] | None:
    """The first n, theta and mean that is not positive, if any."""
    for theta, member in zip(family.thetas, family.members, strict=True):
        means = member.table(length)
        before = np.concatenate([[1.0], means[:-1]])
        low = np.flatnonzero((means < 0.0) | ((means == 0.0) & (before > 1e-300)))
        if low.size:
            return int(low[0]) + 1, theta, float(means[low[0]])
    return None
