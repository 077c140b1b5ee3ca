"""Thompson sampling for Gaussian rewards on the last tau rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import Count, Positive
from rotting.policies import _swucb
from rotting.policies._base import Policy
from rotting.policies.parts.inspection import sampled
from rotting.policies.parts.rounds import absent
from rotting.policies.parts.sampling import highest_draw


class Params(NamedTuple):
    tau: int  # rounds in the window
    sigma: float  # of the noise


def choose(params: Params, state: _swucb.State, draw: Any) -> int:
    arm = absent(state.rounds, state.arms)
    if arm < 0:
        mean, width = state.rounds.mean, state.rounds.width
        arm = highest_draw(mean, width, params.sigma, state.arms.opening, draw)
    return arm


def inspect(params: Params, state: _swucb.State, arm: int) -> Inspection:
    return sampled(state.rounds.mean[arm], params.sigma * state.rounds.width[arm])


@dataclass(frozen=True)
class SWTS(Policy):
    """Sliding-window Thompson sampling: Gaussian posteriors of the rewards of the last tau rounds.

    An arm without rewards in the window goes first; else the arm with the highest draw from

        Normal(mean_tau(i), sigma^2 / N_tau(i))

    where mean_tau(i) and N_tau(i) are the mean and the number of arm i's rewards in the last tau
    rounds. Rewards leave by the round, also while their arm rests. Ties go to the first arm.
    Memory: min(tau, T) rounds.

    Args:
        tau: The length of the window, in rounds.
        sigma: The standard deviation of a reward about its mean.

    Reference: Trovo et al., "Sliding-Window Thompson Sampling for Non-Stationary Settings" (2020),
    for Bernoulli rewards; here for Gaussian ones.

    >>> from rotting import policies
    >>> player = policies.SWTS(tau=100, sigma=0.5).online(["red", "blue"], compiled=False)
    >>> [player.select().arm for _ in range(2)]
    ['red', 'blue']
    """

    tau: Count
    sigma: Positive

    title: ClassVar[str] = "SW-TS"
    tables: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(
        Params, _swucb.State, _swucb.init, choose, _swucb.update, _swucb.pulled, inspect=inspect
    )

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(self.tau, self.sigma)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        return [cls(tau=30, sigma=0.5), cls(tau=1000, sigma=0.3)]
