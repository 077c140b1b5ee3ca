"""Scenarios, families, policies and players that several tests play."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rotting import (
    Arm,
    Bernoulli,
    Gaussian,
    NoNoise,
    Player,
    RandomArms,
    Scenario,
    models,
    simulate,
)
from rotting.policies import POLICIES, Fatigue, Oracle, Policy

FAMILY = models.Plateau(length=10).over([0.1, 0.3, 0.45])
PAIR = models.Plateau(length=100).over([0.1, 0.4])
FAMILIES = {
    "polynomial": models.Polynomial().over([0.1, 0.3, 0.45]),
    "plateau": models.Plateau(length=7).over([0.4, 0.1, 0.2]),
    "exponential": models.Exponential().over([0.02, 0.001]),
}


def mu_of(family: models.Family) -> Callable[[int, float], float]:
    """mu(n, theta) as the twins take it; it reads our tables, so that ties are exact in both."""
    tables = dict(zip(family.thetas, (m.table(1000) for m in family.members), strict=True))
    return lambda n, theta: float(tables[theta][n - 1])


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
        "bernoulli": Scenario(
            [Arm(table), Arm(models.Constant(0.4)), Arm(table)], Bernoulli(), horizon
        ),
        "no noise": Scenario(
            [Arm(table), Arm(table), Arm(models.Constant(0.4))], NoNoise(), horizon
        ),
        "negative": Scenario(negative, Gaussian(0.5), horizon),
    }


def examples() -> list[Policy]:
    """Every registered policy in the settings it wants to be tested with (three arms)."""
    return [
        policy
        for kind in POLICIES.values()
        for policy in kind.examples()
        if kind.__module__.startswith("rotting.")
    ]


def slow(policy: Policy) -> bool:
    """Whether plain Python takes milliseconds a decision: it then plays less."""
    return isinstance(policy, Fatigue)


def shorter(policy: Policy, count: int, by: int = 4) -> int:
    """The number of rounds, reduced where plain Python is slow (`make lockstep` plays more)."""
    return count // by if slow(policy) else count


def name_of(policy: Policy) -> str:
    """A short name for test output."""
    return f"{policy.key}{sum(map(ord, repr(policy))) % 1000}"


def playable(policy: Policy, scenario: Scenario) -> Policy:
    """The policy as it is simulated: the oracle gets each scenario's arms."""
    return Oracle() if isinstance(policy, Oracle) else policy


def regret(
    policy: Policy, scenario: Scenario, runs: int = 300, seed: int = 4
) -> tuple[float, float]:
    """Mean regret at the horizon, and its standard error."""
    result = simulate(policy, scenario, runs=runs, seed=seed, checkpoints=1)
    return float(result.mean_regret[-1]), float(result.standard_error[-1])


def player_of(policy: Policy, compiled: bool = True, seed: int = 0, **settings: Any) -> Player:
    """A player of three arms, with a horizon only if its policy needs one."""
    if policy.needs_horizon:
        settings = {"horizon": 3000, **settings}
    return policy.online(["a", "b", "c"], seed=seed, compiled=compiled, **settings)


def run_script(folder: Path, script: str, cache: Path | None = None) -> dict[str, float]:
    """Run a script in a child process, with its own cache if one is given."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


class Copycat:
    """A user's own player: it plays round robin and checks the rewards it gets."""

    def __init__(self, arms: int) -> None:
        self.turn = 0
        self.count = arms

    def select(self) -> int:
        self.turn += 1
        return (self.turn - 1) % self.count

    def update(self, decision: int, reward: float) -> None:
        assert decision == (self.turn - 1) % self.count
        assert math.isfinite(reward)
