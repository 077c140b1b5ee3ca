"""The loop that plays runs of a scenario: written once, run as it is or compiled.

The `reference` engine calls `play` as plain Python; the `cpu` engine compiles the same function.
That is why both give the same bits.

The expected reward collected so far depends on the pull counts alone (Observation 2 of the paper's
Appendix C.1), so it is looked up in the cumulative sums at the checkpoints, and rounding errors do
not accumulate.

Arms may open and close during a run (`Events`). Where none does, the loops get `NoEvents`, a type
of its own: these calls then compile to nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rotting._engines.state_block import restart
from rotting.bandits import BERNOULLI, GAUSSIAN, Scenario
from rotting.kernel import random
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import by_type, seldom, shared
from rotting.kernel.verbs import choose, pulled, set_open, set_truth, update

INTERRUPTED, NO_SUCH_ARM, CLOSED_ARM = 1, 2, 3  # why a run was stopped

fold = random.fold
normal_from = random.normal_from
start = random.start
step_of = random.step_of
to_unit = random.to_unit
word = random.word


class NoEvents(NamedTuple):
    """No arm ever opens or closes."""


class Events(NamedTuple):
    """The open arms from each round on."""

    rounds: IntArray  # rising, from 1; the last is a sentinel that no run reaches
    flags: IntArray  # [event, arm]: 1 if the arm is open from then on


def events_of(scenario: Scenario) -> Events | NoEvents:
    """The openings and closures in every run of a scenario."""
    if not scenario.closes:
        return NoEvents()
    rounds, flags = scenario.changes()
    return Events(np.append(rounds, scenario.horizon + 1), flags)


@by_type("events")
def happen(events: Any, past: Any, t: Any, params: Any, state: Any) -> Any:
    """Set the policy's open arms if they change in round t; returns the number of past events."""
    return past


@happen.of(Events)
def _(events: Any, past: Any, t: Any, params: Any, state: Any) -> Any:
    if t == events.rounds[past]:
        set_open(params, state, events.flags[past])
        past += 1
    return past


@by_type("events")
def may_pull(events: Any, past: Any, arm: Any) -> Any:
    """Whether an arm is open after `past` events."""
    return True


@may_pull.of(Events)
def _(events: Any, past: Any, arm: Any) -> Any:
    return events.flags[past - 1, arm] != 0


class Scratch(NamedTuple):
    """Working arrays of the loops.

    Compiled loops allocate nothing, which saves reference counting.
    """

    key: random.Draw  # of each arm's reward stream
    step: random.Draw  # the same; making it from the key for each draw is no faster
    ahead: FloatArray  # the next reward of each arm, prefetched
    pulls: IntArray  # of each arm
    draw: random.Draw  # the policy's own random numbers

    @classmethod
    def empty(cls, arms: int) -> Scratch:
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
    """Reset pulls, start the streams of a run, and draw each arm's first reward."""
    run_key = fold(keys.noise, run)
    start(scratch.draw, fold(keys.draw, run))
    for i in range(scratch.pulls.size):
        key = fold(run_key, np.uint64(i))
        step = step_of(key)
        scratch.key[i] = key
        scratch.step[i] = step
        scratch.ahead[i] = reward_of(world, constants[i] + world.means[models[i], 0], key, step, 1)
        scratch.pulls[i] = 0


class Outcome(NamedTuple):
    """The arrays of a `Result`, filled run by run."""

    regret: FloatArray  # [run, checkpoint]
    pulls: IntArray  # [run, arm]
    total_reward: FloatArray  # [run], expected
    adversarial_regret: FloatArray  # [run], against the best single arm


class Keys(NamedTuple):
    """Where the streams of the reward noise and of the policy's own draws start."""

    noise: np.uint64  # of the rewards
    draw: np.uint64  # of the policy's own draws


def play(
    params: Any,
    fresh: Any,
    work: Any,
    scratch: Any,
    world: Any,
    bandits: Any,
    events: Any,
    keys: Any,
    first: Any,
    checkpoints: Any,
    baseline: Any,
    outcome: Any,
    stop: Any,
) -> None:
    """Play runs first, first + 1, ... with one policy and write their outcome.

    `work` is the policy's state and `fresh` its initial value (see `restart`). `baseline`, the
    reward that the regret is measured against, has a row per run, or one row if all runs share a
    bandit. `events` has the openings of arms. A set `stop[0]` ends the work early.

    The next reward of every arm is drawn ahead (prefetched): it does not depend on decisions, so
    the processor can draw it and decide in parallel.
    """
    key, step, ahead = scratch.key, scratch.step, scratch.ahead
    pulls, draw = scratch.pulls, scratch.draw
    longest = world.means.shape[1]
    last = checkpoints.size - 1
    for r in range(bandits.models.shape[0]):
        models, constants = bandits.models[r], bandits.constants[r]
        open_streams(scratch, world, models, constants, keys, np.uint64(first + r))
        restart(fresh, work)
        set_truth(params, work, models, constants)
        row = min(r, baseline.optimal.shape[0] - 1)
        t = past = 0
        for c in range(checkpoints.size):
            if stop[0] != 0:
                return
            while t < checkpoints[c]:
                t += 1
                past = happen(events, past, t, params, work)
                arm = choose(params, work, draw)
                if arm < 0 or arm >= pulls.size:
                    stop[0] = NO_SUCH_ARM
                    return
                if not may_pull(events, past, arm):
                    stop[0] = CLOSED_ARM
                    return
                pulled(params, work, arm)
                n = pulls[arm] + 1
                pulls[arm] = n
                # prefetch: a cache miss here is over by the time the mean is used, below
                mean = world.means[models[arm], min(n, longest - 1)]
                update(params, work, arm, n, ahead[arm])
                if n < longest:
                    ahead[arm] = reward_of(world, constants[arm] + mean, key[arm], step[arm], n + 1)
            collected = expected(world, models, constants, pulls)
            outcome.regret[r, c] = baseline.optimal[row, c] - collected
            if c == last:
                outcome.total_reward[r] = collected
                outcome.adversarial_regret[r] = baseline.single[row, c] - collected
        for i in range(pulls.size):
            outcome.pulls[r, i] = pulls[i]
