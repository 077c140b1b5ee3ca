"""FEWA with long histories, where whole chunks of windows are skipped."""

from __future__ import annotations

import math

import numpy as np
import pytest

import twins.fewa
from rotting import policies
from rotting.policies import fewa
from rotting.policies.parts.history import CHUNK
from rotting.random import new_draw


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
        low, high = fewa._extremes(state, 0, first, last)
        within = means[first - 1 : last]
        assert low <= within.min() + 1e-12
        assert high >= within.max() - 1e-12
        if first >= 40:  # and they are good for something
            assert high - low < within.max() - within.min() + 0.4
            state.kept[0] = 0
            assert fewa._nobody_goes(state, 1, first, 320, width=high - low + 1e-9)
            assert not fewa._nobody_goes(state, 1, first, 320, width=high - low - 1e-9)
        assert not fewa._nobody_goes(state, 1, first, last - 1, width=math.inf)


def test_no_line_yet() -> None:
    policy = policies.FEWA(sigma=0.5)
    params = policy.prepare(1, None, 500)
    state = policy.verbs.init(params, 1, 500)
    for n in range(1, 100):
        policy.verbs.pulled(params, state, 0)  # type: ignore[misc]
        policy.verbs.update(params, state, 0, n, 0.5)
    state.walk[0] = state.history.last[0]
    assert fewa._extremes(state, 0, 1, 64) == (-math.inf, math.inf)
