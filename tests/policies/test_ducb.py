"""DUCB with weights that fade to zero."""

from __future__ import annotations

import math
import random as python_random

import numpy as np
import pytest

from rotting import policies
from rotting.policies import _ducb


def test_long_silence() -> None:
    """DUCB's weights fade to nothing while no reward arrives; the engines agree all the same."""
    for gamma in (0.2, 0.9):
        players = [policies.DUCB(gamma=gamma).online([0, 1], compiled=c) for c in (True, False)]
        for player in players:
            for _ in range(2):
                player.update(player.select(), 1e100)
            for _ in range(1000):
                last = player.select()
            player.update(last, 0.5)
            assert np.all(np.isfinite(player.core.state.mean))
        assert players[0].pulls == players[1].pulls


@pytest.mark.parametrize(("gamma", "rounds"), [(0.97, 900), (0.2, 200)])
def test_counts_and_sums_are_discounted(gamma: float, rounds: int) -> None:
    """By gamma for every pull of any arm since a reward came, late or not; past several units."""
    policy = policies.DUCB(gamma=gamma, B=0.7, xi=0.6)
    params = policy.prepare(3, None, 1000)
    state = policy.verbs.init(params, 3, 1000)
    rng = python_random.Random(3)
    came: list[tuple[int, int, float]] = []  # the round, the arm, the reward
    waiting: list[int] = []
    renewed = 0
    for t in range(1, rounds + 1):
        arm = t - 1 if t <= 3 else rng.choice([0, 1, 2])
        before = state.unit[0]
        policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
        assert 1e-10 <= state.unit[0] <= 1.0
        renewed += state.unit[0] > before
        waiting.append(arm)
        while len(waiting) > 4 or (waiting and (t <= 3 or rng.random() < 0.4)):
            late = waiting.pop(rng.randrange(len(waiting)))
            reward = rng.gauss(0.5, 1.0)
            policy.verbs.update(params, state, late, 1, reward)
            came.append((t, late, reward))
        if t < 3 or t % 9:
            continue
        weights = [gamma ** (t - s) for s, _, _ in came]
        indices = []
        for i in range(3):
            own = [(w, r) for w, (_, a, r) in zip(weights, came, strict=True) if a == i]
            count, total = sum(w for w, _ in own), sum(w * r for w, r in own)
            assert state.weight[i] * state.unit[0] == pytest.approx(count)
            assert state.total[i] * state.unit[0] == pytest.approx(total, abs=1e-9)
            assert state.mean[i] == pytest.approx(total / count)
            assert state.width[i] == pytest.approx(1 / math.sqrt(state.weight[i]))
            log_count = max(0.0, math.log(sum(weights)))
            indices.append(total / count + 1.4 * math.sqrt(0.6 * log_count / count))
        assert state.all_weight[0] * state.unit[0] == pytest.approx(sum(weights))
        assert policy.verbs.choose(params, state, None) == int(np.argmax(indices))
    assert renewed >= 1
    if gamma == 0.2:
        assert renewed == rounds // 15  # 0.2^15 is the first power below 1e-10


def test_a_weight_that_has_faded_to_nothing_has_a_width() -> None:
    assert _ducb._width(0.0) == pytest.approx(1e150)
    assert _ducb._width(4.0) == 0.5
