"""wSWA: SWA without a known horizon, by doubling (section 3 and Appendix C.2 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.arrays import IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Counts, Within
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import OneOf, Positive
from rotting.policies._base import Policy
from rotting.policies.parts.arms import TIME, WAITING, Arms, next_untried, no_pulls
from rotting.policies.parts.inspection import ranked
from rotting.policies.parts.openings import is_open, may_close, open_arms
from rotting.policies.parts.ranking import Ranking, best, rank, set_open_ranked, unranked
from rotting.policies.parts.window import (
    Window,
    count_unfilled,
    empty_window,
    least_filled,
    observe,
    sum_window,
    window_mean,
)
from rotting.theory._averaging_window import averaging_window

_EPOCHS = 62


class Params(NamedTuple):
    """The window M of each epoch; epoch e = 0, 1, ... has the rounds 2^e .. 2^(e+1) - 1."""

    arms: int  # how many
    windows: IntArray  # M by epoch, with all arms open
    keep: bool  # whether the history stays when an epoch begins
    horizon: int  # 0 if not known
    alpha: float  # the length of the windows
    sigma: float  # of the noise


class State(NamedTuple):
    """The last M rewards of each arm, the arms ranked by their means, and the epoch."""

    arms: Arms  # pulls, rounds; rewards of the epoch, or all of them ("keep")
    window: Window  # the last M rewards of each arm
    ranking: Ranking  # by the window's mean
    epoch: Annotated[IntArray, Within(0, _EPOCHS - 1)]  # from zero
    start: Counts  # the epoch's first round; its last is 2 start - 1
    length: Counts  # M, of the arms that were open when the epoch began
    # open arms with fewer than M pulls, in the epoch or in all ("keep"); not counted where the
    # history is forgotten and no arm ever closes
    short: Counts

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """The epoch must be that of the round, and its window that of the epoch."""
        epoch, start, now = int(self.epoch[0]), int(self.start[0]), int(self.arms.clock[TIME]) + 1
        if start != 2**epoch or not start <= now < 2 * start:
            return f"epoch must be that of round {now}, got {epoch} from round {start} on"
        fine = {int(params.windows[epoch])}
        if may_close(self.arms.opening):  # any number of them may have been open
            ring = self.window.ring_reward.shape[1]
            counts = range(1, self.arms.pulls.size + 1)
            fine |= {averaging_window(params.alpha, params.sigma, k, start) for k in counts}
            fine |= {2**e for e in range(ring.bit_length()) if 2**e < max(fine)}  # earlier rings
        if int(self.length[0]) not in fine:
            return f"length must be the window {min(fine)}, got {self.length[0]}"
        return None


def _longest(params: Params, capacity: int) -> int:
    """The number of rewards of an arm to keep.

    Those of the last window, if the history is forgotten or the horizon known. Otherwise an arm
    that rests for long may find its oldest rewards in a window again, once the window has grown
    enough: keep what a horizon 64 times longer needs.
    """
    longest = max(capacity, params.horizon)
    if params.keep and params.horizon == 0:
        longest *= 64
    epoch = min(longest.bit_length() - 1, params.windows.size - 1)
    return min(int(params.windows[epoch]), capacity)


def init(params: Params, arms: int, capacity: int) -> State:
    return State(
        arms=no_pulls(arms),
        window=empty_window(arms, _longest(params, capacity)),
        ranking=unranked(arms),
        epoch=np.zeros(1, dtype=np.int64),
        start=np.ones(1, dtype=np.int64),
        length=params.windows[:1].copy(),
        short=np.full(1, arms, dtype=np.int64),
    )


@shared
def _ramp_up(params: Params, state: State) -> Any:
    """The arm to pull before the window of every arm is full, or -1.

    Forgetting: round robin for the K M first rounds of the epoch; where arms come and go, the least
    pulled in the epoch of those with fewer than M pulls in it. Keeping: the least pulled of the
    arms with fewer than M pulls.
    """
    opening = state.arms.opening
    if not params.keep and not may_close(opening):
        step = state.arms.clock[TIME] + 1 - state.start[0]
        return step % params.arms if step < params.arms * state.length[0] else -1
    if state.short[0] == 0:
        return -1
    if may_close(opening):
        return least_filled(state.window, state.arms, state.length[0])
    least = 0
    for i in range(1, params.arms):
        if state.arms.pulls[i] < state.arms.pulls[least]:
            least = i
    return least


def choose(params: Params, state: State, draw: Any) -> int:
    """SWA of the present epoch: ramp up, then the best mean of the last M rewards."""
    arm = _ramp_up(params, state)
    if arm < 0:
        arm = next_untried(state.arms, 1)
    if arm < 0:
        arm = best(state.ranking, state.arms.opening, draw)
    return arm


def pulled(params: Params, state: State, arm: int) -> None:
    """Count the pull and the round; after the last round of an epoch the next one begins."""
    state.arms.pulls[arm] += 1
    state.arms.clock[TIME] += 1
    if may_close(state.arms.opening):
        filled = state.arms.pulls[arm] - state.window.base[arm] == state.length[0]
        if filled and is_open(state.arms.opening, arm):
            state.short[0] -= 1
    elif params.keep and state.arms.pulls[arm] == state.length[0]:
        state.short[0] -= 1
    if state.arms.clock[TIME] + 1 == 2 * state.start[0]:
        _begin_epoch(params, state)


@shared
def _window_now(params: Params, state: State) -> Any:
    """M of the epoch that begins, for the arms that are open; at most the length of the rings."""
    arms = open_arms(state.arms.opening, params.arms)
    if arms == params.arms:
        return params.windows[state.epoch[0]]
    # history may record a pull while all arms are closed
    window = averaging_window(params.alpha, params.sigma, max(1, arms), state.start[0])
    return min(window, state.window.ring_reward.shape[1])


@shared
def _begin_epoch(params: Params, state: State) -> None:
    """The horizon doubles: a fresh SWA, or the same history under a longer window."""
    state.epoch[0] += 1
    state.start[0] *= 2
    state.length[0] = _window_now(params, state)
    state.short[0] = 0
    arms = state.arms.pulls.size
    for i in range(arms):
        if params.keep:
            sum_window(state.window, state.arms, i, state.length[0])
            if state.arms.pulls[i] < state.length[0]:
                state.short[0] += 1
        else:
            state.window.base[i] = state.arms.pulls[i]
            state.window.total[i] = 0.0
            state.arms.observed[i] = 0
        rank(state.ranking, i, window_mean(state.window, state.arms, i, state.length[0]))
    if not params.keep:
        state.arms.clock[WAITING] = open_arms(state.arms.opening, arms)
    if may_close(state.arms.opening):
        state.short[0] = count_unfilled(state.window, state.arms, state.length[0])


@shared
def set_open(params: Params, state: State, flags: Any) -> None:
    """Recount the arms that ramp up, and rank the open ones again. The epoch keeps its window."""
    set_open_ranked(params, state, flags)
    state.short[0] = count_unfilled(state.window, state.arms, state.length[0])


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Put the reward into its arm's window, unless it is of a forgotten epoch."""
    mean = observe(state.window, state.arms, arm, pull, reward, state.length[0])
    rank(state.ranking, arm, mean)


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """The mean of its last M rewards; empty during its ramp-up."""
    if state.arms.pulls[arm] - state.window.base[arm] < state.length[0]:
        return Inspection()
    return ranked(params, state, arm)


@dataclass(frozen=True)
class WSWA(Policy):
    """wSWA: SWA for an unknown horizon, applied with the horizons 1, 2, 4, ... in turn.

    Epoch e has the rounds 2^e to 2^(e+1) - 1 and SWA's window M for the horizon 2^e
    (`theory.averaging_window`). In each epoch every arm is pulled M times, then the arm with the
    highest mean of its last M rewards. Ties go to the first arm.

    M is computed when an epoch begins, for the arms that are open then; an arm that comes later is
    pulled M times. The ring buffers are sized for the M of all arms. Fewer open arms call for a
    longer M, which is cut to the buffer's length.

    Args:
        alpha: The scale of M, in the unit reward^(-2/3); for rewards up to one 0.63 makes
            the bound smallest, and 0.2 is better in the paper's scenarios.
        sigma: The standard deviation of a reward about its mean.
        restart: "forget" is the paper's (Appendix C.2): each epoch is a fresh SWA with its own
            ramp-up; Corollary 3.1.1 bounds its regret. "keep" keeps the history while the window
            grows, and arms with fewer than M pulls go first, the least pulled of them first; better
            in every experiment here, without a proof.

    Reference: Levine, Crammer & Mannor, "Rotting Bandits" (2017), section 3 and Appendix C.2.

    >>> from rotting import policies
    >>> player = policies.WSWA(alpha=0.2, sigma=0.45).online(["red", "blue"], compiled=False)
    >>> decision = player.select()
    >>> decision.arm, decision.pull
    ('red', 1)
    >>> player.update(decision, reward=0.7)
    """

    alpha: Positive
    sigma: Positive
    restart: Annotated[str, OneOf("forget", "keep")] = "forget"

    title: ClassVar[str] = "wSWA"
    tables: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(
        Params, State, init, choose, update, pulled, set_open=set_open, inspect=inspect
    )

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        windows = [averaging_window(self.alpha, self.sigma, arms, 2**e) for e in range(_EPOCHS)]
        keep = self.restart == "keep"
        table = np.array(windows, dtype=np.int64)
        return Params(arms, table, keep, horizon or 0, self.alpha, self.sigma)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # both restarts, and windows that fill only in later epochs
        return [
            cls(alpha=0.05, sigma=0.5),
            cls(alpha=0.05, sigma=0.5, restart="keep"),
            cls(alpha=1.0, sigma=0.5),
        ]
