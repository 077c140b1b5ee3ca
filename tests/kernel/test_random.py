"""The draws: their distributions, and that they are functions of their counters alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rotting._engines.compiled import numba_hooks
from rotting.kernel import random


def compiled_normals(key: Any, count: int) -> Any:
    import numba

    numba_hooks.register()
    normal_at, step_of = random.normal_at, random.step_of

    def fill(out: Any, key: Any) -> None:
        step = step_of(key)
        for i in range(out.size):
            out[i] = normal_at(key, step, np.uint64(i))

    out = np.empty(count)
    numba.njit(fill)(out, key)
    return out


def test_normals_are_standard_normal() -> None:
    """Moments within 4 standard errors and a Kolmogorov-Smirnov test, over several streams."""
    keys = random.fold(np.uint64(11), np.arange(8, dtype=np.uint64))
    draws = np.array([compiled_normals(key, 500_000) for key in keys])
    flat = draws.ravel()
    n = flat.size
    for power, expected in ((1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0), (6, 15.0)):
        values = flat**power
        assert abs(values.mean() - expected) < 4 * values.std() / math.sqrt(n), power
    assert stats.kstest(flat, "norm").pvalue > 1e-4
    tail = np.mean(np.abs(flat) > 3.7)
    probability = 2 * stats.norm.sf(3.7)
    assert abs(tail - probability) < 4 * math.sqrt(probability / n)
    corner = np.corrcoef(draws)[np.triu_indices(8, 1)]
    assert np.all(np.abs(corner) < 4.5 / math.sqrt(500_000))
    lag = [np.corrcoef(row[:-1], row[1:])[0, 1] for row in draws]
    assert np.all(np.abs(lag) < 4 / math.sqrt(500_000))


def test_the_tail_of_the_normal() -> None:
    """Beyond where the ziggurat ends: one number in 4,000, too few for the test above."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**64, size=12_000, dtype=np.uint64)
    edge, height = random.EDGE, random.HEIGHT
    signs = np.where(rng.random(words.size) < 0.5, -1.0, 1.0)
    draws = np.array(
        [
            random._normal_retry(edge, height, word, np.int64(0), sign * (edge[1] + 0.01))
            for word, sign in zip(words, signs, strict=True)
        ]
    )
    np.testing.assert_array_equal(np.sign(draws), signs)
    start = np.abs(draws).min()
    assert 0.0 <= start - random._TAIL < 1e-3
    assert edge[1] == random._TAIL
    beyond = stats.norm.sf(np.abs(draws)) / stats.norm.sf(random._TAIL)
    assert stats.kstest(beyond, "uniform").pvalue > 1e-3


def test_neighbouring_streams_are_unrelated() -> None:
    """First draws of 200,000 consecutive (run, arm) keys are uniform and uncorrelated."""
    runs = random.fold(np.uint64(1), np.arange(100_000, dtype=np.uint64))
    keys = random.fold(runs[:, None], np.arange(2, dtype=np.uint64))
    u = random.to_unit(random.word(keys, random.step_of(keys), np.uint64(1)))
    assert stats.kstest(u.ravel(), "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(u.T)[0, 1]) < 4 / math.sqrt(100_000)
    assert abs(np.corrcoef(u[:-1, 0], u[1:, 0])[0, 1]) < 4 / math.sqrt(100_000)


def test_plain_and_compiled_draws_agree() -> None:
    key = random.fold(np.uint64(5), np.uint64(6))
    fast = compiled_normals(key, 2000)
    step = random.step_of(key)
    assert [random.normal_at(key, step, np.uint64(i)) for i in range(2000)] == fast.tolist()


def test_a_draw_moves_on_and_ties_do_not() -> None:
    draw = random.new_draw(seed=3)
    tie = random.tie(draw, 1, 5)
    values = [random.uniform(draw) for _ in range(1000)]
    assert len(set(values)) == 1000
    assert all(0 <= v < 1 for v in values)
    assert random.tie(draw, 1, 5) == tie
    assert random.tie(draw, 2, 5) != tie
    assert random.new_draw(seed=3, run=1)[0] != random.new_draw(seed=3)[0]
    assert isinstance(float(random.normal(draw)), float)


def test_known_values_never_change() -> None:
    """Seeds are promises: these values are what version 0.1 gave."""
    draw = random.new_draw(seed=0)
    key, step = draw[0], draw[1]
    assert int(key) == KNOWN_KEY
    assert [float(random.uniform(draw)) for _ in range(2)] == KNOWN_UNIFORMS
    assert float(random.normal_at(key, step, np.uint64(1))) == KNOWN_NORMAL
    assert int(random.digest("UCB1(c=2.0)")) == KNOWN_DIGEST


KNOWN_KEY = 11867035790227074025
KNOWN_UNIFORMS = [0.8593980637661376, 0.8956500402966648]
KNOWN_NORMAL = -0.12303186897674706
KNOWN_DIGEST = 10072099342398375200


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", True])
def test_bad_seeds(seed: object) -> None:
    with pytest.raises(ValueError, match="seed must be an integer from 0 to"):
        random.seed_word(seed)  # type: ignore[arg-type]
