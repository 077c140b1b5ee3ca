"""Figures of the dashboard: rewards over time, and by pull number of the arm.

Both are part of an experiment's state: they depend on its events alone, and their size is bounded.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

BUCKETS = 240  # of time; when all are used, pairs are merged
POLICY, CONTROL = 0, 1


class Series:
    """Rewards and showings by the time of the decision."""

    __slots__ = ("rewards", "shares", "start", "width")

    def __init__(self, start: float) -> None:
        self.start, self.width = math.floor(start), 1.0
        # [policy or control][bucket] = [rewards, their sum]
        self.rewards: list[list[list[float]]] = [[], []]
        self.shares: list[list[int]] = []  # [arm][bucket]

    def bucket(self, at: float) -> int:
        """The bucket of a time; missing ones are added."""
        place = int((at - self.start) / self.width)
        while place >= BUCKETS:
            self._halve()
            place = int((at - self.start) / self.width)
        for group in self.rewards:
            while len(group) <= place:
                group.append([0, 0.0])
        return max(place, 0)

    def decided(self, arm: int, at: float) -> None:
        """Count a decision for an arm."""
        place = self.bucket(at)
        while len(self.shares) <= arm:
            self.shares.append([])
        row = self.shares[arm]
        while len(row) <= place:
            row.append(0)
        row[place] += 1

    def take_back(self, arm: int, at: float) -> None:
        """Undo `decided`: another arm was shown."""
        self.shares[arm][self.bucket(at)] -= 1

    def decided_many(self, arms: list[int], at: float) -> None:
        """Count many decisions at the same time."""
        for arm, count in Counter(arms).items():
            self.decided(arm, at)
            self.shares[arm][-1] += count - 1

    def rewarded(self, control: bool, at: float, reward: float) -> None:
        """Add the reward of a decision made at this time."""
        cell = self.rewards[control][self.bucket(at)]
        cell[0] += 1
        cell[1] += reward

    def _halve(self) -> None:
        self.width *= 2.0
        for group in self.rewards:
            if len(group) % 2:
                group.append([0, 0.0])
            pairs = zip(group[::2], group[1::2], strict=True)
            group[:] = [[a[0] + b[0], a[1] + b[1]] for a, b in pairs]
        for row in self.shares:
            if len(row) % 2:
                row.append(0)
            row[:] = [a + b for a, b in zip(row[::2], row[1::2], strict=True)]

    def to_plain(self) -> list[Any]:
        """The state as plain data."""
        return [self.start, self.width, self.rewards, self.shares]

    @classmethod
    def from_plain(cls, data: list[Any]) -> Series:
        """The series that `to_plain` wrote."""
        series = cls(0.0)
        series.start, series.width, series.rewards, series.shares = data
        return series


def cell_of(pull: int) -> int:
    """The cell of a pull. Each power of two has two cells: 1, 2, 3, 4-5, 6-7, 8-11, 12-15, ...

    >>> [cell_of(n) for n in (1, 2, 3, 4, 5, 6, 8, 12)]
    [0, 1, 2, 3, 3, 4, 5, 6]
    """
    size = pull.bit_length()
    return 0 if size <= 1 else 2 * size - 3 + (pull >> (size - 2) & 1)


def ends_of(cell: int) -> tuple[int, int]:
    """The first and the last pull of a cell.

    >>> [ends_of(cell) for cell in range(6)]
    [(1, 1), (2, 2), (3, 3), (4, 5), (6, 7), (8, 11)]
    """
    if cell == 0:
        return 1, 1
    size, upper = (cell + 3) // 2, (cell + 1) % 2
    first = (1 << (size - 1)) + (upper << (size - 2))
    return first, first + (1 << max(size - 2, 0)) - 1


class Cells:
    """Rewards of each arm by pull number: count, sum, sum of squares."""

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows: list[list[list[float]]] = []  # [arm][cell]

    def rewarded(self, arm: int, pull: int, reward: float) -> None:
        """Add the reward of a pull."""
        while len(self.rows) <= arm:
            self.rows.append([])
        row, cell = self.rows[arm], cell_of(pull)
        while len(row) <= cell:
            row.append([0, 0.0, 0.0])
        sums = row[cell]
        sums[0] += 1
        sums[1] += reward
        sums[2] += reward * reward

    def shown(self, arm: int) -> list[dict[str, Any]]:
        """Means of an arm's cells with 95 % intervals, by normal approximation."""
        found = []
        for cell, (n, total, squares) in enumerate(self.rows[arm] if arm < len(self.rows) else ()):
            if n == 0:
                continue
            first, last = ends_of(cell)
            mean = total / n
            scatter = max(squares / n - mean * mean, 0.0)
            half = 1.96 * math.sqrt(scatter / (n - 1)) if n > 1 else None
            found.append(
                {
                    "from": first,
                    "to": last,
                    "n": int(n),
                    "mean": mean,
                    "low": None if half is None else mean - half,
                    "high": None if half is None else mean + half,
                }
            )
        return found
