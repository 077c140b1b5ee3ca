"""What wearing out has cost: the reward lost against first showings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rotting.arrays import FloatArray


class Cost(NamedTuple):
    """The reward lost in the log, and as a share of what first showings would have paid."""

    lost: float
    lost_low: float
    lost_high: float
    share: float
    share_low: float
    share_high: float


def cost_of(reward: FloatArray, use: FloatArray, theta: float, low: float, high: float) -> Cost:
    """Each row paid exp(-theta use) of what a first showing to the same key would have paid.

    `low` and `high` are limits of theta, and become limits of the loss, which grows with it.
    """
    ends = [_lost(reward, use, value) for value in (theta, low, high)]
    (lost, share), (lost_low, share_low), (lost_high, share_high) = ends
    return Cost(lost, lost_low, lost_high, share, share_low, share_high)


def _lost(reward: FloatArray, use: FloatArray, theta: float) -> tuple[float, float]:
    paid = float(reward.sum())
    would = float(np.sum(reward * np.exp(np.clip(theta * use, -50.0, 50.0))))
    share = 1.0 - paid / would if would > 0.0 else 0.0
    return would - paid, share


def fall(use: FloatArray, theta: float) -> float:
    """The mean fall over the log's showings, as a part of first showings: below 0 is a rise."""
    return float(1.0 - np.mean(np.exp(-theta * use)))
