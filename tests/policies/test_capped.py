"""A frequency cap: pooled below it, and no key sees more of an arm than it allows."""

from __future__ import annotations

import random as python_random
from collections.abc import Callable

import numpy as np
import pytest

from helpers.audiences import AudienceScratch
from policies.test_twins import stream_of
from rotting import Arm, Audience, Bernoulli, Scenario, Window, _plain, models, policies, simulate
from rotting.kernel.verbs import Inspection, inspect
from rotting.policies import UCB1, Capped, Policy, Thompson, _greedy
from twins import capped, sampling, ucb1
from twins.common import History

ARMS = [
    Arm(models.Polynomial(0.5).times(0.6)),
    Arm(models.Constant(0.3)),
    Arm(models.Exponential(0.3).times(0.8)),
]
CROWD = Scenario(ARMS, Bernoulli(), 500, audience=Audience(keys=7, arrivals="zipf:1.1"))
FAMILY = models.Plateau(length=10).over([0.1, 0.3])


@pytest.mark.parametrize(
    "inner",
    [UCB1(), Thompson(), policies.WSWA(0.2, 0.5), policies.EXP3S(), policies.RAWUCB(0.5)],
    ids=lambda inner: inner.title,
)
def test_a_cap_that_is_never_reached_is_the_pooled_policy(inner: Policy) -> None:
    for scenario in (CROWD, Scenario(ARMS, Bernoulli(), 500)):
        alone, held = (
            simulate(each, scenario, runs=2, noise="common", engine="reference")
            for each in (inner, Capped(inner, 500))
        )
        np.testing.assert_array_equal(alone.pulls, held.pulls)
        np.testing.assert_array_equal(alone.regret, held.regret)


@pytest.mark.parametrize("window", [None, 60])
@pytest.mark.parametrize("inner", [UCB1(c=0.3), Thompson()], ids=lambda inner: inner.title)
def test_in_an_audience_as_its_twin(inner: Policy, window: int | None) -> None:
    rest = None if window is None else Window(window)
    crowd = AudienceScratch(Capped(inner, 4, rest), keys=5)
    rng = python_random.Random(2)
    history: History = []
    keys: list[int] = []
    refused = 0
    for t in range(300):
        key = min(rng.randrange(5), rng.randrange(5))
        opened = capped.below_cap_of_key(history, keys, key, 3, 4, window)
        refused += len(opened.among[0]) < 3
        if isinstance(inner, UCB1):
            allowed = ucb1.ucb1(history, 3, 0.3, opened)
        else:
            allowed = sampling.thompson(history, 3, stream_of(crowd.draw.copy()), opened=opened)
        reward = rng.random()
        arm = crowd.play(key, lambda arm, reward=reward: reward / (1 + arm))  # type: ignore[misc]
        assert arm in allowed, t
        history.append((arm, reward / (1 + arm)))
        keys.append(key)
    assert 20 < refused < 290


def test_compiled_it_is_the_same() -> None:
    policy = Capped(Thompson(), 3, rest=Window(90))
    plain_one, compiled = (
        simulate(policy, CROWD, runs=3, engine=engine) for engine in ("reference", "cpu")
    )
    np.testing.assert_array_equal(plain_one.pulls, compiled.pulls)
    np.testing.assert_array_equal(plain_one.regret, compiled.regret)


def test_late_rewards_are_numbered_as_they_come() -> None:
    """Which of everybody's pulls a key's own one was is not kept; with prompt ones it is known."""
    crowd = AudienceScratch(Capped(policies.GreedyLast(), 9), keys=3)
    made: list[tuple[int, int, int, float]] = []
    for key in (0, 1, 2, 0, 1):
        arm = crowd.decide(key)
        made.append((key, 1, crowd.pull(1), 0.1 * len(made)))  # whatever it would choose
        assert 0 <= arm < 3
    assert [pull for _, _, pull, _ in made] == [1, 1, 1, 2, 2]
    for n, late in enumerate(reversed(made), 1):
        crowd.learn(*late)
        inner: _greedy.State = crowd.state.inner
        assert inner.last_pull[1] == n
    assert inner.arms.pulls[1] == inner.arms.observed[1] == 5


def test_arms_at_the_cap_are_not_compared() -> None:
    crowd = AudienceScratch(Capped(UCB1(), 2), keys=2)

    def opinions() -> list[Inspection | None]:
        return [inspect(crowd.params, crowd.state, arm) for arm in range(3)]

    for _ in range(5):
        crowd.play(0, lambda arm: 0.5 + 0.1 * arm)
    crowd.decide(0)
    shown = [opinion is not None and opinion.index is not None for opinion in opinions()]
    assert sorted(shown) == [False, False, True]
    crowd.decide(1)  # another key has seen nothing
    assert all(opinion is not None and opinion.index is not None for opinion in opinions())
    crowd.play(0, lambda arm: 0.5)
    crowd.decide(0)  # it has had enough of all: all are allowed again
    assert all(opinion is not None and opinion.index is not None for opinion in opinions())


@pytest.mark.parametrize(
    ("words", "make"),
    [
        ("inner of Capped must be a policy that plays pooled, got CTO: it counts by key itself",
         lambda: Capped(policies.CTO(FAMILY), 3)),
        ("inner of Capped must be a policy that plays pooled, got D-CTO: ",
         lambda: Capped(policies.DCTO(FAMILY, sigma=0.4), 3)),
        ("inner of Capped must be a policy that plays pooled, got Capped",
         lambda: Capped(Capped(UCB1(), 3), 3)),
        ("inner of Capped must be an instance, as UCB1", lambda: Capped(UCB1, 3)),  # type: ignore[arg-type]
        ("inner of Capped must be a rotting Policy, got 'ucb1'",
         lambda: Capped("ucb1", 3)),  # type: ignore[arg-type]
        ("cap must be an integer >= 1, got 0", lambda: Capped(UCB1(), 0)),
        ("rest must be a HalfLife, a Window or None, got 5",
         lambda: Capped(UCB1(), 3, rest=5)),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_refused(words: str, make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_what_it_needs_is_what_the_other_needs() -> None:
    grows = Capped(policies.FEWA(0.5), 3)
    assert (grows.grows, grows.tables, grows.needs_horizon) == (True, True, False)
    fixed = Capped(UCB1(), 3)
    assert (fixed.grows, fixed.tables, fixed.needs_horizon) == (False, False, False)
    assert Capped(policies.SWA(0.2, 0.5), 3).needs_horizon


def test_its_label_is_that_of_the_other_and_it_is_plain_data() -> None:
    policy = Capped(UCB1(c=0.25), 3, rest=Window(86_400))
    assert Capped(UCB1(), 3).label == "Capped(inner=UCB1, cap=3)"
    assert policy.short_label == "Capped(inner=UCB1(c=0.25), cap=3)"
    assert _plain.from_plain(_plain.to_plain(policy)) == policy
