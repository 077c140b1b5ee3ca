"""RAW-UCB's window: the best of all, found without looking at all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rotting.policies.parts import best_window
from rotting.policies.parts.history import History, Starts, empty_history, no_starts, remember


def width(h: int, plus: bool, power: float, scale: float, log_x: float) -> float:
    """As RAW-UCB and RAW-UCB++ define it."""
    if not plus:
        return scale / math.sqrt(h)
    more = max(0.0, log_x - math.log(h))
    return scale * math.sqrt((more + power * math.log(1.0 + more)) / h)


@pytest.mark.parametrize(("plus", "power"), [(False, 0.0), (True, 0.0), (True, 0.8)])
@pytest.mark.parametrize("shape", ["falls", "rises", "steps", "sinks", "waves"])
def test_the_best_window_of_all(shape: str, plus: bool, power: float) -> None:
    rng = np.random.default_rng(len(shape))
    trend = {
        "falls": np.linspace(2, 0, 420),
        "rises": np.linspace(0, 2, 420),
        "sinks": np.linspace(-1, -5, 420),
        "waves": 4 * np.sin(np.arange(420) / 50) - 2,
        "steps": np.repeat([1.0, 0.2, 0.9, 0.1, 0.5, 0.4], 70),
    }[shape]
    rewards = trend + 0.3 * rng.normal(size=420)
    history, starts = empty_history(2, 420), no_starts(2)
    widths = best_window.Widths(plus, power, best_window.square_roots(500))
    for n in range(1, 421):
        remember(history, 1, n - 1, n, rewards[n - 1])
        starts.chunk[1] = history.last[1] if n == 1 else starts.chunk[1]
        if n not in (1, 2, 63, 64, 65, 128, 129, 200) and n % 41:
            continue
        scale, log_x = float(rng.choice([0.01, 0.5, 3.0])), math.log(3 * n)
        sums = np.cumsum(rewards[:n][::-1])
        by_hand = [sums[h - 1] / h + width(h, plus, power, scale, log_x) for h in range(1, n + 1)]
        asked = (widths, history, starts, 1, n, scale, log_x)
        h = n - int(starts.start[1])
        assert best_window.window_worth(*asked) == pytest.approx(by_hand[h - 1], abs=1e-9)
        assert best_window.find_window(*asked) == pytest.approx(min(by_hand), abs=1e-9)
        h = n - int(starts.start[1])
        assert by_hand[h - 1] == pytest.approx(min(by_hand), abs=1e-9)
        total = best_window.window_sum(history, starts, 1)
        assert total == pytest.approx(sums[h - 1], abs=1e-9)


def test_no_width_beyond_what_raw_ucb_plus_plus_looks_at() -> None:
    """At h >= t / K nothing is added, whatever the power."""
    widths = best_window.Widths(True, 0.8, best_window.square_roots(9))
    assert best_window._spread(widths, 1.0, math.log(4), 4) == 0.0
    assert best_window._spread(widths, 1.0, math.log(4), 5) == 0.0
    assert best_window._spread(widths, 1.0, math.log(4), 3) > 0.0


def test_square_roots_from_zero_to_the_last() -> None:
    roots = best_window.square_roots(9)
    np.testing.assert_array_equal(roots, [math.sqrt(h) for h in range(10)])
    assert not roots.flags.writeable  # all policies share them


def remembered(rewards: list[float]) -> tuple[History, Starts]:
    history, starts = empty_history(1, len(rewards)), no_starts(1)
    for n, reward in enumerate(rewards, start=1):
        remember(history, 0, n - 1, n, reward)
    return history, starts


@pytest.mark.parametrize("tail", [20, 64, 65, 130])
@pytest.mark.parametrize("part", [0.0, 0.5, 0.9])
def test_a_window_that_starts_at_the_end_of_a_chunk(tail: int, part: float) -> None:
    """It is better than the next shorter one by as little as its last reward leaves it.

    Rewards rise in the chunk, so that its sums touch their line at both ends only.
    """
    scale, h = 0.7, tail + 1
    margin = scale * (h / math.sqrt(h - 1) - math.sqrt(h))
    rewards = [*np.linspace(1.0, 2.0, 63), part * margin, *[0.0] * tail]
    history, starts = remembered(rewards)
    starts.start[0] = len(rewards) - 1
    starts.chunk[0] = history.last[0]
    widths = best_window.Widths(False, 0.0, best_window.square_roots(300))
    found = best_window.find_window(widths, history, starts, 0, len(rewards), scale, 0.0)
    assert found == pytest.approx((part * margin + scale * math.sqrt(h)) / h, rel=1e-9)
    assert (starts.start[0], starts.chunk[0]) == (63, 0)


@pytest.mark.parametrize("start", [0, 5, 63, 64, 99])
def test_of_windows_as_good_the_one_it_had_stays(start: int) -> None:
    history, starts = remembered([0.0] * 100)
    starts.start[0], starts.chunk[0] = start, start // 64
    widths = best_window.Widths(False, 0.0, best_window.square_roots(300))
    assert best_window.find_window(widths, history, starts, 0, 100, 0.0, 0.0) == 0.0
    assert (starts.start[0], starts.chunk[0]) == (start, start // 64)
