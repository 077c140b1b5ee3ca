"""What every policy promises: what its state holds, that choosing counts nothing, pure judging."""

from __future__ import annotations

import math
import random as python_random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cases import examples, name_of, player_of
from rotting import Decision, Player, policies
from rotting._live import ledger as ledger
from rotting._live import steps
from rotting._live.ledger import NOBODY, listed, new_ledger, no_waiting
from rotting.kernel import verbs
from rotting.kernel.random import new_draw
from rotting.kernel.state import AtMost, Finite, Place, Unchanged, Within, check, leaves, rebuild
from rotting.policies import Policy
from rotting.policies.parts.arms import TRIED
from rotting.policies.parts.openings import closable

DRAWING = (
    policies.EXP3S,
    policies.Uniform,
    policies.SWTS,
    policies.DTS,
    policies.Thompson,
    policies.Fatigue,
    policies.Mixture,
)


def draws(policy: Policy) -> bool:
    """Whether a decision is drawn: it then takes random numbers, and the next one others."""
    policy = getattr(policy, "inner", policy)  # the one that decides
    return isinstance(policy, DRAWING) or getattr(policy, "rule", "") == "thompson"


DETERMINED = [policy for policy in examples() if not draws(policy)]
JUDGING = [policy for policy in DETERMINED if policy.verbs.score is not None]


def late_play(player: Player, rounds: int, seed: int = 3) -> Iterator[int]:
    """Decisions whose rewards come up to ten rounds late, in any order, or not at all."""
    rng = python_random.Random(seed)
    waiting: list[Decision] = []
    for t in range(1, rounds + 1):
        waiting.append(player.select())
        while len(waiting) > 10 or (waiting and rng.random() < 0.45):
            decision = waiting.pop(rng.randrange(len(waiting)))
            if rng.random() < 0.8:
                player.update(decision, rng.gauss(0.5 / decision.pull**0.3, 0.3))
        yield t


def fresh_like(player: Player) -> Any:
    """The state that the player would start with, in its present size."""
    return player.core.fresh(player.core.params, len(player.arms), player.core.capacity)


def waiting_of(player: Player) -> list[tuple[int, int]]:
    """Arm and pull of the decisions that wait."""
    return [(row[0], row[1]) for row in listed(player.core.ledger.waiting)]


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_no_play_leads_to_a_state_that_is_refused(policy: Policy) -> None:
    """Neither the first decisions nor hundreds, past a growth of the state."""
    player = player_of(policy, compiled=False)
    for t in late_play(player, 400):
        if t <= 20 or t % 40 == 0:
            check(player.core.state, fresh_like(player), player.core.params, waiting_of(player))
    assert player.core.capacity > 256


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_every_field_says_what_it_may_hold(policy: Policy) -> None:
    player = player_of(policy, compiled=False)
    for _ in late_play(player, 60):
        pass
    state, fresh = player.core.state, fresh_like(player)
    waiting = waiting_of(player)
    check(state, fresh, player.core.params, waiting)
    for leaf in leaves(state):
        says = [
            mark
            for mark in leaf.marks
            if isinstance(mark, (Within, Place, AtMost, Finite, Unchanged))
        ]
        assert says, f"{leaf.path} says nothing"
        for mark in says:
            wrong: list[float] = []
            if isinstance(mark, (Within, Place)):
                assert leaf.value.dtype.kind == "i", leaf.path
                wrong.append(mark.least - 1)
            if isinstance(mark, Place):
                wrong.append(leaf.find(mark.of).shape[mark.axis] + mark.end)
            if isinstance(mark, Finite):
                assert leaf.value.dtype == np.float64, leaf.path
                wrong += [x for x in (math.inf, math.nan) if not among(x, mark.exceptions)]
            if isinstance(mark, AtMost):
                wrong += [-1, leaf.find(mark.of).flat[-1] + 1]
            if isinstance(mark, Unchanged):
                wrong.append(1e6)
            assert wrong, leaf.path
            for value in wrong:
                spoilt = leaf.value.copy()
                spoilt.flat[-1] = value
                values = [
                    spoilt if other.path == leaf.path else other.value for other in leaves(state)
                ]
                with pytest.raises(ValueError, match=f"^{leaf.path} of the state must"):
                    check(rebuild(state, iter(values)), fresh, player.core.params, waiting)


def among(value: float, exceptions: tuple[float, ...]) -> bool:
    return any(x == value or (math.isnan(x) and math.isnan(value)) for x in exceptions)


class Game:
    """A policy played by its verbs, in plain Python."""

    def __init__(self, policy: Policy, seed: int = 5) -> None:
        self.params = policy.prepare(3, 3000, 1000)
        self.state = closable(policy.verbs.init(self.params, 3, 1000))
        self.draw = new_draw(seed)
        self.ledger = new_ledger(3, seed)._replace(waiting=no_waiting(1024))
        self.ledger.clock[[ledger.GROW_AT, ledger.GROW_AT_PULL]] = 10_000

    def refresh_score(self) -> None:
        """Before a decision, if the last pull has no reward yet, as a player does."""
        if self.ledger.clock[ledger.LATE] != NOBODY:
            verbs.refresh_score(self.params, self.state, self.ledger.clock[ledger.LATE])

    def decide(self) -> int:
        arm, _ = steps.decide(self.params, self.state, self.draw, self.ledger)
        assert arm >= 0
        return int(arm)

    def record(self, arm: int) -> None:
        """A pull that nobody chose."""
        self.refresh_score()
        steps.count(self.params, self.state, self.ledger, arm)

    def learn(self, arm: int, pull: int, reward: float) -> None:
        assert steps.learn(self.params, self.state, self.ledger, arm, pull, reward)

    @property
    def counts(self) -> list[Any]:
        """Pulls and rounds, of every policy in the state; not the cursor, which only remembers."""
        counted = ("arms.pulls", "arms.clock", "time")
        found = [leaf for leaf in leaves(self.state) if leaf.path.endswith(counted)]
        return [
            leaf.value[:TRIED].tolist() if leaf.path.endswith("clock") else leaf.value.tolist()
            for leaf in found
        ]


@pytest.mark.parametrize("policy", DETERMINED, ids=name_of)
def test_choosing_counts_nothing(policy: Policy) -> None:
    """Asked again and again the policy says the same, and only the pull makes a difference."""
    game, rng = Game(policy), python_random.Random(1)
    waiting: list[tuple[int, int]] = []
    pulls = [0, 0, 0]
    for t in range(300):
        game.refresh_score()
        before, numbers = game.counts, game.draw.copy()
        arms = [int(verbs.choose(game.params, game.state, game.draw)) for _ in range(3)]
        assert game.counts == before
        assert before
        np.testing.assert_array_equal(game.draw, numbers)
        arm = game.decide()
        assert arms == [arm] * 3, t
        assert game.counts != before
        pulls[arm] += 1
        waiting.append((arm, pulls[arm]))
        while len(waiting) > 5 or (waiting and rng.random() < 0.5):
            game.learn(*waiting.pop(rng.randrange(len(waiting))), rng.gauss(0.3, 0.5))


@pytest.mark.parametrize(
    "policy", [p for p in DETERMINED if not isinstance(p, policies.Oracle)], ids=name_of
)
def test_pulls_that_nobody_chose_can_be_recorded(policy: Policy) -> None:
    """A log of pulls and late rewards, played back, leads to the same decisions from there on."""
    player, game = Game(policy), Game(policy)
    rng = python_random.Random(2)
    waiting: list[tuple[int, int]] = []
    pulls = [0, 0, 0]
    for _ in range(250):
        arm = player.decide()
        game.record(arm)
        pulls[arm] += 1
        waiting.append((arm, pulls[arm]))
        while len(waiting) > 8 or (waiting and rng.random() < 0.5):
            arm, pull = waiting.pop(rng.randrange(len(waiting)))
            reward = rng.gauss(0.5 / pull**0.3, 0.3)
            player.learn(arm, pull, reward)
            game.learn(arm, pull, reward)
    assert player.counts == game.counts
    for t in range(150):
        arm = player.decide()
        assert game.decide() == arm, t
        pulls[arm] += 1
        reward = rng.gauss(0.5 / pulls[arm] ** 0.3, 0.3)
        player.learn(arm, pulls[arm], reward)
        game.learn(arm, pulls[arm], reward)


def kept_judgements(state: Any) -> Any:
    """Where a policy keeps what each arm's next pull is worth."""
    if hasattr(state, "trusted"):
        state = state.trusted
    return state.ranking.value if hasattr(state, "ranking") else state.value


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("policy", JUDGING, ids=name_of)
def test_judging_is_pure_and_what_is_kept(policy: Policy, compiled: bool) -> None:
    """Compiled code keeps to the bit what the plain verb says; any pull may be asked about."""
    player = player_of(policy, compiled)
    judged = 0
    for t in late_play(player, 300):
        if t % 7:
            continue
        params, state = player.core.params, player.core.state
        if isinstance(policy, policies.DCTO_UCB) and state.exploring[0]:
            continue  # it judges when it has explored
        late = int(player.core.ledger.clock[ledger.LATE])
        if late != NOBODY:  # as before the next decision
            verbs.refresh_score(params, state, late)
        before = [leaf.value.copy() for leaf in leaves(state)]
        for arm, pulls in enumerate(player.pulls.values()):
            worth = verbs.score(params, state, arm, pulls + 1)
            assert worth == kept_judgements(state)[arm], (t, arm)
            judged += worth > -math.inf
            for pull in (1, pulls + 2, pulls + 40):
                assert not math.isnan(verbs.score(params, state, arm, pull))
        for leaf, was in zip(leaves(state), before, strict=True):
            np.testing.assert_array_equal(leaf.value, was, err_msg=leaf.path)
    assert judged > 60


def test_these_policies_judge() -> None:
    names = {type(policy).__name__ for policy in JUDGING}
    parametric = {"CTO", "CCTO", "DCTO", "DCTO_UCB", "LCTO", "LDCTO", "Posterior", "Guarded"}
    assert parametric | {"CellUCB"} == names
