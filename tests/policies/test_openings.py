"""Arms come and go: every policy chooses the open arms that its naive twin allows.

Played by the verbs, in plain Python: arms close and open at random, some before they were ever
pulled, decisions are restricted to some of the open arms, and arms are added.
"""

from __future__ import annotations

import inspect
import random as python_random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from helpers.cases import examples, name_of
from policies.test_twins import SMALL, SMOOTH, TWINS, Twin, family_args, mean_of, stream_of
from rotting import Arm, models, policies
from rotting._engines.compiled.compiler import compiled
from rotting.kernel import verbs
from rotting.kernel.arrays import IntArray
from rotting.kernel.random import new_draw, normal, uniform
from rotting.kernel.state import check, grown, leaves
from rotting.kernel.verbs import choose, pulled, set_open, update
from rotting.policies import Policy
from rotting.policies.parts.arms import WAITING
from rotting.policies.parts.openings import closable
from rotting.theory import averaging_window
from twins import common, dcto_ucb, oracle, swa, wswa

ROUNDS = 110
CAPACITY = 64 * ROUNDS  # rings for any window that few open arms need
WITHOUT_RAMP_UP = (policies.Uniform, policies.RoundRobin, policies.EXP3S, policies.Oracle)
MORE: list[Twin] = [  # with little to ramp up, and with much
    (
        policies.SWA(alpha=0.01, sigma=0.5),
        swa.swa,
        {"alpha": 0.01, "sigma": 0.5, "horizon": ROUNDS},
    ),
    *[
        (
            policies.WSWA(alpha=a, sigma=0.5, restart=r),
            wswa.wswa,
            {"alpha": a, "sigma": 0.5, "restart": r},
        )
        for a in (0.2, 1.0)
        for r in ("forget", "keep")
    ],
    *[
        (
            policies.DCTO_UCB(f, sigma=0.4, delta=0.1, exploration=m),
            dcto_ucb.dcto_ucb,
            {**family_args(f), "sigma": 0.4, "exploration": m},
        )
        for f, m in ((SMALL, 4), (SMOOTH, 6))
    ],
]
COMPILED = [
    policies.WSWA(alpha=0.1, sigma=0.5),
    policies.WSWA(alpha=0.1, sigma=0.5, restart="keep"),
    policies.EXP3S(gamma=0.2),
    policies.RAWUCBPP(sigma=0.5),
    policies.SWTS(tau=20, sigma=0.5),
    policies.Uniform(),
]
CASES = [pytest.param(case, id=name_of(case[0])) for case in [*TWINS, *MORE]]


class Game:
    """A policy played by its verbs, with arms that can close."""

    def __init__(self, policy: Policy, arms: int = 3, capacity: int = CAPACITY) -> None:
        self.policy, self.capacity = policy, capacity
        horizon = ROUNDS if policy.needs_horizon else None
        self.params = policy.prepare(arms, horizon, 4 * ROUNDS)
        self.state = closable(policy.verbs.init(self.params, arms, capacity))
        self.open = set(range(arms))
        self.pulls = [0] * arms
        self.draw = new_draw(5)
        self.late = -1  # the arm pulled last, while its reward has not come

    def flags(self, arms: set[int]) -> IntArray:
        return np.array([arm in arms for arm in range(len(self.pulls))], dtype=np.int64)

    def set_open(self, arms: set[int]) -> None:
        """These arms are open from now on."""
        self.open = set(arms)
        verbs.set_open(self.params, self.state, self.flags(arms))

    def add(self) -> None:
        """One more arm."""
        larger = self.policy.verbs.init(self.params, len(self.pulls) + 1, self.capacity)
        self.state = grown(self.state, closable(larger))
        self.pulls.append(0)
        self.set_open(self.open | {len(self.pulls) - 1})

    def decide(self, among: set[int] | None = None) -> int:
        """A decision, restricted to some arms if they are given."""
        if self.late >= 0:
            verbs.refresh_score(self.params, self.state, self.late)
        if among is not None:
            verbs.set_open(self.params, self.state, self.flags(among))
        arm = int(verbs.choose(self.params, self.state, self.draw))
        if among is not None:
            verbs.set_open(self.params, self.state, self.flags(self.open))
        return arm

    def pull(self, arm: int) -> int:
        verbs.pulled(self.params, self.state, arm)
        self.pulls[arm] += 1
        self.late = arm
        return self.pulls[arm]

    def learn(self, arm: int, pull: int, reward: float) -> None:
        verbs.update(self.params, self.state, arm, pull, reward)
        if self.late == arm:
            self.late = -1

    def check(self) -> None:
        """Nothing is wrong with the state, though arms are closed."""
        fresh = closable(self.policy.verbs.init(self.params, len(self.pulls), self.capacity))
        check(self.state, fresh, self.params)


def reward_of(rng: python_random.Random, arm: int, pull: int) -> float:
    """It falls; arms differ, and no two rewards are equal."""
    return rng.gauss((0.3 + 0.2 * (arm % 4)) / pull**0.3, 0.3)


def comings_and_goings(
    rng: python_random.Random, game: Game, most: int = 6
) -> Iterator[set[int] | None]:
    """What is open in every round, and what its decision is restricted to, if anything."""
    for t in range(1, ROUNDS + 1):
        if t == 2:
            game.set_open({0, 1})  # the last one before it was ever pulled
        elif t > 1 and rng.random() < 0.08 and len(game.pulls) < most:
            game.add()
        elif t > 1 and rng.random() < 0.25:
            arm = rng.randrange(len(game.pulls))
            game.set_open((game.open ^ {arm}) or {arm})
        some = set(rng.sample(sorted(game.open), rng.randint(1, len(game.open))))
        yield some if rng.random() < 0.2 else None


def numbers(rule: Callable[..., Any], game: Game, count: int) -> dict[str, Any]:
    """The random numbers that the next decision among this many arms will draw."""
    wanted, draw = inspect.signature(rule).parameters, game.draw.copy()
    if "stream" in wanted:
        return {"stream": stream_of(draw)}
    if "uniforms" in wanted:
        return {"uniforms": [float(uniform(draw))]}
    if "normals" in wanted:
        return {"normals": [float(normal(draw)) for _ in range(count)]}
    if getattr(game.policy, "rule", "") == "thompson":
        kinds = [uniform, normal] if game.policy.constants else [uniform]  # type: ignore[attr-defined]
        return {"numbers": [float(kind(draw)) for _ in range(count) for kind in kinds]}
    return {}


@pytest.mark.parametrize("case", CASES)
def test_open_arms_by_the_twins_rule(case: Twin) -> None:
    policy, rule, arguments = case
    if "horizon" in arguments:
        arguments = {**arguments, "horizon": ROUNDS}
    for seed in range(2):
        rng = python_random.Random(seed)
        game = Game(policy)
        history: common.History = []
        opened = common.Opened([], [])
        for among in comings_and_goings(rng, game):
            opened.open.append(set(game.open))
            opened.among.append(set(game.open) if among is None else among)
            ahead = numbers(rule, game, len(opened.among[-1]))
            allowed = rule(history, len(game.pulls), **arguments, **ahead, opened=opened)
            arm = game.decide(among)
            assert arm in opened.among[-1]
            assert arm in allowed, f"round {len(history) + 1}: chose {arm}, allowed {allowed}"
            pull = game.pull(arm)
            reward = reward_of(rng, arm, pull)
            game.learn(arm, pull, reward)
            history.append((arm, reward))
            if len(history) % 10 == 0:
                game.check()
        assert len(game.pulls) > 3  # arms were added,
        assert min(game.pulls) < ROUNDS // 4  # and some had little time


def test_the_oracle_is_greedy_among_the_open_arms() -> None:
    """Ties at random; it never gets an arm beyond its own."""
    step = models.Step(at=9, before=1.0, after=0.2)
    arms = [Arm(models.Constant(0.5)), Arm(step), Arm(step), Arm(models.Polynomial(0.3))]
    game = Game(policies.Oracle(arms), 4)
    rng = python_random.Random(3)
    for among in comings_and_goings(rng, game, most=4):
        opened = common.Opened([game.open], [game.open if among is None else among])
        allowed = oracle.oracle(game.pulls, [mean_of(arm) for arm in arms], opened)
        arm = game.decide(among)
        assert arm in allowed
        game.learn(arm, game.pull(arm), 0.0)
    with pytest.raises(ValueError, match="arms of Oracle must be 5 arms, one a label, got 4"):
        policies.Oracle(arms).prepare(5, None, 100)


POLICIES = [pytest.param(policy, id=name_of(policy)) for policy in examples()]


def late_rewards(
    rng: python_random.Random, waiting: list[tuple[int, int]]
) -> Iterator[tuple[int, int, float]]:
    """Some of those that wait, in any order; a fifth never come."""
    while len(waiting) > 10 or (waiting and rng.random() < 0.45):
        arm, pull = waiting.pop(rng.randrange(len(waiting)))
        if rng.random() < 0.8:
            yield arm, pull, reward_of(rng, arm, pull)


def together(policy: Policy, games: list[Game], closing: bool = True) -> Iterator[int]:
    """Play the first game, with late rewards, and perhaps with arms that close and open.

    Some pulls are then of any arm, closed ones too, without a decision. Yields after each decision;
    the other games get all pulls and rewards but decide for themselves.
    """
    rng, first = python_random.Random(7), games[0]
    waiting: list[tuple[int, int]] = []
    for _ in range(ROUNDS):
        if closing and rng.random() < 0.2:
            arm = rng.randrange(3)
            now = (first.open ^ {arm}) or {arm}
            for game in games:
                game.set_open(now)
        arm = first.decide()
        yield arm
        if closing and rng.random() < 0.15:
            arm = rng.randrange(3)
        pulls = {game.pull(arm) for game in games}
        waiting.append((arm, pulls.pop()))
        for told in late_rewards(rng, waiting):
            for game in games:
                game.learn(*told)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_open_arms_that_ramp_up_are_counted(policy: Policy) -> None:
    """Late rewards of closed arms, epochs, restarts and rounds that leave a window included."""
    game = Game(policy)
    need = getattr(game.params, "need", getattr(game.params, "start", 1))
    for t, _ in enumerate(together(policy, [game])):
        if t % 20 == 0 and not isinstance(policy, policies.Oracle):
            game.add()
        state = getattr(game.state, "trusted", game.state)  # Guarded holds two
        arms = state.arms
        if not isinstance(policy, WITHOUT_RAMP_UP):
            waiting = sum(int(arms.observed[arm]) < need for arm in game.open)
            assert arms.clock[WAITING] == waiting
        if hasattr(state, "short"):
            length = state.length[0] if hasattr(state, "length") else game.params.window
            pulls = arms.pulls - state.window.base
            assert state.short[0] == sum(pulls[arm] < length for arm in game.open)
        game.check()


def test_a_closed_arm_that_restarts_does_not_ramp_up() -> None:
    """GLR-UCB: its late rewards show a change; when it opens again it goes first."""
    game = Game(policies.GLRUCB(sigma=0.1, delta=0.5, every=2))
    for arm in (0, 1, 2, 2, 2, 2):
        pull = game.pull(arm)
        if pull < 3:
            game.learn(arm, pull, 1.0)
    game.set_open({0, 1})
    for pull in (3, 4):
        game.learn(2, pull, 0.0)
    assert game.state.arms.observed.tolist() == [1, 1, 0]
    assert game.state.arms.clock[WAITING] == 0
    assert game.decide() in {0, 1}
    game.set_open({0, 1, 2})
    assert game.decide() == 2


def test_windows_are_no_longer_than_the_rings() -> None:
    """Of forty arms one stays open: its window would be twelve times as long."""
    policy = policies.WSWA(alpha=0.5, sigma=0.5)
    game = Game(policy, 40, capacity=128)
    game.set_open({3})
    ring = game.state.window.ring_reward.shape[1]
    for _ in range(64):
        arm = game.decide()
        assert arm == 3
        game.learn(arm, game.pull(arm), 1.0)
    longest = averaging_window(0.5, 0.5, 1, 64)
    assert game.state.length[0] == ring < longest
    game.check()
    for length in (0, longest + 1):
        forged = game.state._replace(length=np.array([length]))
        assert "length must be the window" in str(forged.wrong(None, game.params, ()))


def test_chances_of_pulls_that_nobody_chose() -> None:
    """From the weights when the pull is counted, unless propensities are given."""
    game = Game(policies.EXP3S(gamma=0.2))
    weights = game.state.weight
    weights[:] = [1.0, 2.0, 5.0]
    game.pull(2)
    assert game.state.chance[2, 1] == pytest.approx(0.8 * 5 / 8 + 0.2 / 3)
    verbs.set_propensity(game.params, game.state, 2, 1, 0.05)
    assert game.state.chance[2, 1] == 0.05
    arm = game.decide({0, 1})
    game.pull(arm)  # with the chance that it had among these two
    assert game.state.chance[arm, 1] == pytest.approx(0.8 * weights[arm] / 3 + 0.2 / 2)
    arm = game.decide()
    game.learn(2, 1, 1.0)  # the weights are others now
    pull = game.pull(arm)
    assert game.state.chance[arm, pull] == pytest.approx(
        0.8 * weights[arm] / weights.sum() + 0.2 / 3
    )


def test_the_weight_of_a_new_arm() -> None:
    """The mean of the open arms that were pulled; later openings do not set it again."""
    game = Game(policies.EXP3S())
    game.learn(0, game.pull(0), 1.0)
    game.learn(1, game.pull(1), 0.0)
    game.state.weight[:] = [3.0, 6.0, 100.0]
    game.add()
    assert game.state.weight.tolist() == [3.0, 6.0, 100.0, 4.5]
    game.decide({0, 1})
    game.set_open({2, 3})
    assert game.state.weight.tolist() == [3.0, 6.0, 100.0, 4.5]
    game.add()  # none of the open arms was pulled
    assert game.state.weight[4] == (100.0 + 4.5) / 2
    game.pull(3)
    game.add()
    assert game.state.weight[5] == 4.5


def script(
    params: Any, state: Any, draw: Any, flags: Any, among: Any, rewards: Any, arms: Any
) -> None:
    """Rounds with the arms open and allowed in each; what is chosen goes to `arms`."""
    for t in range(arms.size):
        set_open(params, state, flags[t])
        set_open(params, state, among[t])
        arm = choose(params, state, draw)
        set_open(params, state, flags[t])
        pulled(params, state, arm)
        if t % 5 != 4:
            update(params, state, arm, state.arms.pulls[arm], rewards[t, arm])
        arms[t] = arm


@pytest.mark.parametrize("policy", COMPILED, ids=name_of)
def test_compiled_it_is_the_same(policy: Policy) -> None:
    rng = np.random.default_rng(4)
    flags = (rng.random((ROUNDS, 5)) < 0.7).astype(np.int64)
    flags[:, 1] |= ~flags.any(axis=1)
    among = flags * (rng.random((ROUNDS, 5)) < 0.8)
    among[~among.any(axis=1)] = flags[~among.any(axis=1)]
    rewards = rng.normal(0.5, 0.3, (ROUNDS, 5))
    found = []
    for fast in (False, True):
        game = Game(policy, 5, 1000)
        loop = compiled(script, game.params, game.state) if fast else script
        arms = np.zeros(ROUNDS, dtype=np.int64)
        loop(game.params, game.state, game.draw, flags, among, rewards, arms)
        found.append([arms, game.draw, *(leaf.value for leaf in leaves(game.state))])
    assert all(among[t, arm] for t, arm in enumerate(found[0][0]))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
