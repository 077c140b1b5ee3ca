"""The half-differences Z of late rewards."""

from __future__ import annotations

import random as python_random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rotting import Decision, models, policies
from rotting.kernel.state import leaves
from rotting.policies.parts import halves


@pytest.mark.parametrize(("prompt", "lost"), [(0, 0.1), (0, 0.0), (60, 0.1), (101, 0.0)])
def test_halves_of_late_rewards_are_those_of_the_observed_pulls(prompt: int, lost: float) -> None:
    """D-CTO's Z and constants equal their definition on the observed pulls in pull order.

    The first rewards are prompt, later ones late in any order, and some are lost.
    """
    family = models.Polynomial().over([0.1, 0.4])
    means = [member.table(500) for member in family.members]
    policy = policies.DCTO(family, sigma=0.5)
    rng = python_random.Random(3)
    player = policy.online([0, 1], compiled=False)
    seen: list[dict[int, float]] = [{}, {}]
    waiting: list[Decision] = []
    for t in range(400):
        waiting.append(player.select())
        while waiting and (t < prompt or rng.random() < 0.6):
            decision = waiting.pop(rng.randrange(len(waiting)))
            if t < prompt or rng.random() >= lost:
                seen[decision.arm][decision.pull] = reward = rng.gauss(0, 1)
                player.update(decision, reward)
        state, tables = player.core.state.halves, policy.prepare(2, None, 500).tables
        for arm in (0, 1):
            pulls = sorted(seen[arm])
            half = len(pulls) // 2
            prompt_so_far = state.settled[arm] == halves.PROMPT
            for k, mu in enumerate(means):
                residuals = [seen[arm][n] - mu[n - 1] for n in pulls]
                z = sum(residuals[:half]) - sum(residuals[half:])
                of_model = (tables.halves[len(pulls)] if prompt_so_far else state.halves[arm])[k]
                assert state.lead[arm] - of_model == pytest.approx(z, abs=1e-9)
                if pulls:
                    constant = halves.constant_of(tables, state, arm, len(pulls), k)
                    assert constant == pytest.approx(sum(residuals) / len(pulls), abs=1e-9)
            if lost == 0.0 and not waiting:
                assert prompt_so_far or state.settled[arm] == half  # no hoarding


def lead_by_hand(seen: dict[int, float]) -> float:
    """The first floor(N / 2) rewards in pull order, less the rest."""
    rewards = [seen[pull] for pull in sorted(seen)]
    half = len(rewards) // 2
    return sum(rewards[:half]) - sum(rewards[half:])


def littered(arms: int, thetas: int, capacity: int) -> halves.Halves:
    """As an earlier run may have left it: what need not be cleared is not."""
    kept = halves.empty_halves(arms, thetas, capacity)
    for leaf in leaves(kept):
        if leaf.uncleared:
            leaf.value[...] = 10**6
    return kept


ORDERS: dict[str, Callable[[np.random.Generator], Any]] = {
    "prompt": lambda rng: np.arange(1, 70),
    "shuffled": lambda rng: rng.permutation(np.arange(1, 70)),
    "backwards": lambda rng: np.arange(40, 0, -1),
    "one after": lambda rng: np.arange(1, 71).reshape(-1, 2)[:, ::-1].ravel(),
    "the eighth is late": lambda rng: np.append(np.delete(np.arange(1, 41), 8), 9),
    "the first is late": lambda rng: np.append(np.arange(2, 41), 1),
    "late from the ninth on": lambda rng: np.append(np.arange(1, 9), rng.permutation(60)[:50] + 9),
    "late from the 32nd on": lambda rng: np.append(np.arange(1, 33), rng.permutation(30) + 33),
    "lost": lambda rng: np.delete(np.arange(1, 60), [3, 4, 20, 33]),
    "far": lambda rng: np.array([50, 2, 40, 41, 42, 3, 1]),
}


@pytest.mark.parametrize("order", ORDERS)
def test_halves_by_their_definition(order: str) -> None:
    """Lead, models' halves and sums, theta-hat, whatever comes when; the other arm is idle."""
    family = models.Polynomial().over([0.1, 0.25, 0.4])
    tables = halves.half_tables(family, 80)
    mu = np.vstack([np.zeros(3), family.table(80).T])
    rng = np.random.default_rng(len(order))
    kept = littered(2, 3, 100)
    seen: dict[int, float] = {}
    prompt = True
    for n, pull in enumerate(ORDERS[order](rng).tolist()):
        prompt &= pull == n + 1
        reward = seen[pull] = float(mu[pull, 1] + 0.2 * rng.normal())
        halves.add_reward(tables, kept, 1, n, n, pull, reward)
        closest = halves.detect(tables, kept, 1, n, pull, reward)
        kept.closest[1] = closest
        assert kept.lead[1] == pytest.approx(lead_by_hand(seen), abs=1e-9)
        assert kept.total[1] == pytest.approx(sum(seen.values()), abs=1e-9)
        expected = [lead_by_hand({j: mu[j, k] for j in seen}) for k in range(3)]
        assert closest == int(np.argmin(np.abs(kept.lead[1] - expected)))
        assert (kept.settled[1] == halves.PROMPT) == prompt
        if not prompt:
            np.testing.assert_allclose(kept.halves[1], expected, atol=1e-9)
            half, together = (n + 1) // 2, 0  # how many from the first pull on have come
            while together + 1 in seen:
                together += 1
            assert kept.settled[1] == min(half, together)
        for k in range(3):
            constant = sum(seen[j] - mu[j, k] for j in seen) / (n + 1)
            assert halves.constant_of(tables, kept, 1, n + 1, k) == pytest.approx(constant)
        worth = halves.constant_of(tables, kept, 1, n + 1, closest) + mu[70, closest]
        assert halves.worth_of(tables, kept, 1, n + 1, 70) == pytest.approx(worth)
    assert (kept.lead[0], kept.total[0], kept.head[0]) == (0.0, 0.0, halves.NOWHERE)


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("explored", [0, 1, 7, 8, 9, 20])
def test_rewards_after_the_exploration_improve_the_constant_only(explored: int, lost: bool) -> None:
    """As in D-CTO_UCB: n of the rewards take part in halves, the others in sums."""
    family = models.Polynomial().over([0.1, 0.4])
    tables = halves.half_tables(family, 80)
    mu = np.vstack([np.zeros(2), family.table(80).T])
    kept = littered(1, 2, 100)
    pulls = [j for j in range(1, 40) if not (lost and j == explored + 4)]
    for n, pull in enumerate(pulls):
        part = min(n, explored)
        halves.add_reward(tables, kept, 0, part, n, pull, 1.0 + pull)
        if pull <= explored:
            halves.detect(tables, kept, 0, part, pull, 1.0 + pull)
        constant = np.mean([1.0 + j - mu[j, 1] for j in pulls[: n + 1]])
        assert halves.constant_of(tables, kept, 0, n + 1, 1) == pytest.approx(constant)
    early = {j: 1.0 + j for j in range(1, explored + 1)}
    assert kept.lead[0] == pytest.approx(lead_by_hand(early))
    assert kept.settled[0] == (explored // 2 if lost else halves.PROMPT)
    assert kept.wrong_for(np.array([explored]), np.array([10**6])) is None


def needed(n: int) -> int:
    """The chunks of n prompt rewards: those of the second half's places."""
    return len({place // 8 for place in range(n // 2, n)})


@pytest.mark.parametrize("arms", [1, 2, 3, 9])
def test_an_arena_has_room_for_every_prompt_play(arms: int) -> None:
    """For any split of the decisions among the arms."""
    most = [0] * 61  # chunks that this many decisions may need
    for _ in range(arms):
        most = [max(most[t - n] + needed(n) for n in range(t + 1)) for t in range(61)]
    for capacity in range(61):
        kept = halves.empty_halves(arms, 2, capacity)
        assert kept.after.size >= max(1, most[capacity])
        assert kept.after.size <= capacity + 1  # and none is wasted where there are few decisions


def queue_of(kept: halves.Halves, arm: int) -> list[int]:
    """The chunks of an arm, the first one first."""
    found, chunk = [], int(kept.head[arm])
    while chunk != halves.NOWHERE:
        found.append(chunk)
        chunk = int(kept.after[chunk])
    return found


@pytest.mark.parametrize("used", [0, 1, 5, 40])
def test_an_arena_grows_while_it_is_used(used: int) -> None:
    """No chunk is lost, and the halves go on as in an arena that was large from the start."""
    tables = halves.half_tables(models.Polynomial().over([0.1, 0.4]), 200)
    kept, large = halves.empty_halves(1, 2, 40), halves.empty_halves(1, 2, 400)
    size = large.after.size
    for n, pull in enumerate(np.random.default_rng(used).permutation(100).tolist()):
        if n == used:
            assert kept.grown(halves.empty_halves(1, 2, 40), None) is kept
            assert kept.after.size < size
            kept = kept.grown(halves.empty_halves(1, 2, 400), None)
            free = kept._replace(head=kept.free)
            assert sorted(queue_of(kept, 0) + queue_of(free, 0)) == list(range(size))
        for one in (kept, large):
            halves.add_reward(tables, one, 0, n, n, pull + 1, float(pull))
            halves.detect(tables, one, 0, n, pull + 1, float(pull))
        assert kept.lead[0] == large.lead[0]


def test_tables_of_halves_are_shared_up_to_a_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halves, "CACHED", 20)
    family = models.Polynomial().over([0.1, 0.4])
    tables = halves.half_tables(family, 20)
    assert halves.half_tables(family, 20) is tables
    assert halves.half_tables(family, 21) is not halves.half_tables(family, 21)
    for table in tables[:4]:
        assert not table.flags.writeable  # all policies share them
    mu = family.table(20)
    for n in range(1, 21):
        np.testing.assert_allclose(tables.means[n], mu[:, :n].mean(axis=1))
        half = mu[:, : n // 2].sum(axis=1) - mu[:, n // 2 : n].sum(axis=1)
        np.testing.assert_allclose(tables.halves[n], half, atol=1e-12)
    assert not tables.means[0].any()
    assert halves.empty_halves(1, 2, 5).settled[0] == -1  # so it is in saved players
