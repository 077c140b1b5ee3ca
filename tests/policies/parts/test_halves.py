"""The half-differences Z of late rewards."""

from __future__ import annotations

import random as python_random

import pytest

from rotting import Decision, models, policies
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
        state, tables = player._state.halves, policy.prepare(2, None, 500).tables
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
