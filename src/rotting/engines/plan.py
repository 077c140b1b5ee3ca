"""What engines work on: an experiment prepared as arrays, and its outcome array by array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rotting import random
from rotting.bandits import IntArray, Scenario, World
from rotting.engines.loop import Scratch
from rotting.models import FloatArray
from rotting.policies.oracle import Oracle

Progress = Callable[[int, int], None]


class Outcome(NamedTuple):
    """The arrays of a `Result`, filled run by run."""

    regret: FloatArray
    pulls: IntArray
    total_reward: FloatArray
    adversarial_regret: FloatArray

    @classmethod
    def empty(cls, runs: int, checkpoints: int, arms: int) -> Outcome:
        """Room for that many runs."""
        return cls(
            np.empty((runs, checkpoints)),
            np.empty((runs, arms), dtype=np.int64),
            np.empty(runs),
            np.empty(runs),
        )

    def part(self, first: int, last: int) -> Outcome:
        """A view of some of the runs."""
        return Outcome(*(array[first:last] for array in self))


@dataclass(frozen=True)
class Plan:
    """One policy on one scenario: all that a chunk of runs needs to know."""

    params: Any
    fresh: Any
    scenario: Scenario
    world: World
    seed: int
    runs: int
    checkpoints: IntArray
    noise_key: np.uint64
    draw_key: np.uint64
    oracle: Any
    oracle_fresh: Any


def stream_keys(seed: int, noise: str, policy: str) -> tuple[np.uint64, np.uint64]:
    """Keys of the reward noise and of a policy's own draws.

    Independent noise depends on what the policy is called and its parameters, common noise on the
    seed alone.
    """
    key = random.seed_word(seed)
    if noise == "independent":
        key = random.fold(key, random.digest(policy))
    return random.fold(key, np.uint64(random.NOISE)), random.fold(key, np.uint64(random.DECISIONS))


def make_oracle(scenario: Scenario) -> tuple[Any, Any]:
    """Params and fresh state of pi_max, for the regret."""
    oracle = Oracle()
    params = oracle.prepare_for(scenario, random_ties=False)
    return params, oracle.verbs.init(params, scenario.arm_count, scenario.horizon)


def empty_like(state: Any) -> Any:
    """Room for a state of the same shape."""
    return type(state)(*(np.empty_like(array) for array in state))


def run_chunk(
    play: Callable[..., None],
    benchmark: Callable[..., None],
    plan: Plan,
    first: int,
    last: int,
    standard: tuple[FloatArray, FloatArray] | None,
    outcome: Outcome,
    stop: IntArray,
) -> None:
    """Play runs first..last-1 into an outcome of that size, with the given forms of the loops.

    A pure function of the plan and the range: chunks may run anywhere, in any order, again.
    """
    bandits = plan.scenario.bandits(plan.seed, first, last)
    models = np.ascontiguousarray(bandits.models)
    constants = np.ascontiguousarray(bandits.constants)
    if standard is None:
        standard = run_benchmark(benchmark, plan, models, constants)
    scratch = Scratch.empty(plan.scenario.arm_count)
    play(
        plan.params, plan.fresh, empty_like(plan.fresh), scratch, plan.world, models, constants,
        plan.noise_key, plan.draw_key, first, plan.checkpoints, *standard, *outcome, stop,
    )  # fmt: skip


def run_benchmark(
    benchmark: Callable[..., None], plan: Plan, models: IntArray, constants: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What pi_max and the best single arm expect, [run, checkpoint] each."""
    shape = (models.shape[0], plan.checkpoints.size)
    optimal, single = np.empty(shape), np.empty(shape)
    benchmark(
        plan.oracle, plan.oracle_fresh, empty_like(plan.oracle_fresh),
        Scratch.empty(plan.scenario.arm_count), plan.world, models, constants, plan.checkpoints, optimal, single,
    )  # fmt: skip
    return optimal, single


def standard_of(
    benchmark: Callable[..., None], plan: Plan
) -> tuple[FloatArray, FloatArray] | None:
    """The benchmark that all runs share when they share their bandit, else None."""
    if not plan.scenario.fixed:
        return None
    bandits = plan.scenario.bandits(plan.seed, 0, 1)
    return run_benchmark(
        benchmark,
        plan,
        np.ascontiguousarray(bandits.models),
        np.ascontiguousarray(bandits.constants),
    )
