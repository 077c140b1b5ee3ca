"""Synthetic logs match their description."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from rotting.logs import synthetic
from rotting.logs._synthetic import LEAVING, TRUTHS, _falls


def days(frame: Any) -> Any:
    return (frame["time"] - frame["time"].min()).dt.total_microseconds().to_numpy() / 86_400e6


def tales(frame: Any) -> list[Any]:
    found: list[Any] = frame.partition_by("key", "arm", maintain_order=True)
    return found


def test_a_seed_makes_one_log() -> None:
    assert synthetic(keys=30, seed=3).equals(synthetic(keys=30, seed=3))
    assert not synthetic(keys=30, seed=3).equals(synthetic(keys=30, seed=4))


def test_columns_in_the_order_of_time() -> None:
    frame = synthetic(keys=50, arms=4)
    assert frame.columns == ["key", "arm", "time", "reward", "propensity"]
    assert frame["time"].is_sorted()
    assert set(frame["propensity"]) == {0.25}
    assert set(frame["reward"]) <= {0.0, 1.0}
    assert frame["key"].n_unique() == 50
    assert set(frame["arm"]) == {f"arm {number}" for number in range(4)}


def test_each_key_is_shown_so_many_arms() -> None:
    frame = synthetic(keys=40, arms=5, arms_per_key=3, exposures=4)
    counts = frame.group_by("key").agg(pl.col("arm").n_unique())["arm"]
    assert set(counts) == {3}
    assert max(len(tale) for tale in tales(frame)) == 4


def test_stories_begin_on_sixty_days_and_the_log_ends_on_the_75th() -> None:
    frame = synthetic(keys=400)
    starts = [days(frame)[0]] + [
        (tale["time"][0] - frame["time"][0]).total_seconds() / 86_400 for tale in tales(frame)
    ]
    assert max(starts) < 60.0
    assert np.mean(starts) == pytest.approx(30.0, abs=3.0 * 60.0 / math.sqrt(12 * 400))
    assert 70.0 < days(frame).max() <= 75.0


def test_lockstep_is_a_showing_a_day() -> None:
    frame = synthetic(keys=20, exposures=5, starts="lockstep")
    assert len(frame) == 100
    for tale in tales(frame):
        assert days(frame)[:1] == 0.0
        assert np.allclose(days(tale), np.arange(5.0))


@pytest.mark.parametrize("rewards", ["binary", "gaussian"])
def test_the_n_th_showing_pays_what_it_should(rewards: str) -> None:
    frame = synthetic(
        "rested", keys=6000, exposures=4, theta=0.5, starts="lockstep", rewards=rewards
    )
    scale = 1.0 if rewards == "binary" else 4.0
    found = frame.with_columns((pl.col("time").rank("dense")).alias("n"))
    for n in range(1, 5):
        paid = found.filter(pl.col("n") == n)["reward"].to_numpy()
        expected = scale * 0.25 * (1.0 + 0.85 + 0.7) / 3.0 * n**-0.5
        error = paid.std() / math.sqrt(paid.size)
        assert abs(paid.mean() - expected) < 4.0 * error


def test_the_falls_by_hand() -> None:
    times = np.array([[0.0, 1.0, 5.0], [2.0, 2.5, 10.0]])
    np.testing.assert_array_equal(_falls("constant", 0.3, times, 75.0), [1.0, 1.0])
    np.testing.assert_allclose(_falls("rested", 0.3, times, 75.0), [3**-0.3] * 2)
    calendar = [1.0 - 0.5 * 5.0 / 75.0, 1.0 - 0.5 * 10.0 / 75.0]
    np.testing.assert_allclose(_falls("restless", 0.3, times, 75.0), calendar)
    both = [3**-0.3 * one for one in calendar]
    np.testing.assert_allclose(_falls("both", 0.3, times, 75.0), both)
    rested = [
        (1.0 + 0.5 ** (5.0 / 2.0) + 0.5 ** (4.0 / 2.0)) ** -0.3,
        (1.0 + 0.5 ** (8.0 / 2.0) + 0.5 ** (7.5 / 2.0)) ** -0.3,
    ]
    np.testing.assert_allclose(_falls("recovering", 0.3, times, 75.0), rested)
    for truth in TRUTHS:  # nothing has fallen at the first showing on the first day
        assert _falls(truth, 0.3, np.zeros((1, 1)), 75.0) == pytest.approx(1.0)


def ends(leaving: str) -> tuple[float, float, float, float]:
    """Chances to end after a success and after a failure before the last; mean rewards of both."""
    frame = synthetic("constant", leaving, keys=3000, exposures=5, starts="lockstep", seed=1)
    after: dict[float, list[bool]] = {0.0: [], 1.0: []}
    one: list[float] = []
    many: list[float] = []
    for tale in tales(frame):
        paid = tale["reward"].to_list()
        for place, reward in enumerate(paid[:4]):
            after[reward].append(place + 1 == len(paid))
        (one if len(paid) == 1 else many).append(paid[0])
    means = float(np.mean(one)) if one else math.nan, float(np.mean(many))
    return float(np.mean(after[1.0])), float(np.mean(after[0.0])), *means


def test_who_leaves() -> None:
    found = {leaving: ends(leaving) for leaving in LEAVING}
    assert found["nobody"][:2] == (0.0, 0.0)
    # tolerances are four standard errors of shares of some 2,000 successes and 6,000 failures
    assert found["failure"][:2] == pytest.approx((0.03, 0.22), abs=0.025)
    assert found["success"][:2] == pytest.approx((0.4, 0.05), abs=0.045)
    assert found["first-success"][0] == 1.0
    assert found["first-success"][1] == pytest.approx(0.05, abs=0.02)
    assert found["rate"][0] > found["rate"][1] + 0.02  # the willing leave
    assert found["rate"][2] > found["rate"][3]
    assert found["both"][0] < found["both"][1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truth": "rotten"}, "truth"),
        ({"leaving": "all"}, "leaving"),
        ({"starts": "now"}, "starts"),
        ({"rewards": "big"}, "rewards"),
        ({"keys": 0}, "keys"),
        ({"exposures": 0}, "exposures"),
        ({"arms": 2, "arms_per_key": 3}, "arms_per_key"),
        ({"theta": -0.1}, "theta"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_made_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        synthetic(**options)
