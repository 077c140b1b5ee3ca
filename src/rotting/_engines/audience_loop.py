"""The loops for scenarios with an audience: `_engines.loop` and `_engines.baseline` with keys.

The key of every round is known beforehand (`Audience.arrive`). The next reward of an arm depends on
the key, so none is drawn ahead, and the reward collected depends on the counts of all keys: it is a
running sum, compensated for rounding (Neumaier), not looked up in cumulative sums.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rotting._engines.loop import CLOSED_ARM, NO_SUCH_ARM, happen, may_pull, reward_of
from rotting._engines.state_block import restart
from rotting._live.keys import pull_for_policy, set_key
from rotting.bandits import Scenario
from rotting.kernel import random
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import seldom, shared
from rotting.kernel.verbs import choose, pulled, set_truth, update
from rotting.policies.parts.exposures import (
    Exposures,
    Fading,
    clear,
    effective_count,
    expose,
    interpolated_mean,
    no_exposures,
    turn_to,
)

fold = random.fold
start = random.start
step_of = random.step_of


class AudienceScratch(NamedTuple):
    """Arrivals and factors of each run, every key's showings, and working arrays of the loops."""

    arrivals: npt.NDArray[np.int32]  # [run, round]; one row if all runs have the same
    factors: FloatArray  # [run, key], or [run, 0] where all keys are alike
    exposure: Exposures | Fading  # the true counts, whatever a policy counts
    pulls: IntArray  # of each arm, over all keys
    stream: random.Draw  # of each arm's rewards
    sums: FloatArray  # the reward collected, and the sum of its rounding errors
    draw: random.Draw  # the policy's own random numbers


def audience_scratch(scenario: Scenario, seed: int, first: int, last: int) -> AudienceScratch:
    """The arrays for the runs first..last-1 of a seed."""
    audience = scenario.audience
    assert audience is not None
    arms, runs = scenario.arm_count, range(first, last)
    come = [
        audience.arrive(seed, run, scenario.horizon)
        for run in ([first] if audience.scheduled else runs)
    ]
    drawn = [audience.factors_of(seed, run) for run in runs if audience.factors is not None]
    return AudienceScratch(
        arrivals=np.array(come, dtype=np.int32).reshape(-1, scenario.horizon),
        factors=np.array(drawn).reshape(last - first, -1 if drawn else 0),
        exposure=no_exposures(audience.keys, arms, audience.rest),
        pulls=np.zeros(arms, dtype=np.int64),
        stream=np.zeros(arms, dtype=np.uint64),
        sums=np.zeros(2),
        draw=np.zeros(3, dtype=np.uint64),
    )


@shared
@seldom
def begin(scratch: AudienceScratch, run: Any) -> None:
    """Reset exposures, pulls and sums; `run` is the key of the run's rewards."""
    clear(scratch.exposure)
    for i in range(scratch.pulls.size):
        scratch.pulls[i] = 0
        scratch.stream[i] = fold(run, np.uint64(i))
    scratch.sums[0] = 0.0
    scratch.sums[1] = 0.0


@shared
def _mean(world: Any, models: Any, constants: Any, exposure: Any, arm: Any) -> Any:
    """The mean of the arm's next showing to the current key."""
    return constants[arm] + interpolated_mean(
        world.means, models[arm], effective_count(exposure, arm)
    )


@shared
def _collect(scratch: AudienceScratch, value: Any) -> None:
    """Add to the reward collected, and keep the addition's rounding error (Neumaier)."""
    before = scratch.sums[0]
    after = before + value
    if abs(before) >= abs(value):
        scratch.sums[1] += (before - after) + value
    else:
        scratch.sums[1] += (value - after) + before
    scratch.sums[0] = after


@shared
def _factor(scratch: AudienceScratch, run: Any, key: Any) -> Any:
    return scratch.factors[run, key] if scratch.factors.shape[1] > 0 else 1.0


@shared
def _stream(scratch: AudienceScratch, arm: Any, key: Any) -> Any:
    """The random stream of an arm's rewards for a key; key 0 has those of a bandit without keys."""
    return scratch.stream[arm] if key == 0 else fold(scratch.stream[arm], np.uint64(key))


def play_audience(
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
    """Play runs first, first + 1, ... as `_engines.loop.play` does, with a key in every round."""
    pulls, draw, exposure = scratch.pulls, scratch.draw, scratch.exposure
    for r in range(bandits.models.shape[0]):
        models, constants = bandits.models[r], bandits.constants[r]
        come = scratch.arrivals[min(r, scratch.arrivals.shape[0] - 1)]
        begin(scratch, fold(keys.noise, np.uint64(first + r)))
        start(draw, fold(keys.draw, np.uint64(first + r)))
        restart(fresh, work)
        set_truth(params, work, models, constants)
        row = min(r, baseline.optimal.shape[0] - 1)
        t = past = 0
        for c in range(checkpoints.size):
            if stop[0] != 0:
                return
            while t < checkpoints[c]:
                key = come[t]
                t += 1
                turn_to(exposure, key, t)
                past = happen(events, past, t, params, work)
                set_key(params, work, key, t)
                arm = choose(params, work, draw)
                if arm < 0 or arm >= pulls.size:
                    stop[0] = NO_SUCH_ARM
                    return
                if not may_pull(events, past, arm):
                    stop[0] = CLOSED_ARM
                    return
                pull = pull_for_policy(work, pulls, arm)
                pulled(params, work, arm)
                mean = _factor(scratch, r, key) * _mean(world, models, constants, exposure, arm)
                stream = _stream(scratch, arm, key)
                n = np.int64(exposure.counts[key, arm]) + 1
                expose(exposure, arm)
                pulls[arm] += 1
                _collect(scratch, mean)
                update(params, work, arm, pull, reward_of(world, mean, stream, step_of(stream), n))
            collected = scratch.sums[0] + scratch.sums[1]
            outcome.regret[r, c] = baseline.optimal[row, c] - collected
        outcome.total_reward[r] = scratch.sums[0] + scratch.sums[1]
        outcome.adversarial_regret[r] = math.nan
        for i in range(pulls.size):
            outcome.pulls[r, i] = pulls[i]


def play_audience_baseline(
    params: Any,
    fresh: Any,
    work: Any,
    scratch: Any,
    world: Any,
    bandits: Any,
    events: Any,
    checkpoints: Any,
    baseline: Any,
) -> None:
    """The reward that pi_max expects to collect by each checkpoint: each key's highest next mean.

    That is optimal (Lemma 2.1 applied to every key, and to each of its windows) unless arms close
    or exposures have a half-life; then it is greedy. There is no single arm to compare with:
    adversarial regret has no meaning here.
    """
    exposure, draw = scratch.exposure, scratch.draw
    for r in range(bandits.models.shape[0]):
        models, constants = bandits.models[r], bandits.constants[r]
        come = scratch.arrivals[min(r, scratch.arrivals.shape[0] - 1)]
        begin(scratch, np.uint64(0))
        restart(fresh, work)
        set_truth(params, work, models, constants)
        t = past = 0
        for c in range(checkpoints.size):
            while t < checkpoints[c]:
                key = come[t]
                t += 1
                turn_to(exposure, key, t)
                past = happen(events, past, t, params, work)
                set_key(params, work, key, t)
                arm = choose(params, work, draw)
                pulled(params, work, arm)
                mean = _mean(world, models, constants, exposure, arm)
                expose(exposure, arm)
                _collect(scratch, _factor(scratch, r, key) * mean)
            baseline.optimal[r, c] = scratch.sums[0] + scratch.sums[1]
            baseline.single[r, c] = math.nan
