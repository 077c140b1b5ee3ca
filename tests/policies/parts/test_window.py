"""Sliding windows: late rewards, and sums that stay exact."""

from __future__ import annotations

import random as python_random

import numpy as np
import pytest

from rotting import Decision, policies
from rotting.policies.parts.arms import no_pulls
from rotting.policies.parts.window import empty_window, observe


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
                    if decision.pull > player._state.window.base[decision.arm]:
                        seen[decision.arm][decision.pull] = reward
            window = (
                int(player._state.length[0])
                if isinstance(policy, policies.WSWA)
                else player._params.window
            )
            for arm in (0, 1):
                last = [seen[arm][n] for n in sorted(seen[arm])][-window:]
                expected = sum(last) / len(last) if last else -np.inf
                mean = player._state.ranking.value[arm]
                assert mean == pytest.approx(expected, abs=1e-9), (policy, t)


def test_sums_are_made_afresh_now_and_then() -> None:
    """Without, the rewards that came after 1e17 would be lost in the sum for ever."""
    arms, window = no_pulls(1), empty_window(1, longest=4)
    renewed = 256 * 4  # as the module says: so many turns of the ring
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
        state = player._state
        means = state.rounds.mean if isinstance(policy, policies.SWUCB) else state.ranking.value
        assert means.max() == 0.25
