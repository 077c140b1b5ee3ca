"""The rows of a log as a fit takes them: known rewards, whose they are, and exposures in cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.logs._log import Log

MOST_KEYS, MOST_ROWS = 20_000, 400_000  # of which keys' factors are learnt; else a sample
_MOST_GROUPS = 20_000  # more are put together where rows are packed
_BLOCKS = 1000  # of rows that are resampled together where there are no keys
_EXACT, _RATIO = 24, 1.08  # exposures that are cells of their own, and how cells grow from there


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with known rewards, those of a group next to each other.

    group   what is resampled together: keys, or blocks of rows without keys; from 0
    cell    the place of the exposure in `nodes`
    unit    what is known to multiply the row's mean; ones unless given
    scatter squares of rewards around `reward`, where that is the mean of several (`packed`)
    nodes   exposures that stand for cells; `firsts` where each begins
    """

    group: IntArray
    arm: IntArray
    cell: IntArray
    reward: FloatArray
    weight: FloatArray
    unit: FloatArray
    scatter: FloatArray
    nodes: IntArray
    firsts: IntArray
    arms: int
    binary: bool

    @property
    def starts(self) -> IntArray:
        """The first row of each group."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    @property
    def groups(self) -> int:
        """How many there are."""
        return int(self.group[-1]) + 1

    def by_cell(self, values: Any, where: Any = None) -> FloatArray:
        """Sums of values over rows by [arm, cell]; `where` are the rows that count."""
        place = self.arm * len(self.nodes) + self.cell
        if where is not None:
            place, values = place[where], values[where]
        size = self.arms * len(self.nodes)
        found = np.bincount(place, values, size).astype(np.float64)
        return found.reshape(self.arms, -1)

    def by_group(self, values: FloatArray) -> FloatArray:
        """Sums of values, a row or an array [row, ...], over the rows of each group."""
        found: FloatArray = np.add.reduceat(values, self.starts, axis=0)
        return found


def cells_of(longest: int) -> IntArray:
    """Where cells of exposures begin: each its own at first, then 8 % wide.

    >>> cells_of(30).tolist()[-8:]
    [20, 21, 22, 23, 24, 26, 28, 30]
    """
    firsts = list(range(1, min(longest, _EXACT) + 1))
    while firsts[-1] < longest:
        following = max(firsts[-1] + 1, round(firsts[-1] * _RATIO))
        if following > longest:
            break
        firsts.append(following)
    return np.array(firsts, dtype=np.int64)


def known_rows(log: Log) -> npt.NDArray[np.bool_]:
    """Rows that say something of rates: with a reward, and no younger than the window for it."""
    found: npt.NDArray[np.bool_] = ~np.isnan(log.reward) & log.settled
    return found


def rows_of(
    log: Log,
    weights: FloatArray | None = None,
    offsets: FloatArray | None = None,
    keys: npt.NDArray[Any] | None = None,
) -> Rows:
    """The rows with known rewards; of these keys only, if given."""
    known = known_rows(log)
    if keys is not None:
        known &= np.isin(log.key, keys)
    order = np.flatnonzero(known)
    if log.has_keys:
        group = np.unique(log.key[order], return_inverse=True)[1].astype(np.int64)
    else:  # neighbours of one arm together: what they share stays together
        group = np.arange(len(order)) // max(1, len(order) // _BLOCKS)
    exposure = log.exposure[order].astype(np.int64)
    firsts = cells_of(int(exposure.max()))
    lasts = np.append(firsts[1:] - 1, max(int(exposure.max()), int(firsts[-1])))
    nodes = np.where(firsts == lasts, firsts, np.sqrt(firsts * lasts).round()).astype(np.int64)
    one = np.ones(len(order))
    return Rows(
        group=group,
        arm=log.arm[order].astype(np.int64),
        cell=np.searchsorted(firsts, exposure, side="right") - 1,
        reward=log.reward[order].astype(np.float64),
        weight=one if weights is None else np.asarray(weights, dtype=np.float64)[order],
        scatter=np.zeros(len(order)),
        unit=one if offsets is None else np.asarray(offsets, dtype=np.float64)[order],
        nodes=nodes,
        firsts=firsts,
        arms=len(log.arms),
        binary=log.binary,
    )


def some_groups(rows: Rows, groups: npt.NDArray[np.bool_]) -> Rows:
    """The rows of the marked groups, which are numbered anew."""
    kept = groups[rows.group]
    numbers = np.cumsum(groups) - 1
    names = ("arm", "cell", "reward", "weight", "unit", "scatter")
    taken = {name: getattr(rows, name)[kept] for name in names}
    return replace(rows, group=numbers[rows.group[kept]], **taken)


def packed(rows: Rows) -> Rows:
    """Rows of one group, arm and cell as one, for fits in which keys have no factors.

    Their mean reward, with their number as its weight, says of a curve what they say one by one.
    """
    group = rows.group % min(rows.groups, _MOST_GROUPS)
    place = (group * rows.arms + rows.arm) * len(rows.nodes) + rows.cell
    found, where = np.unique(place, return_inverse=True)

    def added(values: FloatArray) -> FloatArray:
        return np.bincount(where, values, len(found)).astype(np.float64)

    weight = added(rows.weight)
    mean = added(rows.weight * rows.reward) / np.maximum(weight, 1e-300)
    off = rows.weight * (rows.reward - mean[where]) ** 2
    return replace(
        rows,
        group=found // (rows.arms * len(rows.nodes)),
        arm=found // len(rows.nodes) % rows.arms,
        cell=found % len(rows.nodes),
        reward=mean,
        weight=weight,
        unit=np.ones(len(found)),
        scatter=added(off),
    )
