"""Every policy's decisions on record: a rewrite must change none of them.

    python tests/recorded.py          rewrites tests/recorded.json

Simulated: pulls as a digest, regrets as numbers, on six scenarios. Played online: a digest of the
arms chosen while rewards come up to forty decisions late, in any order, a fifth of them never. The
record changes only in a commit that says which policy's decisions changed, and why.
"""

from __future__ import annotations

import hashlib
import json
import random as python_random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rotting import Arm, Bernoulli, Gaussian, RandomArms, Scenario, models, simulate
from rotting.policies import POLICIES, Oracle, Policy

RECORD = Path(__file__).with_suffix(".json")
HORIZON = 1500
RUNS = 8
CHECKPOINTS = [10, 200, 900, HORIZON]
DECISIONS = 1200


def scenarios() -> dict[str, Scenario]:
    """Gaussian and Bernoulli rewards, one, two, ten and sixty arms; many ties among the sixty."""
    family = models.Plateau(length=20).over([0.1, 0.25, 0.4])
    steps = [Arm(models.Constant(0.5)), Arm(models.Step(at=300, before=1.0, after=0.2))]
    rates = [(0.05, 0.01), (0.4, 0.004), (0.2, 0.0005), (0.6, 0.02), (0.1, 0.0)]
    clicks = [Arm(models.Scaled(models.Exponential(rot), rate)) for rate, rot in rates * 2]
    return {
        "gaussian 1": Scenario([steps[1]], Gaussian(0.5), HORIZON),
        "gaussian 2": Scenario(steps, Gaussian(0.2**0.5), HORIZON),
        "gaussian 10": Scenario(RandomArms(family, 10, (0.0, 0.5)), Gaussian(0.3), HORIZON),
        "gaussian 60": Scenario(RandomArms(family, 60), Gaussian(0.05), HORIZON),
        "bernoulli 2": Scenario(steps, Bernoulli(), HORIZON),
        "bernoulli 10": Scenario(clicks, Bernoulli(), HORIZON),
    }


def examples() -> dict[str, Policy]:
    """The examples of every policy of this library, named by key and place."""
    return {
        f"{key} {place}": policy
        for key, kind in sorted(POLICIES.items())
        if kind.__module__.startswith("rotting.")
        for place, policy in enumerate(kind.examples())
    }


def simulated(policy: Policy, scenario: Scenario) -> dict[str, Any]:
    """Digest of the pulls and sums of the regrets."""
    told = Oracle() if isinstance(policy, Oracle) else policy
    result = simulate(told, scenario, runs=RUNS, seed=11, checkpoints=CHECKPOINTS)
    pulls = np.ascontiguousarray(result.pulls, dtype="<i8").tobytes()
    return {
        "pulls": hashlib.sha256(pulls).hexdigest()[:16],
        "regret": result.regret.sum(axis=0).tolist(),
    }


def played(policy: Policy, arms: int) -> str:
    """Digest of the arms that a player chooses while rewards are late, shuffled and lost."""
    player = policy.online(range(arms), seed=3, horizon=DECISIONS)
    rng = python_random.Random(arms)
    waiting: list[Any] = []
    chosen = []
    for _ in range(DECISIONS):
        decision = player.select()
        chosen.append(decision.arm)
        waiting.append(decision)
        while len(waiting) > 40 or (waiting and rng.random() < 0.45):
            late = waiting.pop(rng.randrange(len(waiting)))
            if rng.random() < 0.8:
                player.update(late, rng.gauss(0.5 / late.pull**0.3, 0.3))
    return hashlib.sha256(np.array(chosen, dtype="<i8").tobytes()).hexdigest()[:16]


def recorded(policy: Policy) -> dict[str, Callable[[], Any]]:
    """Everything on record of a policy: what is played to find it, by name."""
    sizes = (3,) if isinstance(policy, Oracle) else (3, 60)
    return {
        "policy": partial(repr, policy),
        **{name: partial(simulated, policy, one) for name, one in scenarios().items()},
        **{f"online {arms}": partial(played, policy, arms) for arms in sizes},
    }


if __name__ == "__main__":
    record = {
        name: {what: play() for what, play in recorded(policy).items()}
        for name, policy in examples().items()
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    print(f"{len(record)} examples on record")
