"""The arguments of `replay`, checked before any work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rotting import _checks
from rotting.kernel import random
from rotting.kernel.arrays import FloatArray
from rotting.logs._log import Log
from rotting.logs._replay.keyed import Each, Pooled
from rotting.logs._replay.result import LOGGED
from rotting.logs._replay.runner import check_policy, cores
from rotting.logs._replay.tape import Source
from rotting.logs._replay.unkeyed import Plain
from rotting.policies._base import Policy

_MOST = 2**31 - 1  # places on a tape, which are 32-bit numbers


@dataclass(frozen=True)
class Request:
    """The arguments of `replay`, checked."""

    keyed: bool
    pooled: bool
    horizon: int
    seed: int
    runs: int
    resamples: int
    level: float
    threads: int
    simulator: FloatArray | None

    def source(self, log: Log) -> Source:
        if not self.keyed:
            return Plain(log, self.horizon, self.seed, self.simulator)
        kind = Pooled if self.pooled else Each
        return kind(log, self.horizon, self.seed, self.simulator)


def checked_request(
    log: Log,
    horizon: Any,
    seed: Any,
    runs: Any,
    resamples: Any,
    level: Any,
    threads: Any,
    pooled: Any,
    calendar: Any,
    by_time: Any,
    simulator: Any,
) -> Request:
    rows = _checked_rows(log)
    for name, value in (("pooled", pooled), ("calendar", calendar)):
        if value is not None:
            _checks.flag(name, value)
    if calendar and not _checks.flag("by_time", by_time):
        raise ValueError(
            "calendar must not be True for a replay by exposure, got True: rewards move with the "
            "calendar, so the n-th reward of an arm depends on when it was logged; "
            "by_time=True goes by time, and needs a log that chose at random"
        )
    keyed = log.has_keys and log.keys > 1
    if pooled and not keyed:
        raise ValueError("pooled must be False or None for a log without keys, got True")
    return Request(
        keyed=keyed,
        pooled=keyed and (short_tapes(log) if pooled is None else bool(pooled)),
        horizon=rows if horizon is None else _checks.integer("horizon", horizon, 1, rows),
        seed=int(random.seed_word(seed)),
        runs=_checks.integer("runs", runs, 1, _checks.EXACT),
        resamples=_checks.integer("resamples", resamples, 0, _checks.EXACT),
        level=_checks.number("level", level, above=0.0, below=1.0),
        threads=cores() if threads is None else _checks.integer("threads", threads, least=1),
        simulator=_curves(simulator, len(log.arms)),
    )


def _checked_rows(log: Any) -> int:
    """The number of rows of a log; refused if it cannot be replayed."""
    if not isinstance(log, Log):
        raise ValueError(f"log must be a Log, as rotting.logs.read gives it, got {type(log)!r}")
    rows = int(log.key.size)
    known = int(np.count_nonzero(~np.isnan(log.reward)))
    if known == 0:
        raise ValueError(f"log must have rows with known rewards, got none in {rows} rows")
    places = _places(log)
    if places > _MOST:
        raise ValueError(
            f"exposure must add up to at most {_MOST} over the last rows of all keys and arms, "
            f"got {places} (exposures go up to {int(log.exposure.max())})"
        )
    if log.rows == "last":
        raise ValueError(
            "log must hold all rows of a key and arm to be replayed, got rows='last': "
            "what was shown before the last row, and what it paid, is not known"
        )
    if log.propensity is not None:
        wrong = ~((log.propensity > 0.0) & (log.propensity <= 1.0))
        if wrong.any():
            raise ValueError(
                "propensity must be a number > 0 and <= 1 in every row, got "
                f"{log.propensity[wrong][0]} and others in {int(wrong.sum())} of {rows} rows"
            )
    return rows


def _places(log: Log) -> int:
    """The length of all tapes together, with places for exposures that were not logged."""
    last = np.maximum.reduceat(log.exposure.astype(np.int64), log.story_starts()[:-1])
    return int(last.sum())


def short_tapes(log: Log) -> bool:
    """Whether most tapes of a key and arm are shorter than the key's number of decisions."""
    starts = log.story_starts()
    lengths = np.diff(starts)
    visits = np.bincount(log.key, minlength=log.keys)[log.key[starts[:-1]]]
    long = int(np.count_nonzero(lengths >= visits))
    return 2 * long <= log.keys * len(log.arms)


def _curves(simulator: Any, arms: int) -> FloatArray | None:
    if simulator is None:
        return None
    allowed = f"simulator must be finite means [arm, exposure - 1] of {arms} arms"
    try:
        found = np.asarray(simulator, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{allowed}, got {simulator!r}") from None
    if found.ndim == 2:
        found = found[None]
    if found.ndim != 3 or found.shape[1] != arms or found.size == 0:
        raise ValueError(f"{allowed}, got an array of shape {np.shape(simulator)}")
    if not np.isfinite(found).all():
        raise ValueError(f"{allowed}, got some that are not")
    return found


def named(policies: Any, keyed: bool) -> dict[str, Policy]:
    """The policies by name; refused where one cannot be replayed."""
    if isinstance(policies, Policy):
        raise ValueError(f"policies must be a list or a dict of policies, got {policies!r}")
    if isinstance(policies, Mapping):
        found = {str(name): policy for name, policy in policies.items()}
    else:
        given = list(policies)
        found = {getattr(policy, "short_label", repr(policy)): policy for policy in given}
        if len(found) < len(given):
            raise ValueError("policies must have different labels, or be a dict with names")
    if not found:
        raise ValueError("policies must hold at least one policy, got none")
    for name, policy in found.items():
        if name == LOGGED:
            raise ValueError(f"policies must have names of their own, got {name!r}")
        check_policy(name, policy, keyed)
    return found
