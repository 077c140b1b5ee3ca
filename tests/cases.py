"""Scenarios and policies that several tests play."""

from __future__ import annotations

import numpy as np

from rotting import Arm, Bernoulli, Gaussian, NoNoise, RandomArms, Scenario, models
from rotting.policies import POLICIES, Oracle, Policy

FAMILY = models.Plateau(length=10).over([0.1, 0.3, 0.45])


def scenarios(horizon: int = 300) -> dict[str, Scenario]:
    """Small problems of every kind, all with three arms."""
    fixed = [
        Arm(models.Constant(0.5)),
        Arm(models.Step(at=40, before=1.0, after=0.2)),
        Arm(models.Polynomial(0.3), constant=0.1),
    ]
    table = models.Table(np.linspace(0.9, 0.1, 50).tolist())
    negative = [
        Arm(models.Constant(-0.2)),
        Arm(models.Step(at=30, before=0.3, after=-0.6)),
        Arm(models.Exponential(0.01), constant=-0.5),
    ]
    return {
        "fixed": Scenario(fixed, Gaussian(0.5), horizon),
        "random": Scenario(RandomArms(FAMILY, 3), Gaussian(0.3), horizon),
        "constants": Scenario(RandomArms(FAMILY, 3, (0.0, 0.5)), Gaussian(0.3), horizon),
        "fading noise": Scenario(fixed, Gaussian(lambda n: 1.0 / np.sqrt(n)), horizon),
        "bernoulli": Scenario([Arm(table), Arm(models.Constant(0.4)), Arm(table)], Bernoulli(),
                              horizon),
        "no noise": Scenario([Arm(table), Arm(table), Arm(models.Constant(0.4))], NoNoise(),
                             horizon),
        "negative": Scenario(negative, Gaussian(0.5), horizon),
    }  # fmt: skip


def examples() -> list[Policy]:
    """Every registered policy in the settings it wants to be tested with (three arms)."""
    return [policy for kind in POLICIES.values() for policy in kind.examples()
            if kind.__module__.startswith("rotting.")]  # fmt: skip


def name_of(policy: Policy) -> str:
    """A short name for test output."""
    return f"{policy.key}{sum(map(ord, repr(policy))) % 1000}"


def playable(policy: Policy, scenario: Scenario) -> Policy:
    """The policy as it is simulated: the oracle is told each scenario's own arms."""
    return Oracle() if isinstance(policy, Oracle) else policy
