"""Families over amplitudes, in every parametric policy and in the theory."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest

from rotting import Arm, Gaussian, NoNoise, Player, Scenario, policies, simulate, theory
from rotting.models import Amplitude, Exponential, Family, Interval, Model, Plateau
from rotting.policies import Policy

RATES = [0.125, 0.25, 0.5, 1.0]
OVER = {
    "theta": Plateau(length=5).times(0.5).over([0.2, 0.4, 0.9]),
    "amplitude": Plateau(0.4, length=5).over(amplitudes=RATES),
    "both": Plateau(length=5).over([0.2, 0.9], amplitudes=RATES),
}
MAKERS: dict[str, Callable[[Family, float], Policy]] = {
    "CTO": lambda f, s: policies.CTO(f),
    "LCTO": lambda f, s: policies.LCTO(f),
    "DCTO": lambda f, s: policies.DCTO(f, s),
    "DCTO_UCB": lambda f, s: policies.DCTO_UCB(f, s, delta=0.1, exploration=4),
    "LDCTO": lambda f, s: policies.LDCTO(f, s),
    "Posterior": lambda f, s: policies.Posterior(f, s),
    "Guarded": lambda f, s: policies.Guarded(f, s),
}


def _pulls(policy: Policy, scenario: Scenario) -> list[list[int]]:
    played = simulate(policy, scenario, runs=3, seed=1, noise="common", engine="reference")
    found: list[list[int]] = played.pulls.tolist()
    return found


@pytest.mark.parametrize("name", MAKERS)
def test_decisions_do_not_depend_on_the_unit(name: str) -> None:
    """Rewards, noise and family in another unit, a power of two: the same decisions."""
    thetas, make = [0.2, 0.4, 0.9], MAKERS[name]
    shape = Plateau(length=5)
    plain = Scenario([Arm(shape.with_theta(t)) for t in thetas], Gaussian(0.5), 120)
    small = Scenario([Arm(shape.with_theta(t).times(2**-5)) for t in thetas], Gaussian(2**-6), 120)
    found = _pulls(make(shape.times(2**-5).over(thetas), 2**-6), small)
    assert found == _pulls(make(shape.over(thetas), 0.5), plain)
    assert min(found[0]) < max(found[0])


@pytest.mark.parametrize("kind", OVER)
@pytest.mark.parametrize("name", MAKERS)
def test_the_model_is_found(kind: str, name: str) -> None:
    """Without noise, regret is a small part of what equal shares of the pulls leave."""
    family = OVER[kind]
    scenario = Scenario([Arm(member) for member in family.members], NoNoise(), 300)
    played = [MAKERS[name](family, 0.01), policies.RoundRobin()]
    ours, equal = (
        simulate(p, scenario, runs=1, engine="reference").final_regret[0] for p in played
    )
    assert ours < 0.15 * equal


def test_an_interval_of_amplitudes() -> None:
    """An amplitude between the nodes is found too: interpolating in it is exact."""
    interval: Interval = Amplitude(Exponential(0.02)).between(0.1, 1.0, nodes=4)
    arms = [Arm(Exponential(0.02).times(rate)) for rate in (0.15, 0.31, 0.52, 0.93)]
    scenario = Scenario(arms, NoNoise(), 300)
    for policy in (policies.CCTO(interval), policies.Posterior(interval, 0.01)):
        assert simulate(policy, scenario, runs=1, engine="reference").final_regret[0] < 0.5


@pytest.mark.parametrize("family", OVER.values(), ids=OVER)
def test_theory_and_the_recommendation_take_them(family: Family) -> None:
    assert [verdict.holds for verdict in theory.check_assumptions(family)][:2] == [True, True]
    assert theory.misdetection(family, 60, 1e-6).max() < 1e-9
    assert theory.bal(family, 10) >= 10
    chosen = policies.recommended(sigma=0.1, family=family)
    assert isinstance(chosen, policies.Guarded)
    assert chosen.family == family


@pytest.mark.parametrize(
    ("model", "thetas"),
    [(Exponential(), [0.01, 0.1]), (Plateau(), [0.0, 0.3]), (Plateau(), [0.1, 0.4])],
)
def test_an_amplitude_changes_no_verdict(model: Model, thetas: list[float]) -> None:
    """Nor does an underflow: 0.05 exp(-0.1 n) is positive though 0 in floating point."""
    scaled = theory.check_assumptions(model.times(0.05).over(thetas))
    assert [verdict.holds for verdict in scaled] == [
        verdict.holds for verdict in theory.check_assumptions(model.over(thetas))
    ]
    negative = theory.check_rotting(model.with_theta(0.3).times(0.05), constant=-1e-9)
    assert negative.holds is False


def test_guarantees_do_not_depend_on_the_unit() -> None:
    """Model, noise and constant in another unit, a power of two: the same numbers of pulls."""
    plateau, thetas, sigma = Plateau(length=100), [0.1, 0.4], 0.5
    family, small, unit = plateau.over(thetas), plateau.times(0.5).times(0.25).over(thetas), 0.125
    wanted = theory.t_sim([0.1, 0.4], family, sigma)
    assert 1000 < wanted < 10**7
    assert theory.t_sim([0.1, 0.4], small, unit * sigma) == wanted
    assert theory.t_sim_by_balance(2, small, unit * sigma) == theory.t_sim_by_balance(
        2, family, sigma
    )
    for rule in ("sum", "difference"):
        np.testing.assert_array_equal(
            theory.m_star(small, 0.01, unit * sigma, rule, constant=unit * 0.3),
            theory.m_star(family, 0.01, sigma, rule, constant=0.3),
        )


@pytest.mark.parametrize("family", OVER.values(), ids=OVER)
def test_players_and_pickles_keep_them(family: Family) -> None:
    player = policies.Guarded(family, 0.1).online(["a", "b"], compiled=False)
    player.update(player.select(), 0.3)
    assert Player.from_json(player.to_json()).select() == player.select()
    assert pickle.loads(pickle.dumps(family)) == family


def test_an_amplitude_of_zero_is_not_positive() -> None:
    family = Exponential(0.1).over(amplitudes=[0.0, 0.5])
    assert theory.check_rotting_models(family).holds is False


def test_sums_of_amplitudes_have_closed_forms() -> None:
    model = Amplitude(Plateau(0.3, length=10), 0.05)
    assert float(theory.cumulative(model, 500)) == pytest.approx(model.table(500).sum())
    assert 0 < float(theory.cumulative(model, 10**15)) < 0.05 * 10**15
