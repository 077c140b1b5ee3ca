"""The statistics behind compare: p-values, Holm's correction, intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rotting import stats


def test_p_values_at_the_edges() -> None:
    assert stats.paired_p_value([1.0, 2.0], [1.0, 2.0]) == 1.0
    assert stats.paired_p_value([1.0, 2.0], [0.0, 1.0]) == 0.0
    assert math.isnan(stats.paired_p_value([1.0], [2.0]))
    assert math.isnan(stats.interval([1.0])[0])
    with pytest.raises(ValueError, match="two lists of the same runs"):
        stats.wins([1.0], [1.0, 2.0])


def test_two_runs_are_enough() -> None:
    """Student's interval of two values: half their distance times t(1; 0.975) = 12.706."""
    low, high = stats.interval([1.0, 3.0])
    assert (low, high) == pytest.approx((2.0 - 12.7062, 2.0 + 12.7062), abs=1e-3)
    narrow = stats.interval([1.0, 3.0], level=0.5)  # t(1; 0.75) = 1
    assert narrow == pytest.approx((1.0, 3.0))
    p = stats.paired_p_value([1.0, 2.0], [2.0, 4.0])  # t = 3 with one degree of freedom
    assert p == pytest.approx(1 - 2 * math.atan(3.0) / math.pi)


def test_regrets_must_be_lists_of_runs() -> None:
    for first, second in (([], []), ([[1.0]], [[1.0]]), (1.0, 1.0)):
        with pytest.raises(ValueError, match="two lists of the same runs"):
            stats.wins(first, second)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_by_its_definition(p_values: list[float]) -> None:
    """The corrected value is the largest of (m - k + 1) p_(k) up to its rank, at most 1."""
    corrected = stats.holm(p_values)
    m = len(p_values)
    ordered = sorted(p_values)
    for p, c in zip(p_values, corrected, strict=True):
        rank = max(k for k in range(m) if ordered[k] == p)
        assert c == pytest.approx(min(1.0, max((m - k) * ordered[k] for k in range(rank + 1))))
        assert c >= p


def test_the_interval_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(2000):
        low, high = stats.interval(rng.normal(3.0, 2.0, size=10))
        covered += low < 3.0 < high
    assert abs(covered / 2000 - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 2000)
