"""wSWA: SWA without a known horizon, by doubling (section 3 and Appendix C.2 of the paper)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting import checks
from rotting.compilable import shared
from rotting.policies.base import FloatArray, IntArray, Policy, Verbs
from rotting.policies.parts.ranking import argmax, next_untried
from rotting.policies.parts.window import ROOM, empty_window, grow_window, observe, sum_again
from rotting.theory.window import averaging_window

RESTARTS = ("forget", "keep")
_EPOCHS = 62


class Params(NamedTuple):
    """The window M of each epoch; epoch e = 0, 1, ... has the rounds 2^e .. 2^(e+1) - 1."""

    arms: int
    windows: IntArray
    keep: bool
    horizon: int  # 0 if not known


class State(NamedTuple):
    """See `rotting.policies.parts.window`. Memory: the last M rewards of each arm."""

    pulls: IntArray
    base: IntArray
    observed: IntArray
    waiting: IntArray
    total: FloatArray
    mean: FloatArray
    newest: IntArray
    ring_pull: IntArray
    ring_reward: FloatArray
    time: IntArray
    epoch_start: IntArray  # its first round
    epoch_end: IntArray  # the first round of the next epoch
    window: IntArray
    epoch: IntArray
    short: IntArray  # arms with fewer than M pulls ("keep")


def _longest(params: Params, capacity: int) -> int:
    """How many rewards of an arm to remember.

    Those of the last window, if the history is forgotten or the horizon known. Else an arm left
    alone for long may find its oldest rewards in a window again, when that has grown enough:
    remember what a horizon 64 times longer can ask for.
    """
    longest = max(capacity, params.horizon)
    if params.keep and params.horizon == 0:
        longest *= 64
    epoch = min(longest.bit_length() - 1, params.windows.size - 1)
    return min(int(params.windows[epoch]), capacity)


def init(params: Params, arms: int, capacity: int) -> State:
    """Before the first epoch."""
    return State(
        *empty_window(arms, _longest(params, capacity)),
        time=np.zeros(1, dtype=np.int64),
        epoch_start=np.zeros(1, dtype=np.int64),
        epoch_end=np.ones(1, dtype=np.int64),
        window=np.ones(1, dtype=np.int64),
        epoch=np.full(1, -1, dtype=np.int64),
        short=np.zeros(1, dtype=np.int64),
    )


@shared
def _begin_epoch(params: Any, state: Any) -> None:
    """The horizon doubles: a fresh SWA, or the same history under a longer window."""
    epoch = state.epoch[0] + 1
    state.epoch[0] = epoch
    state.epoch_start[0] = state.epoch_end[0]
    state.epoch_end[0] = 2 * state.epoch_end[0]
    state.window[0] = params.windows[epoch]
    state.short[0] = 0
    for i in range(params.arms):
        if params.keep:
            sum_again(state, i, state.window[0])
            if state.pulls[i] < state.window[0]:
                state.short[0] += 1
        else:
            state.base[i] = state.pulls[i]
            state.observed[i] = 0
            state.total[i] = 0.0
            state.mean[i] = -math.inf
    if not params.keep:
        state.waiting[0] = params.arms


@shared
def _ramp_up(params: Any, state: Any, t: Any) -> Any:
    """The arm whose turn it is before the window of every arm is full, or -1.

    Forgetting: round robin for the K M first rounds of the epoch. Keeping: the least pulled of
    the arms with fewer than M pulls.
    """
    if not params.keep:
        step = t - state.epoch_start[0]
        return step % params.arms if step < params.arms * state.window[0] else -1
    if state.short[0] == 0:
        return -1
    least = 0
    for i in range(1, params.arms):
        if state.pulls[i] < state.pulls[least]:
            least = i
    return least


def select(params: Params, state: State, draw: Any) -> int:
    """SWA of the present epoch: ramp up, then the best mean of the last M rewards."""
    t = state.time[0] + 1
    state.time[0] = t
    if t == state.epoch_end[0]:
        _begin_epoch(params, state)
    arm = _ramp_up(params, state, t)
    if arm < 0 and state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, 1)
    if arm < 0:
        arm = argmax(state.mean)
    state.pulls[arm] += 1
    if params.keep and state.pulls[arm] == state.window[0]:
        state.short[0] -= 1
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Put the reward into its arm's window, unless it is of a forgotten epoch."""
    observe(state, arm, pull, reward, state.window[0])


def grow(params: Params, state: State, arms: int, capacity: int) -> State:
    """Room for the windows of later epochs."""
    grown: State = grow_window(state, _longest(params, capacity))
    return grown


@dataclass(frozen=True)
class WSWA(Policy):
    """wSWA: SWA for an unknown horizon, applied with the horizons 1, 2, 4, ... in turn.

    `restart="forget"` is the paper's (Appendix C.2): each epoch is a fresh SWA with a ramp-up of
    its own; Corollary 3.1.1 bounds its regret. With `restart="keep"` the window grows and the
    history stays: arms with fewer than M pulls go first, the least pulled of them first, then the
    best mean of the last M rewards; better in every experiment here, without a proof. Ties go to
    the first arm.

    >>> player = WSWA(alpha=0.2, sigma=0.45).online(["red", "blue"], compiled=False)
    >>> decision = player.select()
    >>> decision.arm, decision.pull
    ('red', 1)
    >>> player.update(decision, reward=0.7)
    """

    alpha: float
    sigma: float
    restart: str = "forget"

    title: ClassVar[str] = "wSWA"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update, grow, room=ROOM)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checks.number("alpha", self.alpha, above=0))
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))
        checks.choice("restart", self.restart, RESTARTS)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Compute the window of every epoch."""
        windows = [averaging_window(self.alpha, self.sigma, arms, 2**e) for e in range(_EPOCHS)]
        keep = self.restart == "keep"
        return Params(arms, np.array(windows, dtype=np.int64), keep, horizon or 0)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Both restarts, and windows that fill only in later epochs."""
        return [
            cls(alpha=0.05, sigma=0.5),
            cls(alpha=0.05, sigma=0.5, restart="keep"),
            cls(alpha=1.0, sigma=0.5),
        ]
