"""D-CTO_UCB (Algorithm 3 of the paper): explore, detect the models once, then UCB."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Counts, Flags, Numbers, Values
from rotting.kernel.verbs import Inspection, Verbs
from rotting.models import Family, Plateau, Polynomial, check_positive
from rotting.parameters import Positive, Probability, Whole
from rotting.policies._base import Policy
from rotting.policies.parts.argmax import argmax_padded
from rotting.policies.parts.arms import TIME, Arms, next_pull, next_untried, no_pulls, rewarded
from rotting.policies.parts.family import check_family
from rotting.policies.parts.halves import (
    HalfTables,
    Halves,
    add_reward,
    detect,
    empty_halves,
    half_tables,
    worth_of,
)
from rotting.policies.parts.inspection import padded
from rotting.policies.parts.openings import is_open, may_close
from rotting.policies.parts.padding import log_padding, padding_at, width_at, width_table
from rotting.theory._guarantees import exploration_bound


class Params(NamedTuple):
    tables: HalfTables  # the family's
    c: float  # 8 sigma^2
    padding: FloatArray  # sigma sqrt(8 ln t) at t
    widths: FloatArray  # 1 / sqrt(n) at n

    arms: int  # how many
    exploration: int  # pulls of each arm before the models are detected


class State(NamedTuple):
    """Halves of the exploration, all rewards, and what follows from them."""

    arms: Arms  # pulls, rewards, rounds
    halves: Halves  # first less second half of the exploration's rewards
    explored: Counts  # rewards of the exploration that have come
    exploring: Flags  # whether the models are still to be detected
    value: Values  # mu^c + mu(N + 1; theta-hat)
    width: Numbers  # 1 / sqrt(observed)

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """As `Halves.wrong_for`: the rewards of the exploration take part."""
        most = np.minimum(self.arms.observed, params.exploration)
        early = [arm for arm, pull in waiting if pull <= params.exploration]
        late = np.array(early, dtype=np.int64)
        still = params.exploration - np.bincount(late, minlength=most.size)
        if np.any(self.explored > np.minimum(most, still)):
            return "explored must leave out the pulls that wait for their rewards"
        wrong = self.halves.wrong_for(self.explored, self.arms.pulls)
        return None if wrong is None else f"halves.{wrong}"


def init(params: Params, arms: int, capacity: int) -> State:
    most = min(capacity, 2 * arms * params.exploration)
    return State(
        arms=no_pulls(arms),
        halves=empty_halves(arms, params.tables.mu.shape[1], most),
        explored=np.zeros(arms, dtype=np.int64),
        exploring=np.ones(1, dtype=np.int64),
        value=np.full(arms, -math.inf),
        width=np.zeros(arms),
    )


@shared
def _unexplored(params: Params, state: State) -> Any:
    """The least pulled of the open arms that are still to be explored, or -1 for none."""
    least = -1
    fewest = params.exploration
    for i in range(state.value.size):
        if state.arms.pulls[i] < fewest and is_open(state.arms.opening, i):
            least = i
            fewest = state.arms.pulls[i]
    return least


def choose(params: Params, state: State, draw: Any) -> int:
    """Explore by round robin; detect once; then argmax of Eq. 12.

    Where arms come and go: explore the least pulled of those with fewer than m pulls.
    """
    played = state.arms.clock[TIME]
    if may_close(state.arms.opening):
        least = _unexplored(params, state)
        if least >= 0:
            return least
    elif played < params.arms * params.exploration:
        return played % params.arms
    if state.exploring[0] == 1:
        state.exploring[0] = 0
        for i in range(state.value.size):
            refresh_score(params, state, i)
    arm = next_untried(state.arms, 1)
    if arm < 0:
        bonus = padding_at(params.padding, params.c, played + 1)
        arm = argmax_padded(state.value, state.width, bonus, state.arms.opening)
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Sort a reward of the exploration into its half; a later one improves the constant.

    Rewards of the exploration that come after it still improve the detection.
    """
    n = rewarded(state.arms, arm, 1)
    explored = state.explored[arm]
    add_reward(params.tables, state.halves, arm, explored, n - 1, pull, reward)
    if pull <= params.exploration:
        state.halves.closest[arm] = detect(params.tables, state.halves, arm, explored, pull, reward)
        state.explored[arm] = explored + 1
    if state.exploring[0] == 0:
        refresh_score(params, state, arm)


@shared
def score(params: Params, state: State, arm: Any, pull: Any) -> Any:
    """mu^c-hat + mu(pull; theta-hat)."""
    n = state.arms.observed[arm]
    if n == 0:
        return -math.inf
    return worth_of(params.tables, state.halves, arm, n, pull)


@shared
def refresh_score(params: Params, state: State, arm: Any) -> None:
    state.value[arm] = score(params, state, arm, next_pull(state.arms, arm))
    state.width[arm] = width_at(params.widths, max(1, state.arms.observed[arm]))


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """The constant and mu(N + 1; theta-hat), and the padding; empty while the arm is explored."""
    if state.arms.pulls[arm] < params.exploration:
        return Inspection()
    refresh_score(params, state, arm)  # not done before all arms are explored
    bonus = padding_at(params.padding, params.c, state.arms.clock[TIME] + 1)
    return padded(state.value[arm], state.width[arm], bonus)


@dataclass(frozen=True)
class DCTO_UCB(Policy):
    """D-CTO_UCB, Algorithm 3: explores each arm m times, detects the models once, then plays UCB.

    For arms that rot to unknown constants, each by some model of a known family. The models are
    detected by the halves of the m first rewards of each arm (Eq. 10); from then on the arm with
    the highest (Eq. 12)

        mu^c-hat_i + mu(N_i + 1; theta-hat_i) + sqrt(8 ln t sigma^2 / N_i)

    is pulled. With m >= m*_diff(delta / K) all models are detected with probability 1 - delta, and
    Theorem 4.2 bounds the regret. Such an m is far more than most horizons hold; `DCTO` has no
    exploration phase. Ties go to the first arm. An arm that comes later is explored m times before
    any other is pulled again, with the same m. It cannot play an audience.

    Args:
        family: The models that arms may follow, with positive means: `model.over([...])`.
        sigma: The standard deviation of a reward about its mean.
        delta: The probability that a detection may fail.
        exploration: m, rounded up to even so that the constants cancel. None takes the bound of
            `rotting.theory.m_star` on m*_diff(delta / K), which needs no Gaussian noise.

    Raises:
        ValueError: When play begins: the exploration does not fit the horizon, or no finite m is
            known.

    Reference: Levine, Crammer & Mannor, "Rotting Bandits" (2017), section 4.2.

    >>> from rotting import models, policies
    >>> family = models.Polynomial().over([0.1, 0.4])
    >>> policy = policies.DCTO_UCB(family, sigma=0.4, delta=0.1, exploration=3)
    >>> policy.exploration
    4
    >>> policy.online(["red", "blue"], compiled=False).select().arm
    'red'
    """

    family: Family
    sigma: Positive
    delta: Probability
    exploration: Annotated[int, Whole(least=2)] | None = None

    title: ClassVar[str] = "D-CTO_UCB"
    no_audience: ClassVar[str] = "its halves take every pull number once"
    verbs: ClassVar[Verbs] = Verbs(
        Params,
        State,
        init,
        choose,
        update,
        score=score,
        refresh_score=refresh_score,
        inspect=inspect,
    )

    def check(self) -> None:
        check_family("DCTO_UCB", self.family)
        if self.exploration is not None:
            self._set("exploration", self.exploration + self.exploration % 2)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        exploration = self._exploration(arms, horizon)
        check_positive("DCTO_UCB", self.family, reach + 1)
        tables = half_tables(self.family, reach + 1)
        c = 8.0 * self.sigma**2
        return Params(tables, c, log_padding(c, reach), width_table(reach), arms, exploration)

    def _exploration(self, arms: int, horizon: int | None) -> int:
        """m, rounded up to even; refused when there is none, or it does not fit the horizon."""
        pulls = self.exploration
        if pulls is None:
            p = self.delta / arms
            needed = exploration_bound(self.family, p, self.sigma)
            if math.isinf(needed):
                raise ValueError(
                    f"DCTO_UCB cannot explore enough: m*_diff(delta/K) = m*_diff({p:g}) is not "
                    f"known to be finite for {self.family!r}; give exploration=..., or use DCTO, "
                    "which has no exploration phase"
                )
            pulls = int(needed)
        if horizon is not None and arms * pulls > horizon:
            raise ValueError(
                f"DCTO_UCB must explore each of {arms} arms {pulls} times, that is {arms * pulls} "
                f"decisions, but the horizon is {horizon}; give a smaller exploration=..., or use "
                "DCTO, which has no exploration phase"
            )
        return pulls

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # short explorations, one of them odd and so rounded up
        return [
            cls(Polynomial().over([0.1, 0.45]), sigma=0.5, delta=0.1, exploration=10),
            cls(Plateau(length=5).over([0.4, 0.1, 0.2]), sigma=0.3, delta=0.1, exploration=13),
        ]
