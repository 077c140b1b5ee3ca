"""The loop that plays runs of a scenario: written once, run as it is or compiled.

The `reference` engine calls `play` and `benchmark` as plain Python; the `cpu` engine compiles the
same functions. That is why both give the same bits.

The expected reward collected so far depends on the pull counts alone (Observation 2 of the paper's
Appendix C.1), so it is read off the cumulative sums at the checkpoints; no rounding piles up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rotting import random
from rotting.bandits import BERNOULLI, GAUSSIAN, IntArray
from rotting.compilable import seldom, shared
from rotting.engines.compiled.overloads import restart, reveal, select, update
from rotting.models import FloatArray

INTERRUPTED, NO_SUCH_ARM = 1, 2  # why a run was stopped

fold = random.fold
normal_from = random.normal_from
start = random.start
step_of = random.step_of
to_unit = random.to_unit
word = random.word


class Scratch(NamedTuple):
    """Room the loops work in. They allocate nothing, so that compiled code counts no references."""

    key: random.Draw
    step: random.Draw
    ahead: FloatArray  # the next reward of each arm
    pulls: IntArray
    draw: random.Draw

    @classmethod
    def empty(cls, arms: int) -> Scratch:
        """Room for that many arms."""
        return cls(
            np.zeros(arms, dtype=np.uint64),
            np.zeros(arms, dtype=np.uint64),
            np.zeros(arms),
            np.zeros(arms, dtype=np.int64),
            np.zeros(3, dtype=np.uint64),
        )


@shared
def reward_of(world: Any, mean: Any, key: Any, step: Any, pull: Any) -> Any:
    """The reward of a pull with this mean: a function of its arm's stream and its number alone."""
    if world.noise == GAUSSIAN:
        sigma = world.sigma[min(pull, world.sigma.size) - 1]
        return mean + sigma * normal_from(world.edge, world.height, key, step, np.uint64(pull))
    if world.noise == BERNOULLI:
        return 1.0 if to_unit(word(key, step, np.uint64(pull))) < mean else 0.0
    return mean


@shared
@seldom
def expected(world: Any, models: Any, constants: Any, pulls: Any) -> Any:
    """Expected total reward J of the given pull counts (the paper's Eq. 1)."""
    total = 0.0
    for i in range(pulls.size):
        total += world.sums[models[i], pulls[i]] + constants[i] * pulls[i]
    return total


@shared
@seldom
def expected_single(world: Any, models: Any, constants: Any, pulls: Any) -> Any:
    """Expected total reward of the best single arm, pulled `pulls` times."""
    best = world.sums[models[0], pulls] + constants[0] * pulls
    for i in range(1, models.size):
        total = world.sums[models[i], pulls] + constants[i] * pulls
        if total > best:
            best = total
    return best


@shared
@seldom
def open_streams(
    scratch: Any, world: Any, models: Any, constants: Any, keys: Any, run: Any
) -> None:
    """No arm pulled yet, the streams of a run at their start, and each arm's first reward."""
    run_key = fold(keys.noise, run)
    start(scratch.draw, fold(keys.draw, run))
    for i in range(scratch.pulls.size):
        key = fold(run_key, np.uint64(i))
        step = step_of(key)
        scratch.key[i] = key
        scratch.step[i] = step
        scratch.ahead[i] = reward_of(world, constants[i] + world.means[models[i], 0], key, step, 1)
        scratch.pulls[i] = 0


class Standard(NamedTuple):
    """What the regret is measured against: expected total rewards, [run, checkpoint]."""

    optimal: FloatArray  # of pi_max
    single: FloatArray  # of the best single arm


class Outcome(NamedTuple):
    """The arrays of a `Result`, filled run by run."""

    regret: FloatArray
    pulls: IntArray
    total_reward: FloatArray
    adversarial_regret: FloatArray


class Keys(NamedTuple):
    """Where the streams of the reward noise and of the policy's own draws start."""

    noise: np.uint64
    draw: np.uint64


def benchmark(
    params: Any,
    fresh: Any,
    work: Any,
    scratch: Any,
    world: Any,
    bandits: Any,
    checkpoints: Any,
    standard: Any,
) -> None:
    """What pi_max and the best single arm expect to collect by each checkpoint, for each run.

    `params`, `fresh` and `work` are the oracle policy's, as in `play`.
    """
    pulls, draw = scratch.pulls, scratch.draw
    for r in range(bandits.models.shape[0]):
        models, constants = bandits.models[r], bandits.constants[r]
        restart(fresh, work)
        reveal(params, work, models, constants)
        for i in range(pulls.size):
            pulls[i] = 0
        t = 0
        for c in range(checkpoints.size):
            while t < checkpoints[c]:
                t += 1
                pulls[select(params, work, draw)] += 1
            standard.optimal[r, c] = expected(world, models, constants, pulls)
            standard.single[r, c] = expected_single(world, models, constants, t)


def play(
    params: Any,
    fresh: Any,
    work: Any,
    scratch: Any,
    world: Any,
    bandits: Any,
    keys: Any,
    first: Any,
    checkpoints: Any,
    standard: Any,
    outcome: Any,
    stop: Any,
) -> None:
    """Play runs first, first + 1, ... with one policy and write their outcome.

    `work` is the policy's state and `fresh` what it starts from (see `restart`). `standard` has a
    row per run, or one row if all runs share a bandit. A set `stop[0]` ends the work early.

    The next reward of every arm is drawn ahead: it does not depend on what is decided, so the
    processor draws it while it decides.
    """
    key, step, ahead = scratch.key, scratch.step, scratch.ahead
    pulls, draw = scratch.pulls, scratch.draw
    longest = world.means.shape[1]
    last = checkpoints.size - 1
    for r in range(bandits.models.shape[0]):
        models, constants = bandits.models[r], bandits.constants[r]
        open_streams(scratch, world, models, constants, keys, np.uint64(first + r))
        restart(fresh, work)
        reveal(params, work, models, constants)
        row = min(r, standard.optimal.shape[0] - 1)
        t = 0
        for c in range(checkpoints.size):
            if stop[0] != 0:
                return
            while t < checkpoints[c]:
                t += 1
                arm = select(params, work, draw)
                if arm < 0 or arm >= pulls.size:
                    stop[0] = NO_SUCH_ARM
                    return
                n = pulls[arm] + 1
                pulls[arm] = n
                # asked for here, it is there when it is needed
                mean = world.means[models[arm], min(n, longest - 1)]
                update(params, work, arm, n, ahead[arm])
                if n < longest:
                    ahead[arm] = reward_of(world, constants[arm] + mean, key[arm], step[arm], n + 1)
            collected = expected(world, models, constants, pulls)
            outcome.regret[r, c] = standard.optimal[row, c] - collected
            if c == last:
                outcome.total_reward[r] = collected
                outcome.adversarial_regret[r] = standard.single[row, c] - collected
        for i in range(pulls.size):
            outcome.pulls[r, i] = pulls[i]
