"""Sliding windows: late rewards, and sums that stay exact."""

from __future__ import annotations

import random as python_random
from types import SimpleNamespace

import numpy as np
import pytest

from rotting import Decision, policies
from rotting.policies.parts.arms import WAITING, no_pulls
from rotting.policies.parts.window import empty_window, observe, sum_window, window_mean


def test_windows_of_late_rewards_are_the_last_observed_in_pull_order() -> None:
    """SWA's and wSWA's means equal those of the last M observed rewards, whatever arrives when."""
    for policy in (
        policies.SWA(alpha=0.1, sigma=0.5),
        policies.WSWA(alpha=0.05, sigma=0.5),
        policies.WSWA(alpha=0.05, sigma=0.5, restart="keep"),
    ):
        player = policy.online([0, 1], horizon=1500, compiled=False)
        rng = python_random.Random(5)
        seen: list[dict[int, float]] = [{}, {}]
        waiting: list[Decision] = []
        for t in range(1, 1501):
            waiting.append(player.select())
            forgets = isinstance(policy, policies.WSWA) and policy.restart == "forget"
            if forgets and (t & (t + 1)) == 0:  # that was the last round of an epoch
                seen = [{}, {}]
            while len(waiting) > 60 or (waiting and rng.random() < 0.6):
                decision = waiting.pop(rng.randrange(len(waiting)))
                if rng.random() < 0.9:
                    reward = rng.gauss(0, 1)
                    player.update(decision, reward)
                    if decision.pull > player.core.state.window.base[decision.arm]:
                        seen[decision.arm][decision.pull] = reward
            window = (
                int(player.core.state.length[0])
                if isinstance(policy, policies.WSWA)
                else player.core.params.window
            )
            for arm in (0, 1):
                last = [seen[arm][n] for n in sorted(seen[arm])][-window:]
                expected = sum(last) / len(last) if last else -np.inf
                mean = player.core.state.ranking.value[arm]
                assert mean == pytest.approx(expected, abs=1e-9), (policy, t)


def test_sums_are_made_afresh_now_and_then() -> None:
    """Without, the rewards that came after 1e17 would be lost in the sum for ever."""
    arms, window = no_pulls(1), empty_window(1, longest=4)
    renewed = 256 * 4  # the module's number of turns of the ring
    for pull in range(1, renewed + 10):
        mean = observe(window, arms, 0, pull, 1e17 if pull == 3 else 0.25, length=4)
        if 10 < pull <= renewed:
            assert mean != 0.25
    assert mean == 0.25


def test_a_window_longer_than_its_ring_is_what_the_ring_holds() -> None:
    arms, window = no_pulls(1), empty_window(1, longest=4)
    for pull in range(1, 20):
        mean = observe(window, arms, 0, pull, float(pull), length=100)
        last = range(max(1, pull - 3), pull + 1)
        assert mean == sum(last) / len(last)


def test_what_an_earlier_run_left_in_the_ring_is_not_read() -> None:
    """Rings are not cleared between runs: only what was observed since then counts."""
    arms, window = no_pulls(1), empty_window(1, longest=4)
    window.ring_pull[:] = 99
    window.ring_reward[:] = 1e9
    seen: list[int] = []
    for pull in (3, 2, 5, 1, 4):
        seen.append(pull)
        mean = observe(window, arms, 0, pull, float(pull), length=3)
        last = sorted(seen)[-3:]
        assert mean == pytest.approx(sum(last) / len(last))
    assert window.newest[0] == 5


def test_a_huge_reward_leaves_the_window_without_a_trace() -> None:
    """Running sums are renewed, so an outlier does not spoil the mean for ever."""
    for policy in (policies.WSWA(0.3, 0.5, "keep"), policies.SWUCB(tau=50)):
        player = policy.online([0, 1], compiled=False)
        for t in range(3000):
            decision = player.select()
            player.update(decision, 1e17 if t < 2 else 0.25)
        state = player.core.state
        means = state.rounds.mean if isinstance(policy, policies.SWUCB) else state.ranking.value
        assert means.max() == 0.25


@pytest.mark.parametrize(
    ("longest", "ring"), [(1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (8, 8), (9, 16)]
)
def test_a_ring_is_the_next_power_of_two(longest: int, ring: int) -> None:
    window = empty_window(3, longest)
    assert window.ring_pull.shape == window.ring_reward.shape == (3, ring)


@pytest.mark.parametrize("before", [0, 1, 3, 4, 5, 7, 8, 21])
def test_a_ring_grows_with_what_it_holds(before: int) -> None:
    """From four to sixteen: afterwards the window is that of the last rewards, as ever.

    The rewards that the short ring had lost stay lost: so the window is no longer than it at first.
    """
    arms, window = no_pulls(2), empty_window(2, longest=4)
    order = np.random.default_rng(before).permutation(before).tolist()
    for pull in order:
        observe(window, arms, 1, pull + 1, float(pull), length=4)
    n = int(arms.observed[1])
    kept = {int(pull): float(pull) - 1.0 for pull in window.ring_pull[1, : min(4, n)]}
    assert set(kept) == set(sorted(kept)[-4:])
    state = SimpleNamespace(arms=arms, window=window)
    assert window.grown(empty_window(2, longest=4), state) is window
    assert window.grown(empty_window(2, longest=2), state) is window
    larger = empty_window(2, longest=16)
    larger.ring_reward[:] = 1e9  # not read
    grown = window.grown(larger, state)
    assert grown.ring_pull.shape == grown.ring_reward.shape == (2, 16)
    np.testing.assert_array_equal(grown.total, window.total)
    sum_window(grown, arms, 1, length=4)
    assert grown.total[1] == pytest.approx(sum(kept.values()))
    for pull in range(before + 1, before + 30):
        mean = observe(grown, arms, 1, pull, float(pull) - 1.0, length=4)
        kept[pull] = float(pull) - 1.0
        last = sorted(kept)[-4:]
        assert mean == pytest.approx(sum(last) / len(last) - 1.0)
    assert grown.ring_pull[0].tolist() == [0] * 16


def test_only_what_the_short_ring_holds_is_moved() -> None:
    arms, window = no_pulls(1), empty_window(1, longest=2)
    for pull in (1, 2, 3):
        observe(window, arms, 0, pull, float(pull), length=2)
    larger = empty_window(1, longest=8)
    grown = window.grown(larger, SimpleNamespace(arms=arms))
    assert grown.ring_pull[0].tolist() == [0, 2, 3, 0, 0, 0, 0, 0]
    assert grown.ring_reward[0].tolist() == [0.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    arms, window = no_pulls(1), empty_window(1, longest=2)
    observe(window, arms, 0, 1, 5.0, length=2)
    grown = window.grown(empty_window(1, longest=4), SimpleNamespace(arms=arms))
    assert grown.ring_reward[0].tolist() == [5.0, 0.0, 0.0, 0.0]


def test_a_reward_of_an_earlier_epoch_does_not_count() -> None:
    arms, window = no_pulls(1), empty_window(1, longest=4)
    window.base[0] = 5
    assert window_mean(window, arms, 0, 4) == -np.inf
    assert observe(window, arms, 0, 5, 100.0, length=4) == -np.inf
    assert arms.observed[0] == 0
    assert arms.clock[WAITING] == 1
    assert observe(window, arms, 0, 6, 1.0, length=4) == 1.0
    assert arms.clock[WAITING] == 0
    assert observe(window, arms, 0, 5, 100.0, length=4) == 1.0
    assert arms.observed[0] == 1


@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_the_last_rewards_of_those_that_came(seed: int, length: int) -> None:
    """A ring of four, rewards in any order: one older than the four latest is too late to count."""
    rng = np.random.default_rng(seed)
    arms, window = no_pulls(1), empty_window(1, longest=4)
    kept: list[int] = []
    for pull in (np.argsort(np.arange(60) + rng.integers(0, 9, 60)) + 1).tolist():
        if len(kept) < 4 or pull > sorted(kept)[-4]:
            kept.append(pull)
        mean = observe(window, arms, 0, pull, float(pull) ** 0.5, length)
        assert arms.observed[0] == len(kept)
        last = sorted(kept)[-length:]
        assert mean == pytest.approx(sum(p**0.5 for p in last) / len(last))
        assert window_mean(window, arms, 0, length) == mean
        assert window.newest[0] == max(kept)
