"""What wearing out has cost: the reward lost against first showings."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.logs._diagnosis.stories import Stories

_FEW_FIRST = 30  # first showings, with which their mean bounds nothing


class Cost(NamedTuple):
    """The reward lost in the log, and as a share of what first showings would have paid."""

    lost: float
    lost_low: float
    lost_high: float
    share: float
    share_low: float
    share_high: float


def cost_of(
    reward: FloatArray,
    use: FloatArray,
    theta: float,
    low: float,
    high: float,
    most: float = math.inf,
) -> Cost:
    """Each row paid exp(-theta use) of what a first showing to the same key would have paid.

    `low` and `high` are limits of theta, and become limits of the loss, which grows with it. All
    rows together would not have paid more than `most`.
    """
    ends = [_lost(reward, use, value, most) for value in (theta, low, high)]
    (lost, share), (lost_low, share_low), (lost_high, share_high) = ends
    return Cost(lost, lost_low, lost_high, share, share_low, share_high)


def _lost(reward: FloatArray, use: FloatArray, theta: float, most: float) -> tuple[float, float]:
    paid = float(reward.sum())
    would = float(np.sum(reward * np.exp(np.clip(theta * use, -50.0, 50.0))))
    would = min(would, max(most, paid))
    share = 1.0 - paid / would if would > 0.0 else 0.0
    return would - paid, share


def allowed(stories: Stories, moved: FloatArray) -> float:
    """The most that all rows would have paid as first showings, by first showings in the log.

    Each row is given the mean of its arm's first showings, or, if that is more, each story its own
    first reward: those who stay may be better than those who left. Three standard errors are added.
    `moved` is what the calendar makes of each row's reward.
    """
    log = stories.log
    first = log.exposure == 1
    if not log.has_keys or np.count_nonzero(first) < _FEW_FIRST:
        return math.inf
    arms = len(log.arms)
    paid = np.bincount(log.arm[first], log.reward[first], arms)
    means = paid / np.maximum(np.bincount(log.arm[first], moved[first], arms), 1e-300)
    common = float(log.reward[first].sum() / moved[first].sum())
    means = np.where(np.bincount(log.arm[first], minlength=arms) > 0, means, common)
    by_arm = float(means[log.arm] @ moved)
    starts = log.story_starts()
    lengths, own = np.diff(starts), first[starts[:-1]]
    of_stories = np.where(own, log.reward[starts[:-1]], common)
    by_story = float(of_stories @ lengths)
    error = float(log.reward[first].std()) / math.sqrt(np.count_nonzero(first))
    return max(by_arm, by_story) + 3.0 * error * log.reward.size


def fall(use: FloatArray, theta: float) -> float:
    """The mean fall over the log's showings, as a part of first showings: below 0 is a rise."""
    return float(1.0 - np.mean(np.exp(-theta * use)))
