"""Histories of rewards: every window counts, and late rewards find their place."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rotting import policies
from rotting.kernel.random import new_draw, normal
from rotting.policies.parts.history import empty_history, forget_history, remember


def windows_by_hand(rewards: list[float], scale: float) -> tuple[float, int]:
    """The least of mean(h) + scale / sqrt(h) over all windows, looked at one by one."""
    sums = np.cumsum(np.array(rewards)[::-1])
    h = np.arange(1, len(rewards) + 1)
    values = sums / h + scale / np.sqrt(h)
    return float(values.min()), int(h[values.argmin()])


@pytest.mark.parametrize("policy", [policies.RAWUCB(0.5), policies.RAWUCB(0.5, alpha=0.05)])
def test_skipped_chunks_hide_nothing(policy: policies.RAWUCB) -> None:
    """A long history that falls, rises by luck and falls: the index is the least of all windows."""
    player = policy.online([0, 1], compiled=True)
    draw = new_draw(3)
    rewards: list[list[float]] = [[], []]
    for t in range(1, 3001):
        decision = player.select()
        mean = 0.5 if decision.arm == 0 else (1.0 if decision.pull < 900 else 0.3)
        outcome = float(mean + 0.5 * normal(draw))
        if t > 2 and t % 50 == 0:
            scale = math.sqrt(2 * policy.alpha * math.log(t)) * policy.sigma
            least = [windows_by_hand(seen, scale)[0] for seen in rewards]
            assert decision.arm == int(np.argmax(least))
        player.update(decision, outcome)
        rewards[decision.arm].append(outcome)
    assert min(len(seen) for seen in rewards) > 100


def test_late_rewards_take_their_place_in_every_window() -> None:
    """Shuffled over chunks, the sums are those of the rewards in pull order."""
    player = policies.RAWUCB(0.5).online([0], compiled=False)
    rng = np.random.default_rng(0)
    rewards = rng.normal(size=200)
    decisions = [player.select() for _ in range(200)]
    for k in rng.permutation(200):
        player.update(decisions[k], float(rewards[k]))
    state = player.core.state.history
    sums: list[float] = []
    chunk = state.last[0]
    while chunk >= 0:
        filled = 64 if chunk != state.last[0] else (199 % 64) + 1
        sums = [*state.sums[chunk, :filled], *sums]
        chunk = state.before[chunk]
    np.testing.assert_allclose(sums, np.concatenate([[0.0], np.cumsum(rewards)[:-1]]), atol=1e-9)


@pytest.mark.parametrize("late", [0, 1, 5, 400])
def test_a_line_bounds_the_sums_of_its_chunk(late: int) -> None:
    """C_j - slope j lies between low and top, and meets both, whatever order rewards came in."""
    rng = np.random.default_rng(late)
    rewards = rng.normal(size=330) + np.linspace(0, 3, 330)
    order = np.argsort(np.arange(330) + rng.integers(0, late + 1, 330), kind="stable")
    history = empty_history(2, 400)
    for n, k in enumerate(order):
        remember(history, 1, n, k + 1, rewards[k])
        if n % 64 not in (62, 63, 0, 1, 40):
            continue
        pulls = np.sort(order[: n + 1])
        sums = np.concatenate([[0.0], np.cumsum(rewards[pulls])])
        assert history.total[1] == pytest.approx(sums[-1])
        chunk, start = history.last[1], n // 64 * 64
        while chunk >= 0:
            j = np.arange(start, min(start + 64, n + 1))
            np.testing.assert_allclose(history.sums[chunk, : j.size], sums[j], atol=1e-9)
            np.testing.assert_array_equal(history.pull[chunk, : j.size], pulls[j] + 1)
            if j.size == 64:
                off = sums[j] - history.slope[chunk] * j
                assert history.slope[chunk] == pytest.approx((sums[j[-1]] - sums[j[0]]) / 63)
                assert history.top[chunk] == pytest.approx(off.max(), abs=1e-9)
                assert history.low[chunk] == pytest.approx(off.min(), abs=1e-9)
            chunk, start = history.before[chunk], start - 64
        assert start == -64
    assert history.last[0] == -1
    forget_history(history, 1)
    assert (history.total[1], history.last[1]) == (0.0, -1)
