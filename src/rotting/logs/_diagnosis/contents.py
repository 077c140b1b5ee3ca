"""What is in a log, in figures and sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from rotting.logs._diagnosis import words
from rotting.logs._diagnosis.companions import periods
from rotting.logs._diagnosis.diagnosis import Part
from rotting.logs._diagnosis.stories import Stories
from rotting.logs._log import Log

_SHOWN = 40  # numbers of showings whose means are listed
_NAMED = 50  # arms whose names are


def part(log: Log, used: int | None = None) -> Part:
    """The first part of a diagnosis; `used` is how many keys the tests look at, if not all."""
    known = ~np.isnan(log.reward) & log.settled
    rewards = log.reward[known]
    mean = float(rewards.mean()) if rewards.size else float("nan")
    facts: dict[str, Any] = {
        "rows": int(log.key.size),
        "known_rewards": int(rewards.size),
        "keys": log.keys if log.has_keys else None,
        "arms": len(log.arms),
        "arm_names": list(log.arms[:_NAMED]),
        "stories": len(log.story_starts()) - 1,
        "highest_exposure": int(log.exposure.max()) if log.key.size else 0,
        "days": float(np.ptp(log.time)) if log.has_times and log.key.size else None,
        "mean_reward": mean,
        "scatter": float(rewards.std()) if rewards.size else float("nan"),
        "rewards": "zeros and ones" if log.binary else "numbers",
        "columns": dict(log.columns),
    }
    who = f"{log.keys:,} keys, " if log.has_keys else ""
    when = f" over {facts['days']:.1f} days" if facts["days"] is not None else ""
    arms = "1 arm" if len(log.arms) == 1 else f"{len(log.arms)} arms"
    story = "all showings of an arm to a key" if log.has_keys else "all showings of an arm"
    told = (
        f"{log.key.size:,} showings of {arms}, {who}{facts['stories']:,} stories ({story}) of "
        f"up to {facts['highest_exposure']:,} showings{when}; rewards are {facts['rewards']}, on "
        f"average {mean:.4g}."
    )
    if used is not None:
        told += f" The tests look at {used:,} of the keys, drawn at random."
    wrong = [words.sentence(one.sentence) for one in log.problems]
    return Part(
        "contents",
        "problems" if wrong else "fine",
        " ".join([told, *wrong]),
        "counting",
        "the columns mean what their names say",
        evidence=facts,
    )


def means_by_exposure(log: Log) -> dict[str, Any]:
    """Mean reward by showing, as it stands in the log: whoever is still there.

    Where only last rows are known, all rows before them were no success.
    """
    known = ~np.isnan(log.reward)
    number = np.minimum(log.exposure[known], _SHOWN + 1).astype(np.int64)
    rows = np.bincount(number, minlength=_SHOWN + 2)[1 : _SHOWN + 1]
    sums = np.bincount(number, log.reward[known], minlength=_SHOWN + 2)[1 : _SHOWN + 1]
    if log.rows == "last":
        there = np.bincount(number, minlength=_SHOWN + 2)
        rows = there[::-1].cumsum()[::-1][1 : _SHOWN + 1]
    listed = np.flatnonzero(rows)
    return {
        "showings": (listed + 1).tolist(),
        "rows": rows[listed].tolist(),
        "means": (sums[listed] / rows[listed]).tolist(),
    }


def means_by_period(stories: Stories, most: int = 12) -> dict[str, Any]:
    """Mean reward of first showings and of later ones over time."""
    period = periods(stories, most)
    reward, first = stories.log.reward, stories.log.exposure == 1
    found: dict[str, Any] = {
        "day": [],
        "first": [],
        "later": [],
        "first_rows": [],
        "later_rows": [],
    }
    for number in range(int(period.max()) + 1):
        here = period == number
        found["day"].append(float(stories.log.time[here].mean()))
        for name, rows in (("first", here & first), ("later", here & ~first)):
            count = int(rows.sum())
            found[f"{name}_rows"].append(count)
            found[name].append(float(reward[rows].mean()) if count else None)
    return found
