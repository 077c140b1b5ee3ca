"""FEWA with long histories, where whole chunks of windows are skipped."""

from __future__ import annotations

import math

import numpy as np
import pytest

import twins.fewa
from rotting import policies
from rotting.kernel.random import new_draw
from rotting.policies import _fewa
from rotting.policies.parts.history import CHUNK


@pytest.mark.parametrize("seed", range(6))
def test_the_same_arms_as_its_twin_after_hundreds_of_rewards(seed: int) -> None:
    rng = np.random.default_rng(seed)
    policy = policies.FEWA(sigma=0.5, alpha=(0.06, 1.0)[seed % 2])
    params = policy.prepare(3, None, 2000)
    state = policy.verbs.init(params, 3, 2000)
    history: list[tuple[int, float]] = []
    rots = rng.choice([0.0, 0.001, 0.003], size=3)
    for n in range(1, 331):
        for arm in rng.permutation(3):
            reward = float(0.5 - rots[arm] * n + 0.5 * rng.normal())
            policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
            policy.verbs.update(params, state, arm, n, reward)
            history.append((int(arm), reward))
        if n in (64, 65, 127, 128, 129, 200, 256, 330):
            allowed = twins.fewa.fewa(history, 3, sigma=policy.sigma, alpha=policy.alpha)
            assert policy.verbs.choose(params, state, new_draw(n)) in allowed


@pytest.mark.parametrize("shift", [0.0, -3.0, 5.0])
def test_the_lines_of_chunks_bound_the_means_of_their_windows(shift: float) -> None:
    rng = np.random.default_rng(4)
    policy = policies.FEWA(sigma=0.5)
    params = policy.prepare(1, None, 500)
    state = policy.verbs.init(params, 1, 500)
    rewards = shift + np.linspace(1, 0, 320) + 0.2 * rng.normal(size=320)
    for n, reward in enumerate(rewards, start=1):
        policy.verbs.pulled(params, state, 0)  # type: ignore[misc]
        policy.verbs.update(params, state, 0, n, reward)
    chunks = [int(state.history.last[0])]
    while state.history.before[chunks[0]] >= 0:
        chunks.insert(0, int(state.history.before[chunks[0]]))
    means = np.cumsum(rewards[::-1]) / np.arange(1, 321)
    for first in (1, 2, 40, 64, 65, 100, 200, 257):
        last = first + CHUNK - 1
        state.walk[0] = chunks[(320 - first) // CHUNK]
        low, high = _fewa._extremes(state, 0, first, last)
        within = means[first - 1 : last]
        assert low <= within.min() + 1e-12
        assert high >= within.max() - 1e-12
        if first >= 40:  # and they are good for something
            assert high - low < within.max() - within.min() + 0.4
            state.kept[0] = 0
            assert _fewa._all_stay(state, 1, first, 320, width=high - low + 1e-9)
            assert not _fewa._all_stay(state, 1, first, 320, width=high - low - 1e-9)
        assert not _fewa._all_stay(state, 1, first, last - 1, width=math.inf)


def test_no_line_yet() -> None:
    policy = policies.FEWA(sigma=0.5)
    params = policy.prepare(1, None, 500)
    state = policy.verbs.init(params, 1, 500)
    for n in range(1, 100):
        policy.verbs.pulled(params, state, 0)  # type: ignore[misc]
        policy.verbs.update(params, state, 0, n, 0.5)
    state.walk[0] = state.history.last[0]
    assert _fewa._extremes(state, 0, 1, 64) == (-math.inf, math.inf)


@pytest.mark.parametrize("seed", range(30))
def test_the_same_arms_as_its_twin_with_uneven_histories(seed: int) -> None:
    """From one reward to hundreds, arms that differ by a few widths, filtered late or soon."""
    rng = np.random.default_rng(seed)
    policy = policies.FEWA(sigma=0.5, alpha=(0.06, 0.3, 1.0)[seed % 3])
    arms = int(rng.integers(2, 6))
    params = policy.prepare(arms, None, 600)
    state = policy.verbs.init(params, arms, 2000)
    counts = rng.choice([1, 40, 63, 64, 65, 127, 128, 129, 192, 250], size=arms)
    if seed % 2:
        counts[:] = counts.max()
    means = rng.choice([0.0, 0.05, 0.1, 0.2], size=arms)
    history: list[tuple[int, float]] = []
    order = rng.permutation(np.repeat(np.arange(arms), counts))
    pulls = [0] * arms
    for arm in order:
        pulls[arm] += 1
        reward = float(means[arm] + 0.001 * rng.integers(3) * pulls[arm] + 0.1 * rng.normal())
        policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
        policy.verbs.update(params, state, arm, pulls[arm], reward)
        history.append((int(arm), reward))
    allowed = twins.fewa.fewa(history, arms, sigma=0.5, alpha=policy.alpha)
    assert policy.verbs.choose(params, state, new_draw(1)) in allowed


def test_whole_chunks_of_windows_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no arm goes, that is nearly all of them: it is what makes it quick."""
    rng = np.random.default_rng(4)
    policy = policies.FEWA(sigma=0.5, alpha=1.0)
    params = policy.prepare(2, None, 2000)
    state = policy.verbs.init(params, 2, 4000)
    for n in range(1, 1001):
        for arm in (0, 1):
            policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
            policy.verbs.update(params, state, arm, n, float(0.5 + 0.3 * rng.normal()))
    looked = []
    whole = _fewa._filter

    def watched(state: _fewa.State, count: int, h: int, width: float) -> int:
        looked.append(h)
        return int(whole(state, count, h, width))

    monkeypatch.setattr(_fewa, "_filter", watched)
    policy.verbs.choose(params, state, new_draw(1))
    assert looked[:30] == list(range(1, 31))  # the latest chunk has no line yet
    assert len(looked) < 1000 - 13 * CHUNK
