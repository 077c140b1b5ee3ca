"""The sentences of a replay: its claims and assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rotting._numbers import percent
from rotting._printable import printable
from rotting.logs._log import Log
from rotting.logs._replay.estimates import Estimate
from rotting.logs._replay.keyed import LEAST, Pooled
from rotting.logs._replay.result import LOGGED, Difference, Earned, Replay
from rotting.logs._replay.tape import Source
from rotting.logs._replay.unkeyed import Plain

_FEW_ROWS, _NAMED = 20, 6  # rows below which an arm is left out; arms that are named

RESTED = (
    "Arms are taken to wear out by use alone: the n-th showing pays the same whenever it comes."
)
EXCHANGEABLE = (
    "Keys are taken to be exchangeable: a reward is that of any key at the same arm and exposure, "
    "so those who were shown an arm so often are taken to be like those who were not."
)
APART = "Keys are taken not to influence one another."
PROPENSITIES = (
    "IPS and doubly robust estimates are of a policy's first decisions, those in which it agrees "
    "with the log, and take a reward to depend on its arm and time alone, not on exposures."
)
UNFINISHED = (
    "How long a tape lasts may depend on what it paid: then its last rewards, and the bounds made "
    "from them, are off."
)
OUTSIDE = (
    "The estimate lies outside the bounds: the model of what was not logged, or the correction for "
    "what is read twice, goes further than the log's own levels. Rather believe the bounds."
)
BEFORE = (
    "Histories began before the log: exposures are counted from its first row, and may be too low."
)


def availability(log: Log) -> str:
    """A warning on arms that were not available throughout, which a replay ignores; or "".

    An arm began late if its first row comes after a twentieth of the log, and after ten times the
    median time between its rows.
    """
    if not log.has_times or log.key.size == 0:
        return ""
    start, span = float(log.time.min()), float(np.ptp(log.time))
    late, early = [], []
    for arm, name in enumerate(log.arms):
        times = np.sort(log.time[log.arm == arm])
        if times.size < _FEW_ROWS:
            continue
        apart = max(0.05 * span, 10.0 * float(np.median(np.diff(times))))
        if times[0] - start > apart:
            late.append(f"{printable(name)!r} began on day {times[0] - start + 1.0:.0f}")
        if start + span - times[-1] > apart:
            early.append(f"{printable(name)!r} ended on day {times[-1] - start + 1.0:.0f}")
    found = [*late, *early]
    if not found:
        return ""
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return (
        f"All arms are taken to be available throughout, but of {span + 1.0:.0f} days in the log "
        f"{', '.join(found[:_NAMED])}{more}: policies are paid for showing them on other days, too."
    )


def claim(source: Source, coverage: float, exact: bool) -> str:
    if exact:
        return (
            "every decision was answered from the log, by the reward of that very showing: exact, "
            "if arms wear out by use alone."
        )
    share = f"{percent(coverage)} of the decisions were answered from the log"
    if coverage == 1.0:
        return (
            "every decision was answered from the log, by rewards of the same arm and exposure: "
            "right if keys are exchangeable."
        )
    if coverage > 0.999:
        share = "nearly all decisions were answered from the log"
    rest = "a model" if source.simulator is not None else "levels carried on"
    how = "by other keys' rewards, " if isinstance(source, Pooled) else ""
    return (
        f"{share}, {how}and the others by {rest}: an estimate. "
        "Without a model no more can be said than the bounds."
    )


def summary(
    source: Source,
    earned: tuple[Earned, ...],
    logged: Estimate,
    differences: tuple[Difference, ...],
    settings: Mapping[str, Any],
) -> Replay:
    """The result of a replay by exposure."""
    pooled, plain = isinstance(source, Pooled), isinstance(source, Plain)
    per_cent = f"{100.0 * settings['level']:g} %"
    if settings["resamples"] < 2:
        intervals = "No intervals: there were no resamples."
    elif plain:
        intervals = (
            f"{per_cent} intervals are simulated: rewards are drawn anew "
            f"{'as zeros and ones' if source.log.binary else 'with Gaussian noise'} around each "
            "arm's decreasing curve, and replayed, since there are no keys to resample."
        )
    else:
        intervals = f"{per_cent} intervals by resampling keys and replaying each resample."
    floor = f"{source.ends[0]:.4g}"
    lowest = (
        "0, for rewards are zeros and ones" if source.log.binary else f"{floor}, the least seen"
    )
    curve = (
        "the given simulator"
        if source.simulator is not None
        else "each arm's decreasing curve, its last level carried on"
    )
    if source.simulator is not None and source.simulator.shape[0] == 1:
        curve += ", taken as it is"
    at_least = f" in cells with fewer than {LEAST} rewards" if pooled else ""
    beyond = (
        ""
        if all(each.coverage == 1.0 for each in earned)
        else f"Beyond the log{at_least}, means are those of {curve}."
    )
    limits = f"Bounds lie between {lowest}, and the level at the last logged exposure."
    assumptions = [RESTED]
    if pooled:
        assumptions.append(EXCHANGEABLE)
    if not plain:
        assumptions.append(APART)
    if beyond:
        assumptions.append(UNFINISHED)
    if not source.log.history_complete:
        assumptions.append(BEFORE)
    if availability(source.log):
        assumptions.append(availability(source.log))
    if source.log.propensity is not None:
        assumptions.append(PROPENSITIES)
    return Replay(
        kind="pooled" if pooled else "exact",
        policies=earned,
        logged=logged,
        differences=differences,
        recommendation=recommendation(earned, differences),
        intervals=intervals,
        beyond=beyond,
        assumptions=tuple(assumptions),
        settings=dict(settings),
        limits=limits if beyond else "",
    )


def recommendation(earned: tuple[Earned, ...], differences: tuple[Difference, ...]) -> str:
    """The policy with the highest estimate, and whether it is clearly better."""
    best = max(earned, key=lambda each: each.reward.mean)
    line = f"{best.name} has the highest estimate, {best.reward.mean:.4g} a decision"
    said = []
    for difference in differences:
        if difference.one == best.name:
            other = difference.other if difference.other == LOGGED else f"{difference.other}"
            more = difference.reward
            if more.low != more.low:
                continue
            word = "clearly more" if more.low > 0.0 else "not clearly more"
            if more.high < 0.0:
                word = "clearly less"
            gap = f"{more.mean:+.4g}, {more.low:.4g} to {more.high:.4g}"
            said.append(f"{word} than {other} ({gap})")
    return f"{line}: {' and '.join(said)}." if said else f"{line}."
