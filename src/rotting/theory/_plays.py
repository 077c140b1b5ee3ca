"""Two policies for known means: pi_max (Eq. 3), and its estimate in Appendix C.1.

The proof of Theorem 3.1 compares SWA with a policy that takes the *last* mean of each arm for its
next one. It loses at most K max mu_i(1) against pi_max (Heidari, Kearns & Roth 2016, Theorem 3).
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rotting import _checks
from rotting.kernel.arrays import FloatArray, IntArray


class Play(NamedTuple):
    """A sequence of pulls and the reward it collects.

    Attributes:
        sequence: The arm of each round, from 0.
        pulls: The number of pulls of each arm.
        total: J, the sum of the means of all pulls.
    """

    sequence: IntArray
    pulls: IntArray
    total: float


def best_play(means: npt.ArrayLike, horizon: int) -> Play:
    """pi_max: the arm with the highest next mean, ties to the smallest index (Eq. 3).

    Args:
        means: mu_i(n) as [arm, n - 1], for at least `horizon` pulls.
        horizon: The number of rounds.

    Returns:
        A `Play`.

    Raises:
        ValueError: An arm's means do not reach to the horizon, or rise.

    >>> best_play([[0.5, 0.5, 0.5], [1.0, 0.4, 0.4]], horizon=3)
    Play(sequence=array([1, 0, 0]), pulls=array([2, 1]), total=2.0)
    """
    return _played(means, horizon, start=0)


def estimated_best_play(means: npt.ArrayLike, horizon: int) -> Play:
    """The estimated best policy of Appendix C.1: the arm with the highest *last* mean.

    Each arm is pulled once first, in turn; ties go to the smallest index.

    Args:
        means: mu_i(n) as [arm, n - 1], for at least `horizon` pulls.
        horizon: The number of rounds.

    Returns:
        A `Play`.

    Raises:
        ValueError: An arm's means do not reach to the horizon, or rise.

    >>> estimated_best_play([[0.5, 0.5, 0.5, 0.5], [1.0, 0.4, 0.4, 0.4]], horizon=4)
    Play(sequence=array([0, 1, 1, 0]), pulls=array([2, 2]), total=2.4)
    """
    return _played(means, horizon, start=1)


def _played(means: npt.ArrayLike, horizon: int, start: int) -> Play:
    """Pull each arm `start` times, then the highest of mu_i(N_i + 1 - start)."""
    horizon = _checks.integer("horizon", horizon, least=1)
    table = _checked(means, horizon)
    pulls = np.zeros(len(table), dtype=np.int64)
    sequence = [arm for arm in range(len(table)) if start][:horizon]
    for arm in sequence:
        pulls[arm] += 1
    heap = [(-float(row[0]), arm) for arm, row in enumerate(table)]
    heapq.heapify(heap)
    while len(sequence) < horizon:
        _, arm = heap[0]
        sequence.append(arm)
        pulls[arm] += 1
        last = min(int(pulls[arm]) - start, horizon - 1)
        heapq.heapreplace(heap, (-float(table[arm, last]), arm))
    total = sum(float(row[:n].sum()) for row, n in zip(table, pulls.tolist(), strict=True))
    return Play(np.array(sequence), pulls, total)


def _checked(means: npt.ArrayLike, horizon: int) -> FloatArray:
    table = np.asarray(means, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < horizon:
        raise ValueError(
            f"means must be [arm, n - 1] for at least {horizon} pulls, got shape {table.shape}"
        )
    if not np.isfinite(table).all() or np.any(np.diff(table, axis=1) > 0.0):
        raise ValueError("means must be finite and never rise")
    return table
