"""A bandit for each key: no event of one key changes another key's decisions."""

from __future__ import annotations

import random as python_random
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from helpers.audiences import AudienceScratch
from rotting import Arm, Audience, AudiencePlayer, Bernoulli, Scenario, models, policies, simulate
from rotting._engines.compiled import numba_hooks
from rotting.bandits import Opening
from rotting.kernel.state import check, grown, leaves
from rotting.kernel.verbs import inspect, set_open
from rotting.policies import UCB1, PerKey, Policy
from rotting.policies._ucb1 import State as UCB1State
from rotting.policies.parts.openings import closable
from rotting.policies.parts.per_key_state import fetch, no_key_states, store
from twins.common import History, Opened
from twins.per_key import own_history
from twins.ucb1 import ucb1

ARMS = [
    Arm(models.Polynomial(0.5).times(0.6)),
    Arm(models.Constant(0.3)),
    Arm(models.Exponential(0.3).times(0.8)),
]
FAMILY = models.Plateau(length=10).over([0.1, 0.3])
OPENINGS = [Opening(2, 50, 200)]


@pytest.mark.parametrize("openings", [None, OPENINGS], ids=["open", "coming and going"])
@pytest.mark.parametrize(
    "inner",
    [UCB1(), policies.Thompson(), policies.SteadyUCB(None), policies.EXP3S()],
    ids=lambda inner: inner.title,
)
def test_one_key_has_the_policy_itself(inner: Policy, openings: Any) -> None:
    """Without an audience, and in one of a single key that the loop with keys plays."""
    alone = Scenario(ARMS, Bernoulli(), 300, openings=openings)
    single = Audience(keys=1, factors=(1.0, 1.0))
    crowd = Scenario(ARMS, Bernoulli(), 300, openings=openings, audience=single)
    one, other, third = (
        simulate(policy, scenario, runs=2, noise="common", engine="reference").pulls
        for policy, scenario in ((inner, alone), (PerKey(inner), alone), (PerKey(inner), crowd))
    )
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(one, third)


def test_in_an_audience_as_its_twin() -> None:
    """Rewards may be late, and arms close and open while a key is away."""
    crowd = AudienceScratch(PerKey(UCB1(c=0.3)), keys=4, closes=True)
    rng = python_random.Random(2)
    history: History = []
    keys: list[int] = []
    opened = {0, 1, 2}
    for t in range(400):
        if rng.random() < 0.2:
            opened = opened ^ {rng.randrange(3)} or {1}
            flags = np.array([arm in opened for arm in range(3)], dtype=np.int64)
            set_open(crowd.params, crowd.state, flags)
        key = rng.randrange(4)
        own = own_history(history, keys, key)
        allowed = ucb1(own, 3, 0.3, Opened([opened], [opened]))
        reward = rng.random()
        arm = crowd.play(key, lambda arm, reward=reward: reward / (1 + arm))  # type: ignore[misc]
        assert arm in allowed, t
        history.append((arm, reward / (1 + arm)))
        keys.append(key)
        if t % 50 == 0:
            check(crowd.state, fresh_of(crowd), crowd.params)


def fresh_of(crowd: AudienceScratch) -> Any:
    return AudienceScratch(PerKey(UCB1(c=0.3)), keys=4, closes=True).state


def test_late_rewards_find_their_key() -> None:
    crowd = AudienceScratch(PerKey(UCB1()), keys=3)
    made = []
    for key in (0, 1, 2, 0, 1, 2):
        arm = crowd.decide(key)
        made.append((key, arm, crowd.pull(arm), float(key)))
    python_random.Random(1).shuffle(made)
    for late in made:
        crowd.learn(*late)
    for key in (0, 1, 2):
        crowd.decide(key)
        inner = crowd.state.per_key.current.inner
        assert inner.total.tolist() == [float(key), float(key), 0.0]
        assert inner.arms.pulls.tolist() == [1, 1, 0]
        opinion = inspect(crowd.params, crowd.state, 0)
        assert opinion is not None
        assert opinion.estimate == float(key)
    assert crowd.state.arms.observed.tolist() == [3, 3, 0]


def test_compiled_it_is_the_same() -> None:
    """Rows are written and read, and keys learn late which arms opened and closed."""
    crowd = Audience(keys=7, arrivals="zipf:1.1")
    scenario = Scenario(ARMS, Bernoulli(), 500, audience=crowd, openings=OPENINGS)
    plain_one, compiled = (
        simulate(PerKey(UCB1(c=0.5)), scenario, runs=3, engine=engine)
        for engine in ("reference", "cpu")
    )
    np.testing.assert_array_equal(plain_one.pulls, compiled.pulls)
    np.testing.assert_array_equal(plain_one.regret, compiled.regret)


class Kept(NamedTuple):
    """Arrays of all the kinds that states have."""

    counts: Any
    part: UCB1State
    table: Any


def copied(state: Any, rows: Any) -> None:
    """From the state to row 1, and from row 0 to the state."""
    store(state, rows, 1)
    fetch(state, rows, 0)


def test_compiled_rows_are_the_plain_ones() -> None:
    """Floats, and whole numbers of 32 and 64 bits, in one and two dimensions."""
    found = []
    for fast in (False, True):
        inner = UCB1.verbs.init(UCB1().prepare(3, None, 10), 3, 10)
        table = np.arange(6, dtype=np.int32).reshape(2, 3)
        state = Kept(np.arange(4), inner._replace(total=np.array([0.25, -np.inf, 3.0])), table)
        rows = np.zeros((2, sum(leaf.value.size for leaf in leaves(state))))
        rows[0] = np.random.default_rng(4).integers(0, 99, rows.shape[1])
        numba_hooks.register()
        loop = numba.njit(copied) if fast else copied
        loop(state, rows)
        found.append([rows, state.counts, state.table, state.part.total])
    for one, other in zip(*found, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    assert found[0][0][1, :4].tolist() == [0, 1, 2, 3]
    assert found[0][2].ravel().tolist() == found[0][0][0, -6:].tolist()


def test_more_arms_and_more_keys() -> None:
    """Each key's state moves along, and new keys start empty."""
    crowd = AudienceScratch(PerKey(UCB1()), keys=3, closes=True)
    for t in range(30):
        crowd.play(t % 2, lambda arm: 0.1 * arm)
    before = [totals_of(crowd, key) for key in (0, 1)]
    larger = closable(PerKey.verbs.init(crowd.params, 4, 100))
    crowd.state = grown(crowd.state._replace(arms=larger.arms), larger)._replace(
        arms=AudienceScratch(PerKey(UCB1()), keys=5, arms=4, closes=True).state.arms
    )
    crowd.state = crowd.state._replace(per_key=crowd.state.per_key.for_keys(5))
    crowd.pulls.append(0)
    set_open(crowd.params, crowd.state, np.ones(4, dtype=np.int64))
    assert crowd.state.per_key.wrong(crowd.state, crowd.params, ()) is None
    assert [totals_of(crowd, key) for key in (0, 1)] == [[*totals, 0.0] for totals in before]
    for key in (0, 1):
        assert crowd.decide(key) == 3  # it was never tried
    for key in (2, 4):
        assert totals_of(crowd, key) == [0.0] * 4
        assert crowd.decide(key) == 0


def totals_of(crowd: AudienceScratch, key: int) -> list[float]:
    crowd.decide(key)
    found: list[float] = crowd.state.per_key.current.inner.total.tolist()
    return found


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("inner.arms.pulls", 0.5, "rows of key 1 must hold whole numbers"),
        ("inner.arms.pulls", 1e30, "rows of key 1 must hold whole numbers"),
        (
            "inner.arms.pulls",
            -1.0,
            "key 1: inner.arms.pulls of the state must lie between 0",
        ),
        (
            "inner.arms.opening.flags",
            7.0,
            "key 1: inner.arms.opening.flags of the state must lie",
        ),
        ("inner.width", np.inf, "rows of key 1: inner.width of the state must be finite"),
    ],
)
def test_forged_rows_are_refused(path: str, value: float, words: str) -> None:
    crowd = AudienceScratch(PerKey(UCB1(c=0.3)), keys=4, closes=True)
    for t in range(20):
        crowd.play(t % 4, lambda arm: 0.5)
    check(crowd.state, fresh_of(crowd), crowd.params)
    place = 0
    for leaf in leaves(crowd.state.per_key.current):
        if leaf.path == path:
            break
        place += leaf.value.size
    crowd.state.per_key.rows[1, place] = value
    with pytest.raises(ValueError, match=words):
        check(crowd.state, fresh_of(crowd), crowd.params)


@pytest.mark.parametrize(
    ("words", "make"),
    [
        ("whose state is of one size, .* got FEWA, which has a state that grows",
         lambda: PerKey(policies.FEWA(0.5))),
        ("whose state is of one size, .* got CTO, which has tables that grow",
         lambda: PerKey(policies.CTO(FAMILY))),
        ("inner of PerKey must be a rotting Policy, got None",
         lambda: PerKey(None)),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_refused(words: str, make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_words_of_64_bits_are_refused() -> None:
    """Floats cannot hold them."""
    state = UCB1.verbs.init(UCB1().prepare(2, None, 10), 2, 10)
    with pytest.raises(ValueError, match="total holds uint64"):
        no_key_states(state._replace(total=np.zeros(2, dtype=np.uint64)), 2)


@pytest.mark.parametrize("inner", [UCB1(), policies.EXP3S()], ids=lambda inner: inner.title)
@pytest.mark.parametrize("closed", ["a", "b"])
def test_who_comes_after_a_forgotten_key_knows_which_arms_are_retired(
    closed: str, inner: Policy
) -> None:
    """The loaded state is that of the erased key: it restarts and gets the open arms."""
    player = PerKey(inner).audience(["a", "b", "c"], compiled=False)
    player.select("t")
    for _ in range(4):
        player.update(player.select("u"), 0.5)
    player.retire(closed)
    player.update(player.select("u"), 0.5)
    player.forget("u")
    again = AudiencePlayer.from_json(player.to_json())
    for one in (player, again):
        assert {one.select(key).arm for key in "vtvtvtvtvtvt"} == {"a", "b", "c"} - {closed}
        one.restore(closed)
        one.forget("v")
        assert {one.select("w").arm for _ in range(30)} == {"a", "b", "c"}
