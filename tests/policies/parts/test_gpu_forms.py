"""The forms of functions for a GPU give the same answers as the usual ones."""

from __future__ import annotations

import numpy as np
import pytest

from rotting.kernel.compilable import GPU_FORMS
from rotting.kernel.random import new_draw
from rotting.models._families import ordered_rows
from rotting.policies.parts.argmax import (
    argmax,
    argmax_padded,
    argmax_padded_in_turn,
    top_two,
    top_two_least_pulled,
    top_two_without_branches,
)
from rotting.policies.parts.nearest import nearest, nearest_at_once, nearest_of_all
from rotting.policies.parts.openings import AllOpen, OpenArms


def test_there_are_no_others() -> None:
    known = {
        (argmax_padded, argmax_padded_in_turn),
        (top_two_least_pulled, top_two_without_branches),
        (nearest, nearest_at_once),
    }
    assert set(GPU_FORMS) == known
    assert len(GPU_FORMS) == len(known)  # none is registered twice


@pytest.mark.parametrize("arms", [1, 2, 3, 7, 10])
def test_the_same_arm_and_runner_up(arms: int) -> None:
    """Few values, so that indices and pulls tie often."""
    rng = np.random.default_rng(arms)
    for seed in range(300):
        draw = new_draw(seed)
        index = rng.integers(0, 3, arms).astype(float)
        index[rng.random(arms) < 0.1] = -np.inf
        pulls = rng.integers(1, 4, arms)
        found = []
        for form in (top_two_least_pulled, top_two_without_branches):
            runner_up = np.zeros(1)
            leader = int(form(index, pulls, runner_up, AllOpen(), draw))
            found.append((leader, float(runner_up[0])))
        assert found[0] == found[1]
        others = [index[i] for i in range(arms) if i != found[0][0]]
        assert found[0][1] == max(others, default=-np.inf)


@pytest.mark.parametrize("arms", [1, 2, 3, 7, 10])
def test_closed_arms_are_not_there(arms: int) -> None:
    """All scans answer as if there were the open arms only."""
    rng = np.random.default_rng(arms)
    for seed in range(300):
        flags = rng.integers(0, 2, arms)
        flags[rng.integers(arms)] = 1
        opening, some = OpenArms(flags, np.array([flags.sum()])), np.flatnonzero(flags)
        mean, width = rng.integers(0, 3, (2, arms)).astype(float)
        mean[rng.random(arms) < 0.2] = -np.inf
        best = some[np.argmax(mean[some])]
        padded = some[np.argmax((mean + 0.5 * width)[some])]
        assert argmax(mean, opening) == best
        assert argmax_padded(mean, width, 0.5, opening) == padded
        assert argmax_padded_in_turn(mean, width, 0.5, opening) == padded
        runner_up = np.zeros(1)
        assert top_two(mean, runner_up, opening) == best
        second = max(np.delete(mean[some], np.argmax(mean[some])), default=-np.inf)
        assert runner_up[0] == second
        pulls = rng.integers(1, 4, arms)
        draw = new_draw(seed)
        found = []
        for form in (top_two_least_pulled, top_two_without_branches):
            found.append((int(form(mean, pulls, runner_up, opening, draw)), float(runner_up[0])))
        assert found[0] == found[1]
        leader = found[0][0]
        assert flags[leader] == 1
        least = min(pulls[i] for i in some if mean[i] == mean[best])
        assert (mean[leader], pulls[leader]) == (mean[best], least)
        assert found[0][1] == second


@pytest.mark.parametrize("arms", [1, 2, 3, 7, 10])
def test_the_first_of_the_highest(arms: int) -> None:
    """Also where arms tie, and where none has an index yet."""
    rng = np.random.default_rng(arms)
    for _ in range(300):
        mean, width = rng.integers(0, 3, (2, arms)).astype(float)
        mean[rng.random(arms) < 0.3] = -np.inf
        expected = int(np.argmax(mean + 0.5 * width))
        assert argmax_padded(mean, width, 0.5, AllOpen()) == expected
        assert argmax_padded_in_turn(mean, width, 0.5, AllOpen()) == expected
        runner_up = np.zeros(1)
        leader = int(top_two(mean, runner_up, AllOpen()))
        assert leader == np.argmax(mean)
        assert runner_up[0] == max(np.delete(mean, leader), default=-np.inf)


@pytest.mark.parametrize("thetas", [1, 2, 5, 9])
def test_the_same_theta(thetas: int) -> None:
    """From wherever it starts, on rows that rise, fall, are equal, and in no order."""
    rng = np.random.default_rng(thetas)
    rising = np.cumsum(rng.integers(1, 4, (20, thetas)), axis=1).astype(float)
    rows = [*rising, *rising[:, ::-1], *np.repeat(rng.integers(0, 9, (9, 1)), thetas, 1) + 0.0]
    ordered = len(rows)
    sums = np.array([*rows, *rng.normal(size=(20, thetas))])
    assert ordered_rows(sums) >= ordered
    for row in range(len(sums)):
        for total in [*rng.uniform(-2, 30, 5), *sums[row] + 0.5, *sums[row]]:
            expected = int(np.argmin(np.abs(total - sums[row])))
            for start in range(thetas):
                answers = [
                    form(total, sums, row, start, ordered) for form in (nearest, nearest_at_once)
                ]
                assert [*answers, nearest_of_all(total, sums, row)] == [expected] * 3
