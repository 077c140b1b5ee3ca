"""CellUCB: cells, bounds that earlier cells give for later ones, and its curve."""

from __future__ import annotations

import math

import pytest

from rotting import policies
from rotting._checks import HUGE
from rotting.kernel import verbs

POLICY = policies.CellUCB(sigma=0.5, cells=3, delta=0.1)
PARAMS = POLICY.prepare(2, None, 100)


def padding(n: int) -> float:
    return 0.5 * math.sqrt(2 * math.log(math.pi**2 * 3 * n**2 / 0.3) / n)


def test_means_do_not_rise_so_earlier_cells_bound_later_ones() -> None:
    state = POLICY.verbs.init(PARAMS, 2, 100)
    assert verbs.score(PARAMS, state, 0, 1) == -math.inf
    for pull, reward in ((1, 0.0), (1, 0.2), (2, 1.0), (3, 0.1), (7, 0.3)):
        verbs.pulled(PARAMS, state, 0)
        verbs.update(PARAMS, state, 0, pull, reward)
    first, last = 0.1 + padding(2), 0.2 + padding(2)
    assert verbs.score(PARAMS, state, 0, 1) == pytest.approx(first)
    assert verbs.score(PARAMS, state, 0, 2) == pytest.approx(first)  # below 1 + padding(1)
    assert verbs.score(PARAMS, state, 0, 3) == pytest.approx(min(first, last))
    assert verbs.score(PARAMS, state, 0, 50) == verbs.score(PARAMS, state, 0, 3)


def test_a_cell_without_rewards_before_it_is_tried_at_once() -> None:
    """The reward of a key's first showing was lost, that of its second came."""
    state = POLICY.verbs.init(PARAMS, 2, 100)
    verbs.pulled(PARAMS, state, 1)
    verbs.update(PARAMS, state, 1, 2, 0.3)
    assert verbs.score(PARAMS, state, 1, 1) == HUGE
    assert verbs.score(PARAMS, state, 1, 2) == pytest.approx(0.3 + padding(1))
    assert verbs.score(PARAMS, state, 1, 3) == pytest.approx(0.3 + padding(1))


def test_it_believes_the_mean_of_the_cell_itself() -> None:
    state = POLICY.verbs.init(PARAMS, 2, 100)
    for pull, reward in ((1, 0.0), (2, 1.0), (2, 0.5)):
        verbs.pulled(PARAMS, state, 0)
        verbs.update(PARAMS, state, 0, pull, reward)
    found = verbs.curve(PARAMS, state, 0, 2)
    assert found is not None
    half = 1.96 * 0.5 / math.sqrt(2)
    assert found == pytest.approx((0.75, 0.75 - half, 0.75 + half))
    assert verbs.curve(PARAMS, state, 0, 3) is None
    assert verbs.curve(PARAMS, state, 1, 1) is None
