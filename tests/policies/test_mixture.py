"""Mixture: which model it finds, odd rewards, and its curve."""

from __future__ import annotations

import random as python_random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rotting import Arm, Audience, Bernoulli, Scenario, models, simulate
from rotting.kernel import verbs
from rotting.policies import Mixture
from twins import mixture as twin

Curve = Callable[[int], float]


def empty(arms: int = 1) -> Any:
    params = Mixture().prepare(arms, None, 100)
    return params, Mixture().verbs.init(params, arms, 100)


def told(curve: Curve, showings: int, seed: int = 1) -> Any:
    """One arm, shown so often in each cell, and clicked by chance; weighed at the last click."""
    params, state = empty()
    rng = python_random.Random(seed)
    for cell in range(twin.CELLS):
        rate = curve(twin.FIRST[cell])
        state.cells.count[0, cell] = showings
        state.cells.total[0, cell] = sum(rng.random() < rate for _ in range(showings))
    verbs.pulled(params, state, 0)
    verbs.update(params, state, 0, 1, 1.0)
    return params, state


@pytest.mark.parametrize(
    ("model", "curve"),
    [
        (twin.FLAT, lambda n: 0.05),
        (5, lambda n: 0.08 if n < 7 else 0.02),
        (twin.FREE, lambda n: 0.3 * n**-0.8),
    ],
    ids=["flat", "one step", "gradual"],
)
def test_a_long_record_shows_the_model(model: int, curve: Curve) -> None:
    _, state = told(curve, 3000)
    weights = np.diff(state.weight[0], prepend=0.0)  # they are kept as running sums
    assert weights[model] > 0.9
    assert state.weight[0, -1] == pytest.approx(1.0)


def test_weights_by_the_twin() -> None:
    _, state = told(lambda n: 0.5 * n**-0.3, 12)
    sums = [
        (float(x), int(n)) for x, n in zip(state.cells.total[0], state.cells.count[0], strict=True)
    ]
    found = np.diff(state.weight[0], prepend=0.0)
    np.testing.assert_allclose(found, twin.weights_of(sums), rtol=1e-9, atol=1e-12)


def test_rewards_beyond_count_as_the_nearer_end() -> None:
    params, state = empty()
    for pull, reward in enumerate((7.0, -3.0, 0.25), start=1):
        verbs.pulled(params, state, 0)
        verbs.update(params, state, 0, pull, reward)
    assert state.cells.total[0, :3].tolist() == [1.0, 0.0, 0.25]


def test_weights_wait_for_a_click_or_sixteen_misses() -> None:
    params, state = empty()
    changed = []
    for pull in range(1, 40):
        before = state.weight.copy()
        verbs.pulled(params, state, 0)
        verbs.update(params, state, 0, pull, float(pull == 20))
        if not np.array_equal(before, state.weight):
            changed.append(pull)
    assert changed == [16, 20, 36]


@pytest.mark.parametrize("constant", [0.0, 1.0, 0.3])
@pytest.mark.parametrize("arms", [1, 3])
def test_rewards_that_are_all_equal(constant: float, arms: int) -> None:
    player = Mixture().online(range(arms), compiled=False)
    for _ in range(60):
        player.update(player.select(), constant)
    assert np.isfinite(player.core.state.weight).all()
    assert min(player.pulls.values()) > 0


def test_plain_and_compiled_are_the_same() -> None:
    arms = [
        Arm(models.Polynomial(0.5).times(0.6)),
        Arm(models.Constant(0.3)),
        Arm(models.Step(at=4, before=0.7, after=0.1)),
    ]
    scenario = Scenario(arms, Bernoulli(), 300, audience=Audience(keys=9))
    plain = simulate(Mixture(), scenario, runs=2, seed=3, engine="reference")
    fast = simulate(Mixture(), scenario, runs=2, seed=3, threads=1)
    np.testing.assert_array_equal(plain.pulls, fast.pulls)
    np.testing.assert_array_equal(plain.regret, fast.regret)


def test_the_band_covers_the_truth() -> None:
    """Of 95 %; in cells of 60 showings, arms that fall once."""
    rng = python_random.Random(6)
    inside, widths = [], []
    for seed in range(12):
        top, at = rng.uniform(0.1, 0.4), rng.choice(twin.FIRST[1:8])

        def curve(n: int, top: float = top, at: int = at) -> float:
            return top if n < at else 0.4 * top

        params, state = told(curve, 60, seed)
        for pull in twin.FIRST:
            found = verbs.curve(params, state, 0, pull)
            assert found is not None
            assert found.low is not None
            assert found.high is not None
            inside.append(found.low <= curve(pull) <= found.high)
            widths.append(found.high - found.low)
    assert sum(widths) / len(widths) < 0.25  # not for being wide
    assert sum(inside) / len(inside) > 0.85
