"""Amplitudes: every model takes one, and families and intervals run over it as over theta."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rotting import _plain, models, policies, theory
from rotting.models import Amplitude, Exponential, Family, Function, Plateau, Scaled, Step
from rotting.policies import Policy

N = np.arange(1, 41)


def test_a_scaled_model_has_the_theta_of_what_it_scales() -> None:
    family = Scaled(Exponential(), 0.05).over([0.01, 0.1])
    np.testing.assert_allclose(family.table(40), [0.05 * np.exp(-t * (N - 1)) for t in (0.01, 0.1)])
    assert family.thetas == (0.01, 0.1)
    assert family == Exponential().times(0.05).over([0.01, 0.1])
    assert _plain.from_plain(_plain.to_plain(family)) == family
    twice = Exponential().times(0.5).times(0.1).over([0.01])
    np.testing.assert_allclose(twice.table(40), family.table(40)[:1])
    nodes = Plateau(length=7).times(2.0).between(0.1, 0.4, nodes=3).family
    np.testing.assert_allclose(nodes.table(40), 2 * Plateau(length=7).over(nodes.thetas).table(40))


def test_a_family_over_the_amplitude() -> None:
    family = Exponential(0.01).over(amplitudes=[0.02, 0.05, 0.1])
    np.testing.assert_allclose(
        family.table(40), [a * np.exp(-0.01 * (N - 1)) for a in (0.02, 0.05, 0.1)]
    )
    assert family == Amplitude(Exponential(0.01)).over([0.02, 0.05, 0.1])
    assert _plain.from_plain(_plain.to_plain(family)) == family
    assert eval(repr(family), vars(models)) == family
    steps = Step(5, 1.0, 0.5).over(amplitudes=[0.1, 0.2], weights=[1, 3])
    assert steps.weights == (0.25, 0.75)
    assert steps.table(6)[:, 5].tolist() == [0.05, 0.1]


def test_a_family_over_theta_and_the_amplitude() -> None:
    family = Exponential().over([0.01, 0.1], amplitudes=[0.02, 0.05, 0.1], weights=range(1, 7))
    pairs = [(theta, a) for theta in (0.01, 0.1) for a in (0.02, 0.05, 0.1)]
    np.testing.assert_allclose(
        family.table(40), [a * np.exp(-theta * (N - 1)) for theta, a in pairs]
    )
    np.testing.assert_allclose(family.prior, np.arange(1, 7) / 3.5)
    assert _plain.from_plain(_plain.to_plain(family)) == family
    assert eval(repr(family), vars(models)) == family
    assert len(repr(Exponential().over(N / 40, amplitudes=N / 40))) < 2000
    with pytest.raises(ValueError, match=r"thetas must be those of one model, but .* differ in"):
        _ = family.thetas


def test_families_that_were_listed_stay_as_they_were() -> None:
    """Noise is keyed by how a family is written, so lists of scaled models must not change."""
    listed = Family.of([Scaled(Exponential(0.1), 0.5), Scaled(Exponential(0.2), 0.5)])
    assert repr(listed) == (
        "Family.of([Scaled(model=Exponential(theta=0.1), factor=0.5), "
        "Scaled(model=Exponential(theta=0.2), factor=0.5)])"
    )
    with pytest.raises(ValueError, match=r"thetas must be .* list; .* factor=0.5\)\.over"):
        _ = listed.thetas


def slow(n: Any, theta: float) -> Any:
    return 1.0 / (1.0 + theta * np.log(n))


def test_a_function_of_n_and_theta() -> None:
    family = Function(slow).over([0.5, 2.0])
    np.testing.assert_allclose(family.table(40), [slow(N, 0.5), slow(N, 2.0)])
    name = f"{slow.__module__}.slow"
    assert repr(family) == f"Family(model=Function({name}, theta=None), thetas=(0.5, 2.0))"
    assert repr(Function(slow, 0.5)) == f"Function({name}, theta=0.5)"
    drawn = Function(slow).times(0.1).between(0.5, 2.0, nodes=3).table(40)
    np.testing.assert_allclose(drawn[2], 0.1 * slow(N, 2.0))
    assert float(theory.cumulative(Function(slow, 0.5), 40)) == pytest.approx(slow(N, 0.5).sum())


def test_a_function_of_n_alone_is_as_it_was() -> None:
    def plain_function(n: Any, theta: float = 0.5) -> Any:  # defaults may be left out
        return slow(n, theta)

    model = Function(plain_function)
    assert not model.has_theta
    assert repr(model).endswith("plain_function)")
    np.testing.assert_allclose(model.mean(N), slow(N, 0.5))
    assert Family.of([model]).members == (model,)


REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("Exponential needs a theta", lambda: Exponential().over(amplitudes=[0.1])),
    ("Scaled has no theta", lambda: Step(5, 1.0, 0.5).times(0.1).over([0.1])),
    ("Step has no theta", lambda: Step(5, 1.0, 0.5).over([0.1], amplitudes=[0.1])),
    ("amplitudes must be a list of numbers, got 0.1", lambda: Exponential(1).over(amplitudes=0.1)),
    ("amplitudes must be a number > 0, got 0", lambda: Exponential().over([1], amplitudes=[0])),
    ("amplitudes must be different", lambda: Exponential().over([1], amplitudes=[0.1, 0.1])),
    ("members must hold at least one", lambda: Exponential().over([1], amplitudes=[])),
    ("theta of Amplitude must be a number >= 0, got -1", lambda: Amplitude(Exponential(1), -1)),
    ("model of Amplitude must be a model", lambda: Amplitude(3)),  # type: ignore[arg-type]
    ("Theta must be a list of numbers, got None", lambda: Exponential().over()),
    ("factor of Scaled must be a number > 0, got 0", lambda: Exponential().times(0)),
    ("n, or n and theta, got .*lambda", lambda: Function(lambda a, b, c: a)),
    ("n, or n and theta, got .*lambda", lambda: Function(lambda: 1.0)),
    ("theta of Function must be None for a function", lambda: Function(lambda n: 1.0 / n, 0.3)),
    ("Function needs a theta, as Function.function, theta=0.3", lambda: Function(slow).mean(1)),
    ("must never rise, but mu.2", lambda: Function(slow).over([0.5, -0.5])),
    ("CTO needs a positive family .* mu.1; 0. = 0", lambda: _cto([0.0, 0.5])),
]


def _cto(amplitudes: list[float]) -> Policy:
    return policies.CTO(Exponential(0.01).over(amplitudes=amplitudes))


@pytest.mark.parametrize(("words", "make"), REFUSED, ids=[words for words, _ in REFUSED])
def test_refusals(words: str, make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=words):
        make()
