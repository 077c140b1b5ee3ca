"""Caps that follow from curves, compared with play by the curves."""

from __future__ import annotations

import numpy as np
import pytest

from rotting.theory._caps import Cap, caps_of


def first_runs(curves: list[list[float]]) -> dict[int, int]:
    """How often each arm was shown when the list of all showings, best first, first leaves it."""
    order = sorted(
        ((-value, arm, n) for arm, row in enumerate(curves) for n, value in enumerate(row)),
    )
    arms = [arm for _, arm, _ in order]
    found: dict[int, int] = {}
    for place in range(1, len(arms)):
        if arms[place] != arms[place - 1]:
            found.setdefault(arms[place - 1], arms[:place].count(arms[place - 1]))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_an_arm_is_left_where_the_sorted_showings_leave_it(seed: int) -> None:
    """The showings of curves that fall, sorted by worth, are the best play."""
    rng = np.random.default_rng(seed)
    curves = -np.sort(-rng.uniform(size=(4, 30)), axis=1)
    wanted = first_runs(curves.tolist())
    for arm, cap in enumerate(caps_of(curves)):
        assert cap.showings == wanted[arm]
        assert cap.rival is not None
        assert curves[arm, cap.showings] < cap.rival <= curves[arm, cap.showings - 1]


def test_arms_that_are_not_left_and_arms_without_a_turn() -> None:
    flat = np.array([[0.4] * 5, [0.6] * 5, [0.6] * 5])
    assert caps_of(flat) == [Cap(0), Cap(None), Cap(0)]
    falls = np.array([[0.9, 0.1, 0.1], [0.5, 0.5, 0.5], [0.2, 0.2, 0.2]])
    assert caps_of(falls) == [Cap(1, 0.5, 1, 1), Cap(None), Cap(0)]
    assert caps_of(np.array([[0.9, 0.1]])) == [Cap(None)]
