"""Sliding-window UCB (Garivier & Moulines 2011), which the paper compares with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rotting.kernel.arrays import FloatArray
from rotting.kernel.compilable import shared
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import Count, Positive
from rotting.policies._base import Policy
from rotting.policies.parts.argmax import argmax_padded
from rotting.policies.parts.arms import TIME, Arms, no_pulls
from rotting.policies.parts.inspection import padded
from rotting.policies.parts.padding import log_padding, padding_at
from rotting.policies.parts.rounds import Rounds, absent, credit, enter, no_rounds


class Params(NamedTuple):
    """The window and its padding, B sqrt(xi ln t) at t, for t up to tau."""

    tau: int  # rounds in the window
    c: float  # B^2 xi
    padding: FloatArray  # sqrt(c ln t) at t


class State(NamedTuple):
    arms: Arms  # pulls and rounds; rewards of the window
    rounds: Rounds  # the window


def init(params: Any, arms: int, capacity: int) -> State:
    return State(no_pulls(arms), no_rounds(arms, min(params.tau, capacity)))


@shared
def _bonus(params: Params, state: State) -> Any:
    """B sqrt(xi ln min(t, tau)) in the round that is to be decided."""
    return padding_at(params.padding, params.c, min(state.arms.clock[TIME] + 1, params.tau))


def choose(params: Params, state: State, draw: Any) -> int:
    """An arm absent from the window, else argmax of mean + B sqrt(xi ln min(t, tau) / N_tau)."""
    arm = absent(state.rounds, state.arms)
    if arm < 0:
        bonus = _bonus(params, state)
        arm = argmax_padded(state.rounds.mean, state.rounds.width, bonus, state.arms.opening)
    return arm


def pulled(params: Any, state: State, arm: int) -> None:
    enter(state.rounds, state.arms, params.tau, arm)


def update(params: Any, state: State, arm: int, pull: int, reward: float) -> None:
    credit(state.rounds, state.arms, arm, pull, reward)


def inspect(params: Params, state: State, arm: int) -> Inspection:
    return padded(state.rounds.mean[arm], state.rounds.width[arm], _bonus(params, state))


@dataclass(frozen=True)
class SWUCB(Policy):
    """Sliding-window UCB: the mean over the last tau rounds plus a padding.

    An arm without rewards in the window goes first; else the arm with the highest

        mean_tau(i) + B sqrt(xi ln min(t, tau) / N_tau(i))

    where mean_tau(i) and N_tau(i) are the mean and the number of arm i's rewards in the last tau
    rounds. Rewards leave by the round, also while their arm rests. Ties go to the first arm.
    Memory: min(tau, T) rounds. A late reward is looked for in the window, which takes time in
    proportion to how late it is.

    Args:
        tau: The length of the window, in rounds.
        B: A bound on the rewards.
        xi: The weight of exploration. B = 2 and xi = 1/2 are the usual constants; Levine et al. do
            not state theirs, and B = 1.9 gives the wins of their Table 1.

    Reference: Garivier & Moulines, "On Upper-Confidence Bound Policies for Switching Bandit
    Problems" (2011).

    >>> from rotting import policies
    >>> player = policies.SWUCB(tau=100).online(["red", "blue"], compiled=False)
    >>> for reward in (0.0, 1.0):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'blue'
    """

    tau: Count
    B: Positive = 2.0
    xi: Positive = 0.5

    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, pulled, inspect=inspect)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        c = self.B**2 * self.xi
        return Params(self.tau, c, log_padding(c, min(self.tau, reach)))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # a window that fills early, and one that never does
        return [cls(tau=50), cls(tau=10**9, B=1.0, xi=0.6)]
