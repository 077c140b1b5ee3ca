"""Fatigue: which kind of curve it finds, what arms learn from each other, and odd rewards."""

from __future__ import annotations

import math
import random as python_random
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from policies.test_twins import stream_of
from rotting import Arm, Audience, Bernoulli, Gaussian, Scenario, models, policies, simulate
from rotting.kernel import verbs
from rotting.kernel.random import new_draw
from rotting.policies import Fatigue
from twins import fatigue as twin
from twins.common import argmax

FORMS = [Fatigue(), Fatigue("gaussian", sigma=0.5), Fatigue("gaussian")]
Curve = Callable[[int], float]


def told(curves: Sequence[Curve], showings: int, cells: int = twin.CELLS, again: int = 1) -> Any:
    """A state that has seen each cell of each arm so often, with exactly the mean it has.

    Every arm is then weighed, by one more reward, which is its mean.
    """
    params = Fatigue().prepare(len(curves), None, 100)
    state = Fatigue().verbs.init(params, len(curves), 100)
    for arm, curve in enumerate(curves):
        for cell in range(cells):
            state.cells.count[arm, cell] = showings
            state.cells.total[arm, cell] = showings * curve(twin.FIRST[cell])
            state.total[arm] += state.cells.total[arm, cell]
        state.arms.pulls[arm] = state.arms.observed[arm] = showings * cells
    for _ in range(again):
        for arm, curve in enumerate(curves):
            state.stale[arm] = twin.STALE
            verbs.pulled(params, state, arm)
            verbs.update(params, state, arm, 1, curve(1))
    return params, state


def step(before: float, at: int, after: float) -> Curve:
    return lambda n: before if n < at else after


def kinds(weights: Any) -> list[float]:
    return [
        float(sum(w for w, kind in zip(weights, twin.KIND_OF, strict=True) if kind == q))
        for q in range(4)
    ]


@pytest.mark.parametrize(
    ("kind", "curve"),
    [
        (0, lambda n: 0.05),
        (1, lambda n: 0.05 if n < 7 else 0.018),
        (2, lambda n: 0.08 * n**-0.45),
        (3, lambda n: 0.09 if 5 <= n < 9 else 0.03),
    ],
    ids=["flat", "one step", "gradual", "bump"],
)
def test_a_long_record_shows_the_kind(kind: int, curve: Curve) -> None:
    """Two thousand showings in each cell."""
    params, state = told([curve], 2000)
    assert kinds(state.curves.weight[0])[kind] > 0.9
    for pull in (1, 6, 8, 40):
        found = verbs.curve(params, state, 0, pull)
        assert found is not None
        assert found.estimate == pytest.approx(curve(pull), rel=0.1)


def test_shapes_by_the_twin() -> None:
    shapes = Fatigue().prepare(2, None, 100).library.shape
    np.testing.assert_allclose(shapes, twin.SHAPES, rtol=1e-12)


@pytest.mark.parametrize("policy", FORMS, ids=lambda policy: policy.short_label)
def test_what_is_thought_by_the_twin(policy: Fatigue) -> None:
    """Forty rewards of four arms, at exposures of all sizes."""
    rng = python_random.Random(8)
    params = policy.prepare(4, None, 100)
    state = policy.verbs.init(params, 4, 100)
    replay = twin.Replay(policy.rewards, policy.sigma)
    for _ in range(40):
        arm, pull = rng.randrange(4), rng.choice((1, 1, 2, 3, 9, 10, 20, 700))
        reward = rng.gauss((0.3 + 0.2 * arm) / pull**0.2, 0.3)
        verbs.pulled(params, state, arm)
        verbs.update(params, state, arm, pull, reward)
        replay.tell(4, arm, pull, reward)
    assert state.numbers[0] == pytest.approx(replay.m, rel=1e-9)
    if policy.rewards == "gaussian":
        assert state.numbers[1] == pytest.approx(replay.spread, rel=1e-9)
        assert state.numbers[2] == pytest.approx(replay.noise(), rel=1e-9)
    for arm, thought in enumerate(replay.arms):
        assert thought is not None
        assert state.curves.weight[arm] == pytest.approx(thought.weights, rel=1e-7, abs=1e-12)
        for cell, row in enumerate(state.curves.outlook[arm]):
            chance, fresh, fallen = thought.at(cell)
            assert row[:3] == pytest.approx((chance, *fresh), rel=1e-8)
            assert row[4:] == pytest.approx(fallen, rel=1e-8)


@pytest.mark.parametrize("policy", FORMS[:2], ids=lambda policy: policy.short_label)
def test_draws_by_the_twin(policy: Fatigue) -> None:
    """Ten arms with any moments, some of them pulled hardly at all."""
    rng = python_random.Random(9)
    params = policy.prepare(10, None, 100)
    state = policy.verbs.init(params, 10, 100)
    draw = new_draw(6)
    for _ in range(400):
        spread, time = rng.uniform(0.01, 0.1), rng.choice((30, 300, 1000))
        state.numbers[1], state.arms.clock[:] = spread, (time, 0, 0)
        values = {}
        stream = stream_of(draw.copy())
        for arm in range(10):
            observed = rng.choice((0, 3, 8, 18, 300))
            fresh, fallen = (
                (mean, mean**2 / math.exp(rng.uniform(-2, 3)))
                for mean in (rng.uniform(0.3, 0.5), rng.uniform(0.2, 0.5))
            )
            chance = rng.random()
            state.curves.outlook[arm, 0] = (chance, *fresh, 1 - chance, *fallen)
            state.arms.observed[arm] = observed
            u, z = next(stream)[0], next(stream)[1]
            sure = twin.sureness(observed, 10, time)
            moments = fresh if u < chance else fallen
            values[arm] = twin.value_of(*moments, z, sure, policy.rewards, spread)
        assert verbs.choose(params, state, draw) in argmax(values)


def test_an_arm_hears_from_the_others_what_arms_are_like() -> None:
    """The same few rewards, among arms that fall after three exposures and among flat ones."""

    def falls(n: int) -> float:
        return 0.3 if n < 4 else 0.06

    heard = []
    for other in (falls, lambda n: 0.3):
        _, state = told([other] * 4 + [lambda n: 0.2], 300)
        params, _ = told([other], 1)
        state.cells.count[4] = state.cells.total[4] = 0
        state.total[4], state.stale[4] = 0.0, twin.STALE
        verbs.update(params, state, 4, 1, 0.0)
        heard.append(kinds(state.curves.weight[4]))
    assert heard[0][1] > 0.5 > heard[1][1]
    assert heard[1][0] > 0.7 > heard[0][0]


def test_the_free_kind_by_brute_force() -> None:
    """All partitions of four cells; those without rewards change nothing."""
    rates = [0.5, 0.4, 0.1, 0.3]
    _, state = told([lambda n: rates[n - 1]], 12, cells=4)
    m = float(state.numbers[0])
    sums = {
        cell: (int(state.cells.count[0, cell]), float(state.cells.total[0, cell]))
        for cell in range(4)
    }
    flat = [1.0] * twin.CELLS
    whole = 0.0
    for cuts in product((False, True), repeat=3):
        chance = math.prod(twin.CUT if cut else 1 - twin.CUT for cut in cuts)
        starts = [0] + [cell for cell, cut in enumerate(cuts, start=1) if cut]
        log = 0.0
        for start, end in zip(starts, [*starts[1:], 4], strict=True):
            prior = twin.Clicks(1, 2 / m) if start else twin.Clicks(twin.LEVEL, twin.LEVEL / m)
            log += prior.level({cell: sums[cell] for cell in range(start, end)}, flat)[0]
        whole += chance * math.exp(log)
    one_level = twin.Clicks(twin.LEVEL, twin.LEVEL / m).level(sums, flat)[0]
    weights = state.curves.weight[0]
    expected = twin.KINDS[3] / twin.KINDS[0] * whole / math.exp(one_level)
    assert weights[-1] / weights[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("rate", [0.01, 0.4])
def test_how_high_levels_are_is_learnt(rate: float) -> None:
    """From ten arms that differ by a half; it starts at 0.5."""
    rates = [rate * (0.7 + 0.06 * arm) for arm in range(10)]
    _, state = told([step(r, 2, r) for r in rates], 200, again=3)
    assert state.numbers[0] == pytest.approx(sum(rates) / 10, rel=0.1)


ARMS = [
    Arm(models.Polynomial(0.5).times(0.6)),
    Arm(models.Constant(0.3)),
    Arm(models.Step(at=4, before=0.7, after=0.1)),
]


@pytest.mark.parametrize(
    "policy",
    [FORMS[0], *(pytest.param(form, marks=pytest.mark.long) for form in FORMS[1:])],
    ids=lambda policy: policy.short_label,
)
def test_plain_and_compiled_are_the_same(policy: Fatigue) -> None:
    noise = Bernoulli() if policy.rewards == "bernoulli" else Gaussian(0.5)
    scenario = Scenario(ARMS, noise, 120, audience=Audience(keys=9))
    plain = simulate(policy, scenario, runs=2, seed=3, engine="reference")
    fast = simulate(policy, scenario, runs=2, seed=3, threads=1)
    np.testing.assert_array_equal(plain.pulls, fast.pulls)
    np.testing.assert_array_equal(plain.regret, fast.regret)


def test_rewards_beyond_count_as_the_nearer_end() -> None:
    found = []
    for rewards in ((7.0, -3.0, 1.5, 0.25), (1.0, 0.0, 1.0, 0.25)):
        params = Fatigue().prepare(2, None, 100)
        state = Fatigue().verbs.init(params, 2, 100)
        for pull, reward in enumerate(rewards, start=1):
            verbs.pulled(params, state, 1)
            verbs.update(params, state, 1, pull, reward)
        found.append(state)
    assert found[0].total.tolist() == [0.0, 2.25]
    np.testing.assert_array_equal(found[0].curves.outlook, found[1].curves.outlook)


def choices(policy: Fatigue, reward: Callable[[int, int], float], arms: int = 3) -> list[int]:
    """Fifty decisions."""
    player = policy.online(range(arms), seed=2, compiled=False)
    found = []
    for _ in range(50):
        decision = player.select()
        found.append(decision.arm)
        player.update(decision, reward(decision.arm, decision.pull))
    assert np.isfinite(player.core.state.curves.outlook).all()
    return found


@pytest.mark.parametrize("policy", FORMS, ids=lambda policy: policy.short_label)
def test_one_arm(policy: Fatigue) -> None:
    rng = python_random.Random(1)
    assert choices(policy, lambda arm, pull: rng.random(), arms=1) == [0] * 50


@pytest.mark.parametrize("constant", [0.0, 1.0, 0.3, -2.0])
@pytest.mark.parametrize("policy", FORMS, ids=lambda policy: policy.short_label)
def test_rewards_that_are_all_equal(policy: Fatigue, constant: float) -> None:
    """Nothing overflows, and all arms get their share."""
    assert set(choices(policy, lambda arm, pull: constant)) == {0, 1, 2}


def noisy(scale: float) -> Callable[[int, int], float]:
    rng = python_random.Random(4)
    return lambda arm, pull: scale * rng.gauss((0.4 + 0.2 * arm) / pull**0.2, 0.3)


@pytest.mark.parametrize("scale", [2.0**20, 2.0**-20])
def test_the_unit_of_rewards_does_not_matter(scale: float) -> None:
    """Powers of two, which scale without rounding; sigma has the same unit."""
    policy, other = Fatigue("gaussian", sigma=0.3), Fatigue("gaussian", sigma=0.3 * scale)
    assert choices(policy, noisy(1.0)) == choices(other, noisy(scale))


@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_an_estimated_sigma_has_the_unit_of_rewards(scale: float) -> None:
    """The first decisions may differ; the arm that is best by far is found in any unit."""

    def clear(arm: int, pull: int) -> float:
        return scale * (rng.gauss(0.2 + 0.6 * (arm == 1), 0.1))

    rng = python_random.Random(4)
    found = choices(policies.Fatigue("gaussian"), clear)
    assert found[20:].count(1) > 25


def test_the_band_covers_the_truth() -> None:
    """Of 95 %: of the means of 12 arms at 12 exposures, nearly all are inside."""
    rng = python_random.Random(6)
    inside = []
    for _ in range(3):
        tops = [rng.uniform(0.1, 0.4) for _ in range(4)]
        falls = [rng.randint(2, 10) for _ in range(4)]
        curves = [step(top, at, 0.4 * top) for top, at in zip(tops, falls, strict=True)]
        params, state = told(curves, 0, again=0)
        for arm, curve in enumerate(curves):
            for cell in range(12):
                seen = sum(rng.random() < curve(twin.FIRST[cell]) for _ in range(60))
                state.cells.count[arm, cell], state.cells.total[arm, cell] = 60, seen
                state.total[arm] += seen
        for _ in range(2):
            for arm in range(4):
                state.stale[arm] = twin.STALE
                verbs.update(params, state, arm, 1, 0.0)
        for arm, curve in enumerate(curves):
            for pull in range(1, 13):
                found = verbs.curve(params, state, arm, pull)
                assert found is not None
                assert found.low is not None
                assert found.high is not None
                inside.append(found.low <= curve(pull) <= found.high)
                assert found.high - found.low < 0.45
    assert sum(inside) / len(inside) > 0.85
