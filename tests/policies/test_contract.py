"""The contract of every policy: `rotting.testing.check_policy`, and more on states and scores."""

from __future__ import annotations

import math
import random as python_random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from helpers.cases import examples, name_of, player_of, slow
from rotting import Decision, Player, policies
from rotting._live.ledger import LATE, NOBODY, listed
from rotting.kernel import verbs
from rotting.kernel.state import AtMost, Finite, Place, Unchanged, Within, check, leaves, rebuild
from rotting.policies import Policy
from rotting.testing import PROMISES, check_policy

# compiled code is compared with plain Python in `engines/test_same_bits.py` and `lockstep.py`
PLAIN = [name for name in PROMISES if not name.startswith("compiled")]
TRUTH = {"simulation", "no rewards", "more arms", "unused arm"}  # skipped with the true bandit


def skipped(policy: Policy) -> set[str]:
    """The promises that are not tested, by what the policy has."""
    found = {name for name in ("score", "curve") if getattr(policy.verbs, name) is None}
    if policy.no_audience:
        found |= {"one key", "many keys"}
    return found | (TRUTH if isinstance(policy, policies.Oracle) else set())


def rounds_of(policy: Policy) -> int:
    """Enough for a state to grow, if it does."""
    if slow(policy):
        return 20
    return 140 if policy.grows else 80


@pytest.mark.parametrize("promise", PLAIN)
@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_every_policy_keeps_its_promises(policy: Policy, promise: str) -> None:
    if isinstance(policy, policies.Fatigue) and promise == "unused arm":
        pytest.skip("what arms have in common is learnt from all, also from one without rewards")
    report = check_policy(
        policy, rounds=rounds_of(policy), seed=3, compiled=False, promises=[promise]
    )
    assert (promise in report.skipped) == (promise in skipped(policy)), report


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


@pytest.mark.parametrize("policy", policies.DCTO_UCB.examples(), ids=name_of)
def test_scores_are_kept_once_all_arms_are_explored(policy: Policy) -> None:
    """`check_policy` refreshes them before, for it cannot tell when they are in use."""
    player, compared = player_of(policy, compiled=False), 0
    for t in late_play(player, 300):
        params, state = player.core.params, player.core.state
        if t % 7 or state.exploring[0]:
            continue
        late = int(player.core.ledger.clock[LATE])
        if late != NOBODY:  # as before the next decision
            verbs.refresh_score(params, state, late)
        for arm, pulls in enumerate(player.pulls.values()):
            assert verbs.score(params, state, arm, pulls + 1) == state.value[arm], (t, arm)
            compared += 1
    assert compared > 60


def test_policies_with_scores() -> None:
    names = {type(policy).__name__ for policy in examples() if policy.verbs.score is not None}
    parametric = {"CTO", "CCTO", "DCTO", "DCTO_UCB", "LCTO", "LDCTO", "Posterior", "Guarded"}
    assert parametric | {"CellUCB"} == names
