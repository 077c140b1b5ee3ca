"""Thompson sampling for Gaussian rewards that are discounted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rotting.kernel.compilable import shared
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import Positive, Probability
from rotting.policies import _ducb
from rotting.policies._base import Policy
from rotting.policies.parts.arms import next_untried
from rotting.policies.parts.inspection import sampled
from rotting.policies.parts.sampling import highest_draw


class Params(NamedTuple):
    gamma: float  # the discount of a round
    sigma: float  # of the noise


@shared
def _scale(params: Params, state: _ducb.State) -> Any:
    """Sigma, for widths in the common unit."""
    return params.sigma / math.sqrt(state.unit[0])


def choose(params: Params, state: _ducb.State, draw: Any) -> int:
    arm = next_untried(state.arms, 1)
    if arm < 0:
        scale = _scale(params, state)
        arm = highest_draw(state.mean, state.width, scale, state.arms.opening, draw)
    return arm


def inspect(params: Params, state: _ducb.State, arm: int) -> Inspection:
    return sampled(state.mean[arm], _scale(params, state) * state.width[arm])


@dataclass(frozen=True)
class DTS(Policy):
    """Discounted Thompson sampling, with Gaussian posteriors of rewards that fade by the round.

    Each arm once, then the arm with the highest draw from

        Normal(mean_gamma(i), sigma^2 / N_gamma(i))

    where mean and count weigh the rewards of round s with gamma^(t - 1 - s), as `DUCB` does.
    Rewards fade by the round, also while their arm rests. A late reward counts in full from its
    arrival. Ties go to the first arm.

    Args:
        gamma: The discount of a round; rewards count for about 1 / (1 - gamma) rounds.
        sigma: The standard deviation of a reward about its mean.

    Reference: Raj & Kalyani, "Taming Non-stationary Bandits: A Bayesian Approach" (2017), for
    Bernoulli rewards; here for Gaussian ones.

    >>> from rotting import policies
    >>> player = policies.DTS(gamma=0.99, sigma=0.5).online(["red", "blue"], compiled=False)
    >>> [player.select().arm for _ in range(2)]
    ['red', 'blue']
    """

    gamma: Probability
    sigma: Positive

    title: ClassVar[str] = "D-TS"
    tables: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(
        Params, _ducb.State, _ducb.init, choose, _ducb.update, _ducb.pulled, inspect=inspect
    )

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(self.gamma, self.sigma)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        return [cls(gamma=0.99, sigma=0.5), cls(gamma=0.9, sigma=0.3)]
