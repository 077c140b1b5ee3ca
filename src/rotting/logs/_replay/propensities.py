"""Rejection sampling and propensity scores: rows in which a policy chooses what the log showed.

The policy decides in every row, in the order of time, and learns from the rows in which it agrees
with the log (Li, Chu, Langford & Wang 2011). At the end it has made M decisions, where M is the
number of rows times the share kept. The estimates are of the mean reward of these M decisions.

Where the probability p of the log's choice is known,

    IPS             mean of [agrees] r / p
    self-normalised sum of [agrees] r / p over the sum of [agrees] / p
    doubly robust   mean of q(choice) + [agrees] (r - q(choice)) / p

with q(arm) the mean reward of all earlier rows of that arm. A policy that draws at random is
followed several times, and each row counts with its mean over them. Standard errors are clustered
by key, or by row where there are no keys.

All this holds if a row's reward depends on its arm and time alone. Where arms wear out, the rewards
in the log are those of the log's history of showings, not of the policy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rotting._engines.replay_loop import Rows
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.logs._log import Log
from rotting.logs._replay.estimates import Estimate, around

EVERYWHERE = (-np.inf, np.inf)


@dataclass(frozen=True)
class Weighed:
    """The mean reward of a policy's first decisions, estimated with propensities.

    Attributes:
        ips: Inverse propensity score.
        normalised: Self-normalised.
        robust: Doubly robust.
        decisions: The number of decisions of the policy, on average.
        replayed: The estimate by exposure for as many decisions, for comparison.
    """

    ips: Estimate
    normalised: Estimate
    robust: Estimate
    decisions: float
    replayed: float

    def as_data(self) -> dict[str, Any]:
        return {
            "ips": self.ips.as_data(),
            "self_normalised": self.normalised.as_data(),
            "doubly_robust": self.robust.as_data(),
            "decisions": self.decisions,
            "replayed": self.replayed,
        }


def rows_in_time(log: Log, horizon: int) -> IntArray:
    """The first rows by time, without those of unknown reward."""
    rows = np.argsort(log.time, kind="stable")[:horizon]
    return rows[~np.isnan(log.reward[rows])]


class Followed:
    """Rows in the order of time, with the policy's choices in each, averaged over runs."""

    def __init__(
        self, log: Log, rows: IntArray, choices: Callable[[Rows, int], Any], runs: int
    ) -> None:
        self.rows = Rows(
            np.ascontiguousarray(log.key[rows], dtype=np.int32),
            np.ascontiguousarray(log.arm[rows], dtype=np.int32),
            log.reward[rows],
        )
        self.clusters = self.rows.key if log.has_keys else np.arange(rows.size)
        self.chance = None if log.propensity is None else log.propensity[rows]
        self.agrees = np.zeros(rows.size)  # share of runs that choose what was shown
        self.guess = np.zeros(rows.size)  # q of the choice, on average over runs
        self.shares = np.zeros(len(log.arms))
        before = _Before(self.rows, len(log.arms))
        for run in range(runs):
            chosen = choices(self.rows, run)
            self.agrees += (chosen == self.rows.arm) / runs
            self.guess += before(chosen) / runs
            kept = self.rows.arm[chosen == self.rows.arm]
            self.shares += np.bincount(kept, minlength=self.shares.size)
        self.shares /= max(1.0, self.shares.sum())
        self.logged_guess = before(self.rows.arm)

    @property
    def kept(self) -> float:
        """The share of rows in which the policy agrees with the log."""
        return float(self.agrees.mean())

    def weights(self) -> FloatArray:
        """The weight of each row: how often the policy agrees, divided by the propensity."""
        return self.agrees if self.chance is None else self.agrees / self.chance

    def ratio(self) -> tuple[float, FloatArray]:
        """The weighted mean reward, and each row's influence on it."""
        weights = self.weights()
        total = float(weights.sum())
        if total == 0.0:  # it agrees with no row
            return math.nan, np.full(weights.size, math.nan)
        mean = float(np.dot(weights, self.rows.reward)) / total
        return mean, weights * (self.rows.reward - mean) / total

    def weigh(self, level: float, replayed: float) -> Weighed:
        assert self.chance is not None
        weights, reward, size = self.weights(), self.rows.reward, self.rows.reward.size
        ips = weights * reward
        robust = self.guess + weights * (reward - self.logged_guess)
        found = []
        for terms in (ips, robust):
            mean = float(terms.mean())
            found.append(around(mean, self.error((terms - mean) / size), level, EVERYWHERE))
        mean, moves = self.ratio()
        normalised = around(mean, self.error(moves), level, EVERYWHERE)
        return Weighed(found[0], normalised, found[1], self.kept * size, replayed)

    def error(self, moves: FloatArray) -> float:
        """The standard error from the rows' influences, clustered by key."""
        sums = np.bincount(self.clusters, weights=moves)
        groups = np.unique(self.clusters).size
        return float(np.sqrt(np.dot(sums, sums) * groups / max(1, groups - 1)))


class _Before:
    """For every row the mean reward of all earlier rows of an arm.

    The mean of all earlier rows is added as one reward.
    """

    def __init__(self, rows: Rows, arms: int) -> None:
        count = np.arange(rows.arm.size)
        self._all = (np.cumsum(rows.reward) - rows.reward) / np.maximum(1, count)
        self._places = [np.flatnonzero(rows.arm == arm) for arm in range(arms)]
        self._sums = [np.concatenate(([0.0], np.cumsum(rows.reward[p]))) for p in self._places]

    def __call__(self, chosen: Any) -> FloatArray:
        found = np.empty(self._all.size)
        for arm, (places, sums) in enumerate(zip(self._places, self._sums, strict=True)):
            rows = np.flatnonzero(chosen == arm)
            earlier = np.searchsorted(places, rows)
            found[rows] = (sums[earlier] + self._all[rows]) / (earlier + 1)
        return found
