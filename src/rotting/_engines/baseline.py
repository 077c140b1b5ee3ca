"""The baseline of the regret: the expected rewards of pi_max and of the best single arm.

Where arms come and go, pi_max is greedy among the open arms: the highest next mean, the first
arm in a tie. That is no longer optimal, since the choice among tied arms matters later, and no
single arm can be played throughout.

Baselines do not depend on the policy that is played, and computing them takes a good part of the
time of a fast policy; so they are cached for the next policy on the same runs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rotting._cache import BoundedCache
from rotting._engines.loop import expected, expected_single, happen
from rotting._engines.state_block import restart
from rotting.kernel.arrays import FloatArray
from rotting.kernel.verbs import choose, pulled, set_truth


class Baseline(NamedTuple):
    """Expected total rewards, [run, checkpoint]."""

    optimal: FloatArray  # of pi_max; greedy where arms come and go
    single: FloatArray  # of the best single arm; NaN where arms come and go


def _size(baseline: Baseline) -> int:
    return baseline.optimal.nbytes + baseline.single.nbytes


BASELINES = BoundedCache[Baseline](most=1 << 28, size=_size)


def play_baseline(
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
    """Write the expected rewards of pi_max and of the best single arm, [run, checkpoint].

    `params`, `fresh` and `work` are the oracle policy's, as in `loop.play`.
    """
    pulls, draw = scratch.pulls, scratch.draw
    for r in range(bandits.models.shape[0]):
        models, constants = bandits.models[r], bandits.constants[r]
        restart(fresh, work)
        set_truth(params, work, models, constants)
        for i in range(pulls.size):
            pulls[i] = 0
        t = past = 0
        for c in range(checkpoints.size):
            while t < checkpoints[c]:
                t += 1
                past = happen(events, past, t, params, work)
                arm = choose(params, work, draw)
                pulled(params, work, arm)
                pulls[arm] += 1
            baseline.optimal[r, c] = expected(world, models, constants, pulls)
            baseline.single[r, c] = expected_single(world, models, constants, t)
