"""Guarantees at the horizons where they change, and their notes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from rotting import models, theory
from rotting.theory import _guarantees
from rotting.theory._choice import CHOICES, policy_for

SIGMA = 0.2**0.5
PAIR = models.Plateau(length=100).over([0.1, 0.4])
EASY = models.Polynomial().over([0.05, 0.45])


def test_no_guarantee() -> None:
    found = _guarantees.no_guarantee("CTO", "Theorem 4.1", ["4.1", "4.2"])
    assert found.note == "no guarantee: Assumption 4.1 and 4.2 fails"
    assert (found.bound, found.vacuous, found.useful_from) == (math.inf, True, math.inf)
    assert found.detection is None


@pytest.mark.parametrize("place", [0, 1])
def test_windows_mean_something_where_their_bound_is_below_the_trivial_one(place: int) -> None:
    bound = (theory.swa_regret_bound, theory.wswa_regret_bound)[place]
    case = {"arms": 2, "sigma": 0.01, "top": 3.0, "alpha": 0.25}
    start = int(_guarantees.of_windows(horizon=10, **case)[place].useful_from)  # type: ignore[arg-type]
    for horizon, vacuous in ((start - 1, True), (start, False), (start + 1, False)):
        found = _guarantees.of_windows(horizon=horizon, **case)[place]  # type: ignore[arg-type]
        value = bound(2, horizon, 0.01, 0.25, 3.0)
        assert (found.vacuous, found.bound, found.useful_from) == (vacuous, value, start)
        assert (value >= 3.0 * horizon) == vacuous
        assert found.note == "alpha = 0.25"
        assert found.detection is None


def test_windows_that_never_mean_anything() -> None:
    for found in _guarantees.of_windows(2, 1e100, 10, 1e-100, 1.0):
        assert found.useful_from == math.inf
        assert found.vacuous


def test_a_bound_that_holds_at_once_counts_from_four_rounds_on() -> None:
    swa, wswa = _guarantees.of_windows(1, 1e-9, 100, 1.0, 1.0)
    assert swa.useful_from == 4
    assert wswa.useful_from > 4


@pytest.mark.parametrize("thetas", [None, [0.05, 0.45]])
def test_cto(thetas: list[float] | None) -> None:
    start = theory.t_sim(2 if thetas is None else thetas, EASY, 0.01)
    assert 2 < start < 10**6
    for horizon in (int(start) - 1, int(start)):
        found = _guarantees.of_cto(2, 0.01, horizon, EASY, thetas, 2.0)
        vacuous = horizon < start
        assert found.vacuous == vacuous
        assert found.bound == (2.0 * horizon if vacuous else 2.0)
        p = 1 / (2 * horizon**2)
        assert found.detection == theory.m_star(EASY, p, 0.01).max()
        whose = "for any theta*" if thetas is None else "for the given theta*"
        assert found.note == (
            f"T*_SIM at most {start:,.0f} {whose}; detection with probability 1 - 1/(K T^2)"
        )


def test_cto_where_models_are_never_told_apart() -> None:
    steep = models.Polynomial().over([0.6, 0.7])
    found = _guarantees.of_cto(2, 0.5, 100, steep, None, 1.0)
    assert found.note == "T*_SIM is not known to be finite for any theta*"
    assert found.vacuous
    one = _guarantees.of_cto(1, 0.5, 1, steep, None, 1.0)
    assert one.detection == 1.0  # 1 / (K T^2) is no probability
    two = _guarantees.of_cto(2, 1e-3, 1, EASY, None, 1.0)
    assert two.detection == theory.m_star(EASY, 0.5, 1e-3).max() > 1.0


def test_exploration_is_rounded_up(monkeypatch: pytest.MonkeyPatch) -> None:
    for pulls, even in (([5.0, 3.0], 6.0), ([3.0, 6.0], 6.0), ([1.0], 2.0)):
        monkeypatch.setattr(_guarantees, "m_star", lambda *_, pulls=pulls: np.array(pulls))
        assert _guarantees.exploration_bound(EASY, 0.1, 1.0) == even


def test_exploration_is_even() -> None:
    for p in (0.2, 0.1, 0.05, 0.02, 0.01):
        pulls = theory.m_star(EASY, p, 0.02, "difference", "bound").max()
        found = _guarantees.exploration_bound(EASY, p, 0.02)
        assert found % 2 == 0
        assert 0 <= found - pulls <= 1
    assert _guarantees.exploration_bound(models.Polynomial().over([0.6, 0.7]), 0.1, 1.0) == math.inf


def dcto(horizon: int, constants: Any = True, thetas: Any = None, delta: float = 0.1) -> Any:
    return _guarantees.of_dcto_ucb(2, 0.02, horizon, EASY, constants, thetas, delta, 1.5)


def test_dcto_ucb_without_figures() -> None:
    pulls = theory.m_star(EASY, 0.05, 0.02, "difference", even=True).max()
    bound = _guarantees.exploration_bound(EASY, 0.05, 0.02)
    needed = int(2 * pulls)
    gaussian = (
        f"; {pulls:,.0f} pulls an arm is exact for Gaussian noise, the paper's bound, which "
        f"the policy explores by, is {bound:,.0f}"
    )
    late = dcto(needed)
    assert not late.vacuous
    assert late.note == (
        f"explores for {needed:,} decisions; the bound depends on the arms' constants" + gaussian
    )
    assert (late.bound, late.useful_from, late.detection) == (math.inf, needed, pulls)
    early = dcto(needed // 4)
    assert early.vacuous
    assert early.note == (
        f"cannot finish exploring: 2 arms x {pulls:,.0f} pulls = {needed:,} decisions, "
        f"{needed / (needed // 4):,.0f} times the horizon" + gaussian
    )
    assert dcto(needed - 1).vacuous
    steep = models.Polynomial().over([0.6, 0.7])
    never = _guarantees.of_dcto_ucb(2, 0.5, 100, steep, True, None, 0.1, 1.0)
    assert never.note == "cannot finish exploring: some models cannot be told apart"
    assert never.vacuous


def bound_by_hand(own: Any, constants: Any, sigma: float, horizon: int, pulls: float) -> float:
    """Stands in for Theorem 4.2's, which takes a second: infinite at ties, and slowly growing."""
    assert (own, sigma) == ([EASY.members[1], EASY.members[0]], 0.02)
    if constants[0] == constants[1]:
        return math.inf
    return 5.0 * pulls + 100.0 * math.log(horizon)


def test_dcto_ucb_with_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """From where the bound is below T times the largest mean, and the notes about it."""
    monkeypatch.setattr(_guarantees, "dcto_ucb_regret_bound", bound_by_hand)
    thetas = [0.45, 0.05]
    pulls = theory.m_star(EASY, 0.05, 0.02, "difference", even=True).max()
    start = int(dcto(10**9, [0.5, 0.1], thetas).useful_from)
    assert start > 2 * pulls
    for horizon in (start - 1, start):
        found = dcto(horizon, [0.5, 0.1], thetas)
        assert found.bound == 5.0 * pulls + 100.0 * math.log(horizon)
        assert found.vacuous == (found.bound >= 1.5 * horizon) == (horizon < start)
        assert "; holds with probability 0.9; " in found.note
        assert found.note.startswith(f"explores for {2 * pulls:,.0f} decisions; ")
    before = dcto(int(2 * pulls) - 1, [0.5, 0.1], thetas)
    assert (before.bound, before.useful_from) == (math.inf, start)
    assert before.note.startswith("cannot finish exploring: 2 arms x ")
    assert math.isfinite(dcto(int(2 * pulls), [0.5, 0.1], thetas).bound)
    tied = dcto(10**9, [0.1, 0.1], thetas)
    assert (tied.bound, tied.useful_from, tied.vacuous) == (math.inf, math.inf, False)
    assert "; no bound, another arm ties with the best; " in tied.note
    for constants, given in (([0.5, 0.1], None), (True, thetas)):  # one of them is not known
        assert "depends on the arms' constants" in dcto(10**9, constants, given).note


def test_a_bound_that_holds_as_soon_as_it_is_explored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly at T times the largest mean it says nothing yet."""
    pulls = theory.m_star(EASY, 0.05, 0.02, "difference", even=True).max()
    needed = int(2 * pulls)
    for more, start in ((-1.0, needed), (0.0, needed + 1)):
        monkeypatch.setattr(
            _guarantees, "dcto_ucb_regret_bound", lambda *_, more=more: 1.5 * needed + more
        )
        found = dcto(needed, [0.5, 0.1], [0.45, 0.05])
        assert found.useful_from == start
        assert found.vacuous == (more == 0.0)


def test_the_choice_of_a_policy() -> None:
    assert policy_for(family=False) == policy_for(family=False, constants=True) == "SteadyUCB"
    assert policy_for(family=True) == CHOICES["family"]
    assert policy_for(family=True, constants=True) == CHOICES["family_and_constants"]


def test_each_choice_by_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in CHOICES:
        monkeypatch.setitem(CHOICES, name, name)
    assert policy_for(family=False) == policy_for(family=False, constants=True) == "nothing_known"
    assert policy_for(family=True) == policy_for(family=True, constants=False) == "family"
    assert policy_for(family=True, constants=True) == "family_and_constants"
