"""Estimates by the log's own choices: rows in which a policy would have shown what was shown.

The policy is asked in every row, in the order of time, and learns from the rows in which it agrees
with the log (Li, Chu, Langford & Wang 2011). So it has made M decisions at the end, of which each
has waited for a row that agrees; M is the number of rows times the share kept. What is estimated is
the mean reward of these first M decisions.

Where it is known with which chance p the log chose,

    IPS             mean of [agrees] r / p
    self-normalised sum of [agrees] r / p over the sum of [agrees] / p
    doubly robust   mean of q(choice) + [agrees] (r - q(choice)) / p

with q(arm) the mean reward of all earlier rows of that arm. A policy that decides by chance is
followed several times, and each row counts with its mean over them. Errors are those of keys, or of
rows where there are none. All that is right where a row's reward depends on its arm and its time
alone: arms that are used up have paid in the log for the log's history, not for the policy's.
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
    """What a policy would have earned in its first decisions, by propensities.

    decisions  how many the policy has made, on average
    replayed   what replay by exposure says of as many decisions, to be compared
    """

    ips: Estimate
    normalised: Estimate
    robust: Estimate
    decisions: float
    replayed: float

    def as_data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "ips": self.ips.as_data(),
            "self_normalised": self.normalised.as_data(),
            "doubly_robust": self.robust.as_data(),
            "decisions": self.decisions,
            "replayed": self.replayed,
        }


def rows_in_time(log: Log, horizon: int) -> IntArray:
    """The first rows by time, those of which the reward is known."""
    rows = np.argsort(log.time, kind="stable")[:horizon]
    return rows[~np.isnan(log.reward[rows])]


class Followed:
    """Rows in the order of time, and what a policy would have chosen in each, run by run."""

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
        self.agrees = np.zeros(rows.size)  # the share of runs that choose what was shown
        self.guess = np.zeros(rows.size)  # q of what is chosen, on average over runs
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
        """The share of rows from which the policy learns."""
        return float(self.agrees.mean())

    def weights(self) -> FloatArray:
        """What each row counts: how often the policy agrees, over the chance that it was shown."""
        return self.agrees if self.chance is None else self.agrees / self.chance

    def ratio(self) -> tuple[float, FloatArray]:
        """The weighted mean reward, and how each row moves it."""
        weights = self.weights()
        total = float(weights.sum())
        if total == 0.0:  # it agrees with no row
            return math.nan, np.full(weights.size, math.nan)
        mean = float(np.dot(weights, self.rows.reward)) / total
        return mean, weights * (self.rows.reward - mean) / total

    def weigh(self, level: float, replayed: float) -> Weighed:
        """The estimates by propensities."""
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
        """The standard error of a sum of such moves, of which those of a key belong together."""
        sums = np.bincount(self.clusters, weights=moves)
        groups = np.unique(self.clusters).size
        return float(np.sqrt(np.dot(sums, sums) * groups / max(1, groups - 1)))


class _Before:
    """The mean reward of all earlier rows of an arm, in every row.

    It starts from the mean of all earlier rows, which counts as one reward.
    """

    def __init__(self, rows: Rows, arms: int) -> None:
        count = np.arange(rows.arm.size)
        self._all = (np.cumsum(rows.reward) - rows.reward) / np.maximum(1, count)
        self._places = [np.flatnonzero(rows.arm == arm) for arm in range(arms)]
        self._sums = [np.concatenate(([0.0], np.cumsum(rows.reward[p]))) for p in self._places]

    def __call__(self, chosen: Any) -> FloatArray:
        found = np.empty(self._all.size)
        for arm, (places, sums) in enumerate(zip(self._places, self._sums, strict=True)):
            asked = np.flatnonzero(chosen == arm)
            earlier = np.searchsorted(places, asked)
            found[asked] = (sums[earlier] + self._all[asked]) / (earlier + 1)
        return found
