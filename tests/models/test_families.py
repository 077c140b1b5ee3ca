"""Families of any models, with weights, and unchanged results for those without."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from rotting import models, theory
from rotting.models import Constant, Exponential, Family, Plateau, Polynomial, Scaled, Step
from rotting.parameters import Real

MIXED = [Exponential(0.1), Step(5, 1.0, 0.4), Scaled(Polynomial(0.2), 0.5)]


def test_one_model_over_thetas_is_as_it_was() -> None:
    family = Plateau(length=100).over([0.1, 0.15])
    assert repr(family) == "Family(model=Plateau(theta=None, length=100), thetas=(0.1, 0.15))"
    assert family == Family(Plateau(length=100), (0.1, 0.15))
    assert hash(family) == hash(Family(Plateau(length=100), (0.1, 0.15)))
    assert family != Plateau(length=99).over([0.1, 0.15])
    assert family.weights is None
    assert family.members == (Plateau(0.1, 100), Plateau(0.15, 100))


def test_any_models_make_a_family() -> None:
    family = Family.of(MIXED)
    assert len(family) == 3
    assert family.members == tuple(MIXED)
    expected = np.stack([member.mean(np.arange(1, 21)) for member in MIXED])
    np.testing.assert_array_equal(family.table(20), expected)
    np.testing.assert_array_equal(family.by_pull(20)[1:], expected.T)
    np.testing.assert_allclose(family.sums_by_pull(20)[20], expected.sum(axis=1))
    assert family == Family.of(MIXED)
    assert family != Family.of(MIXED[::-1])
    assert family != Family.of(MIXED, weights=[1, 2, 3])
    again = pickle.loads(pickle.dumps(family))
    assert again == family
    assert hash(again) == hash(family)
    assert eval(repr(family), vars(models)) == family


def test_models_that_differ_in_theta_only_have_thetas() -> None:
    family = Family.of([Plateau(0.1, 7), Plateau(0.4, 7)], weights=[1, 3])
    assert family == Plateau(length=7).over([0.1, 0.4], weights=[0.25, 0.75])
    assert family.thetas == (0.1, 0.4)


def test_thetas_of_mixed_models_are_refused() -> None:
    with pytest.raises(ValueError, match=r"thetas must be .* one model, but Step\(.*no theta"):
        _ = Family.of(MIXED).thetas
    lengths = Family.of([Plateau(0.1, 7), Plateau(0.1, 8)])
    with pytest.raises(ValueError, match="differ in more than theta"):
        _ = lengths.thetas
    with pytest.raises(ValueError, match="model must be one for the whole family"):
        _ = lengths.model


@pytest.mark.parametrize("family", [Family.of(MIXED), Polynomial().over([0.1, 0.2, 0.3])])
def test_uniform_weights_are_none_and_their_prior_is_exactly_one(family: Family) -> None:
    assert family.weights is None
    assert family.prior.tolist() == [1.0, 1.0, 1.0]
    assert Family.of(family.members, weights=[0.1, 0.1, 0.1]) == family


def test_weights_are_probabilities() -> None:
    family = Family.of(MIXED, weights=[1, 2, 7])
    assert family.weights == (0.1, 0.2, 0.7)
    np.testing.assert_allclose(family.prior, [0.3, 0.6, 2.1])
    with pytest.raises(ValueError, match="read-only"):
        family.prior[0] = 1.0
    over = Polynomial().over([0.1, 0.2], weights=[1, 3])
    assert repr(over).endswith("thetas=(0.1, 0.2), weights=(0.25, 0.75))")
    assert over != Polynomial().over([0.1, 0.2])


WRONG: list[tuple[str, Callable[[], Any]]] = [
    ("members must be a list of models", lambda: Family.of(3)),  # type: ignore[arg-type]
    ("members must hold at least one model", lambda: Family.of([])),
    ("members must be models, as .* got 0.5", lambda: Family.of([0.5])),  # type: ignore[list-item]
    ("members must be different models, got .* twice", lambda: Family.of([MIXED[0], MIXED[0]])),
    ("Exponential needs a theta", lambda: Family.of([Exponential(), Constant(1.0)])),
    ("weights must be one for each of 3 models, got 2", lambda: Family.of(MIXED, [1, 2])),
    ("weights must be a number >= 1e-100 .* got 0", lambda: Family.of(MIXED, [1, 0, 2])),
    ("weights must be a list of numbers, got 1", lambda: Family.of(MIXED, 1)),  # type: ignore[arg-type]
    ("weights must be a number .* <= 1e.100", lambda: Family.of(MIXED, [1e308, 1e308, 1.0])),
    ("Theta must be a list of numbers", lambda: Polynomial().over("0.1")),
]


@pytest.mark.parametrize(("words", "make"), WRONG, ids=[words for words, _ in WRONG])
def test_refusals(words: str, make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_positive_is_asked_of_any_members() -> None:
    family = Family.of([Exponential(0.1), Step(5, 1.0, -0.5)])
    models.check_positive("CTO", family, 5)
    with pytest.raises(ValueError, match=r"CTO needs .* mu\(6; Step\(.*\)\) = -0.5"):
        models.check_positive("CTO", family, 6)


def test_a_model_of_your_own_joins_the_registry() -> None:
    @dataclass(frozen=True)
    class Hyperbola(models.Model):
        theta: Real

        def _mean(self, n: npt.NDArray[Any]) -> npt.ArrayLike:
            return 1.0 / (1.0 + self.theta * n)

    assert models.MODELS["hyperbola"] is Hyperbola
    with pytest.raises(ValueError, match="theta of Hyperbola must be a finite number, got 'a'"):
        Hyperbola("a")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must differ from Step in more than case"):
        type("STEP", (models.Model,), {})
    with pytest.raises(ValueError, match="must be new, but the type 'Step' is rotting"):
        type("Step", (models.Model,), {})
    assert models.MODELS["step"] is Step


def test_theory_reads_the_members_of_any_family() -> None:
    family = Family.of([Polynomial(0.1), Scaled(Polynomial(0.4), 0.9)])
    needed = theory.m_star(family, p=0.01, sigma=0.5)
    assert (theory.misdetection(family, int(needed.max()), 0.5) <= 0.01).all()
    assert theory.bal(family, 10) >= 10
    assert theory.check_rotting_models(family).holds is not False
    assert theory.check_simultaneous(family).holds is None
    advice = theory.advise(arms=2, sigma=0.5, horizon=1000, family=family)
    assert advice.max_mean == 1.0
    with pytest.raises(ValueError, match="thetas must be those of one model"):
        theory.t_sim([0.1, 0.4], family, 0.5)
    with pytest.raises(ValueError, match="thetas must be those of one model"):
        theory.advise(arms=2, sigma=0.5, horizon=1000, family=family, thetas=[0.1, 0.4])


@pytest.mark.parametrize(
    ("member", "limit"),
    [
        (Constant(0.5), "0.5"),
        (Step(5, 1.0, 0.4), "0.4"),
        (models.Table([1.0, 0.7]), "0.7"),
        (Scaled(Constant(0.5), 0.5), "0.25"),
    ],
)
def test_a_member_that_does_not_vanish_fails_assumption_4_1(
    member: models.Model, limit: str
) -> None:
    verdict = theory.check_rotting_models(Family.of([Polynomial(0.1), member]))
    assert verdict.holds is False
    assert f"stays at {limit}" in verdict.why
    assert verdict.witness == member


def test_short_descriptions_do_not_become_large() -> None:
    """A file of a few thousand letters must not cost minutes: members are made when used."""
    with pytest.raises(ValueError, match="thetas times amplitudes must be"):
        models.Exponential().over(range(1, 200), amplitudes=range(1, 200))
    interval = models.Exponential().between(0.1, 0.4, nodes=100_000)
    assert "family" not in vars(interval)
    with pytest.raises(ValueError, match="theta"):
        models.Exponential().between(-0.1, 0.4)
