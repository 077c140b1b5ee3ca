"""Guarded: trust a family of models while it fits, and play without one from then on (ours)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting import verbs
from rotting.arrays import FloatArray
from rotting.compilable import shared
from rotting.models import Family, Plateau, Polynomial
from rotting.parameters import Positive, Switch
from rotting.policies import ldcto, posterior, steady
from rotting.policies.base import Policy
from rotting.policies.ldcto import LDCTO
from rotting.policies.parts.arms import TIME, next_untried
from rotting.policies.parts.family import check_family
from rotting.policies.parts.history import CHUNK
from rotting.policies.posterior import Posterior
from rotting.policies.steady import LATER, SteadyUCB
from rotting.state import Flags
from rotting.verbs import Verbs

EVERY = 16  # rewards of an arm between two looks at its residuals


class Params(NamedTuple):
    """Two policies, and when to give up the first."""

    trusted: posterior.Params | ldcto.Params  # it knows the family
    fallback: steady.Params  # it needs no family
    sums: FloatArray  # [n, theta]: the sum of mu(j; theta) over j <= n
    need: int  # rewards that the family's fit needs
    limit: float  # sqrt(2 doubt) sigma


class State(NamedTuple):
    """Two policies that both see every pull and every reward."""

    trusted: posterior.State | ldcto.State  # of the policy that knows the family
    fallback: steady.State  # of the policy that needs none
    doubted: Flags  # whether the family has been given up


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing doubted."""
    return State(
        trusted=verbs.verbs_of(params.trusted).init(params.trusted, arms, capacity),
        fallback=verbs.verbs_of(params.fallback).init(params.fallback, arms, capacity),
        doubted=np.zeros(1, dtype=np.int64),
    )


def choose(params: Params, state: State, draw: Any) -> int:
    """By the family while it is trusted; else as SteadyUCB does."""
    if state.doubted[0] == 0:
        return verbs.choose(params.trusted, state.trusted, draw)
    arm = next_untried(state.trusted.arms, params.need)
    if arm < 0:
        arm = verbs.choose(params.fallback, state.fallback, draw)
    return arm


def pulled(params: Params, state: State, arm: int) -> None:
    """Both count it."""
    verbs.pulled(params.trusted, state.trusted, arm)
    verbs.pulled(params.fallback, state.fallback, arm)


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Both learn; now and then it is asked whether the family holds."""
    verbs.update(params.trusted, state.trusted, arm, pull, reward)
    verbs.update(params.fallback, state.fallback, arm, pull, reward)
    n = state.fallback.arms.observed[arm]
    if n % EVERY == 0 and state.doubted[0] == 0 and _doubtful(params, state, arm, n):
        state.doubted[0] = 1


@shared
def _doubtful(params: Params, state: State, arm: Any, n: Any) -> Any:
    """Whether the likeliest model misses the last h rewards by too much, h = 16, 32, ... or all."""
    history = state.fallback.history
    if history.pull[history.last[arm], (n - 1) & (CHUNK - 1)] != n:
        return False  # rewards are missing: sums over pulls 1..n are not what was seen
    k = state.trusted.closest[arm]
    constant = state.trusted.fit.residual[arm, k] / n  # zero without constants
    limit = params.limit * math.sqrt(math.log(state.fallback.arms.clock[TIME] + LATER))
    chunk = history.last[arm]
    start = ((n - 1) // CHUNK) * CHUNK
    h = EVERY
    while h <= n:
        while n - h < start:
            chunk = history.before[chunk]
            start -= CHUNK
        seen = history.total[arm] - history.sums[chunk, n - h - start]
        expected = params.sums[n, k] - params.sums[n - h, k] + constant * h
        expected -= state.fallback.shift[0] * h  # as the history has it
        if abs(seen - expected) > limit * math.sqrt(h):
            return True
        h *= 2
    return False


def judge(params: Params, state: State, arm: Any, pull: Any) -> Any:
    """What the family makes of that pull."""
    return verbs.judge(params.trusted, state.trusted, arm, pull)


def rejudge(params: Params, state: State, arm: Any) -> None:
    """Judge the arm's next pull by the family again."""
    verbs.rejudge(params.trusted, state.trusted, arm)


@dataclass(frozen=True)
class Guarded(Policy):
    """A family of models, trusted as long as it fits; SteadyUCB from the first clear misfit on.

    While trusted: without constants the arm with the highest posterior mean of mu(N_i + 1)
    (`Posterior`); with constants the highest constant + mu(N_i + 1; theta-hat_i) +
    sqrt(c ln t sigma^2 / N_i) (`LDCTO`). At every 16th reward of an arm the sums of its last 16,
    32, 64, ... rewards are compared with what its likeliest model expects; a difference beyond
    sqrt(2 doubt sigma^2 ln(t + 10) h) shows the family to be wrong, and it is not used again. With
    doubt = 2 a right family is given up about once in t^2 looks. No bound is proved. While
    the family is trusted ties go to the first arm.

    >>> from rotting import models
    >>> family = models.Plateau(length=100).over([0.1, 0.2])
    >>> Guarded(family, sigma=0.4).online(range(10), compiled=False).select().arm
    0
    """

    family: Family
    sigma: Positive
    constants: Switch = False
    c: Positive = 1.0
    doubt: Positive = 2.0

    verbs: ClassVar[Verbs] = Verbs(
        Params, State, init, choose, update, pulled, judge=judge, rejudge=rejudge
    )

    def check(self) -> None:
        """Refuse a family that is not positive."""
        check_family("Guarded", self.family)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Prepare both policies."""
        trusted: Policy = Posterior(self.family, self.sigma)
        if self.constants:
            trusted = LDCTO(self.family, self.sigma, self.c)
        return Params(
            trusted=trusted.prepare(arms, horizon, reach),
            fallback=SteadyUCB(self.sigma).prepare(arms, horizon, reach),
            sums=self.family.sums_by_pull(reach + 1),
            need=2 if self.constants else 1,
            limit=math.sqrt(2.0 * self.doubt) * self.sigma,
        )

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """With and without constants, and one that doubts easily."""
        return [
            cls(Polynomial().over([0.1, 0.25, 0.4]), sigma=0.5),
            cls(Plateau(length=20).over([0.4, 0.1, 0.2]), sigma=0.3, constants=True),
            cls(Plateau(length=20).over([0.4, 0.1]), sigma=0.3, doubt=0.2),
        ]
