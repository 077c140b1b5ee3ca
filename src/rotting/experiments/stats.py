"""Comparing policies run by run: wins, paired t-tests, their correction, intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rotting.models import FloatArray


def wins(first: npt.ArrayLike, second: npt.ArrayLike) -> int:
    """In how many runs the first has the lesser regret; the paper's 'wins'.

    >>> wins([1.0, 2.0, 3.0], [2.0, 2.0, 1.0])
    1
    """
    a, b = _paired(first, second)
    return int(np.count_nonzero(a < b))


def paired_p_value(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Two-sided p-value of a paired t-test between regrets of the same runs.

    1 if the two never differ; NaN for a single run.

    >>> round(paired_p_value([1.0, 2.0, 3.0], [2.0, 3.5, 3.0]), 3)
    0.199
    """
    from scipy import stats

    a, b = _paired(first, second)
    if a.size < 2:
        return math.nan
    difference = a - b
    spread = float(difference.std())
    if spread == 0.0:  # the t statistic would be 0/0, or infinite
        return 1.0 if difference[0] == 0.0 else 0.0
    return float(stats.ttest_rel(a, b).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: p-values that stay valid when many tests are read together.

    The k-th smallest of m is multiplied by m - k + 1, and made no smaller than those before it.

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
    """Student's confidence interval for the mean; NaN for a single value.

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
