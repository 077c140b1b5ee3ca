"""Guarded: plays by a family of models while it fits, and without one after a misfit (ours)."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel import verbs
from rotting.kernel.arrays import FloatArray
from rotting.kernel.compilable import seldom, shared
from rotting.kernel.state import Flags, Values
from rotting.kernel.verbs import Inspection, Verbs
from rotting.models import Family, Plateau, Polynomial
from rotting.parameters import Positive, Switch
from rotting.policies import _ldcto, _posterior, _steady
from rotting.policies._base import Policy
from rotting.policies._ldcto import LDCTO
from rotting.policies._posterior import Posterior
from rotting.policies._steady import LATER, OFF, SteadyUCB, exploring, index_of
from rotting.policies.parts.arms import TIME, Arms, next_untried
from rotting.policies.parts.family import check_family
from rotting.policies.parts.milestones import LEVELS, Milestones
from rotting.policies.parts.openings import is_open

AHEAD = 4  # an arm is neglected if the favourite has more than this many times its pulls
RULED_OUT = 1000.0  # a theta is ruled out if another is this many times as likely

# Two tests of the family's fit, by the residuals of its likeliest models. Both need every reward
# of an arm from the first pull on: the table of sums of means covers those only.
EVERY = 16  # rewards of an arm between tests, and the shortest run of rewards that is tested
_SHORTEST = 4  # the level of milestones that 16 rewards lie between
_EXPECTED = 50.0  # rewards after which a misfit of the expected size would equal their noise
_ODDS = 20.0  # odds that some arm is off, at which SteadyUCB decides


class Params(NamedTuple):
    """Two policies, and when the first is given up."""

    trusted: _posterior.Params | _ldcto.Params  # plays by the family
    fallback: _steady.Params  # plays without a family
    sums: FloatArray  # [n, theta]: the sum of mu(j; theta) over j <= n
    need: int  # rewards that the family's fit needs
    limit: float  # sqrt(2 doubt) sigma
    plausible: float  # the excess of squares, over the likeliest theta, that rules a theta out


class State(NamedTuple):
    """Two policies that both see every pull and every reward."""

    trusted: _posterior.State | _ldcto.State  # of the policy that plays by the family
    fallback: _steady.State  # of the policy that plays without one
    doubted: Flags  # whether the family has been given up
    unsure: Flags  # whether arms differ now by more than the family explains
    hope: Values  # the highest plausible mean of each arm, see `_hope`


def init(params: Params, arms: int, capacity: int) -> State:
    return State(
        trusted=verbs.verbs_of(params.trusted).init(params.trusted, arms, capacity),
        fallback=verbs.verbs_of(params.fallback).init(params.fallback, arms, capacity),
        doubted=np.zeros(1, dtype=np.int64),
        unsure=np.zeros(1, dtype=np.int64),
        hope=np.full(arms, -math.inf),
    )


def choose(params: Params, state: State, draw: Any) -> int:
    """By the family while it fits, unless a neglected arm may be better; otherwise by SteadyUCB."""
    arm = next_untried(state.trusted.arms, params.need)
    if arm >= 0:
        return arm
    if state.doubted[0] + state.unsure[0] > 0:
        return verbs.choose(params.fallback, state.fallback, draw)
    arm = verbs.choose(params.trusted, state.trusted, draw)
    if params.need == 1:  # without constants; with them the family's rule explores
        arm = _hopeful(params, state, arm)
    return arm


@shared
def _hopeful(params: Params, state: State, favourite: Any) -> Any:
    """The favourite, or the neglected arm, among those that may be better, that SteadyUCB prefers.

    A greedy rule would never pull again an arm that looked worse by chance.
    """
    padding = exploring(params.fallback, state.fallback)
    pulls = state.trusted.arms.pulls
    least = params.trusted.mu[pulls[favourite] + 1, state.trusted.closest[favourite]]
    arm = favourite
    highest = index_of(state.fallback, arm, padding)
    for i in range(pulls.size):
        neglected = AHEAD * pulls[i] < pulls[favourite] and state.hope[i] >= least
        if neglected and is_open(state.trusted.arms.opening, i):
            index = index_of(state.fallback, i, padding)
            if index > highest:
                highest = index
                arm = i
    return arm


def pulled(params: Params, state: State, arm: int) -> None:
    verbs.pulled(params.trusted, state.trusted, arm)
    verbs.pulled(params.fallback, state.fallback, arm)


def set_open(params: Params, state: State, flags: Any) -> None:
    verbs.set_open(params.trusted, state.trusted, flags)
    verbs.set_open(params.fallback, state.fallback, flags)


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Both learn; every 16th reward of an arm, the fit of the family is tested."""
    verbs.update(params.trusted, state.trusted, arm, pull, reward)
    verbs.update(params.fallback, state.fallback, arm, pull, reward)
    if params.need == 1:
        state.hope[arm] = _hope(params, state, arm)
    n = state.fallback.arms.observed[arm]
    if n % EVERY == 0 and state.doubted[0] == 0:
        _look(params, state, arm, n)


@shared
def _hope(params: Params, state: State, arm: Any) -> Any:
    """The highest mean of the arm after four times as many pulls, by a theta that is not ruled out.

    So far ahead, because an arm that would stay good for a few pulls only is not worth a try.
    """
    squares, mu = state.trusted.fit.squares, params.trusted.mu
    # beyond the table it is never read: the favourite has more than four times the pulls
    pull = min(AHEAD * (state.trusted.arms.pulls[arm] + 1), mu.shape[0] - 1)
    limit = squares[arm, state.trusted.closest[arm]] + params.plausible
    hope = -math.inf
    for k in range(mu.shape[1]):
        if squares[arm, k] <= limit and mu[pull, k] > hope:
            hope = mu[pull, k]
    return hope


@shared
@seldom
def _look(params: Params, state: State, arm: Any, n: Any) -> None:
    """Compare the rewards with what the likeliest models expect, at the arm's n-th reward."""
    kept, arms, closest = state.fallback.milestones, state.fallback.arms, state.trusted.closest
    if complete(kept, arm, n):
        constant = state.trusted.fit.residual[arm, closest[arm]] / n  # zero without constants
        constant -= state.fallback.shift[OFF]  # as the milestones have it
        limit = params.limit * math.sqrt(math.log(arms.clock[TIME] + LATER))
        if misses(params.sums, kept, arm, n, closest[arm], constant, limit):
            state.doubted[0] = 1
    if params.need == 1:
        variance = params.fallback.sigma * params.fallback.sigma
        off = differs(params.sums, kept, arms, closest, variance)
        state.unsure[0] = 1 if off else 0


def score(params: Params, state: State, arm: Any, pull: Any) -> Any:
    return verbs.score(params.trusted, state.trusted, arm, pull)


def refresh_score(params: Params, state: State, arm: Any) -> None:
    verbs.refresh_score(params.trusted, state.trusted, arm)


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """The view of the policy that decides now, by the family or without."""
    if state.trusted.arms.observed[arm] < params.need:
        return Inspection()
    if state.doubted[0] + state.unsure[0] > 0:
        found = verbs.inspect(params.fallback, state.fallback, arm)
    else:
        found = verbs.inspect(params.trusted, state.trusted, arm)
        if found is not None and params.need == 1:
            found = found._replace(rule="mostly")  # neglected arms are tried
    assert found is not None
    return found


@shared
def complete(milestones: Milestones, arm: Any, n: Any) -> Any:
    """Whether the arm's n rewards are those of its pulls 1 to n."""
    return milestones.latest[arm] == n


@shared
def misses(
    sums: FloatArray, milestones: Milestones, arm: Any, n: Any, k: Any, constant: Any, limit: Any
) -> Any:
    """Whether model k, plus a constant, misses the sum of the arm's last h rewards.

    For some window from a milestone of level 4 or higher, by more than limit sqrt(h); `sums` is [n,
    theta]. At every 16th reward these windows have 16 rewards or more.
    """
    for row in range(LEVELS + _SHORTEST, milestones.sums.shape[1]):
        before = milestones.seen[arm, row]
        h = n - before
        seen = milestones.total[arm] - milestones.sums[arm, row]
        expected = sums[n, k] - sums[before, k] + constant * h
        if before > 0 and abs(seen - expected) > limit * math.sqrt(h):
            return True
    return False


@shared
def differs(
    sums: FloatArray, milestones: Milestones, arms: Arms, closest: Any, variance: Any
) -> Any:
    """Whether some arm pays more or less than the others, by more than its model explains.

    A number that is subtracted from all rewards cancels out.

    The mean residual of an arm minus that of all others has variance v = sigma^2 / m, 1/m = 1/n +
    1/(N - n). The hypotheses are "nothing is off" and "off by Normal(0, sigma^2 / 50)"; the ratio
    of the two likelihoods is sqrt(50 / (m + 50)) exp(off^2 / (2 v) m / (m + 50)), and it must
    exceed `_ODDS` times the number of arms.
    """
    total = 0.0
    rewards = 0
    count = arms.observed.size
    for i in range(count):
        n = arms.observed[i]
        if n > 0 and complete(milestones, i, n):
            total += milestones.total[i] - sums[n, closest[i]]
            rewards += n
    for i in range(count):
        n = arms.observed[i]
        if n > 0 and n < rewards and complete(milestones, i, n):
            own = milestones.total[i] - sums[n, closest[i]]
            others = rewards - n
            off = own / n - (total - own) / others
            m = n * (others / rewards)
            evidence = off * off * m / (2.0 * variance) * (m / (m + _EXPECTED))
            if evidence > 0.5 * math.log1p(m / _EXPECTED) + math.log(_ODDS * count):
                return True
    return False


@dataclass(frozen=True)
class Guarded(Policy):
    """Plays by a family of models while the family fits, and by SteadyUCB after a clear misfit.

    For arms of a family that may be wrong. While the family fits, it plays the arm with the highest
    posterior mean of mu(N_i + 1) (`Posterior`); with constants, the arm with the highest

        constant_i + mu(N_i + 1; theta-hat_i) + sqrt(c ln t sigma^2 / N_i)

    (`LDCTO`). The family is overruled in three cases.

    Misfit: at every 16th reward of an arm the sums of its last h rewards, from SteadyUCB's
    milestones of level 4 and higher on (`parts.milestones`), are compared with what its likeliest
    model expects. A difference beyond sqrt(2 doubt sigma^2 ln(t + 10) h) shows the family to be
    wrong, and it is not used again.

    Differences, without constants: at the same times each arm's mean residual is compared with that
    of all others. While they differ by more than chance explains, SteadyUCB decides; after that the
    family again.

    Neglect, without constants: a greedy rule never pulls again an arm that looked worse by chance.
    An arm with less than a quarter of the favourite's pulls is considered if its mean after four
    times its own pulls could still reach the favourite's present one, by a theta no more than 1,000
    times as unlikely as its likeliest. It is chosen instead of the favourite if SteadyUCB's index
    of it is higher.

    While the family is trusted ties go to the first arm. It cannot play an audience. No bound is
    proved; `benchmarks/misfit.py` measures the cost of wrong families.

    Args:
        family: The models that arms may follow, with positive means: `model.over([...])`.
        sigma: The standard deviation of a reward about its mean.
        constants: Whether arms may keep a constant.
        c: The weight of exploration, with constants only.
        doubt: The width of the test for misfit; with 2 a right family is hardly ever given up.

    >>> from rotting import models, policies
    >>> family = models.Exponential(0.01).over(amplitudes=[0.3, 0.9])
    >>> player = policies.Guarded(family, sigma=0.4).online(["red", "blue"], compiled=False)
    >>> for reward in (0.2, 0.9):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'blue'
    """

    family: Family
    sigma: Positive
    constants: Switch = False
    c: Positive = 1.0
    doubt: Positive = 2.0

    grows: ClassVar[bool] = False
    no_audience: ClassVar[str] = (
        "it tests the family on an arm's rewards in the order of its pulls, and "
        "each key has its own"
    )
    verbs: ClassVar[Verbs] = Verbs(
        Params,
        State,
        init,
        choose,
        update,
        pulled,
        score=score,
        refresh_score=refresh_score,
        set_open=set_open,
        inspect=inspect,
    )

    def check(self) -> None:
        check_family("Guarded", self.family)

    @functools.cached_property
    def _both(self) -> tuple[Policy, Policy]:
        known: Policy = Posterior(self.family, self.sigma)
        if self.constants:
            known = LDCTO(self.family, self.sigma, self.c)
        return known, SteadyUCB(self.sigma)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        trusted, fallback = self._both
        return Params(
            trusted=trusted.prepare(arms, horizon, reach),
            fallback=fallback.prepare(arms, horizon, reach),
            sums=self.family.sums_by_pull(reach + 1),
            need=2 if self.constants else 1,
            limit=math.sqrt(2.0 * self.doubt) * self.sigma,
            plausible=2.0 * math.log(RULED_OUT) * self.sigma**2,
        )

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # with and without constants, and one that doubts easily
        return [
            cls(Polynomial().over([0.1, 0.25, 0.4]), sigma=0.5),
            cls(Plateau(length=20).over([0.4, 0.1, 0.2]), sigma=0.3, constants=True),
            cls(Plateau(length=20).over([0.4, 0.1]), sigma=0.3, doubt=0.2),
        ]
