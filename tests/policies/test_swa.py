"""SWA and wSWA: long windows, late rewards and epochs."""

from __future__ import annotations

import random as python_random

import pytest

from rotting import Decision, policies
from rotting.theory.window import averaging_window


def test_a_window_too_long_for_any_run() -> None:
    assert policies.WSWA(0.2, 1e14).prepare(2, None, 10).windows.max() == 2**30
    assert policies.SWA(1e100, 1e100).prepare(2, 100, 10).window == 2**30


def test_swa_with_a_window_longer_than_its_first_ring() -> None:
    policy = policies.SWA(alpha=0.2, sigma=0.45)
    player = policy.online([0, 1], horizon=20_000)
    assert player._params.window == 299
    rng = python_random.Random(6)
    seen: list[list[float]] = [[], []]
    for _ in range(3000):
        decision = player.select()
        seen[decision.arm].append(rng.gauss(0, 1))
        player.update(decision, seen[decision.arm][-1])
    for arm in (0, 1):
        last = seen[arm][-299:]
        assert player._state.ranking.value[arm] == pytest.approx(sum(last) / len(last), abs=1e-9)


def test_a_dead_arm_is_left_though_rewards_are_later_than_the_window() -> None:
    for policy in (policies.SWA(0.02, 0.5), policies.WSWA(0.02, 0.5, restart="keep")):
        player = policy.online([0, 1], horizon=4000, compiled=False)
        waiting: list[Decision] = []
        for _ in range(4000):
            waiting.append(player.select())
            if len(waiting) > 12:
                arm, pull = decision = waiting.pop(0)
                player.update(decision, 0.5 if arm == 0 else (1.0 if pull <= 100 else 0.0))
        assert player.pulls[1] < 300


def test_wswa_that_forgets_ignores_rewards_of_earlier_epochs() -> None:
    player = policies.WSWA(alpha=0.05, sigma=0.5).online([0, 1], compiled=False)
    early = [player.select() for _ in range(7)]  # epochs of 1, 2 and 4 rounds
    later = player.select()  # the first round of the epoch of 8
    for decision in early:
        player.update(decision, 100.0)
    assert player._state.arms.observed.tolist() == [0, 0]
    player.update(later, 1.0)
    assert player._state.ranking.value[later.arm] == 1.0


@pytest.mark.parametrize("alpha", [0.002 * 1.3**k for k in range(8)])
def test_what_wswa_remembers(alpha: float) -> None:
    """The longest window that can be asked for, in a ring of at most twice the length.

    That of the horizon, if known; that of a horizon 64 times as long as what has been decided, if
    the history is kept and nobody knows how long it will be; never more than what was decided.
    """
    for capacity in (256, 1 << 14):
        for restart, horizon, needed in (
            ("forget", None, capacity),
            ("keep", 1 << 20, 1 << 20),
            ("keep", None, 64 * capacity),
        ):
            policy = policies.WSWA(alpha, 0.5, restart)
            state = policy.verbs.init(policy.prepare(2, horizon, 10), 2, capacity)
            longest = min(averaging_window(alpha, 0.5, 2, needed), capacity)
            ring = state.window.ring_reward.shape[1]
            assert longest <= ring < 2 * longest, (restart, horizon)


def test_swa_asks_for_its_horizon() -> None:
    with pytest.raises(ValueError, match="horizon must be given to play SWA online"):
        policies.SWA(0.2, 0.5).online([0, 1])
    player = policies.SWA(0.2, 0.5).online([0, 1], horizon=20, compiled=False)
    for _ in range(60):  # it may be played on
        player.update(player.select(), 0.1)
