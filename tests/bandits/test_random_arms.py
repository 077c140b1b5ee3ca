"""Arms drawn for every run: by weights, amplitudes, continuous thetas, and any function."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rotting import Arm, Bernoulli, Gaussian, NoNoise, RandomArms, Scenario, models
from rotting.bandits import ArmDraw, DrawnArms
from rotting.models import Constant, Exponential, Family, Plateau, Polynomial, Scaled, Step

THETAS = Plateau(length=5).over([0.1, 0.25, 0.4])
INTERVAL = Polynomial().between(0.1, 0.4)


def fading(draw: ArmDraw) -> Arm:
    """An exponential in front of a constant; the first arm never fades."""
    if draw.arm == 0:
        return Arm(Constant(draw.choice([0.25, 0.5])))
    return Arm(Scaled(Exponential(draw.uniform(0.01, 0.1)), 0.5), abs(draw.normal(0.0, 0.01)))


# what seed 7 drew for two runs when families had no weights yet
EXPECTED_MODELS = [[2, 2, 1], [0, 0, 1]]
EXPECTED_CONSTANTS = [
    [0.1942304780832529, 0.18068719333904282, 0.41358678399059895],
    [0.2799376147436184, 0.2977529232391804, 0.4829171723833153],
]

OWN_MODELS = {
    "amplitudes": RandomArms(THETAS, 4, (0.0, 0.2), amplitudes=(0.25, 0.5)),
    "interval": RandomArms(INTERVAL, 4, (-0.2, 0.0)),
    "interval with amplitudes": RandomArms(INTERVAL, 4, amplitudes=(0.5, 0.75)),
    "mixed": RandomArms(Family.of([Constant(0.3), Step(5, 0.5, 0.1)]), 4, amplitudes=(0.5, 0.9)),
    "function": RandomArms.drawn(fading, 4),
}


def means(scenario: Scenario, seed: int, first: int, last: int) -> Any:
    """The mean of every pull, [run, arm, n - 1], as engines read them."""
    world, bandits = scenario.chunk(seed, first, last)
    assert world.means.shape[0] == world.sums.shape[0] == bandits.models.max() + 1
    return bandits.constants[..., None] + world.means[bandits.models]


def test_shared_tables_are_one_object_for_all_chunks() -> None:
    for arms in (RandomArms(THETAS, 3), [Arm(Constant(0.5)), Arm(Polynomial(0.2), 0.1)]):
        scenario = Scenario(arms, Gaussian(0.1), 50)
        assert scenario.shared_tables
        world, bandits = scenario.chunk(3, 2, 7)
        assert world.means is scenario.world().means is scenario.chunk(3, 0, 1)[0].means
        np.testing.assert_array_equal(bandits.models, scenario.bandits(3, 2, 7).models)
        np.testing.assert_array_equal(bandits.constants, scenario.bandits(3, 2, 7).constants)
        assert scenario.runs_a_chunk(1) == 2**62
        again = pickle.loads(pickle.dumps(scenario))
        assert again == scenario
        assert hash(again) == hash(scenario)
        assert len(pickle.dumps(scenario)) < 1000  # the tables stay at home


def test_uniform_draws_from_a_family_are_as_they_were() -> None:
    found = Scenario(RandomArms(THETAS, 3, (0.0, 0.5)), NoNoise(), 10).bandits(7, 0, 2)
    assert found.models.tolist() == EXPECTED_MODELS
    assert found.constants.tolist() == EXPECTED_CONSTANTS
    arms = RandomArms(THETAS, 3, (0.0, 0.5))
    for run in range(2):
        expected = zip(EXPECTED_MODELS[run], EXPECTED_CONSTANTS[run], strict=True)
        assert arms.arms(7, run) == tuple(Arm(THETAS.members[k], c) for k, c in expected)
    assert repr(arms) == f"RandomArms(family={THETAS!r}, count=3, constants=(0.0, 0.5))"


def test_weights_say_how_often_a_model_is_drawn() -> None:
    family = Plateau(length=5).over([0.1, 0.25, 0.4], weights=[1, 2, 5])
    drawn = Scenario(RandomArms(family, 10), NoNoise(), 10).bandits(1, 0, 2000).models
    shares = np.bincount(drawn.ravel(), minlength=3) / drawn.size
    # 20,000 draws: a standard deviation is 0.0035 at most
    np.testing.assert_allclose(shares, [0.125, 0.25, 0.625], atol=0.014)


@pytest.mark.parametrize("name", OWN_MODELS)
def test_chunks_hold_the_arms_of_their_runs(name: str) -> None:
    source = OWN_MODELS[name]
    scenario = Scenario(source, Bernoulli(), 30)
    assert not scenario.shared_tables
    assert not scenario.fixed
    assert scenario.arm_count == 4
    whole = means(scenario, 5, 0, 6)
    pulls = np.arange(1, 31)
    for run in range(6):
        for arm, made in enumerate(source.arms(5, run)):
            np.testing.assert_array_equal(whole[run, arm], made.mean(pulls))
    np.testing.assert_array_equal(means(scenario, 5, 2, 4), whole[2:4])
    assert not np.array_equal(means(scenario, 6, 0, 6), whole)
    assert not np.array_equal(whole[0], whole[1])
    world, bandits = scenario.chunk(5, 0, 6)
    np.testing.assert_allclose(world.sums[:, -1], world.means.sum(axis=1))
    assert bandits.models.shape == bandits.constants.shape == (6, 4)


@pytest.mark.parametrize("name", OWN_MODELS)
def test_scenarios_with_models_of_each_run_travel(name: str) -> None:
    scenario = Scenario(OWN_MODELS[name], Gaussian(0.1), 30)
    again = pickle.loads(pickle.dumps(scenario))
    assert again == scenario
    assert hash(again) == hash(scenario)
    assert repr(again) == repr(scenario)
    assert " at 0x" not in repr(scenario)
    np.testing.assert_array_equal(means(again, 1, 3, 4), means(scenario, 1, 3, 4))
    with pytest.raises(ValueError, match=r"world\(\) must be .* use chunk\(seed, first, last\)"):
        scenario.world()
    with pytest.raises(ValueError, match=r"bandits\(\) must be .* use chunk\(seed, first, last\)"):
        scenario.bandits(0, 0, 1)
    with pytest.raises(ValueError, match="bandits must come with models that all runs share"):
        OWN_MODELS[name].bandits(0, 0, 1)


def test_draws_stay_in_their_ranges_and_fill_them() -> None:
    arms = [
        arm
        for run in range(300)
        for arm in RandomArms(INTERVAL, 4, (-1.0, 2.0), (0.5, 3.0)).arms(0, run)
    ]
    scaled = [arm.model for arm in arms if isinstance(arm.model, Scaled)]
    assert len(scaled) == 1200
    thetas = [float(getattr(model.model, "theta")) for model in scaled]  # noqa: B009
    for values, low, high in (
        (thetas, 0.1, 0.4),
        ([model.factor for model in scaled], 0.5, 3.0),
        ([arm.constant for arm in arms], -1.0, 2.0),
    ):
        assert low <= min(values)
        assert max(values) < high
        # a uniform mean of 1,200 draws is within five standard errors of the middle
        width = high - low
        assert abs(np.mean(values) - (low + high) / 2) < 5 * width / np.sqrt(12 * 1200)
        assert np.std(values) == pytest.approx(width / np.sqrt(12), rel=0.1)


def test_few_models_take_few_rows() -> None:
    scenario = Scenario(
        RandomArms.drawn(lambda draw: Arm(Constant(draw.uniform())), 3), NoNoise(), 9
    )
    world, bandits = scenario.chunk(0, 0, 50)
    assert world.means.shape == (1, 9)
    assert len(np.unique(bandits.constants)) == 150


def test_runs_that_fit_into_memory() -> None:
    scenario = Scenario(OWN_MODELS["interval"], NoNoise(), 1000)
    run = sum(array.nbytes for array in scenario.chunk(0, 0, 1)[0][:2])
    assert scenario.runs_a_chunk(10 * run) == 10
    assert scenario.runs_a_chunk(10 * run - 1) == 9
    assert scenario.runs_a_chunk(1) == 1


WRONG: list[tuple[str, Callable[[], Any]]] = [
    ("amplitudes\\[0\\] must be a number > 0", lambda: RandomArms(THETAS, 2, amplitudes=(0, 1))),
    ("amplitudes\\[1\\] must be a number >= 2", lambda: RandomArms(THETAS, 2, amplitudes=(2, 1))),
    ("amplitudes must be a pair", lambda: RandomArms(THETAS, 2, amplitudes=3)),  # type: ignore[arg-type]
    ("constants must be a pair", lambda: RandomArms(THETAS, 2, "01")),  # type: ignore[arg-type]
    ("or an Interval, as", lambda: RandomArms(Polynomial(0.1), 2)),  # type: ignore[arg-type]
    ("function must be callable, got 3", lambda: RandomArms.drawn(3, 2)),  # type: ignore[arg-type]
    ("function must return an Arm", lambda: RandomArms.drawn(lambda draw: 0.5, 2)),  # type: ignore[arg-type, return-value]
    ("count must be an integer >= 1", lambda: RandomArms.drawn(fading, 0)),
    ("arms drawn by a function have no family", lambda: RandomArms.drawn(fading, 2).family),
    (
        "Bernoulli rewards need",
        lambda: Scenario(RandomArms(THETAS, 2, amplitudes=(0.5, 1.1)), Bernoulli(), 9),
    ),
    (
        "reaches -0.1",
        lambda: Scenario(
            RandomArms(Family.of([Constant(-0.05)]), 2, amplitudes=(1, 2)), Bernoulli(), 9
        ),
    ),
    (
        "Bernoulli rewards need",
        lambda: Scenario(RandomArms(INTERVAL, 2, (0.0, 0.1)), Bernoulli(), 9),
    ),
    (
        "Bernoulli rewards need .* reaches 1.5",
        lambda: Scenario(
            RandomArms.drawn(lambda draw: Arm(Constant(1.5 if draw.arm else 0.5)), 2),
            Bernoulli(),
            9,
        ).chunk(0, 0, 1),
    ),
]


@pytest.mark.parametrize(("words", "make"), WRONG)
def test_refusals(words: str, make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_drawn_arms_are_random_arms() -> None:
    source = RandomArms.drawn(fading, 3)
    assert isinstance(source, RandomArms)
    assert isinstance(source, DrawnArms)
    assert source != RandomArms.drawn(fading, 4)
    assert repr(source) == f"RandomArms.drawn({fading.__module__}.fading, count=3)"
    with pytest.raises(ValueError, match="at least one to choose from"):
        ArmDraw(0, 0, 0).choice([])
    assert models.Interval is type(INTERVAL)
