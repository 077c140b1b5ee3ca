"""pi_max, the optimal policy of Lemma 2.1: the arm with the highest true next mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting.bandits import Arm, NoNoise, Scenario
from rotting.kernel import random
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Finite, Numbers, Place, Unchanged
from rotting.kernel.verbs import Inspection, Verbs
from rotting.models import Constant
from rotting.policies._base import Policy
from rotting.policies.parts.argmax import first_open
from rotting.policies.parts.arms import TIME, Arms, no_pulls
from rotting.policies.parts.exposures import (
    effective_count,
    expose,
    has_key_counts,
    interpolated_mean,
)
from rotting.policies.parts.openings import is_open, may_close

tie = random.tie


class Params(NamedTuple):
    """The true means; each arm's model and constant too, unless they are set for each run."""

    means: FloatArray  # [model, n - 1]
    models: IntArray  # each arm's row of the means; empty if set by `set_truth`
    constants: FloatArray  # of each arm; empty if set by `set_truth`
    random_ties: bool  # False: stay with an arm that ties


class State(NamedTuple):
    """The arms in a heap, the one with the highest next mean on top."""

    arms: Arms  # pulls and rounds
    models: Annotated[IntArray, Unchanged()]  # each arm's row of the means
    constants: Annotated[FloatArray, Unchanged()]  # of each arm
    next_mean: Numbers  # mu_i(N_i + 1)
    heap: Annotated[IntArray, Place("next_mean", least=-1)]  # -1 on top: not built yet
    # the highest next mean below the top
    runner_up: Annotated[FloatArray, Finite((-math.inf, math.inf))]

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """A heap that is built must hold every arm once."""
        if self.heap[0] >= 0 and np.any(np.sort(self.heap) != np.arange(self.heap.size)):
            return "heap must hold every arm once"
        return None


@shared
def _before(params: Params, state: State, a: Any, b: Any, draw: Any) -> Any:
    """Whether arm a goes before arm b: the higher next mean, at random in a tie (Eq. 3)."""
    if params.random_ties and state.next_mean[a] == state.next_mean[b]:
        return tie(draw, a, state.arms.pulls[a] + 1) < tie(draw, b, state.arms.pulls[b] + 1)
    return state.next_mean[a] > state.next_mean[b]


@shared
def _sink(params: Params, state: State, place: Any, draw: Any) -> None:
    """Sink the arm at a place of the heap to where it belongs."""
    heap = state.heap
    arm = heap[place]
    while 2 * place + 1 < heap.size:
        child = 2 * place + 1
        if child + 1 < heap.size and _before(params, state, heap[child + 1], heap[child], draw):
            child += 1
        if not _before(params, state, heap[child], arm, draw):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = arm


def init(params: Params, arms: int, capacity: int) -> State:
    if 0 < params.models.size < arms:
        raise ValueError(f"arms must be the {params.models.size} given to Oracle, got {arms}")
    state = State(
        arms=no_pulls(arms),
        models=np.zeros(arms, dtype=np.int64),
        constants=np.zeros(arms),
        next_mean=np.zeros(arms),
        heap=np.arange(arms, dtype=np.int64),
        runner_up=np.full(1, math.inf),
    )
    if params.models.size == arms:
        set_truth(params, state, params.models, params.constants)
    return state


@shared
def _note_runner_up(state: State) -> None:
    """Note the highest next mean below the top: one of its two children has it."""
    runner_up = -math.inf
    for place in range(1, min(3, state.heap.size)):
        runner_up = max(runner_up, state.next_mean[state.heap[place]])
    state.runner_up[0] = runner_up


def set_truth(params: Params, state: State, models: Any, constants: Any) -> None:
    """Take the true arms; the heap is built at the first decision."""
    for i in range(models.size):
        state.models[i] = models[i]
        state.constants[i] = constants[i]
        state.next_mean[i] = constants[i] + params.means[models[i], 0]
    state.heap[0] = -1


@shared
def _best_open(params: Params, state: State, draw: Any) -> Any:
    """The open arm that goes before all others."""
    opening = state.arms.opening
    best = first_open(state.next_mean.size, opening)
    for i in range(best + 1, state.next_mean.size):
        if is_open(opening, i) and _before(params, state, i, best, draw):
            best = i
    return best


def choose(params: Params, state: State, draw: Any) -> int:
    """argmax of mu_i(N_i + 1), ties at random.

    Where arms come and go, and in an audience, the open ones are scanned. Otherwise the heap has
    the best on top: only the pulled arm's next mean falls, and nothing is reordered while it stays
    above the rest.
    """
    if may_close(state.arms.opening) or has_key_counts(state.arms.exposure):
        return _best_open(params, state, draw)
    arm = state.heap[0]
    if arm < 0:
        for i in range(state.heap.size):
            state.heap[i] = i
        for place in range(state.heap.size // 2 - 1, -1, -1):
            _sink(params, state, place, draw)
        _note_runner_up(state)
        arm = state.heap[0]
    lead = state.next_mean[arm] - state.runner_up[0]
    if lead < 0.0 or (lead == 0.0 and params.random_ties):
        _sink(params, state, 0, draw)
        _note_runner_up(state)
        arm = state.heap[0]
    return arm


@shared
def _next_mean(params: Params, state: State, arm: Any) -> Any:
    """mu_i(N_i + 1); beyond the table its last entry. In an audience N_i is the key's."""
    if has_key_counts(state.arms.exposure):
        shown = effective_count(state.arms.exposure, arm)
        return state.constants[arm] + interpolated_mean(params.means, state.models[arm], shown)
    n, last = state.arms.pulls[arm], params.means.shape[1] - 1
    return state.constants[arm] + params.means[state.models[arm], min(n, last)]


def pulled(params: Params, state: State, arm: int) -> None:
    """Count the pull and the round: the arm's next mean falls."""
    n = state.arms.pulls[arm] + 1
    state.arms.pulls[arm] = n
    state.arms.clock[TIME] += 1
    expose(state.arms.exposure, arm)
    state.next_mean[arm] = _next_mean(params, state, arm)
    if arm != state.heap[0]:
        state.heap[0] = -1  # `choose` did not return it: its place in the heap may be wrong


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Nothing to learn."""


def refresh_score(params: Params, state: State, arm: int) -> None:
    """The next mean may be that of another key."""
    state.next_mean[arm] = _next_mean(params, state, arm)


def inspect(params: Params, state: State, arm: int) -> Inspection:
    mean = _next_mean(params, state, arm)
    return Inspection(mean, None, mean, rule="told")


@dataclass(frozen=True)
class Oracle(Policy):
    """pi_max (Eq. 3), optimal by Lemma 2.1: the arm with the highest true next mean.

    The yardstick that regret is measured against. A simulation gives it the arms of each run; to
    play online, pass them. Ties are broken at random. Where arms come and go it is greedy among the
    open ones, and no longer optimal.

    Args:
        arms: The true arms, in the order of the labels, for playing online; an arm cannot be added
            then. None for simulations.

    Reference: Levine, Crammer & Mannor, "Rotting Bandits" (2017), section 2.

    >>> from rotting import Arm, models, policies
    >>> arms = [Arm(models.Constant(0.5)), Arm(models.Step(at=2, before=1.0, after=0.4))]
    >>> player = policies.Oracle(arms).online(["steady", "fading"], compiled=False)
    >>> [player.select().arm for _ in range(4)]
    ['fading', 'fading', 'steady', 'steady']
    """

    arms: Sequence[Arm] | None = None

    counts_by_key: ClassVar[bool] = True
    verbs: ClassVar[Verbs] = Verbs(
        Params,
        State,
        init,
        choose,
        update,
        pulled,
        refresh_score=refresh_score,
        set_truth=set_truth,
        inspect=inspect,
    )

    def check(self) -> None:
        if self.arms is not None:
            # a scenario checks the arms and puts them into tables
            self._set("arms", Scenario(self.arms, NoNoise(), horizon=1).arms)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        if self.arms is None:
            raise ValueError("arms of Oracle must be given to play online, as Oracle(arms=[...])")
        if len(self.arms) != arms:
            raise ValueError(
                f"arms of Oracle must be {arms} arms, one a label, got {len(self.arms)}"
            )
        scenario = Scenario(self.arms, NoNoise(), horizon=reach + 1)
        rows = scenario.bandits(0, 0, 1)
        models, constants = rows.models[0].copy(), rows.constants[0].copy()
        return Params(scenario.world().means, models, constants, random_ties=True)

    def prepare_for(self, scenario: Scenario, random_ties: bool = True) -> Params:
        """The params for simulating a scenario; `set_truth` gives the arms of each run.

        Args:
            scenario: The scenario. Arms given to `Oracle` must be its own.
            random_ties: Whether ties are broken at random. Without, it stays with an arm while no
                other is better, which is quicker and collects the same.

        Returns:
            As `prepare`.

        Raises:
            ValueError: The arms given to `Oracle` are not the scenario's.
        """
        if self.arms is not None and self.arms != scenario.arms:
            raise ValueError("arms of Oracle must be the scenario's own; use Oracle() to simulate")
        # the engine puts in the tables, chunk by chunk where runs have their own
        means = np.zeros((1, 1))
        return Params(means, np.zeros(0, dtype=np.int64), np.zeros(0), random_ties)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        return [cls([Arm(Constant(0.5)), Arm(Constant(0.25)), Arm(Constant(0.5))])]
