"""The curves that audiences are drawn from: their ranges, and that none rises."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from rotting.bandits import Arm, ArmDraw, RandomArms
from rotting.league._curves import SHAPES, Curves
from rotting.models import Constant, Exponential, Polynomial, Scaled, Step

MANY = 400


def drawn(shape: str, low: float = 0.02, high: float = 0.1) -> list[Arm]:
    source = RandomArms.drawn(Curves((shape,), low, high), 10)
    return [arm for run in range(MANY // 10) for arm in source.arms(seed=1, run=run)]


def uniform(values: list[float], low: float, high: float) -> None:
    """Within the ends, near both, and with the mean that uniform numbers have."""
    near = (high - low) * 10 / MANY
    assert low <= min(values) < low + near
    assert high - near < max(values) <= high
    error = (high - low) / math.sqrt(12 * len(values))
    assert np.mean(values) == pytest.approx((low + high) / 2, abs=4 * error)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_curve_starts_at_its_top_and_never_rises(shape: str) -> None:
    numbers = np.arange(1, 201)
    means = np.array([arm.mean(numbers) for arm in drawn(shape)])
    uniform(means[:, 0].tolist(), 0.02, 0.1)
    assert np.all(np.diff(means, axis=1) <= 0.0)
    assert np.all(means >= 0.0)
    assert np.any(means[:, -1] < 0.7 * means[:, 0]) == (shape != "flat")


def test_the_curves_of_the_settings_are_those_of_the_design() -> None:
    """Thetas, rates, floors, places and depths of steps, each uniform in its range."""
    powers = [arm.model for arm in drawn("power")]
    assert all(isinstance(m, Scaled) and isinstance(m.model, Polynomial) for m in powers)
    uniform([m.theta for m in powers if isinstance(m, Scaled)], 0.1, 1.0)

    fades = drawn("exponential")
    inner = [arm.model.model for arm in fades if isinstance(arm.model, Scaled)]
    uniform([m.theta for m in inner if isinstance(m, Exponential) and m.theta], 0.02, 0.7)
    uniform([float(arm.constant / arm.mean(1)) for arm in fades], 0.0, 0.5)

    steps = [arm.model for arm in drawn("step") if isinstance(arm.model, Step)]
    assert {step.at for step in steps} == set(range(1, 15))
    uniform([step.after / step.before for step in steps], 0.05, 0.6)

    assert all(isinstance(arm.model, Constant) for arm in drawn("flat"))


def test_an_exponential_falls_to_its_floor() -> None:
    for arm in drawn("exponential")[:5]:
        assert isinstance(arm.model, Scaled)
        rate, top = arm.model.theta, float(arm.mean(1))
        floor = arm.constant / top
        wanted = top * (floor + (1.0 - floor) * np.exp(-rate * np.arange(30)))
        np.testing.assert_allclose(arm.mean(np.arange(1, 31)), wanted)


def test_shapes_are_mixed_among_arms() -> None:
    curves = Curves(("flat", "step"), 0.2, 0.3)
    kinds = [type(curves(ArmDraw(0, 0, k)).model) for k in range(100)]
    assert 30 <= kinds.count(Step) <= 70
    assert kinds.count(Constant) == 100 - kinds.count(Step)
    again = pickle.loads(pickle.dumps(curves))  # as a cluster's worker has it
    assert again == curves
    assert again(ArmDraw(3, 4, 5)) == curves(ArmDraw(3, 4, 5))
    with pytest.raises(ValueError, match="unknown shape 'stpe'; did you mean 'step'"):
        Curves(("stpe",))
