"""Fatigue: every arm's curve learnt from all keys, and from what arms have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting.bandits._audience import HalfLife, Window, check_rest
from rotting.kernel import random
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Numbers, Place
from rotting.kernel.verbs import CurvePoint, Inspection, Verbs
from rotting.parameters import OneOf, Positive
from rotting.policies._base import Policy
from rotting.policies.parts._cells import Cells, cell_of, cell_table, no_cells
from rotting.policies.parts._commons import (
    BETWEEN,
    LEVELS,
    NOISE,
    NUMBERS,
    learn_levels,
    learn_shapes,
    note_scatter,
)
from rotting.policies.parts._curves import (
    CHANCE,
    FALLEN,
    FRESH,
    LEVEL,
    MEAN,
    VARIANCE,
    Common,
    Curves,
    Library,
    Work,
    new_work,
    no_curves,
    weigh,
)
from rotting.policies.parts._shapes import FREE, library
from rotting.policies.parts.arms import TIME, Arms, next_pull, next_untried, no_pulls, rewarded
from rotting.policies.parts.openings import is_open, open_arms

normal = random.normal
uniform = random.uniform

ENDS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 96, 128, 256, 512)
_KINDS = (0.45, 0.225, 0.225, 0.1)  # prior weights: flat, one step, gradual, free
_STALE = 0.125  # an arm is weighed again when what is known of its cells has grown by so much
_CLICK = 15.0  # a click says as much more than none
_EAGER = 2.0  # half a fair share of the pulls is where an arm's data count twice in draws
_BRIGHTEST = 50.0  # what clicks are scaled by at most: rates up to 0.98
_FEWEST = 0.3  # shape of a gamma draw, at least


class Params(NamedTuple):
    """Where the cells are, the shapes, and what is known of rewards."""

    cell: IntArray  # of each pull number
    library: Library  # curves that arms may have
    kinds: FloatArray  # prior weights of the kinds
    variance: float  # of a reward; zero if unknown, or for clicks
    untouched: Curves  # what is thought of an arm before anything was seen


class State(NamedTuple):
    """Rewards by cells, what is thought of each arm, and what arms have in common."""

    arms: Arms  # pulls, rewards, rounds
    cells: Cells  # what was seen
    curves: Curves  # what is thought
    total: Numbers  # of each arm's rewards
    worth: Numbers  # [arm, 2]: how much an arm says about the common level, and what
    stale: Numbers  # how much more is known of each arm than when it was weighed
    turn: Annotated[IntArray, Place("total")]  # the arm that is weighed along with the next one
    numbers: Numbers  # that belong to no arm
    kinds: Numbers  # weights of the kinds, by the other arms
    sheet: Work  # arrays to work in


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing observed: every arm is what the prior says."""
    cells, shapes = params.library.shape.shape[1], params.library.kind.size
    numbers = np.zeros(NUMBERS)
    numbers[LEVELS], numbers[BETWEEN] = 0.5, 1.0
    numbers[NOISE] = params.variance if params.variance > 0.0 else 1.0
    state = State(
        arms=no_pulls(arms),
        cells=no_cells(arms, ENDS),
        curves=no_curves(arms, shapes, cells),
        total=np.zeros(arms),
        worth=np.zeros((arms, 2)),
        stale=np.zeros(arms),
        turn=np.zeros(1, dtype=np.int64),
        numbers=numbers,
        kinds=np.zeros(params.kinds.size),
        sheet=new_work(shapes, cells),
    )
    for mine, start in zip(state.curves, params.untouched, strict=True):
        mine[:] = start
    return state


def _untouched(params: Params) -> Curves:
    """What is thought of an arm at first. Of rewards of any size nothing is, but of its shape."""
    state = init(params, 1, 1)
    state.sheet.prior[:] = params.kinds[params.library.kind] * params.library.part
    if params.library.gaussian:
        state.curves.weight[0] = state.sheet.prior
    else:
        _weigh(params, state, 0)
    return state.curves


@shared
def _weigh(params: Params, state: State, arm: Any) -> None:
    """Think an arm over, by what was seen of it and by the prior on the sheet."""
    numbers, work = state.numbers, state.sheet
    scaled = 0.0
    for c in range(work.count.size):
        count, total = state.cells.count[arm, c], state.cells.total[arm, c]
        scale = 1.0
        if not params.library.gaussian:  # clicks scatter less than Poisson's: by 1 - rate
            scale = min(1.0 / (1.0 - total / (count + 2.0)), _BRIGHTEST)
        work.count[c] = count * scale
        work.total[c] = total * scale
        scaled += total * scale
    common = Common(numbers[LEVELS], numbers[BETWEEN], numbers[NOISE])
    weigh(params.library, common, work, state.curves, arm)
    level, variance = state.curves.level[arm, 0], state.curves.level[arm, 1]
    if params.library.gaussian:
        known = min(max(1.0 - variance / numbers[BETWEEN], 0.01), 1.0)
        state.worth[arm, 0] = known
        state.worth[arm, 1] = level - (1.0 - known) * numbers[LEVELS]
    else:
        # how many first showings would say as much
        pulls = max((LEVEL + scaled) / level - LEVEL / numbers[LEVELS], 0.0)
        scale = scaled / state.total[arm] if state.total[arm] > 0.0 else 1.0
        state.worth[arm, 0] = pulls / scale


@shared
def _think(params: Params, state: State, arm: Any) -> None:
    """Weigh an arm again, after what is common to all."""
    state.stale[arm] = 0.0
    learn_levels(params.library, state)
    learn_shapes(params.library, params.kinds, state, arm)
    _weigh(params, state, arm)


@shared
def _drawn(params: Params, state: State, arm: Any, eager: Any, draw: Any) -> Any:
    """A draw of what the arm's next pull is worth: is it fresh there, and if so, how much.

    The data of an arm that is pulled often count up to twice; `eager` is how much more.
    """
    cell = cell_of(params.cell, next_pull(state.arms, arm))
    outlook = state.curves.outlook
    place = FRESH if uniform(draw) < outlook[arm, cell, FRESH + CHANCE] else FALLEN
    off = normal(draw)
    if outlook[arm, cell, place + CHANCE] == 0.0:
        place = FALLEN + FRESH - place
    mean, variance = outlook[arm, cell, place + MEAN], outlook[arm, cell, place + VARIANCE]
    if params.library.gaussian:
        if variance == 0.0:  # its rewards are late or lost: the ramp-up sees to it
            return -math.inf
        precision, prior = 1.0 / variance, 1.0 / state.numbers[BETWEEN]
        if precision > prior:
            precision += eager * (precision - prior)
        return mean + off / math.sqrt(precision)
    shape = mean * mean / variance
    if shape > LEVEL:
        shape += eager * (shape - LEVEL)
    elif shape < _FEWEST:
        shape = _FEWEST
    root = 1.0 - 1.0 / (9.0 * shape) + off / (3.0 * math.sqrt(shape))  # Wilson & Hilferty 1931
    return mean * root * root * root if root > 0.0 else 0.0


def choose(params: Params, state: State, draw: Any) -> int:
    """The open arm with the highest draw for its next pull; the first of them if several.

    If rewards may be anything, each arm once before.
    """
    if params.library.gaussian:
        arm = next_untried(state.arms, 1)
        if arm >= 0:
            return arm
    opening, arms = state.arms.opening, state.total.size
    fair = (state.arms.clock[TIME] + 1.0) / open_arms(opening, arms)
    best, highest = -1, -math.inf
    for i in range(arms):
        if is_open(opening, i):
            eager = min(1.0, _EAGER * state.arms.observed[i] / fair)
            value = _drawn(params, state, i, eager, draw)
            if value > highest or best < 0:
                best, highest = i, value
    return best


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Take the reward into its cell, and think the arm over if enough is new.

    Another arm is thought over along with it, in turn, lest what it took from the others go stale.
    """
    rewarded(state.arms, arm, 1)
    cell = cell_of(params.cell, pull)
    if params.library.gaussian:
        note_scatter(params.variance, state, arm, cell, reward)
    else:
        reward = min(max(reward, 0.0), 1.0)
    state.cells.count[arm, cell] += 1
    state.cells.total[arm, cell] += reward
    state.total[arm] += reward
    count = state.cells.count[arm, cell]
    if params.library.gaussian:
        state.stale[arm] += 1.0 / count
    else:
        known = 1.0 + _CLICK + count + _CLICK * state.cells.total[arm, cell]
        state.stale[arm] += (1.0 + _CLICK * reward) / known
    if state.stale[arm] >= _STALE:
        _think(params, state, arm)
        other = (state.turn[0] + 1) % state.total.size
        state.turn[0] = other
        if not params.library.gaussian or state.arms.observed[other] > 0:
            _think(params, state, other)


def _moments(params: Params, state: State, arm: int, pull: int) -> tuple[float, float]:
    """Mean and standard deviation of what that pull is worth."""
    cell = int(params.cell[min(pull, params.cell.size - 1)])
    row = state.curves.outlook[arm, cell]
    first = second = 0.0
    for place in (FRESH, FALLEN):
        chance, mean = row[place + CHANCE], row[place + MEAN]
        if chance > 0.0:
            first += chance * mean
            second += chance * (mean * mean + row[place + VARIANCE])
    return first, math.sqrt(max(0.0, second - first * first))


def curve(params: Params, state: State, arm: int, pull: int) -> CurvePoint | None:
    """Mean and twice the standard deviation of what that pull is worth; nothing without rewards."""
    if state.arms.observed[arm] == 0:
        return None
    mean, deviation = _moments(params, state, arm, pull)
    low, high = mean - 1.96 * deviation, mean + 1.96 * deviation
    if params.library.gaussian:
        return CurvePoint(mean, low, high)
    return CurvePoint(mean, max(0.0, low), min(1.0, high))


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """What its next pull is worth, and the standard deviation of that."""
    if params.library.gaussian and state.arms.observed[arm] == 0:
        return Inspection(rule="sampled")
    mean, deviation = _moments(params, state, arm, next_pull(state.arms, arm))
    return Inspection(mean, deviation, rule="sampled")


@dataclass(frozen=True)
class Fatigue(Policy):
    """Thompson sampling on each arm's fatigue curve: for audiences, the recommended policy.

    Arms wear out for each key (a user, say) separately, and all keys teach their curves. An arm's
    mean reward over exposures is a level times a shape: it does not rot, it falls once, it falls
    gradually; or it is free of shapes. All are weighed by evidence. Arms share what they have in
    common: the levels, and which kinds and shapes occur (empirical Bayes: the prior of an arm is
    estimated from the others). For each open arm the mean of its next pull is drawn from the
    posterior, and the highest draw is pulled; the first arm if several. With Gaussian rewards each
    arm is pulled once before. Data of frequently pulled arms count up to twice in draws, which
    explores less than Thompson sampling does.

    Constants were chosen by experiment (`docs/guides/audiences.md`); no bound is proved. Without an
    audience it learns the curve over the arm's own pulls.

    Args:
        rewards: "bernoulli" for clicks, and rewards in [0, 1], where others count as the nearer
            end; "gaussian" for rewards of any size.
        sigma: The standard deviation of a Gaussian reward about its mean; None estimates it.
        rest: How exposures fade: a `HalfLife` or a `Window`; None keeps them.

    Raises:
        ValueError: sigma is given for Bernoulli rewards, whose variance follows from their rate.

    >>> from rotting import policies
    >>> player = policies.Fatigue().audience(["red", "blue"], compiled=False)
    >>> showing = player.select("ann")
    >>> player.update(showing, 1.0)
    >>> showing.pull
    1
    """

    rewards: Annotated[str, OneOf("bernoulli", "gaussian")] = "bernoulli"
    sigma: Positive | None = None
    rest: HalfLife | Window | None = None

    tables: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    counts_by_key: ClassVar[bool] = True
    verbs: ClassVar[Verbs] = Verbs(
        Params, State, init, choose, update, inspect=inspect, curve=curve
    )

    def check(self) -> None:
        """Refuse a sigma for clicks, whose scatter follows from their rate."""
        if self.rewards == "bernoulli" and self.sigma is not None:
            raise ValueError(f"sigma must be None for bernoulli rewards, got {self.sigma}")
        check_rest(self.rest)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """The cells and the library."""
        shape, kind = library(ENDS)
        part = np.array([1.0 / np.sum(kind == k) for k in kind] + [1.0])
        gaussian = self.rewards == "gaussian"
        shapes = Library(shape, np.log(shape), np.append(kind, FREE), part, gaussian)
        variance = 0.0 if self.sigma is None else self.sigma**2
        start = no_curves(1, shapes.kind.size, shape.shape[1])
        params = Params(cell_table(ENDS), shapes, np.array(_KINDS), variance, start)
        return params._replace(untouched=_untouched(params))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Clicks, and rewards of any size."""
        return [cls(), cls("gaussian")]
