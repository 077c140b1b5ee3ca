"""SWA and wSWA: long windows, late rewards and epochs."""

from __future__ import annotations

import random as python_random

import pytest

from rotting import Decision, policies
from rotting.policies.parts.arms import TIME, WAITING
from rotting.theory._averaging_window import averaging_window


def test_a_window_too_long_for_any_run() -> None:
    assert policies.WSWA(0.2, 1e14).prepare(2, None, 10).windows.max() == 2**30
    assert policies.SWA(1e100, 1e100).prepare(2, 100, 10).window == 2**30


def test_swa_with_a_window_longer_than_its_first_ring() -> None:
    policy = policies.SWA(alpha=0.2, sigma=0.45)
    player = policy.online([0, 1], horizon=20_000)
    assert player.core.params.window == 299
    rng = python_random.Random(6)
    seen: list[list[float]] = [[], []]
    for _ in range(3000):
        decision = player.select()
        seen[decision.arm].append(rng.gauss(0, 1))
        player.update(decision, seen[decision.arm][-1])
    for arm in (0, 1):
        last = seen[arm][-299:]
        assert player.core.state.ranking.value[arm] == pytest.approx(
            sum(last) / len(last), abs=1e-9
        )


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
    assert player.core.state.arms.observed.tolist() == [0, 0]
    player.update(later, 1.0)
    assert player.core.state.ranking.value[later.arm] == 1.0


@pytest.mark.parametrize("alpha", [0.002 * 1.3**k for k in range(8)])
def test_what_wswa_remembers(alpha: float) -> None:
    """The longest window that can be asked for, in a ring of at most twice the length.

    For the horizon, if known. With a kept history and no horizon, for one 64 times as long as the
    decisions so far. Never more than the decisions so far.
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


@pytest.mark.parametrize("restart", ["forget", "keep"])
def test_the_epochs_of_wswa(restart: str) -> None:
    """Epoch, window, arms short of it and the means, whatever is pulled; rewards up to 3 late."""
    alpha, sigma = 0.05, 0.5
    policy = policies.WSWA(alpha, sigma, restart)
    params = policy.prepare(3, None, 700)
    state = policy.verbs.init(params, 3, 700)
    rng = python_random.Random(4)
    rewards: list[list[float | None]] = [[], [], []]
    begun = [0, 0, 0]  # pulls of each arm before the epoch
    waiting: list[tuple[int, int]] = []
    for t in range(1, 601):
        epoch = t.bit_length() - 1
        window = averaging_window(alpha, sigma, 3, 2**epoch)
        if t == 2**epoch:
            begun = [len(seen) for seen in rewards]
        assert (state.epoch[0], state.start[0], state.length[0]) == (epoch, 2**epoch, window)
        assert state.wrong(state, params, []) is None
        counts = [len(seen) for seen in rewards]
        first = begun if restart == "forget" else [0, 0, 0]
        known: list[list[float]] = [
            [x for x in seen[max(start, len(seen) - window) :] if x is not None]
            for seen, start in zip(rewards, first, strict=True)
        ]
        if restart == "keep":
            assert state.short[0] == sum(n < window for n in counts)
        else:
            observed = [
                sum(x is not None for x in seen[start:])
                for seen, start in zip(rewards, begun, strict=True)
            ]
            assert state.arms.observed.tolist() == observed
            assert state.arms.clock[WAITING] == observed.count(0)
        arm = policy.verbs.choose(params, state, None)
        if restart == "forget" and t - 2**epoch < 3 * window:
            assert arm == (t - 2**epoch) % 3
        elif restart == "keep" and min(counts) < window:
            assert arm == counts.index(min(counts))
        elif not waiting and all(known):
            means = [sum(found) / len(found) for found in known]
            assert state.ranking.value.tolist() == pytest.approx(means, abs=1e-9)
            assert means[arm] == max(means)
        if rng.random() < 0.3:
            arm = rng.choice([0, 0, 1, 2])  # a pull without a decision
        policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
        rewards[arm].append(None)
        waiting.append((arm, len(rewards[arm])))
        while len(waiting) > 3 or (waiting and (t % 5 == 0 or rng.random() < 0.8)):
            late, pull = waiting.pop(rng.randrange(len(waiting)))
            reward = rng.gauss(0.5 - 0.1 * late, 1.0)
            policy.verbs.update(params, state, late, pull, reward)
            rewards[late][pull - 1] = reward
    for field, wrong in ((state.epoch, 3), (state.start, 7), (state.length, 10**6)):
        right = field[0]
        field[0] = wrong
        assert state.wrong(state, params, []) is not None
        field[0] = right
    for now, fine in ((2 * state.start[0] - 2, True), (2 * state.start[0] - 1, False)):
        state.arms.clock[TIME] = now
        assert (state.wrong(state, params, []) is None) == fine
