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
    """The discount and the noise."""

    gamma: float  # the discount of a round
    sigma: float  # of the noise


@shared
def _scale(params: Params, state: _ducb.State) -> Any:
    """Sigma, for widths in the common unit."""
    return params.sigma / math.sqrt(state.unit[0])


def choose(params: Params, state: _ducb.State, draw: Any) -> int:
    """Each arm once, then the highest draw."""
    arm = next_untried(state.arms, 1)
    if arm < 0:
        scale = _scale(params, state)
        arm = highest_draw(state.mean, state.width, scale, state.arms.opening, draw)
    return arm


def inspect(params: Params, state: _ducb.State, arm: int) -> Inspection:
    """The discounted mean, and sigma / sqrt(N_gamma)."""
    return sampled(state.mean[arm], _scale(params, state) * state.width[arm])


@dataclass(frozen=True)
class DTS(Policy):
    """Discounted Thompson sampling: the highest draw from Normal(mean_gamma, sigma^2 / N_gamma).

    Mean and count weigh the round s with gamma^(t - 1 - s), as discounted UCB does. Raj &
    Kalyani, "Taming Non-stationary Bandits: A Bayesian Approach" (2017), for Bernoulli rewards;
    here for Gaussian ones.
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
        """Nothing to tabulate."""
        return Params(self.gamma, self.sigma)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """A slow discount and a fast one."""
        return [cls(gamma=0.99, sigma=0.5), cls(gamma=0.9, sigma=0.3)]
