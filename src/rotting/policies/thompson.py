"""Thompson sampling for Gaussian rewards on the last tau rounds, or on discounted rewards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rotting import checks, random
from rotting.compilable import shared
from rotting.policies import ducb, swucb
from rotting.policies.base import Policy, Verbs
from rotting.policies.parts.ranking import next_untried

normal = random.normal
enter = swucb.enter
fade = ducb.fade


class WindowParams(NamedTuple):
    """The window and the noise."""

    tau: int
    sigma: float


class DiscountParams(NamedTuple):
    """The discount and the noise."""

    gamma: float
    sigma: float


@shared
def sampled(state: Any, scale: Any, draw: Any) -> Any:
    """The arm with the highest draw from Normal(mean, (scale width)^2), one normal each in turn."""
    best = -1
    highest = -math.inf
    for i in range(state.mean.size):
        value = state.mean[i] + scale * state.width[i] * normal(draw)
        if value > highest or best < 0:
            highest = value
            best = i
    return best


def init_window(params: WindowParams, arms: int, capacity: int) -> swucb.State:
    """Nothing pulled, nothing observed."""
    return swucb.init(params, arms, capacity)  # type: ignore[arg-type]


def select_window(params: WindowParams, state: swucb.State, draw: Any) -> int:
    """An arm absent from the window, else the highest draw."""
    t = state.time[0] + 1
    state.time[0] = t
    arm = -1
    if state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, 1)
    if arm < 0:
        arm = sampled(state, params.sigma, draw)
    enter(state, params.tau, t, arm)
    return arm


def select_discounted(params: DiscountParams, state: ducb.State, draw: Any) -> int:
    """Each arm once, then the highest draw."""
    arm = -1
    if state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, 1)
    if arm < 0:
        arm = sampled(state, params.sigma / math.sqrt(state.unit[0]), draw)
    fade(state, params.gamma, arm)
    return arm


def init_discounted(params: DiscountParams, arms: int, capacity: int) -> ducb.State:
    """Nothing pulled, nothing observed."""
    return ducb.init(params, arms, capacity)  # type: ignore[arg-type]


@dataclass(frozen=True)
class SWTS(Policy):
    """Sliding-window Thompson sampling: the highest draw from Normal(mean_tau, sigma^2 / N_tau).

    Mean and count are of the last tau rounds; an arm absent from them goes first. Trovo et al.
    (2020) for Bernoulli rewards; here for Gaussian ones.

    >>> SWTS(tau=100, sigma=0.5).online(["a", "b"], compiled=False).select().arm
    'a'
    """

    tau: int
    sigma: float

    title: ClassVar[str] = "SW-TS"
    verbs: ClassVar[Verbs] = Verbs(
        WindowParams, swucb.State, init_window, select_window, swucb.update, swucb.grow
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", checks.integer("tau", self.tau, least=1))
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> WindowParams:
        """Nothing to tabulate."""
        return WindowParams(self.tau, self.sigma)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """A short window and a long one."""
        return [cls(tau=30, sigma=0.5), cls(tau=1000, sigma=0.3)]


@dataclass(frozen=True)
class DTS(Policy):
    """Discounted Thompson sampling: the highest draw from Normal(mean_gamma, sigma^2 / N_gamma).

    Mean and count weigh the round s with gamma^(t - 1 - s), as discounted UCB does. Raj & Kalyani
    (2017) for Bernoulli rewards; here for Gaussian ones.
    """

    gamma: float
    sigma: float

    title: ClassVar[str] = "D-TS"
    verbs: ClassVar[Verbs] = Verbs(
        DiscountParams, ducb.State, init_discounted, select_discounted, ducb.update
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", checks.number("gamma", self.gamma, above=0, below=1))
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> DiscountParams:
        """Nothing to tabulate."""
        return DiscountParams(self.gamma, self.sigma)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """A slow discount and a fast one."""
        return [cls(gamma=0.99, sigma=0.5), cls(gamma=0.9, sigma=0.3)]
