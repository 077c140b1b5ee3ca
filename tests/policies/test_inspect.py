"""Scores from inspect are the scores that decide."""

from __future__ import annotations

import random

import pytest

from helpers.cases import examples
from rotting import Player
from rotting.kernel.verbs import KINDS, Inspection, inspect
from rotting.policies import Oracle, Policy

ARMS = 3
COMPARING = ("highest", "mostly", "told")


def opinions(player: Player) -> list[Inspection]:
    """What the policy makes of each arm, as it is before a decision."""
    snapshot = player.core.snapshot()
    found = [inspect(snapshot.params, snapshot.state, arm) for arm in range(ARMS)]
    assert all(isinstance(opinion, Inspection) for opinion in found)
    return [opinion for opinion in found if opinion is not None]


@pytest.mark.parametrize("policy", examples(), ids=lambda policy: policy.label[:60])
def test_the_index_is_what_choose_compares(policy: Policy) -> None:
    rng = random.Random(7)
    player = policy.online(range(ARMS), seed=3, horizon=400, compiled=False)
    late = []
    compared = exceptions = 0
    for t in range(240):
        before = opinions(player)
        decision = player.select()
        indices = [o.index for o in before if o.index is not None]
        own = before[decision.arm]
        if own.rule in COMPARING and own.index is not None:
            compared += 1
            if own.index != max(indices):
                exceptions += 1
                assert own.rule == "mostly", f"decision {t}: {before}"
        elif own.rule in COMPARING:
            assert own.estimate is None, "an arm that ramps up has no estimate"
        if own.estimate is not None and own.padding is not None and own.index is not None:
            assert own.index == pytest.approx(own.estimate + own.padding, rel=1e-9, abs=1e-9)
        late.append((decision, (1.0, 0.6, 0.7)[decision.arm] / (1 + t / 80) + rng.gauss(0, 0.2)))
        rng.shuffle(late)
        while len(late) > 2:
            player.update(*late.pop())
    rules = {o.rule for o in before}
    assert len(rules) == 1
    assert compared > 10 or not rules & set(COMPARING)
    assert 2 * exceptions <= compared


def test_every_policy_has_an_opinion() -> None:
    for policy in examples():
        assert KINDS[policy.verbs.params].inspect is not None, policy.label


def test_rules_without_an_index() -> None:
    found: dict[str, set[str]] = {}
    for policy in examples():
        if isinstance(policy, Oracle):
            continue
        player = policy.online(range(ARMS), horizon=100, compiled=False)
        found.setdefault(opinions(player)[0].rule, set()).add(policy.title)
    assert found["uniform"] == {"Uniform"}
    assert found["turn"] == {"RoundRobin"}
    assert found["chance"] == {"Exp3.S"}
    assert found["filtered"] == {"FEWA", "EFF-FEWA"}
    assert found["sampled"] == {"SW-TS", "D-TS", "Posterior", "Thompson", "Fatigue", "Mixture"}


def test_a_posterior_is_split_into_mean_and_deviations() -> None:
    from rotting import models
    from rotting.policies import Posterior

    family = models.Polynomial().over([0.1, 0.25, 0.4])
    shown = {}
    for rule, z in (("mean", 0.0), ("upper", 2.0), ("thompson", 0.0)):
        player = Posterior(family, 0.4, True, rule, z).online(range(ARMS), compiled=False)
        player.learn([0, 0, 0, 1, 1, 2, 2], [1.0, 0.7, 0.6, 0.2, 0.3, 0.5, 0.4])
        shown[rule] = opinions(player)[0]
    mean, upper, drawn = shown["mean"], shown["upper"], shown["thompson"]
    assert mean.estimate == upper.estimate == drawn.estimate == mean.index
    assert upper.padding is not None
    assert drawn.padding is not None
    assert upper.padding == pytest.approx(2.0 * drawn.padding)
    assert drawn.padding > 0.0
    assert drawn.index is None
