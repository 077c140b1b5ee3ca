"""The loops that play a policy on logged rewards: `_engines.audience_loop` with a tape.

`play_tape` takes the reward of the n-th showing from a tape. Where the tape has none, a reward is
drawn around a curve, so that the policy continues to learn, and the curve's mean counts.
`follow_rows` goes through the rows in the order of time and lets the policy learn from those that
show its own choice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rotting._engines.loop import NO_SUCH_ARM
from rotting._engines.state_block import restart
from rotting._live.keys import pull_for_policy, set_key
from rotting.kernel import random
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import seldom, shared
from rotting.kernel.verbs import choose, pulled, update
from rotting.policies.parts.exposures import Exposures, clear, expose, no_exposures, turn_to

Places = npt.NDArray[np.int32]  # half the memory, whose size is the cost with many keys
EACH, POOLED = 0, 1  # a tape for each key and arm, or one of all keys for each arm and exposure

fold = random.fold
normal_from = random.normal_from
start = random.start
step_of = random.step_of
to_unit = random.to_unit
word = random.word


class Tape(NamedTuple):
    """Logged rewards by place: [key, arm] of an `EACH` tape, [arm, exposure - 1] if `POOLED`.

    Unlogged rewards use `curve`; their means lie between `floor` and `ceiling`. The second index of
    `ceiling` is exposure - 1 if `POOLED`, else the number of showings logged before.
    """

    kind: int
    first: Places  # the index of the first reward of a place
    many: Places  # the number of its rewards; if `EACH`, up to the last exposure logged
    least: int  # the rewards that a place of a `POOLED` tape needs to count
    rewards: FloatArray  # NaN where unknown
    means: FloatArray  # of each place of a `POOLED` tape
    curve: FloatArray  # [arm, exposure - 1]; the last mean also holds beyond
    ceiling: FloatArray
    floor: float
    sigma: float  # of rewards around the curve; zeros and ones if negative
    edge: FloatArray  # the ziggurat's tables
    height: FloatArray


class Room(NamedTuple):
    """Arrays that the loops work in."""

    exposure: Exposures  # the showings to each key
    pulls: IntArray  # of each arm, over all keys
    stream: random.Draw  # of each arm's rewards
    draw: random.Draw  # the policy's own random numbers

    @classmethod
    def empty(cls, keys: int, arms: int) -> Room:
        shown = no_exposures(keys, arms)
        assert isinstance(shown, Exposures)
        return cls(
            shown,
            np.zeros(arms, dtype=np.int64),
            np.zeros(arms, dtype=np.uint64),
            np.zeros(3, dtype=np.uint64),
        )


class Played(NamedTuple):
    """The outcome of each run; sums are over all its decisions."""

    total: FloatArray  # the rewards of an `EACH` tape, else means
    low: FloatArray  # the same with the lowest possible means of unlogged rewards
    high: FloatArray  # the same with the highest
    answered: IntArray  # the number of decisions with a reward on the tape
    pulls: IntArray  # [run, arm]

    @classmethod
    def empty(cls, runs: int, arms: int) -> Played:
        return cls(
            np.zeros(runs),
            np.zeros(runs),
            np.zeros(runs),
            np.zeros(runs, dtype=np.int64),
            np.zeros((runs, arms), dtype=np.int64),
        )


@shared
@seldom
def begin(room: Any, run: Any, draws: Any) -> None:
    """Reset exposures, and start the streams of the run's rewards and of the policy's draws."""
    clear(room.exposure)
    start(room.draw, draws)
    for i in range(room.pulls.size):
        room.pulls[i] = 0
        room.stream[i] = fold(run, np.uint64(i))


@shared
def _stream(room: Any, key: Any, arm: Any) -> Any:
    """The random stream of an arm's showings to a key."""
    return room.stream[arm] if key == 0 else fold(room.stream[arm], np.uint64(key))


@shared
def _beyond(tape: Any, mean: Any, stream: Any, n: Any) -> Any:
    """A random reward for a showing beyond the log."""
    step = step_of(stream)
    if tape.sigma < 0.0:
        return 1.0 if to_unit(word(stream, step, np.uint64(n))) < mean else 0.0
    return mean + tape.sigma * normal_from(tape.edge, tape.height, stream, step, np.uint64(n))


@shared
def _pick(tape: Any, arm: Any, n: Any, stream: Any) -> Any:
    """A random one of the rewards of a `POOLED` tape's place."""
    unit = to_unit(word(stream, step_of(stream), np.uint64(n)))
    return tape.rewards[tape.first[arm, n - 1] + np.int64(unit * tape.many[arm, n - 1])]


def play_tape(
    params: Any,
    fresh: Any,
    work: Any,
    room: Any,
    tape: Any,
    arrivals: Any,
    keys: Any,
    first: Any,
    played: Any,
    stop: Any,
) -> None:
    """Play runs first, first + 1, ..., each with the keys of `arrivals` in order."""
    exposure, pulls, draw = room.exposure, room.pulls, room.draw
    for r in range(played.total.size):
        if stop[0] != 0:
            return
        run = np.uint64(first + r)
        begin(room, fold(keys.noise, run), fold(keys.draw, run))
        restart(fresh, work)
        total = low = high = 0.0
        answered = 0
        for t in range(arrivals.size):
            key = arrivals[t]
            turn_to(exposure, key, t + 1)
            set_key(params, work, key, t + 1)
            arm = choose(params, work, draw)
            if arm < 0 or arm >= pulls.size:
                stop[0] = NO_SUCH_ARM
                return
            pull = pull_for_policy(work, pulls, arm)
            pulled(params, work, arm)
            n = np.int64(exposure.counts[key, arm]) + 1
            expose(exposure, arm)
            pulls[arm] += 1
            reward = mean = np.nan
            if tape.kind == POOLED:
                before = n - 1
                if n <= tape.many.shape[1] and tape.many[arm, n - 1] >= tape.least:
                    reward = _pick(tape, arm, n, _stream(room, key, arm))
                    mean = tape.means[arm, n - 1]
            else:
                before = min(n - 1, tape.many[key, arm])
                if n <= tape.many[key, arm]:
                    reward = tape.rewards[tape.first[key, arm] + n - 1]
                    mean = reward
            if mean == mean:
                answered += 1
                low += mean
                high += mean
            else:
                mean = tape.curve[arm, min(n, tape.curve.shape[1]) - 1]
                reward = _beyond(tape, mean, _stream(room, key, arm), n)
                low += tape.floor
                high += tape.ceiling[arm, min(before, tape.ceiling.shape[1] - 1)]
            total += mean
            update(params, work, arm, pull, reward)
        played.total[r], played.low[r], played.high[r] = total, low, high
        played.answered[r] = answered
        for i in range(pulls.size):
            played.pulls[r, i] = pulls[i]


def follow_rows(
    params: Any,
    fresh: Any,
    work: Any,
    room: Any,
    rows: Any,
    keys: Any,
    first: Any,
    chosen: npt.NDArray[np.int32],
    stop: Any,
) -> None:
    """Record the policy's choice in each row; it learns from the rows that show that choice."""
    exposure, pulls, draw = room.exposure, room.pulls, room.draw
    for r in range(chosen.shape[0]):
        if stop[0] != 0:
            return
        run = np.uint64(first + r)
        begin(room, fold(keys.noise, run), fold(keys.draw, run))
        restart(fresh, work)
        made = 0
        for t in range(rows.arm.size):
            key = rows.key[t]
            turn_to(exposure, key, made + 1)
            set_key(params, work, key, made + 1)
            arm = choose(params, work, draw)
            if arm < 0 or arm >= pulls.size:
                stop[0] = NO_SUCH_ARM
                return
            chosen[r, t] = arm
            if arm == rows.arm[t]:
                made += 1
                pull = pull_for_policy(work, pulls, arm)
                pulled(params, work, arm)
                expose(exposure, arm)
                pulls[arm] += 1
                update(params, work, arm, pull, rows.reward[t])


class Rows(NamedTuple):
    """Logged rows in the order of time."""

    key: npt.NDArray[np.int32]
    arm: npt.NDArray[np.int32]
    reward: FloatArray
