"""Bayesian policies for arms of a known family, with and without unknown constants.

The prior is uniform on Theta, and flat on the constants if there are any. The posterior weight of
theta is proportional to exp(-misfit / (2 sigma^2)), see `rotting.policies.parts.likelihood`. What the next pull
is worth under theta is c_theta + mu(N + 1; theta), c_theta the mean residual. The rules differ in
what they make of that distribution: its mean, a draw, or the mean plus z standard deviations.

Theta may be anywhere in an interval. The integrals over it are sums over its nodes while the
posterior is wider than they are apart; once it is narrower, a parabola through the best node and
its neighbours gives its mode and its width, and the worth there is interpolated.

Sigma may be unknown: it is then estimated from the best fits of all arms, anew for an arm whenever
a reward of it arrives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting import checks, random
from rotting.compilable import shared
from rotting.models import Family, Interval, Plateau, Polynomial
from rotting.policies.base import FloatArray, IntArray, Policy, Verbs
from rotting.policies.cto import check_family, table_of
from rotting.policies.parts.likelihood import (
    add_to_fit,
    best_fit,
    hopeless,
    misfit,
    no_fit,
    weight_of,
)
from rotting.policies.parts.ranking import argmax, argmax_noted, next_untried, still_leads
from rotting.policies.parts.tree import all_changed, empty_tree, note_change, untried, winner

normal = random.normal
uniform = random.uniform

_NARROW = 0.5  # variance of the posterior, in squared distances of nodes, below which it is fitted

RULES = ("mean", "thompson", "upper")


class Params(NamedTuple):
    """The family as a table mu[n, theta]; sigma^2, zero if unknown; the rule."""

    mu: FloatArray
    variance: float
    constants: bool
    thompson: bool
    z: float
    interval: bool


class State(NamedTuple):
    """See `rotting.policies.parts.likelihood`; weights and what follows from them."""

    pulls: IntArray
    observed: IntArray
    waiting: IntArray
    residual: FloatArray
    squares: FloatArray
    closest: IntArray
    least: FloatArray  # each arm's least misfit, and their sum
    unexplained: FloatArray
    freedom: IntArray  # observed rewards less those that the fits use up
    weight: FloatArray  # [arm, theta], for Thompson's draws
    mass: FloatArray  # what an arm's weights add up to
    spread: FloatArray  # each arm's sigma^2, as it was known at its last reward
    value: FloatArray
    leader: IntArray  # see `choose.still_leads`
    rival: FloatArray
    tree: IntArray  # see `rotting.policies.parts.tree`
    changed: IntArray
    unjudged: IntArray  # the arm pulled last, until its reward comes


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    thetas = params.mu.shape[1]
    return State(
        *no_fit(arms, thetas),
        closest=np.zeros(arms, dtype=np.int64),
        least=np.zeros(arms),
        unexplained=np.zeros(1),
        freedom=np.zeros(1, dtype=np.int64),
        weight=np.ones((arms, thetas)),
        mass=np.full(arms, float(thetas)),
        spread=np.ones(arms),
        value=np.full(arms, -math.inf),
        leader=np.full(1, -1, dtype=np.int64),
        rival=np.zeros(1),
        tree=empty_tree(arms),
        changed=all_changed(),
        unjudged=np.full(1, -1, dtype=np.int64),
    )


@shared
def _worth(params: Any, state: Any, arm: Any, k: Any) -> Any:
    """What the arm's next pull is worth under a theta."""
    worth = params.mu[state.pulls[arm] + 1, k]
    if params.constants:
        worth += state.residual[arm, k] / state.observed[arm]
    return worth


@shared
def _weight(params: Any, state: Any, arm: Any, k: Any, sharpness: Any) -> Any:
    """The posterior weight of a theta; the likeliest has 1. `sharpness` is 1 / (2 sigma^2)."""
    worse = misfit(state, arm, k, params.constants) - state.least[arm]
    weight = weight_of(worse * sharpness)
    if params.interval and (k == 0 or k == params.mu.shape[1] - 1):
        weight *= 0.5  # the trapezoidal rule
    return weight


@shared
def _judge(params: Any, state: Any, arm: Any) -> None:
    """The arm's value: the posterior mean, and z standard deviations more."""
    if params.interval and _narrow(params, state, arm):
        return
    likeliest = _worth(params, state, arm, state.closest[arm])
    sharpness = 0.5 / state.spread[arm]
    limit = hopeless(state.least[arm], state.spread[arm])
    mass, first, second = 0.0, 0.0, 0.0
    for k in range(params.mu.shape[1]):
        if misfit(state, arm, k, params.constants) <= limit:
            weight = _weight(params, state, arm, k, sharpness)
            more = _worth(params, state, arm, k) - likeliest
            mass += weight
            first += weight * more
            second += weight * more * more
    more = first / mass
    value = likeliest + more
    if params.z != 0.0:
        variance = max(0.0, second / mass - more * more)
        if params.constants:
            variance += state.spread[arm] / state.observed[arm]
        value += params.z * math.sqrt(variance)
    state.value[arm] = value


@shared
def _narrow(params: Any, state: Any, arm: Any) -> Any:
    """The arm's value if its posterior is narrower than the nodes are apart; whether it is.

    In units of that distance the misfit near the best node is bend/2 (x - x0)^2, so the posterior
    is Normal(x0, 2 sigma^2 / bend); the worth is interpolated by a parabola, too.
    """
    k = state.closest[arm]
    if k == 0 or k == params.mu.shape[1] - 1:
        return False
    below = misfit(state, arm, k - 1, params.constants)
    here = misfit(state, arm, k, params.constants)
    above = misfit(state, arm, k + 1, params.constants)
    bend = below - 2.0 * here + above
    if bend <= 0.0 or 2.0 * state.spread[arm] > _NARROW * bend:
        return False
    x0 = 0.5 * (below - above) / bend
    width = 2.0 * state.spread[arm] / bend
    low = _worth(params, state, arm, k - 1)
    mid = _worth(params, state, arm, k)
    high = _worth(params, state, arm, k + 1)
    slope, curve = 0.5 * (high - low), high - 2.0 * mid + low
    value = mid + slope * x0 + 0.5 * curve * (x0 * x0 + width)
    if params.z != 0.0:
        variance = width * (slope + curve * x0) ** 2
        if params.constants:
            variance += state.spread[arm] / state.observed[arm]
        value += params.z * math.sqrt(variance)
    state.value[arm] = value
    return True


@shared
def _drawn(params: Any, state: Any, arm: Any, draw: Any) -> Any:
    """A draw from the arm's posterior: one number for theta, one for the constant."""
    u = uniform(draw) * state.mass[arm]
    last = params.mu.shape[1] - 1
    k = 0
    reached = state.weight[arm, 0]
    while k < last and reached <= u:
        k += 1
        reached += state.weight[arm, k]
    worth = _worth(params, state, arm, k)
    if params.constants:
        worth += math.sqrt(state.spread[arm] / state.observed[arm]) * normal(draw)
    return worth


def select(params: Params, state: State, draw: Any) -> int:
    """Each arm as often as the fit needs, then the highest value; the first if several."""
    arm = -1
    need = 2 if params.constants else 1
    late = state.unjudged[0]
    if late >= 0 and not params.thompson and state.observed[late] >= need:
        _judge(params, state, late)  # its reward has not come, but it was pulled
    if state.waiting[0] > 0:
        if need == 1:
            arm = untried(state.pulls, state.observed, state.waiting[0])
        else:
            arm = next_untried(state.pulls, state.observed, need)
    if arm < 0:
        if params.thompson:
            for i in range(state.pulls.size):
                if state.observed[i] >= need:
                    state.value[i] = _drawn(params, state, i, draw)
            arm = argmax(state.value)
        elif state.tree.size > 1:
            arm = winner(state.tree, state.changed, state.value, state.pulls, False, draw)
        elif still_leads(state.value, state.leader, state.rival):
            arm = state.leader[0]
        else:
            arm = argmax_noted(state.value, state.leader, state.rival)
    state.pulls[arm] += 1
    note_change(state.changed, arm)
    state.unjudged[0] = arm
    return arm


@shared
def _weigh(params: Any, state: Any, arm: Any) -> None:
    """Keep an arm's weights, to draw from them in many rounds."""
    sharpness = 0.5 / state.spread[arm]
    limit = hopeless(state.least[arm], state.spread[arm])
    mass = 0.0
    for k in range(params.mu.shape[1]):
        weight = 0.0
        if misfit(state, arm, k, params.constants) <= limit:
            weight = _weight(params, state, arm, k, sharpness)
        state.weight[arm, k] = weight
        mass += weight
    state.mass[arm] = mass


@shared
def _estimated_variance(state: Any, least: Any, arm: Any, fresh: Any) -> Any:
    """sigma^2 from the best fits of all arms, this one's having changed."""
    state.unexplained[0] += least - state.least[arm]
    state.freedom[0] += fresh
    if state.freedom[0] > 0 and state.unexplained[0] > 1e-12 * state.freedom[0]:
        return state.unexplained[0] / state.freedom[0]
    return 1.0


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Take the reward into the fit and weigh the models again."""
    need = 2 if params.constants else 1
    n = add_to_fit(params.mu, state, arm, pull, reward, need, params.constants)
    closest = best_fit(state, arm, params.constants)
    least = misfit(state, arm, closest, params.constants)
    variance = params.variance
    if variance == 0.0:
        variance = _estimated_variance(state, least, arm, 1 - need if n == 1 else 1)
    state.closest[arm] = closest
    state.least[arm] = least
    state.spread[arm] = variance
    if params.thompson:
        _weigh(params, state, arm)
    elif n >= need:
        _judge(params, state, arm)
        note_change(state.changed, arm)
    if arm != state.leader[0]:
        state.leader[0] = -1
    if arm == state.unjudged[0]:
        state.unjudged[0] = -1


@dataclass(frozen=True)
class Posterior(Policy):
    """Bayes on a finite Theta or an interval: play the arm that the posterior likes best.

    The weight of theta is proportional to exp(-RSS / (2 sigma^2)), RSS the squared distance of the
    arm's rewards from the model (from the model plus the best constant, with `constants=True`).
    rule="mean" is greedy on the posterior mean of mu(N_i + 1); "thompson" draws from the posterior;
    "upper" adds z posterior standard deviations. sigma=None estimates it. Without constants greed
    explores enough, because means fall to zero; with constants use "upper". With an `Interval`
    theta may be any number in it ("mean" and "upper"). Ties go to the first arm. No bound is
    proved.

    >>> from rotting import models
    >>> family = models.Plateau(length=100).over([0.1, 0.2])
    >>> Posterior(family, sigma=0.4).online(range(10), compiled=False).select().arm
    0
    """

    family: Family | Interval
    sigma: float | None = None
    constants: bool = False
    rule: str = "mean"
    z: float = 2.0

    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update)

    def __post_init__(self) -> None:
        check_family("Posterior", self._nodes)
        if self.sigma is not None:
            object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))
        if not isinstance(self.constants, bool):
            raise ValueError(f"constants must be True or False, got {self.constants!r}")
        checks.choice("rule", self.rule, RULES)
        if isinstance(self.family, Interval) and self.rule == "thompson":
            raise ValueError("rule must be 'mean' or 'upper' for an Interval, got 'thompson'")
        object.__setattr__(self, "z", checks.number("z", self.z, least=0))

    @property
    def _nodes(self) -> Family:
        return self.family.family if isinstance(self.family, Interval) else self.family

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Tabulate the family."""
        mu = table_of("Posterior", self._nodes, reach)
        variance = 0.0 if self.sigma is None else self.sigma**2
        z = self.z if self.rule == "upper" else 0.0
        interval = isinstance(self.family, Interval)
        return Params(mu, variance, self.constants, self.rule == "thompson", z, interval)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Every rule, with and without constants and a known sigma."""
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
