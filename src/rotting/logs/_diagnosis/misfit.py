"""Amounts that the model does not describe: found by what it should get right, and said."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.logs._diagnosis import joint
from rotting.logs._diagnosis.asking import Answers
from rotting.logs._diagnosis.hopeless import MONEY, Reason
from rotting.logs._diagnosis.key_levels import posteriors, prior_of
from rotting.logs._diagnosis.stories import Stories

# Where rewards are Gaussian around the model's curves, what it leaves unexplained has a kurtosis of
# 3, and means are off by at most 1.5 of these errors, for they were fitted. Lognormal amounts have
# one of some 10 (sigma 0.3), 20 (0.5) or 100 (1.0): `python benchmarks/log_amounts.py`.
HEAVY = 15.0  # kurtosis of what the model leaves unexplained
WIDE = 0.3  # of the mean, its scatter: with less, as of ratings around 8, a few rows bend no curve
FAR = 3.0  # standard errors between a mean in the log and the model's
OFF = 0.05  # of the mean: less does no harm
FEW = 50  # first showings, with fewer of which their mean contradicts nobody
_OTHERWISE = (
    "More rows, or a table in which rewards come about in one way: perhaps several kinds of them, "
    "or of keys, stand in one column. A policy that learns while it plays needs no verdict."
)


class Means(NamedTuple):
    """A mean in the log, the model's of the same rows, and how far chance may take them apart."""

    seen: float
    fitted: float
    error: float

    @property
    def contradict(self) -> bool:
        """Whether chance and a small misfit do not explain the difference."""
        apart = abs(self.seen - self.fitted)
        return apart > FAR * self.error and apart > OFF * abs(self.seen)


def misfit(stories: Stories, answers: Answers) -> Reason | None:
    """Why the fitted model cannot be believed; None if it can."""
    levels, weights = answers.data.levels, prior_of(answers.data, answers.fitted.parameters)
    factor = _factors(answers)
    known = posteriors(answers.fitted.parameters, answers.data, weights)
    own = np.repeat(known @ levels, np.diff(stories.starts)) * factor
    reward = stories.log.reward
    binary = answers.data.kind == joint.BINARY
    if stories.log.has_keys and (first := _first_rows(stories)).size >= FEW:
        prior = float(weights @ levels) * factor[first]
        # of clicks the scatter that the model expects: where nobody clicked, none is to be seen
        spread = (
            np.sqrt(np.mean(prior * (1.0 - prior))) if binary else np.std(reward[first] - prior)
        )
        error = float(spread) / math.sqrt(first.size)
        means = Means(float(reward[first].mean()), float(prior.mean()), error)
        if means.contradict:
            return _contradiction("keys' first showings", means, binary)
    rest = reward - own
    units = np.add.reduceat(rest, stories.starts[:-1])
    means = Means(
        float(reward.mean()), float(own.mean()), float(np.sqrt(np.sum(units**2))) / len(reward)
    )
    if means.contradict:
        return _contradiction("all showings", means, binary)
    if not binary and heavy(rest, float(reward.mean())):
        return Reason(
            "heavy-tails",
            "Rewards are amounts, and a few large ones outweigh all others "
            f"(kurtosis {kurtosis(rest):.0f}, where the model that would be asked expects 3). What "
            "it said would be about these few.",
            MONEY,
        )
    return None


def heavy(rest: FloatArray, mean: float) -> bool:
    """Whether a few of these deviations outweigh all others, and are large beside the mean."""
    return float(rest.std()) > WIDE * abs(mean) and kurtosis(rest) > HEAVY


def kurtosis(values: FloatArray) -> float:
    """Of numbers around their mean: 3 for Gaussian ones, more where a few lie far out.

    >>> kurtosis(np.array([-1.0, 1.0]))
    1.0
    """
    off = values - values.mean()
    spread = float(np.mean(off**2))
    return float(np.mean(off**4)) / spread**2 if spread > 0.0 else 0.0


def _contradiction(which: str, means: Means, binary: bool) -> Reason:
    return Reason(
        "contradiction",
        f"The model that was fitted contradicts the log: {which} paid {means.seen:.4g} on average, "
        f"and by the model it would be {means.fitted:.4g}. So it does not describe these rewards.",
        _OTHERWISE if binary else MONEY,
    )


def _factors(answers: Answers) -> FloatArray:
    """What each row's mean is of its key's level."""
    linear = answers.data.x @ answers.fitted.parameters[: answers.data.effects]
    return np.asarray(np.exp(np.clip(linear, -50.0, 50.0)))


def _first_rows(stories: Stories) -> IntArray:
    """The first row of each key, where it is a first showing: nobody has left before it."""
    log = stories.log
    order = np.lexsort((log.time, log.key))
    first = order[np.concatenate(([True], np.diff(log.key[order]) != 0))]
    return np.asarray(first[log.exposure[first] == 1])
