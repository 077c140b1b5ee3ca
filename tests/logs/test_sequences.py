"""Exposure sequences: gaps, ends, censoring, units and decaying exposure, counted by hand."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from helpers.small_logs import small, stories, table
from rotting.logs import read, synthetic
from rotting.logs._diagnosis import joint
from rotting.logs._diagnosis.stories import exposure_effect, model_data, start_of, stories_of
from rotting.logs._log import Log


def remembered(log: Log, half_life: float) -> dict[tuple[int, int, int], float]:
    """What is remembered at each showing, by key, arm and number: all showings before, faded."""
    found = {}
    for (key, arm), rows in stories(log).items():
        for place, row in enumerate(rows):
            total = 0.0
            for before in rows[:place]:
                total += 0.5 ** ((log.time[row] - log.time[before]) / half_life)
            found[key, arm, place + 1] = math.log(1.0 + total)
    return found


@pytest.mark.parametrize("half_life", [0.3, 2.0, 50.0])
def test_what_is_remembered_is_the_sum_over_all_showings_before(half_life: float) -> None:
    log = small(1, most=9)
    effect = exposure_effect(stories_of(log), half_life)
    expected = remembered(log, half_life)
    for row in range(log.key.size):
        place = int(log.key[row]), int(log.arm[row]), int(log.exposure[row])
        assert effect[row] == pytest.approx(expected[place], abs=1e-12)


def test_nothing_is_forgotten_in_the_end() -> None:
    kept = stories_of(small(2))
    assert exposure_effect(kept) is kept.log_exposure
    np.testing.assert_array_equal(kept.log_exposure, np.log(kept.log.exposure))
    np.testing.assert_allclose(exposure_effect(kept, 1e9), kept.log_exposure, atol=1e-6)


def test_showings_without_a_reward_are_remembered() -> None:
    log = small(3, keys=40, missing=0.3)
    kept = stories_of(log)
    effect = exposure_effect(kept, 2.0)
    expected = remembered(log, 2.0)
    for row in range(kept.log.key.size):
        place = int(kept.log.key[row]), int(kept.log.arm[row]), int(kept.log.exposure[row])
        assert effect[row] == pytest.approx(expected[place], abs=1e-9)


def test_gaps_ends_and_calendar() -> None:
    log = small(4, keys=30, most=8)
    found = stories_of(log)
    first, last = log.time.min(), log.time.max()
    np.testing.assert_allclose(found.calendar, (log.time - first) / (last - first))
    for rows in stories(log).values():
        assert math.isinf(found.gap[rows[0]])
        for before, after in pairwise(rows):
            assert found.gap[after] == pytest.approx(log.time[after] - log.time[before])
            assert found.ended[before] == 0
        assert found.ended[rows[-1]] in (1, -1)


def test_patience_is_the_share_of_gaps_that_reach_beyond_the_log() -> None:
    log = read(synthetic("constant", keys=60, exposures=8, seed=1))
    found = stories_of(log)
    closed, begun = log.time.max(), log.time.min()
    early, every = [], []
    for rows in stories(log).values():
        for before, after in pairwise(rows):
            gap = log.time[after] - log.time[before]
            every.append(gap)
            if log.time[before] <= 0.5 * (begun + closed):
                early.append(gap)
    gaps = early if len(early) >= 200 else every
    assert len(early) > 200
    for row in range(0, log.key.size, 7):
        left = closed - log.time[row]
        expected = sum(gap > left + 1e-9 for gap in gaps) / len(gaps)
        assert found.patience[row] == pytest.approx(expected, abs=1.5 / len(gaps))


def test_few_gaps_are_all_taken() -> None:
    log = small(5)
    found = stories_of(log)
    gaps = found.gap[np.isfinite(found.gap)]
    assert gaps.size < 200
    left = log.time.max() - log.time
    expected = [np.mean(gaps > one) for one in left]
    np.testing.assert_allclose(found.patience, expected, atol=1.5 / gaps.size)


def test_nobody_asks_who_leaves_after_the_last_showing_allowed() -> None:
    log = read(synthetic("constant", starts="lockstep", keys=30, exposures=5))
    found = stories_of(log)
    np.testing.assert_array_equal(found.ended, np.where(log.exposure == 5, -1, 0))


def test_a_story_that_happens_to_be_longest_ends_like_others() -> None:
    rows: dict[str, list[Any]] = {"key": ["a"] * 9, "time": list(range(9)), "reward": [1, 0, 1] * 3}
    for number in range(20):
        rows["key"] += [f"u{number}"] * 2
        rows["time"] += [number, number + 1]
        rows["reward"] += [0, 1]
    found = stories_of(read(rows, arm=False))
    assert np.sum(found.ended == 1) == 21
    assert np.all(found.ended >= 0)


def test_unknown_rewards_are_left_out_and_count_as_showings() -> None:
    log = small(6, missing=0.3)
    found = stories_of(log)
    known = ~np.isnan(log.reward)
    assert 0 < known.sum() < log.key.size
    np.testing.assert_array_equal(found.log.reward, log.reward[known])
    np.testing.assert_array_equal(found.log_exposure, np.log(log.exposure[known]))
    assert np.all(np.diff(found.starts) > 0)
    assert found.starts[-1] == known.sum()


def test_units_are_keys() -> None:
    found = stories_of(small(7))
    assert found.units == len(set(found.log.key.tolist()))
    for begin, end in pairwise(found.starts):
        assert len(set(found.log.key[begin:end].tolist())) == 1


def test_units_without_keys_are_blocks_of_one_arm() -> None:
    rows = table(8, keys=100)
    found = stories_of(read(rows, key=False))
    sizes = np.diff(found.starts)
    assert found.starts[0] == 0
    assert found.starts[-1] == len(rows["arm"])
    assert sizes.min() >= 5
    assert sizes.max() - sizes.min() <= 2
    for begin, end in pairwise(found.starts):
        assert len(set(found.log.arm[begin:end].tolist())) == 1
    assert found.units == 80


def test_of_very_many_keys_a_random_part_is_taken_with_all_its_rows() -> None:
    log = small(9, keys=50)
    found = stories_of(log, seed=1, most=20)
    chosen = set(found.log.key.tolist())
    assert found.units == len(chosen) == 20
    for key in chosen:
        assert np.sum(found.log.key == key) == np.sum(log.key == key)
    assert chosen == set(stories_of(log, seed=1, most=20).log.key.tolist())
    assert chosen != set(stories_of(log, seed=2, most=20).log.key.tolist())


def test_the_model_s_data() -> None:
    found = stories_of(read(synthetic("rested", "failure", keys=200)))
    data = model_data(found, found.log_exposure, calendar=True)
    assert data.effects == 1 + 2 + 2  # use, trend and bend, and all arms but one
    np.testing.assert_array_equal(data.x[:, 0], -found.log_exposure)
    assert data.x[:, 1].max() - data.x[:, 1].min() == pytest.approx(1.0)
    assert data.leaving
    assert data.kind == joint.BINARY
    # every row's pattern is what it paid, and about the logarithm of its number
    np.testing.assert_array_equal(data.seen[data.pattern][:, 0], 1.0)
    np.testing.assert_array_equal(data.seen[data.pattern][:, 1], found.log.reward)
    assert np.abs(data.seen[data.pattern][:, 2] - found.log_exposure).max() <= 1.0 / 16 + 1e-12
    counts = np.bincount(found.log.arm)
    taken = data.x[:, 3:].sum(axis=0)
    assert sorted(taken) == sorted(counts)[:2]  # the most frequent is what others differ from
    start = start_of(data)
    likelihood, _ = joint.scores(start, data)
    assert math.isfinite(likelihood)


def test_the_model_s_data_without_keys_has_one_level_and_an_effect_an_arm() -> None:
    found = stories_of(read(table(8, keys=100), key=False))
    data = model_data(found, found.log_exposure, calendar=False)
    assert data.levels.size == 1
    assert not data.leaving
    np.testing.assert_array_equal(data.x[:, 1:].sum(axis=1), 1.0)
