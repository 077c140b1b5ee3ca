"""Milestones: their positions, the sums before them, and the window chosen."""

from __future__ import annotations

import math
import random as python_random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rotting.kernel.state import grown, leaves
from rotting.policies.parts import milestones
from rotting.policies.parts.milestones import (
    LAST,
    LEVELS,
    WINDOW,
    Milestones,
    add_late_reward,
    add_reward,
    find_window,
    no_milestones,
    window_mean,
)


def placed(rewards: list[float], slope: float = 0.0) -> Milestones:
    """One arm's milestones after these rewards; without a scale the slope is the mean given."""
    kept = no_milestones(1, len(rewards))
    for n, reward in enumerate(rewards, start=1):
        add_reward(kept, 0, n, n, reward, slope, 0.0)
    return kept


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 17, 64, 100, 129, 1000])
def test_while_rewards_rise_milestones_are_the_latest_multiples(n: int) -> None:
    """Of 2^l but not of 2^(l+1), less than n: no running sum before is higher."""
    kept = placed([1.0] * n)
    for level in range(kept.sums.shape[1] - LEVELS):
        multiples = [k for k in range(1, n) if k % 2**level == 0 and k % 2 ** (level + 1)]
        last = max(multiples, default=0)
        assert (
            (kept.seen[0, LEVELS + level] + kept.lost[0, LEVELS + level])
            == kept.seen[0, LEVELS + level]
            == kept.sums[0, LEVELS + level]
            == last
        )


@pytest.mark.parametrize("fall", [37, 64, 100, 511, 700])
def test_a_fall_keeps_its_place(fall: int) -> None:
    """From 1 to -1: it belongs to the level of its position, however old it is."""
    for n in range(fall + 1, 1024):
        kept = placed([1.0] * fall + [-1.0] * (n - fall)) if n % 97 == 0 else None
        if kept is not None:
            among = [
                level
                for level in range(kept.sums.shape[1] - LEVELS)
                for k in [max((j for j in range(1, n) if j & -j == 2**level), default=0)]
                if k - 2**level < fall <= k
            ]
            assert among
            for level in among:
                assert (kept.seen[0, LEVELS + level] + kept.lost[0, LEVELS + level]) == fall
                assert kept.sums[0, LEVELS + level] == fall


def test_the_slope_is_below_the_mean_by_an_eighth_of_a_padding() -> None:
    """Of two places the later is taken if its reward is above the slope, or equal to it."""
    for reward, expected in ((0.9, 1), (0.99, 2), (1.0, 2)):
        kept = no_milestones(1, 10)
        mean, scale = 1.0, 0.05 * 8 * math.sqrt(2.0)  # at level 1: a slope of 0.95
        for n, r in enumerate([5.0, reward, 0.0], start=1):
            add_reward(kept, 0, n, n, r, mean, scale)
        assert kept.seen[0, LEVELS + 1] == expected
    for reward, expected in ((0.5, 2), (0.49, 1)):
        kept = no_milestones(1, 10)
        for n, r in enumerate([5.0, reward, 0.0], start=1):
            add_reward(kept, 0, n, n, r, 0.5, 0.0)
        assert kept.seen[0, LEVELS + 1] == expected


def test_late_and_lost_rewards_are_in_the_windows_of_their_pulls() -> None:
    """In any order, a fifth of them never: every row has the rewards up to its pull."""
    rng = python_random.Random(4)
    order = list(range(1, 401))
    for k in range(0, 400, 50):
        block = order[k : k + 50]
        rng.shuffle(block)
        order[k : k + 50] = block
    kept = no_milestones(2, 400)
    shown: dict[int, float] = {}
    late = 0
    mean = 0.0
    for pull in order:
        if rng.random() < 0.2:
            continue
        reward = rng.gauss(2.0 if pull < 230 else 1.0, 0.5)
        level = 0
        if pull < kept.latest[1]:
            add_late_reward(kept, 1, pull, reward)
            late += 1
        else:
            level = add_reward(kept, 1, len(shown) + 1, pull, reward, mean, 1.0)
        shown[pull] = reward
        h = find_window(kept, 1, len(shown), level, 1.0)
        mean = window_mean(kept, 1, h)
        assert kept.latest[1] == max(shown)
        for row in range(kept.sums.shape[1]):
            upto = [r for p, r in shown.items() if p <= (kept.seen[1, row] + kept.lost[1, row])]
            assert kept.seen[1, row] == len(upto)
            assert kept.sums[1, row] == pytest.approx(sum(upto), abs=1e-9)
        window = [r for p, r in shown.items() if p > (kept.seen[1, WINDOW] + kept.lost[1, WINDOW])]
        assert h == len(window)
        assert mean == pytest.approx(sum(window) / h, abs=1e-9)
        assert accepted(kept, [0, len(shown)], [0, max(shown)])
    assert late > 100
    assert not kept.total[0]
    assert not kept.sums[0].any()


def test_the_window_is_the_best_of_those_looked_at() -> None:
    """The one before, levels 0 to 3, two higher ones that take turns, and all rewards."""
    rng = python_random.Random(3)
    for trial in range(300):
        n = rng.choice([1, 2, 5, 40, 300, 5000])
        scale = rng.choice([0.0, 0.5, 3.0])
        kept = no_milestones(1, 8192)
        rows = kept.sums.shape[1]
        kept.total[0] = rng.gauss(0.0, 50.0)
        for row in range(rows - 1):
            kept.seen[0, row] = rng.randrange(n)
            kept.lost[0, row] = 7
            kept.sums[0, row] = rng.gauss(0.0, 50.0)
        kept.lost[0, rows - 1] = 0
        level = rng.randrange(13)
        higher = LEVELS + 4 + 2 * level
        looked = {WINDOW, LAST, *range(LEVELS, LEVELS + 4), higher, higher + 1}
        looked = {min(rows - 1, row) for row in looked}
        starts = {(int(kept.seen[0, row]), float(kept.sums[0, row])) for row in looked} | {(0, 0.0)}
        total = float(kept.total[0])
        worth = {
            (total - before) / (n - j) + scale / math.sqrt(n - j): (j, before)
            for j, before in starts
        }
        j, before = worth[min(worth)]
        assert find_window(kept, 0, n, level, scale) == n - j, trial
        assert (kept.seen[0, WINDOW], kept.sums[0, WINDOW]) == (j, before)
        assert (kept.seen[0, WINDOW] + kept.lost[0, WINDOW]) == (j + 7 if before else 0)


def test_ties_leave_the_window_as_it_was() -> None:
    """Without a scale all windows of equal rewards are worth the same."""
    kept = no_milestones(1, 100)
    for n in range(1, 60):
        level = add_reward(kept, 0, n, n, 1.0, 1.0, 0.0)
        assert find_window(kept, 0, n, level, 0.0) == n


def test_levels_do_not_depend_on_the_space_there_is() -> None:
    """Grown on the way or large from the start: the same milestones, for old arms and new ones."""
    rng = python_random.Random(1)
    small, large = no_milestones(2, 4), no_milestones(3, 5000)
    n = [0, 0, 0]
    for k in range(1, 3000):
        if k & (k - 1) == 0:
            small = grown(small, no_milestones(2 if k < 1000 else 3, 2 * k))
        arm = rng.randrange(2 if k < 1100 else 3)
        n[arm] += 1
        reward = rng.gauss(0.0, 1.0)
        found = []
        for kept in (small, large):
            level = add_reward(kept, arm, n[arm], n[arm], reward, 0.1, 0.3)
            found.append(find_window(kept, arm, n[arm], level, 0.3))
        assert found[0] == found[1]
    for one, other in zip(leaves(small), leaves(large), strict=True):
        columns = one.value.shape[1:]
        assert np.array_equal(one.value, other.value[:, : columns[0]] if columns else other.value)
    assert not small.sums[:, -1].any()  # no reward was so late in a binary counter


def accepted(kept: Milestones, observed: list[int], pulls: list[int]) -> bool:
    arms = SimpleNamespace(observed=np.array(observed), pulls=np.array(pulls))
    return kept.wrong(SimpleNamespace(arms=arms), None, ()) is None


@pytest.mark.parametrize(
    ("field", "place", "value", "words"),
    [
        ("latest", 0, 19, "latest must be at least the number of the arm's rewards"),
        ("seen", (0, 1), 20, "seen must leave each window a reward"),
        ("seen", (1, 0), 1, "seen must leave each window a reward"),
        ("lost", (0, 1), 2, "lost must leave milestones at or before the latest pull"),
    ],
)
def test_what_no_play_leads_to(field: str, place: Any, value: int, words: str) -> None:
    kept = no_milestones(2, 30)
    for n in range(1, 21):
        add_reward(kept, 0, n, n, 1.0, 0.0, 0.0)
    assert accepted(kept, [20, 0], [20, 0])
    getattr(kept, field)[place] = value
    arms = SimpleNamespace(observed=np.array([20, 0]))
    assert str(kept.wrong(SimpleNamespace(arms=arms), None, ())).startswith(words)


def test_memory_is_that_of_a_binary_counter() -> None:
    """Two numbers and a half a row; a row for each bit, fifteen at most, and three more."""
    for capacity in (3, 100, 10_000, 1_000_000):
        bits = math.floor(math.log2(capacity)) + 1
        rows = 3 + min(max(milestones.ALWAYS, bits), 15)
        kept = no_milestones(10, capacity)
        assert sum(leaf.value.nbytes for leaf in leaves(kept)) == 10 * (8 * 2 + 20 * rows)
