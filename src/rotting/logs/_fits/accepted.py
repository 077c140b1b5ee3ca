"""Which logs are fitted and which are refused, and what is to be said of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rotting import _checks
from rotting.kernel.arrays import FloatArray
from rotting.logs._diagnosis.hopeless import MOST_ZEROS
from rotting.logs._diagnosis.misfit import heavy
from rotting.logs._fits.curves import Curves
from rotting.logs._fits.rows import known_rows
from rotting.logs._fits.shapes import KINDS
from rotting.logs._log import Log

# First showings against the curves: standard errors, and a part of their mean, that they may be off
_FAR, _OFF, _FEW_FIRST = 4.0, 0.2, 50


def wanted_kinds(families: Sequence[str] | None) -> tuple[str, ...]:
    """The shapes to try, in the order of how many numbers they take."""
    if families is None:
        return KINDS
    if isinstance(families, str) or not families:
        raise ValueError(f"families must be a list of names, as ['power'], got {families!r}")
    asked = [_checks.known("family", kind, KINDS) for kind in families]
    return tuple(kind for kind in KINDS if kind in asked)


def check_log(log: Log) -> None:
    """Refuse logs in which there is nothing to fit."""
    if not isinstance(log, Log):
        raise ValueError(f"log must be a Log, as logs.read(...) gives, got {type(log).__name__}")
    known = known_rows(log)
    count = int(known.sum())
    if count < 2:
        raise ValueError(f"log must have at least 2 known rewards, got {count}")
    rewards, exposures = log.reward[known], log.exposure[known]
    if not np.abs(rewards).max() <= _checks.HUGE:
        raise ValueError(f"rewards must be at most {_checks.HUGE:g} in size, got {rewards.max()}")
    if exposures.min() == exposures.max():
        raise ValueError(
            f"log must have rewards of several exposures, got the exposure {exposures[0]} only: "
            "how rewards change with exposure cannot be seen"
        )
    if rewards.min() == rewards.max():
        raise ValueError(f"rewards must differ for curves to be fitted, but all are {rewards[0]:g}")
    if rewards.mean() <= 0.0:
        raise ValueError(
            f"rewards must be positive on average, got a mean of {rewards.mean():g}: a curve is an "
            "amplitude times a shape that falls; add a constant to all rewards"
        )


def one_a_row(name: str, values: Any, log: Log) -> FloatArray | None:
    """Numbers that go with the rows of a log, checked."""
    if values is None:
        return None
    found = np.asarray(values, dtype=np.float64)
    if found.shape != log.reward.shape:
        raise ValueError(
            f"{name} must be one a row of the log, {log.reward.size}, got shape {found.shape}"
        )
    if not (np.isfinite(found).all() and (found >= 0.0).all() and found.sum() > 0.0):
        raise ValueError(f"{name} must be finite numbers >= 0, not all 0")
    return found


def notes_on(log: Log) -> list[str]:
    """What a reader of the fit should know of the log."""
    notes = []
    missing = int((~known_rows(log)).sum())
    if missing:
        young = " (or too young to have one)" if log.window else ""
        notes.append(f"{missing:,} rows without a known reward{young} count as showings only.")
    unseen = set(range(len(log.arms))) - set(log.arm[known_rows(log)].tolist())
    if unseen:
        notes.append(f"{len(unseen)} arms without a known reward get what others have in common.")
    if log.rows == "last":
        notes.append(
            "The log holds the last row of each story only: curves are as seen, of those whose "
            "story ended there; what they say of fatigue cannot be told from who was still there."
        )
    if not log.history_complete:
        notes.append("Histories began before the log: exposures are counted from its first row on.")
    return notes


def said_of_keys(
    log: Log, learn: bool, modelled: bool, given: bool, weights: Any, offsets: Any
) -> str:
    """Whose curves these are."""
    if modelled:
        return (
            "Each key has a factor of its own on all means, by a joint model of rewards and of who "
            "leaves: curves are those of all keys."
        )
    if given:
        return "Keys' factors were given: curves are those of all keys."
    if learn:
        return (
            "Each key has a factor of its own on all means, learnt from its rewards: curves are "
            "those of all keys, if who left did so by what was seen of them: rewards, arms, times."
        )
    if weights is not None or offsets is not None:
        return "Curves are as seen in the log by the given weights or offsets."
    if log.has_keys:
        return "Curves are as seen in the log, among those who were still there."
    return "There are no keys: each arm is used up for everybody."


def doubt_of(log: Log, curves: Curves) -> str:
    """Why the fitted curves cannot be believed, in a sentence; empty if they can.

    If most amounts are zero, or a few outweigh the rest, rewards do not scatter around a curve and
    the fit may be anything. The same holds if the fit contradicts first showings.
    """
    known = known_rows(log)
    reward, arm, first = log.reward[known], log.arm[known], log.exposure[known] == 1
    means = curves.means(np.array([1]))[arm[first], 0]
    off = reward[first] - means
    seen = float(reward[first].mean()) if off.size else 0.0
    if off.size >= _FEW_FIRST and log.rows == "all":
        error = float(off.std()) / math.sqrt(off.size)
        if abs(float(off.mean())) > max(_FAR * error, _OFF * abs(seen)):
            return (
                f"The curves contradict the log: first showings paid {seen:.4g} on average, and by "
                f"the curves it would be {float(means.mean()):.4g}. Do not play by them."
            )
    if log.binary:
        return ""
    nothing = float(np.mean(reward == 0.0))
    if nothing > MOST_ZEROS:
        return (
            f"Rewards are amounts, and {100.0 * nothing:.0f} % of them are zero: no curves with "
            "Gaussian noise around them describe that. Do not play by these curves; fit a column "
            "of zeros and ones, whether anything was paid (--reward clicked)."
        )
    _, cell = np.unique(np.stack([arm, log.exposure[known]]), axis=1, return_inverse=True)
    cell = cell.reshape(-1)
    rest = reward - (np.bincount(cell, reward) / np.bincount(cell))[cell]
    if heavy(rest, float(reward.mean())):
        return (
            "Rewards are amounts, and a few large ones outweigh all others: curves with Gaussian "
            "noise around them do not describe that. Do not play by them."
        )
    return ""
