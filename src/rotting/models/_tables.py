"""The tables of a family in the order in which policies read them, and a check of their signs.

A family has one pair of tables; every request gets the first rows of it. Address space is reserved
generously (the operating system provides memory only for pages that are written), so rows are added
in place, a few at a time: a player prepares the next ones while it plays (`Rows.step`), and no
decision waits for a whole table.
"""

from __future__ import annotations

import functools
import mmap
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from rotting import _checks
from rotting.kernel.arrays import FloatArray

if TYPE_CHECKING:
    from rotting.models._families import Family

CACHED = 1 << 20  # longer tables are not cached: a few would fill the memory
_RESERVED = 1 << 23  # numbers of a table for which space is reserved
_KEPT = 1 << 17  # shorter tables stay cached, and players extend them
_STEP = 128  # rows made together
_BLOCK = 1 << 14  # rows summed together, to bound temporary memory
_SMALL = 1e-300  # a mean that underflows to zero comes after one below this


def ordered_rows(sums: FloatArray) -> int:
    """The number of leading rows whose sums all rise, all fall or are all equal along Theta."""
    steps = np.diff(sums, axis=1)
    one_way = np.all(steps > 0, axis=1) | np.all(steps < 0, axis=1) | np.all(steps == 0, axis=1)
    return len(one_way) if one_way.all() else int(np.argmin(one_way))


def check_means(name: str, means: FloatArray, first: int = 1) -> None:
    """Refuse means that are not finite, are too large or rise, naming the first such pull.

    Args:
        name: The model's name, for the message.
        means: Means of consecutive pulls.
        first: The number of the first of these pulls.

    Raises:
        ValueError: A mean is not finite, is above 1e100 in size, or is higher than the one before.

    >>> check_means("mine", np.array([1.0, 0.5, 0.6]))
    Traceback (most recent call last):
    ValueError: mine must never rise, but mu(3) = 0.6 > mu(2) = 0.5
    """
    bad = np.flatnonzero(~(np.abs(means) <= _checks.HUGE))
    if bad.size:
        mean = means[bad[0]]
        allowed = "at most 1e100 in size" if np.isfinite(mean) else "finite"
        raise ValueError(f"{name} must be {allowed}, got {mean} at n = {bad[0] + first}")
    rising = np.flatnonzero(means[1:] > means[:-1])
    if rising.size:
        k = int(rising[0]) + 1
        n = k + first
        raise ValueError(
            f"{name} must never rise, but mu({n}) = {means[k]} > mu({n - 1}) = {means[k - 1]}"
        )


def _reserved(rows: int, width: int) -> FloatArray:
    """An array whose memory is provided page by page, when it is written to.

    NumPy would ask for huge pages; clearing one of those takes as long as a hundred decisions.
    """
    space = mmap.mmap(-1, 8 * rows * width)
    return np.frombuffer(space, dtype=np.float64).reshape(rows, width)


class Rows:
    """The means and their sums of one family as [n, theta], up to the rows made so far."""

    def __init__(self, family: Family) -> None:
        self._members, self._names = family.members, family.names
        self._made = 1  # number of finished rows; row 0 stands for no pull
        self._ordered = 0  # number of leading rows that are ordered, see `ordered_rows`
        self._column = 0  # number of models whose means of the next rows are made
        self._end = 1  # the next rows are those from `_made` up to here
        self._low: dict[int, tuple[int, float]] = {}  # a model's first mean that is not positive
        self._mu, self._sums = self._space(_STEP)
        self._mu[0] = self._sums[0] = 0.0
        self._lock = threading.RLock()

    def _space(self, rows: int) -> tuple[FloatArray, ...]:
        width = len(self._members)
        return tuple(_reserved(max(rows, min(CACHED, _RESERVED // width)), width) for _ in range(2))

    def first(self, length: int) -> tuple[FloatArray, FloatArray, int]:
        """Read-only means and sums for n = 0..length, and the number of leading ordered rows."""
        with self._lock:
            if length >= self._made:
                self._column = 0
                self._fill(range(len(self._members)), length + 1)
                self._add_up(length + 1)
            found = self._mu[: length + 1], self._sums[: length + 1]
            ordered = min(self._ordered, length + 1)
        for array in found:
            array.flags.writeable = False
        return *found, ordered

    def reach(self, length: int) -> bool:
        """Whether the row of this pull is made."""
        return self._made > length

    def step(self, length: int) -> bool:
        """Do a small part of the work towards `length`; returns True if there was none left."""
        with self._lock:
            if self._made > length:
                return True
            if self._column == 0:
                self._end = min(self._made + _STEP, length + 1)
            if self._column < len(self._members):
                self._fill([self._column], self._end)
                self._column += 1
            else:
                self._column = 0
                self._add_up(self._end)
            return False

    def _fill(self, members: Any, end: int) -> None:
        """Compute the means of some models in the rows from `_made` up to `end`."""
        if end > self._mu.shape[0]:
            made = self._mu, self._sums
            self._mu, self._sums = self._space(max(end, 2 * self._mu.shape[0]))
            for new, old in zip((self._mu, self._sums), made, strict=True):
                new[: self._made] = old[: self._made]
            if self._column:  # the unfinished rows, too
                self._mu[self._made : made[0].shape[0]] = made[0][self._made :]
        for k in members:
            self._mu[self._made : end, k] = self._means(k, end)

    def _means(self, k: int, end: int) -> FloatArray:
        """mu(n; theta) of one model for the rows from `_made` up to `end`, checked."""
        start = max(1, self._made - 1)  # the row before as well: means must not rise from it either
        means = np.array(self._members[k].mean(np.arange(start, end)), dtype=np.float64)
        check_means(repr(self._members[k]), means, start)
        if k not in self._low:
            found = _first_low(means, start, self._made)
            if found is not None:
                self._low[k] = found
        return means[self._made - start :]

    def _add_up(self, end: int) -> None:
        """Sum up the rows before `end`, whose means are made."""
        while self._made < end:
            made, stop = self._made, min(end, self._made + _BLOCK)
            block = self._mu[made - 1 : stop].copy()
            block[0] = self._sums[made - 1]
            self._sums[made:stop] = np.cumsum(block, axis=0)[1:]
            if self._ordered >= made - 1:  # all rows so far are ordered
                self._ordered = made - 1 + ordered_rows(self._sums[made - 1 : stop])
            self._made = stop

    def not_positive(self, length: int) -> tuple[int, str, float] | None:
        """The first pull up to `length` whose mean is not positive, the model and the mean."""
        self.first(length)
        for k, name in enumerate(self._names):
            if k in self._low and self._low[k][0] <= length:
                n, mean = self._low[k]
                return n, name, mean
        return None


def _first_low(means: FloatArray, start: int, since: int) -> tuple[int, float] | None:
    """The first pull from `since` on whose mean is not positive, and that mean.

    `means` begin with pull `start`.
    """
    before = np.append(1.0, means[:-1])
    low = np.flatnonzero((means < 0.0) | ((means == 0.0) & (before > _SMALL))) + start
    low = low[low >= since]
    return (int(low[0]), float(means[low[0] - start])) if low.size else None


def _far(family: Family, length: int) -> tuple[int, str, float] | None:
    """`Rows.not_positive` for very long horizons, without a table."""
    for name, member in zip(family.names, family.members, strict=True):
        for since in range(1, length + 1, _BLOCK):
            start = max(1, since - 1)
            pulls = np.arange(start, min(since + _BLOCK, length + 1))
            found = _first_low(np.asarray(member.mean(pulls), dtype=np.float64), start, since)
            if found is not None:
                return found[0], name, found[1]
    return None


rows_of = functools.lru_cache(maxsize=16)(Rows)


def rows_by_pull(family: Family, length: int) -> tuple[FloatArray, FloatArray, int]:
    """Means and sums as [n, theta], n = 0..length, and the number of leading ordered rows."""
    _checks.integer("length", length, least=1)
    return (_kept(family, length) or Rows(family)).first(length)


def _kept(family: Family, length: int) -> Rows | None:
    """The family's cached rows; None for a long table that has not been made: it is not cached."""
    kept = rows_of(family)
    return kept if length < _KEPT or kept.reach(length) else None


def check_positive(who: str, family: Family, length: int) -> None:
    """Refuse a family that is not positive up to a pull (Assumption 4.1).

    A mean that underflows to zero is accepted.

    Args:
        who: The policy that needs it, for the message.
        family: The family.
        length: The last pull checked.

    Raises:
        ValueError: A mean is zero or negative; the message names the pull and the model.

    >>> from rotting.models import Family, Step
    >>> check_positive("CTO", Family.of([Step(2, before=1.0, after=-0.5)]), length=10)
    Traceback (most recent call last):
    ValueError: CTO needs a positive family (Assumption 4.1), but
    mu(3; Step(at=2, before=1.0, after=-0.5)) = -0.5
    """
    kept = _kept(family, length)
    found = _far(family, length) if kept is None else kept.not_positive(length)
    if found is not None:
        n, name, mean = found
        raise ValueError(
            f"{who} needs a positive family (Assumption 4.1), but mu({n}; {name}) = {mean:g}"
        )
