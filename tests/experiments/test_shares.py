"""Shares of pi_max, paired by run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rotting import stats
from rotting._experiments.results import Result
from rotting._experiments.shares import Standing


def result(rewards: list[float], keys: str = "counted") -> Result:
    """Each run's reward, of the 10 that pi_max collects."""
    collected = np.array(rewards)
    return Result(
        checkpoints=np.array([7]),
        regret=(10.0 - collected)[:, None],
        pulls=np.full((len(rewards), 2), 3),
        total_reward=collected,
        adversarial_regret=np.full(len(rewards), math.nan),
        provenance={"keys": keys, "seed": 5},
    )


RESULTS = {
    "ours": result([9.0, 8.0, 9.5]),
    "cap": result([8.5, 7.0, 9.0]),
    "none": result([8.0, 7.5, 9.5], "ignored"),
}


def test_shares_and_differences() -> None:
    found = Standing("here", RESULTS, "ours", ["cap", "none", "not played"])
    cap = found.shares["cap"]
    assert cap.share == pytest.approx((0.85 + 0.7 + 0.9) / 3)
    assert cap.standard_error == pytest.approx(np.std([0.85, 0.7, 0.9], ddof=1) / 3**0.5)
    assert cap.reward == pytest.approx(24.5 / 3)
    assert cap.difference == pytest.approx((-0.05 - 0.1 - 0.05) / 3)
    assert (cap.low, cap.high) == pytest.approx(stats.interval([-0.05, -0.1, -0.05]))
    assert found.shares["ours"].difference == 0.0
    assert [each.keys for each in found.shares.values()] == ["counted", "counted", "ignored"]
    assert found.best_cap == "none"
    data = found.as_data()
    assert (data["scenario"], data["runs"], data["seed"]) == ("here", 3, 5)
    assert list(data["policies"]) == ["ours", "cap", "none"]


def test_one_run_has_no_error_and_no_caps_no_best() -> None:
    found = Standing("here", {"ours": result([9.0])}, "ours", ["cap"])
    assert math.isnan(found.shares["ours"].standard_error)
    assert math.isnan(found.shares["ours"].low)
    assert found.best_cap is None


def test_the_reference_must_have_played() -> None:
    with pytest.raises(ValueError, match="reference must be one of ours, cap, none, got 'theirs'"):
        Standing("here", RESULTS, "theirs")
