"""Thompson sampling on all rewards of an arm, for arms that do not rot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.state import Numbers, Values
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import Positive
from rotting.policies._base import Policy
from rotting.policies.parts.arms import Arms, next_untried, no_pulls, rewarded
from rotting.policies.parts.inspection import sampled
from rotting.policies.parts.sampling import highest_beta, highest_draw

_BETA = 0.0  # in sigma's place: rewards lie in [0, 1]


class Params(NamedTuple):
    sigma: float  # of Gaussian rewards, or _BETA


class State(NamedTuple):
    arms: Arms  # pulls, rewards, rounds
    total: Numbers  # of each arm's rewards
    mean: Values  # of each arm's rewards
    width: Numbers  # 1 / sqrt(observed)


def init(params: Params, arms: int, capacity: int) -> State:
    return State(no_pulls(arms), np.zeros(arms), np.full(arms, -math.inf), np.zeros(arms))


def choose(params: Params, state: State, draw: Any) -> int:
    """The highest draw from the posteriors; each arm once before, where there is no prior."""
    if params.sigma == _BETA:
        return highest_beta(state.total, state.arms.observed, state.arms.opening, draw)
    arm = next_untried(state.arms, 1)
    if arm < 0:
        arm = highest_draw(state.mean, state.width, params.sigma, state.arms.opening, draw)
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    n = rewarded(state.arms, arm, 1)
    if params.sigma == _BETA:
        reward = min(max(reward, 0.0), 1.0)
    state.total[arm] += reward
    state.mean[arm] = state.total[arm] / n
    state.width[arm] = 1.0 / math.sqrt(n)


def inspect(params: Params, state: State, arm: int) -> Inspection:
    if params.sigma > _BETA:
        return sampled(state.mean[arm], params.sigma * state.width[arm])
    n = 2.0 + state.arms.observed[arm]
    mean = (1.0 + state.total[arm]) / n
    return sampled(mean, math.sqrt(mean * (1.0 - mean) / (n + 1.0)))


@dataclass(frozen=True)
class Thompson(Policy):
    """Thompson sampling on all rewards of an arm, for arms that do not rot.

    The arm with the highest draw from its posterior is played; ties go to the first arm. Without
    sigma rewards lie in [0, 1], as clicks do, and from the prior Beta(1, 1) the posterior is

        Beta(1 + S_i, 1 + N_i - S_i)

    where S_i is the sum of N_i rewards. With sigma rewards are Gaussian: each arm once, then
    Normal(S_i / N_i, sigma^2 / N_i). In an audience it plays pooled: one posterior for all keys,
    fatigue ignored.

    Args:
        sigma: The standard deviation of a Gaussian reward about its mean; None for rewards in [0,
            1], where others count as the nearer end.

    Reference: for clicks, Thompson, "On the Likelihood that One Unknown Probability Exceeds Another
    in View of the Evidence of Two Samples" (1933).

    >>> from rotting import policies
    >>> player = policies.Thompson().online(["red", "blue"], compiled=False)
    >>> for _ in range(300):
    ...     decision = player.select()
    ...     player.update(decision, 1.0 if decision.arm == "blue" else 0.0)
    >>> player.pulls["blue"] > 280
    True
    """

    sigma: Positive | None = None

    tables: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    asks: ClassVar[tuple[str, ...]] = ("sigma",)
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, inspect=inspect)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(_BETA if self.sigma is None else self.sigma)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        return [cls(), cls(sigma=0.4)]
