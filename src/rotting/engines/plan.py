"""What engines work on: an experiment prepared as arrays, cut into chunks of runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rotting import random
from rotting.bandits import Bandits, IntArray, Scenario, World
from rotting.engines.compiled.image import Image, image_of
from rotting.engines.compiled.overloads import room_of
from rotting.engines.loop import NO_SUCH_ARM, Keys, Outcome, Scratch, Standard
from rotting.policies.oracle import Oracle

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """One policy on one scenario: all that a chunk of runs needs to know."""

    params: Any
    fresh: Any
    scenario: Scenario
    world: World
    seed: int
    first_run: int
    runs: int
    checkpoints: IntArray
    keys: Keys
    oracle: Any
    oracle_fresh: Any


def stream_keys(seed: int, noise: str, policy: str) -> Keys:
    """Keys of the reward noise and of a policy's own draws.

    Independent noise depends on what the policy is called and its parameters, common noise on the
    seed alone.
    """
    key = random.seed_word(seed)
    if noise == "independent":
        key = random.fold(key, random.digest(policy))
    return Keys(
        noise=random.fold(key, np.uint64(random.NOISE)),
        draw=random.fold(key, np.uint64(random.DECISIONS)),
    )


def make_oracle(scenario: Scenario) -> tuple[Any, Any]:
    """Params and fresh state of pi_max, for the regret."""
    oracle = Oracle()
    params = oracle.prepare_for(scenario, random_ties=False)
    return params, oracle.verbs.init(params, scenario.arm_count, scenario.horizon)


def empty_outcome(runs: int, checkpoints: int, arms: int) -> Outcome:
    """Room for the outcome of that many runs."""
    pulls = np.empty((runs, arms), dtype=np.int64)
    return Outcome(np.empty((runs, checkpoints)), pulls, np.empty(runs), np.empty(runs))


def run_chunk(
    play: Callable[..., None],
    benchmark: Callable[..., None],
    plan: Plan,
    first: int,
    last: int,
    standard: Standard | None,
    outcome: Outcome,
    stop: IntArray,
    clear: bool = False,
) -> Standard:
    """Play rows first..last-1 of the outcome with the given forms of the loops.

    Returns what pi_max collects on them: the given standard, or the one made for them. `clear`
    starts also from cleared arrays where a policy says that it does not need them so.

    A pure function of the plan and the range: chunks may run anywhere, in any order, again.
    """
    run = plan.first_run + first
    bandits = plan.scenario.bandits(plan.seed, run, plan.first_run + last)
    if standard is None:
        standard = run_benchmark(benchmark, plan, bandits)
    rows = Outcome(*(array[first:last] for array in outcome))  # type: ignore[arg-type]
    _, scratch = image_of(Scratch.empty(plan.scenario.arm_count), set())
    play(
        plan.params, *_image_of(plan.fresh, clear), scratch, plan.world, bandits, plan.keys, run,
        plan.checkpoints, standard, rows, stop,
    )  # fmt: skip
    if stop[0] == NO_SUCH_ARM:
        arms = plan.scenario.arm_count
        raise ValueError(f"select must return an arm from 0 to {arms - 1}; the policy did not")
    return standard


def run_benchmark(benchmark: Callable[..., None], plan: Plan, bandits: Bandits) -> Standard:
    """What pi_max and the best single arm expect on these bandits."""
    shape = (bandits.models.shape[0], plan.checkpoints.size)
    standard = Standard(np.empty(shape), np.empty(shape))
    _, scratch = image_of(Scratch.empty(plan.scenario.arm_count), set())
    benchmark(
        plan.oracle, *_image_of(plan.oracle_fresh), scratch, plan.world, bandits, plan.checkpoints,
        standard,
    )  # fmt: skip
    return standard


class Standards:
    """What pi_max collects, kept for the next policy on the same runs of the same scenario.

    It does not depend on the policy, and working it out takes a good part of the time of a fast
    one. The latest few are kept, up to a size.
    """

    _kept: ClassVar[dict[Any, Standard]] = {}
    most: ClassVar[int] = 1 << 27  # bytes

    @staticmethod
    def key(plan: Plan) -> Any:
        """What a standard depends on; None if that cannot be compared."""
        runs = (plan.seed, plan.first_run, plan.runs, plan.checkpoints.tobytes())
        try:
            hash(plan.scenario)
        except TypeError:
            return None
        return (plan.scenario, *runs)

    @classmethod
    def find(cls, plan: Plan) -> Standard | None:
        """The standard of all runs of a plan, if it is there."""
        return cls._kept.get(cls.key(plan))

    @classmethod
    def room(cls, plan: Plan) -> Standard | None:
        """Room for one that may be kept; None if it would be too large."""
        shape = (plan.runs, plan.checkpoints.size)
        if plan.scenario.fixed or cls.key(plan) is None or 16 * shape[0] * shape[1] > cls.most:
            return None
        return Standard(np.empty(shape), np.empty(shape))

    @classmethod
    def keep(cls, plan: Plan, standard: Standard) -> None:
        """Keep one that is complete, and let others go if they are too many."""
        size = sum(array.nbytes for kept in list(cls._kept.values()) for array in kept)
        if size + standard.optimal.nbytes * 2 > cls.most:
            cls._kept.clear()
        cls._kept[cls.key(plan)] = standard


def shared_standard(benchmark: Callable[..., None], plan: Plan) -> Standard | None:
    """The standard that all runs share when they share their bandit, else None."""
    if not plan.scenario.fixed:
        return None
    return run_benchmark(benchmark, plan, plan.scenario.bandits(plan.seed, 0, 1))


def _image_of(fresh: Any, clear: bool = False) -> tuple[Image, Any]:
    return image_of(fresh, set() if clear else room_of(type(fresh)))
