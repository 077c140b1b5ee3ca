"""Replays with propensities: the log's own choices, and rows kept in the order of time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.log_rows import random_log, without_keys
from rotting import policies
from rotting._engines.replay_loop import Rows
from rotting.logs._replay.propensities import Followed
from rotting.logs._replay.replay import replay

MEANS = [[0.7], [0.5], [0.3]]
CHANCES = [0.5, 0.3, 0.2]


@pytest.mark.parametrize("keys", [0, 300])
def test_all_estimates_agree_where_all_assumptions_hold(keys: int) -> None:
    """Constant arms, random logging; everything within its errors, at 3.5 of them."""
    log = random_log(MEANS, 3000, 2, CHANCES, keys=keys)
    found = replay(log, {"it": policies.UCB1()}, runs=10, resamples=30)["it"]
    weighed = found.weighed
    assert weighed is not None
    assert 0.2 * 3000 < weighed.decisions < 0.6 * 3000
    for estimate in (weighed.ips, weighed.normalised, weighed.robust):
        assert 0.0 < estimate.error < 0.05
        off = np.hypot(estimate.error, found.reward.error)
        assert abs(estimate.mean - weighed.replayed) < 3.5 * off
    assert weighed.robust.error < weighed.ips.error


def test_a_policy_that_shows_any_arm_is_weighed_by_hand() -> None:
    """Choices that are given: the formulas, row by row."""
    log = random_log(MEANS, 12, 1, CHANCES)
    order = np.argsort(log.time)
    chosen = np.array([0, 1, 2] * 4, dtype=np.int32)

    def choices(rows: Rows, run: int) -> np.ndarray:
        return chosen

    weighed = Followed(log, order, choices, 1).weigh(0.95, 0.0)
    arm, reward = log.arm[order], log.reward[order]
    assert log.propensity is not None
    chance = log.propensity[order]
    weights = [(a == c) / p for a, c, p in zip(arm, chosen, chance, strict=True)]
    ips = [w * r for w, r in zip(weights, reward, strict=True)]
    assert weighed.ips.mean == pytest.approx(sum(ips) / 12)
    assert weighed.ips.error == pytest.approx(np.std(ips, ddof=1) / np.sqrt(12.0))
    assert weighed.normalised.mean == pytest.approx(sum(ips) / sum(weights))
    total = 0.0
    for t in range(12):
        everything = sum(reward[:t]) / max(1, t)

        def guess(a: int, t: int = t, everything: float = everything) -> float:
            mine = [float(reward[s]) for s in range(t) if arm[s] == a]
            return (sum(mine) + everything) / (len(mine) + 1)

        total += guess(int(chosen[t])) + weights[t] * (reward[t] - guess(int(arm[t])))
    assert weighed.robust.mean == pytest.approx(total / 12)


def test_by_time_keeps_the_rows_that_a_policy_agrees_with() -> None:
    log = without_keys([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], seed=3)
    order = np.argsort(log.time)
    kept, turn = [], 0
    for arm, reward in zip(log.arm[order], log.reward[order], strict=True):
        if arm == turn:
            kept.append(float(reward))
            turn = 1 - turn
    found = replay(log, {"turns": policies.RoundRobin()}, by_time=True, calendar=True, runs=1)
    assert found.kind == "by-time"
    assert found["turns"].coverage == pytest.approx(len(kept) / 6)
    assert found["turns"].reward.mean == pytest.approx(sum(kept) / len(kept))
    assert any("at random" in each for each in found.assumptions)
    same = replay(log, {"turns": policies.RoundRobin()}, by_time=True, runs=1, compiled=False)
    assert same.as_data() == found.as_data()


def test_by_time_sees_through_a_calendar_and_weighs_by_propensities() -> None:
    """Rewards halve with time, whatever is shown: an arm earns the mean over its days."""
    generator = np.random.default_rng(4)
    rows = 4000
    log = random_log([[0.5], [0.5]], rows, 1, [0.8, 0.2])
    chance = 0.6 * (1.0 - 0.5 * log.time / rows) * np.where(log.arm == 0, 1.0, 0.5)
    log = replace(log, reward=(generator.random(rows) < chance).astype(np.float64))
    found = replay(log, {"any": policies.Uniform()}, by_time=True, runs=20)["any"]
    truth = 0.45 * 0.75
    assert abs(found.reward.mean - truth) < 3.5 * found.reward.error
    assert found.reward.error < 0.03
    plain = float(log.reward.mean())  # that of the log, which shows the better arm more often
    assert abs(plain - truth) > 3.5 * found.reward.error
