"""Bayesian policies for arms of a known family, with and without unknown constants.

The prior is the family's, uniform on Theta unless it has weights, and flat on the constants if
there are any. The posterior weight of theta is proportional to its prior times exp(-misfit / (2
sigma^2)), see `parts.likelihood`. The value of the next pull under theta is c_theta + mu(N + 1;
theta), c_theta the mean residual. The rules differ in what they take from that distribution: its
mean, a draw, or the mean plus z standard deviations.

Theta may be anywhere in an interval. The integrals over it are sums over its nodes while the
posterior is wider than the distance of the nodes; once it is narrower, a parabola through the best
node and its neighbours gives its mode and its width, and the value there is interpolated.

Sigma may be unknown: it is then estimated from the best fits of all arms, and updated for an arm at
each of its rewards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel import random
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Numbers, Place, PositiveNumbers, Within
from rotting.kernel.verbs import Inspection, Verbs
from rotting.models import Family, Interval, Plateau, Polynomial
from rotting.parameters import NonNegative, OneOf, Positive, Switch
from rotting.policies._base import Policy
from rotting.policies.parts.argmax import argmax
from rotting.policies.parts.arms import (
    Arms,
    next_pull,
    next_untried,
    no_pulls,
    rewarded,
    set_open_arms,
)
from rotting.policies.parts.family import check_family, table_of
from rotting.policies.parts.inspection import certain, sampled
from rotting.policies.parts.likelihood import (
    Fit,
    add_residuals,
    best_fit,
    misfit,
    negligible,
    no_fit,
    weight_of,
)
from rotting.policies.parts.openings import is_open
from rotting.policies.parts.ranking import Ranking, best, rank, rerank, unranked

normal = random.normal
uniform = random.uniform

_NARROW = 0.5  # variance below which a parabola replaces the sums; in squared distances of nodes


class Params(NamedTuple):
    mu: FloatArray  # mu(n; theta)
    prior: FloatArray  # the weight of each theta
    prior_range: float  # 2 ln of the ratio of its largest weight to its smallest
    variance: float  # sigma^2, zero if unknown
    constants: bool  # whether arms may keep one
    need: int  # rewards that a fit needs
    thompson: bool  # whether the rule is to draw
    z: float  # posterior standard deviations that the rule "upper" adds, else zero
    interval: bool  # whether theta may lie between the nodes


class State(NamedTuple):
    arms: Arms  # pulls, rewards, rounds
    fit: Fit  # of every model to each arm's rewards
    closest: Annotated[IntArray, Place("fit.squares", axis=1)]  # the likeliest theta
    least: Numbers  # each arm's least misfit
    unexplained: Numbers  # the sum of the least misfits
    # degrees of freedom: rewards less `need` per arm; negative at first, with constants
    freedom: Annotated[IntArray, Within(-(2**62))]
    weight: Numbers  # [arm, theta], for Thompson's draws
    mass: Numbers  # what an arm's weights add up to
    spread: PositiveNumbers  # each arm's sigma^2, as estimated at its last reward
    ranking: Ranking  # by the posterior's value of the next pull


def init(params: Params, arms: int, capacity: int) -> State:
    thetas = params.mu.shape[1]
    return State(
        arms=no_pulls(arms),
        fit=no_fit(arms, thetas),
        closest=np.zeros(arms, dtype=np.int64),
        least=np.zeros(arms),
        unexplained=np.zeros(1),
        freedom=np.zeros(1, dtype=np.int64),
        weight=np.tile(params.prior, (arms, 1)),
        mass=np.full(arms, params.prior.sum()),
        spread=np.ones(arms),
        ranking=unranked(arms),
    )


@shared
def _worth(params: Params, state: State, arm: Any, pull: Any, k: Any) -> Any:
    """The value of that pull of the arm under a theta."""
    worth = params.mu[pull, k]
    if params.constants:
        worth += state.fit.residual[arm, k] / state.arms.observed[arm]
    return worth


@shared
def _weight(params: Params, state: State, arm: Any, k: Any, sharpness: Any) -> Any:
    """The posterior weight of a theta; `sharpness` is 1 / (2 sigma^2)."""
    worse = misfit(state.fit, arm, k, state.arms.observed[arm], params.constants)
    return weight_of((worse - state.least[arm]) * sharpness) * params.prior[k]


@shared
def score(params: Params, state: State, arm: Any, pull: Any) -> Any:
    """The posterior mean of that pull's reward, plus z standard deviations."""
    n = state.arms.observed[arm]
    if n < params.need:
        return -math.inf
    if params.interval:
        value = _narrow(params, state, arm, pull)
        if not math.isnan(value):
            return value
    likeliest = _worth(params, state, arm, pull, state.closest[arm])
    sharpness = 0.5 / state.spread[arm]
    limit = negligible(state.least[arm], state.spread[arm], params.prior_range)
    mass, first, second = 0.0, 0.0, 0.0
    for k in range(params.mu.shape[1]):
        if misfit(state.fit, arm, k, n, params.constants) <= limit:
            weight = _weight(params, state, arm, k, sharpness)
            more = _worth(params, state, arm, pull, k) - likeliest
            mass += weight
            first += weight * more
            second += weight * more * more
    more = first / mass
    value = likeliest + more
    if params.z != 0.0:
        variance = max(0.0, second / mass - more * more)
        if params.constants:
            variance += state.spread[arm] / n
        value += params.z * math.sqrt(variance)
    return value


@shared
def _narrow(params: Params, state: State, arm: Any, pull: Any) -> Any:
    """The same if the posterior is narrower than the distance of the nodes, else NaN.

    In units of that distance the misfit near the best node is bend/2 (x - x0)^2, so the posterior
    is Normal(x0, 2 sigma^2 / bend); the value is interpolated by a parabola, too.
    """
    k = state.closest[arm]
    if k == 0 or k == params.mu.shape[1] - 1:
        return math.nan
    n = state.arms.observed[arm]
    below = misfit(state.fit, arm, k - 1, n, params.constants)
    here = misfit(state.fit, arm, k, n, params.constants)
    above = misfit(state.fit, arm, k + 1, n, params.constants)
    bend = below - 2.0 * here + above
    if bend <= 0.0 or 2.0 * state.spread[arm] > _NARROW * bend:
        return math.nan
    x0 = 0.5 * (below - above) / bend
    width = 2.0 * state.spread[arm] / bend
    low = _worth(params, state, arm, pull, k - 1)
    mid = _worth(params, state, arm, pull, k)
    high = _worth(params, state, arm, pull, k + 1)
    slope, curve = 0.5 * (high - low), high - 2.0 * mid + low
    value = mid + slope * x0 + 0.5 * curve * (x0 * x0 + width)
    if params.z != 0.0:
        steep = slope + curve * x0
        variance = width * (steep * steep)  # plain Python rounds `** 2` differently
        if params.constants:
            variance += state.spread[arm] / n
        value += params.z * math.sqrt(variance)
    return value


@shared
def _drawn(params: Params, state: State, arm: Any, draw: Any) -> Any:
    """A draw from the arm's posterior: one number for theta, one for the constant."""
    u = uniform(draw) * state.mass[arm]
    last = params.mu.shape[1] - 1
    k = 0
    reached = state.weight[arm, 0]
    while k < last and reached <= u:
        k += 1
        reached += state.weight[arm, k]
    worth = _worth(params, state, arm, next_pull(state.arms, arm), k)
    if params.constants:
        worth += math.sqrt(state.spread[arm] / state.arms.observed[arm]) * normal(draw)
    return worth


def choose(params: Params, state: State, draw: Any) -> int:
    """Each arm as often as the fit needs, then the highest value; the first if several."""
    arm = next_untried(state.arms, params.need)
    if arm >= 0:
        return arm
    if not params.thompson:
        return best(state.ranking, state.arms.opening, draw)
    value = state.ranking.value
    for i in range(value.size):
        if state.arms.observed[i] >= params.need and is_open(state.arms.opening, i):
            value[i] = _drawn(params, state, i, draw)
    return argmax(value, state.arms.opening)


@shared
def _weigh(params: Params, state: State, arm: Any) -> None:
    """Keep an arm's weights, to draw from them in many rounds."""
    sharpness = 0.5 / state.spread[arm]
    limit = negligible(state.least[arm], state.spread[arm], params.prior_range)
    n = state.arms.observed[arm]
    mass = 0.0
    for k in range(params.mu.shape[1]):
        weight = 0.0
        if misfit(state.fit, arm, k, n, params.constants) <= limit:
            weight = _weight(params, state, arm, k, sharpness)
        state.weight[arm, k] = weight
        mass += weight
    state.mass[arm] = mass


@shared
def _estimated_variance(state: State, least: Any, arm: Any, fresh: Any) -> Any:
    """sigma^2 from the best fits of all arms, after a new reward of this one."""
    state.unexplained[0] += least - state.least[arm]
    state.freedom[0] += fresh
    if state.freedom[0] > 0 and state.unexplained[0] > 1e-12 * state.freedom[0]:
        return state.unexplained[0] / state.freedom[0]
    return 1.0


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    n = rewarded(state.arms, arm, params.need)
    add_residuals(params.mu, state.fit, arm, pull, reward, params.constants)
    closest = best_fit(state.fit, arm, n, params.constants)
    least = misfit(state.fit, arm, closest, n, params.constants)
    variance = params.variance
    if variance == 0.0:
        variance = _estimated_variance(state, least, arm, 1 - params.need if n == 1 else 1)
    state.closest[arm] = closest
    state.least[arm] = least
    state.spread[arm] = variance
    if params.thompson:
        _weigh(params, state, arm)
    else:
        refresh_score(params, state, arm)


@shared
def refresh_score(params: Params, state: State, arm: Any) -> None:
    """Rank the arm by its next pull; Thompson's draws are made when an arm is chosen."""
    if not params.thompson:
        rank(state.ranking, arm, score(params, state, arm, next_pull(state.arms, arm)))


@shared
def set_open(params: Params, state: State, flags: Any) -> None:
    set_open_arms(state.arms, flags, params.need)
    rerank(state.ranking)


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """The posterior mean of the next pull, and its standard deviation, or z of them."""
    pull = next_pull(state.arms, arm)
    mean = score(params._replace(z=0.0), state, arm, pull)
    if params.thompson:
        return sampled(mean, score(params._replace(z=1.0), state, arm, pull) - mean)
    found = certain(score(params, state, arm, pull))
    if params.z == 0.0 or found.index is None:
        return found
    return Inspection(mean, found.index - mean, found.index)


@dataclass(frozen=True)
class Posterior(Policy):
    """Bayes on a family of models: the arm with the best posterior for its next reward.

    For arms of a known family. The posterior weight of theta is proportional to its prior times
    exp(-RSS / (2 sigma^2)), RSS the squared distance of the arm's rewards from the model (with
    constants, from the model plus the best constant). Each arm once, with constants twice; then the
    arm with the highest value by the rule. Ties go to the first arm. In an audience it counts by
    key. No bound is proved.

    Args:
        family: The models that arms may follow, with positive means, `model.over([...])`, or an
            interval, `model.between(low, high)`. Its weights are the prior.
        sigma: The standard deviation of a reward about its mean; None estimates it.
        constants: Whether arms may keep a constant.
        rule: "mean" is greedy on the posterior mean of the next reward. Without constants it
            explores in the end, because means fall to zero; where they hardly fall it may stay with
            one of two equal arms for very long (`benchmarks/misfit.py`), which `Guarded` does not.
            "thompson" draws from the posterior; not for an interval. "upper" adds z posterior
            standard deviations; use it with constants.
        z: Standard deviations that the rule "upper" adds.

    Raises:
        ValueError: A mean is not positive, or the rule "thompson" is used with an interval.

    >>> from rotting import models, policies
    >>> family = models.Exponential(0.01).over(amplitudes=[0.3, 0.9])
    >>> player = policies.Posterior(family, sigma=0.4).online(["red", "blue"], compiled=False)
    >>> for reward in (0.2, 0.9):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'blue'
    """

    family: Family | Interval
    sigma: Positive | None = None
    constants: Switch = False
    rule: Annotated[str, OneOf("mean", "thompson", "upper")] = "mean"
    z: NonNegative = 2.0

    grows: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(
        Params,
        State,
        init,
        choose,
        update,
        score=score,
        refresh_score=refresh_score,
        set_open=set_open,
        inspect=inspect,
    )

    def check(self) -> None:
        check_family("Posterior", self._nodes)
        if isinstance(self.family, Interval) and self.rule == "thompson":
            raise ValueError("rule must be 'mean' or 'upper' for an Interval, got 'thompson'")

    @property
    def _nodes(self) -> Family:
        return self.family.family if isinstance(self.family, Interval) else self.family

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        mu = table_of("Posterior", self._nodes, reach)
        variance = 0.0 if self.sigma is None else self.sigma**2
        z = self.z if self.rule == "upper" else 0.0
        interval = isinstance(self.family, Interval)
        prior = self._nodes.prior.copy()
        prior_range = 2.0 * math.log(prior.max() / prior.min())
        if interval:  # the trapezoidal rule
            prior[[0, -1]] *= 0.5
        need = 2 if self.constants else 1
        thompson = self.rule == "thompson"
        return Params(mu, prior, prior_range, variance, self.constants, need, thompson, z, interval)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # every rule, with and without constants and a known sigma
        smooth = Polynomial().over([0.1, 0.25, 0.4])
        plateau = Plateau(length=20).over([0.4, 0.1, 0.2])
        return [
            cls(smooth, sigma=0.5),
            cls(plateau),
            cls(smooth, sigma=0.4, constants=True, rule="upper"),
            cls(plateau, sigma=0.4, constants=True, rule="thompson"),
            cls(smooth, sigma=0.4, rule="thompson"),
            cls(smooth, constants=True, rule="upper", z=1.0),
            cls(Polynomial().between(0.1, 0.4, nodes=9), sigma=0.2),
            cls(Plateau(length=20).between(0.1, 0.4, nodes=9), 0.2, constants=True, rule="upper"),
        ]
