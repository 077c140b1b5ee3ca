"""The policy recommended for given knowledge."""

from __future__ import annotations

import pytest

from rotting import models, policies
from rotting.papers import levine2017
from rotting.theory._choice import CHOICES, policy_for


def test_recommended() -> None:
    family = levine2017.FAMILY
    assert policies.recommended(sigma=0.4) == policies.SteadyUCB(0.4)
    assert policies.recommended(rewards="bernoulli") == policies.SteadyUCB(None)
    found = policies.recommended(sigma=0.4, family=family, constants=True)
    assert found == policies.Guarded(family, 0.4, constants=True)
    with pytest.raises(ValueError, match="sigma must be given with a family"):
        policies.recommended(family=family)
    with pytest.raises(ValueError, match="rewards must be one of"):
        policies.recommended(rewards="gamma")


def test_one_table_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every situation has its own entry."""
    for name in ("nothing_known", "family", "family_and_constants"):
        monkeypatch.setitem(CHOICES, name, name)
    assert policy_for(family=False) == policy_for(family=False, constants=True) == "nothing_known"
    assert policy_for(family=True) == "family"
    assert policy_for(family=True, constants=True) == "family_and_constants"
    for name in ("family", "family_and_constants"):
        monkeypatch.setitem(CHOICES, name, "SteadyUCB")
    found = policies.recommended(sigma=0.3, family=levine2017.FAMILY)
    assert found == policies.SteadyUCB(0.3)


def test_clicks_scatter_less_than_one_half() -> None:
    assert policies.recommended(rewards="bernoulli", sigma=0.2) == policies.SteadyUCB(0.2)
    rates = models.Exponential(0.01).over(amplitudes=[0.02, 0.1])  # of which 10 % scatter most
    clicks = policies.recommended(rewards="bernoulli", family=rates)
    assert isinstance(clicks, policies.Guarded)
    assert clicks.sigma == pytest.approx(0.3)
    found = policies.recommended(rewards="bernoulli", family=levine2017.FAMILY)
    assert found == policies.Guarded(levine2017.FAMILY, 0.5)
    with pytest.raises(ValueError, match="arms must be an integer >= 1, got 0"):
        policies.recommended(arms=0)
    assert policies.recommended(arms=1) == policies.SteadyUCB(None)


def test_for_an_audience() -> None:
    """Of clicks the scatter is estimated: the largest that a family allows explores too much."""
    rates = models.Polynomial().over([0.1, 0.5], amplitudes=[0.02, 0.1])
    assert policies.recommended(audience=True, rewards="bernoulli") == policies.Fatigue()
    amounts = policies.recommended(audience=True, sigma=0.3)
    assert amounts == policies.Fatigue("gaussian", 0.3)
    told = policies.recommended(audience=True, rewards="bernoulli", family=rates)
    assert told == policies.Posterior(rates, None, rule="thompson")
    amounts = policies.recommended(audience=True, sigma=0.3, family=rates, constants=True)
    assert amounts == policies.Posterior(rates, 0.3, constants=True, rule="thompson")
