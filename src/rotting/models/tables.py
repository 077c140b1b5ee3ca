"""The tables of a family in the order in which policies read them, and a check of their signs."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from rotting.arrays import FloatArray

if TYPE_CHECKING:
    from rotting.models.families import Family

CACHED = 1 << 20  # longer tables are not cached: a few would fill the memory


def ordered_rows(sums: FloatArray) -> int:
    """How many rows from the first on have sums that rise, fall or are all equal along Theta."""
    steps = np.diff(sums, axis=1)
    one_way = np.all(steps > 0, axis=1) | np.all(steps < 0, axis=1) | np.all(steps == 0, axis=1)
    return len(one_way) if one_way.all() else int(np.argmin(one_way))


def rows_by_pull(family: Family, length: int) -> tuple[FloatArray, FloatArray, int]:
    """Means and sums as [n, theta], n = 0..length, and how many rows of sums are ordered."""
    return (_cached_rows if length <= CACHED else _rows)(family, length)


def _rows(family: Family, length: int) -> tuple[FloatArray, FloatArray, int]:
    rows = np.ascontiguousarray(np.pad(family.table(length), ((0, 0), (1, 0))).T)
    sums = np.cumsum(rows, axis=0)
    rows.flags.writeable = sums.flags.writeable = False
    return rows, sums, ordered_rows(sums)


_cached_rows = functools.lru_cache(maxsize=8)(_rows)


def check_positive(who: str, family: Family, length: int) -> None:
    """Refuse a family that is not positive up to `length`, as Assumption 4.1 asks of it.

    A mean that underflows to zero is accepted.
    """
    found = _not_positive(family, length)
    if found is not None:
        n, name, mean = found
        raise ValueError(
            f"{who} needs a positive family (Assumption 4.1), but mu({n}; {name}) = {mean:g}"
        )


@functools.lru_cache(maxsize=32)
def _not_positive(family: Family, length: int) -> tuple[int, str, float] | None:
    """The first n, member and mean that is not positive, if any."""
    for name, member in zip(family.names, family.members, strict=True):
        means = member.table(length)
        before = np.concatenate([[1.0], means[:-1]])
        low = np.flatnonzero((means < 0.0) | ((means == 0.0) & (before > 1e-300)))
        if low.size:
            return int(low[0]) + 1, name, float(means[low[0]])
    return None
