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
    """The window and the noise."""

    tau: int  # rounds in the window
    sigma: float  # of the noise


def choose(params: Params, state: _swucb.State, draw: Any) -> int:
    """An arm absent from the window, else the highest draw."""
    arm = absent(state.rounds, state.arms)
    if arm < 0:
        mean, width = state.rounds.mean, state.rounds.width
        arm = highest_draw(mean, width, params.sigma, state.arms.opening, draw)
    return arm


def inspect(params: Params, state: _swucb.State, arm: int) -> Inspection:
    """The mean of its rewards in the window, and sigma / sqrt(N_tau)."""
    return sampled(state.rounds.mean[arm], params.sigma * state.rounds.width[arm])


@dataclass(frozen=True)
class SWTS(Policy):
    """Sliding-window Thompson sampling: the highest draw from Normal(mean_tau, sigma^2 / N_tau).

    Mean and count are of the last tau rounds; an arm absent from them goes first. Trovo et al.,
    "Sliding-Window Thompson Sampling for Non-Stationary Settings" (2020), for Bernoulli rewards;
    here for Gaussian ones.

    >>> SWTS(tau=100, sigma=0.5).online(["a", "b"], compiled=False).select().arm
    'a'
    """

    tau: Count
    sigma: Positive

    title: ClassVar[str] = "SW-TS"
    tables: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(
        Params, _swucb.State, _swucb.init, choose, _swucb.update, _swucb.pulled, inspect=inspect
    )

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Nothing to tabulate."""
        return Params(self.tau, self.sigma)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """A short window and a long one."""
        return [cls(tau=30, sigma=0.5), cls(tau=1000, sigma=0.3)]
