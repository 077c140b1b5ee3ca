"""Statistics for comparing policies run by run: wins, paired t-tests, corrections, intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rotting.kernel.arrays import FloatArray

__all__ = [
    "Difference",
    "holm",
    "interval",
    "paired_difference",
    "paired_p_value",
    "rounding",
    "settle",
    "settled",
    "wins",
]

_ROWS = 4096  # runs processed together


def rounding(
    total_reward: npt.ArrayLike, regret: npt.ArrayLike, adversarial: npt.ArrayLike, arms: int
) -> FloatArray:
    """The most by which rounding can put a regret off, for each run.

    A total reward J adds up S_i + c_i n_i over K arms. The sum S_i of an arm's means is correct to
    its last bits (`rotting.bandits._world.running_sums`), so J is off by (K + 2) u times the size
    of what is added up; u = eps / 2 is the rounding of one operation. The regret is the difference
    of two such totals, off by (K + 3) eps times that size at most. The size is taken to be |J| +
    |regret| + |adversarial regret|, which no total of pi_max, of the policy or of the best single
    arm exceeds; only rewards of both signs that cancel almost completely could. Where arms come and
    go, or keys have bandits of their own, there is no best single arm: its regret is NaN, and left
    out. With keys J is a running sum, compensated so that the same limits hold.

    Args:
        total_reward: J of each run.
        regret: The policy regret of each run.
        adversarial: The regret of each run against the best single arm; NaN without one.
        arms: The number of arms, K.

    Returns:
        An array with one limit a run. Every test here treats smaller differences as ties.

    >>> bool(1e-14 < rounding(300.0, 0.0, 0.0, arms=7) < 1e-11)
    True
    """
    single = np.nan_to_num(np.abs(adversarial), nan=0.0)
    size = np.abs(total_reward) + np.abs(regret) + single
    return np.asarray((arms + 3) * np.finfo(np.float64).eps * size)


def settled(values: npt.ArrayLike, off: npt.ArrayLike) -> FloatArray:
    """The values, with 0 for those that rounding explains.

    Args:
        values: Numbers.
        off: The limits of rounding, see `rounding`; one number or one for each value.

    Returns:
        An array.

    >>> settled([1.0, -1e-13, 0.1], 1e-12)
    array([1. , 0. , 0.1])
    """
    x = np.asarray(values, dtype=np.float64)
    return np.where(np.abs(x) <= off, 0.0, x)


def settle(values: FloatArray, off: FloatArray) -> None:
    """Set values that rounding explains to 0, in place.

    Args:
        values: An array whose first axis counts runs.
        off: The limits of rounding, one number a run.

    >>> regrets = np.array([[1.0, -1e-13], [0.1, 2.0]])
    >>> settle(regrets, np.array([1e-12, 1.0]))
    >>> regrets
    array([[1., 0.],
           [0., 2.]])
    """
    for start in range(0, len(values), _ROWS):  # in blocks: results may fill the memory
        runs = slice(start, start + _ROWS)
        limit = off[runs].reshape(-1, *(1,) * (values.ndim - 1))
        values[runs] = settled(values[runs], limit)


def wins(first: npt.ArrayLike, second: npt.ArrayLike, off: npt.ArrayLike = 0.0) -> int:
    """The number of runs in which the first has the lesser regret; the paper's 'wins'.

    Args:
        first: A regret for each run.
        second: The other policy's regrets in the same runs.
        off: The limits of rounding, see `rounding`: regrets that differ by no more are ties.

    Raises:
        ValueError: The two are not lists of the same length, or are empty.

    >>> wins([1.0, 2.0, 3.0], [2.0, 2.0, 1.0])
    1
    >>> wins([1.0, 2.0], [1.0 + 1e-13, 3.0], off=1e-12)
    1
    """
    a, b = _paired(first, second)
    return int(np.count_nonzero(settled(a - b, off) < 0.0))


def paired_p_value(first: npt.ArrayLike, second: npt.ArrayLike, off: npt.ArrayLike = 0.0) -> float:
    """The two-sided p-value of a paired t-test between regrets of the same runs.

    Args:
        first: A regret for each run.
        second: The other policy's regrets in the same runs.
        off: The limits of rounding, see `rounding`.

    Returns:
        1 if the two never differ by more than `off`; NaN for a single run.

    Raises:
        ValueError: The two are not lists of the same length, or are empty.

    >>> round(paired_p_value([1.0, 2.0, 3.0], [2.0, 3.5, 3.0]), 3)
    0.199
    """
    from scipy import stats

    a, b = _paired(first, second)
    if a.size < 2:
        return math.nan
    difference = settled(a - b, off)
    spread = float(difference.std())
    if spread == 0.0:  # the t statistic would be 0/0, or infinite
        return 1.0 if difference[0] == 0.0 else 0.0
    return float(stats.ttest_1samp(difference, 0.0).pvalue)


class Difference(NamedTuple):
    """A mean difference of paired values, and its 95 % interval.

    Attributes:
        mean: The first less the second, on average.
        low: The lower end of Student's interval; NaN for a single run.
        high: The upper end.
    """

    mean: float
    low: float
    high: float


def paired_difference(
    first: npt.ArrayLike, second: npt.ArrayLike, off: npt.ArrayLike = 0.0
) -> Difference:
    """The mean difference of regrets, run by run, with its 95 % interval.

    Args:
        first: A regret for each run.
        second: The other policy's regrets in the same runs, which are subtracted.
        off: The limits of rounding, see `rounding`.

    Returns:
        A `Difference`.

    Raises:
        ValueError: The two are not lists of the same length, or are empty.

    >>> found = paired_difference([1.0, 2.0, 3.0], [2.0, 3.5, 3.0])
    >>> round(found.mean, 2), round(found.low, 2), round(found.high, 2)
    (-0.83, -2.73, 1.06)
    """
    a, b = _paired(first, second)
    difference = settled(a - b, off)
    return Difference(float(difference.mean()), *interval(difference))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: p-values that stay valid when several tests are read together.

    The k-th smallest of m is multiplied by m - k + 1, and made no smaller than those before it. NaN
    stays NaN and is not counted.

    Args:
        p_values: The p-values of all tests.

    Returns:
        The corrected ones, in the same order.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = list(p_values)
    order = sorted(
        (k for k, p in enumerate(p_values) if not math.isnan(p)), key=p_values.__getitem__
    )
    so_far = 0.0
    for rank, k in enumerate(order):
        so_far = max(so_far, min(1.0, p_values[k] * (len(order) - rank)))
        corrected[k] = so_far
    return corrected


def interval(values: npt.ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Student's confidence interval for the mean.

    Args:
        values: Independent values, at least two.
        level: The confidence level.

    Returns:
        The lower and the upper end; NaN for a single value.

    >>> low, high = interval([1.0, 2.0, 3.0])
    >>> round(low, 2), round(high, 2)
    (-0.48, 4.48)
    """
    from scipy import special

    x = np.asarray(values, dtype=np.float64)
    if x.size < 2:
        return math.nan, math.nan
    half = special.stdtrit(x.size - 1, 0.5 + level / 2) * x.std(ddof=1) / math.sqrt(x.size)
    return float(x.mean() - half), float(x.mean() + half)


def _paired(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or not a.size:
        raise ValueError(f"regrets must be two lists of the same runs, got {a.shape} and {b.shape}")
    return a, b
