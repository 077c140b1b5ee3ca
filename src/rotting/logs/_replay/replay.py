"""`replay`: what other policies would have earned on a log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy.typing as npt

from rotting import _checks
from rotting._progress import Progress
from rotting.logs._log import Log
from rotting.logs._replay.request import check_asked, named
from rotting.logs._replay.result import Replay
from rotting.logs._replay.session import Session
from rotting.logs._replay.timed import replay_by_time
from rotting.policies._base import Policy


def replay(
    log: Log,
    policies: Mapping[str, Policy] | Iterable[Policy],
    *,
    horizon: int | None = None,
    seed: int = 0,
    runs: int = 50,
    resamples: int = 200,
    level: float = 0.95,
    pooled: bool | None = None,
    calendar: bool | None = None,
    by_time: bool = False,
    simulator: npt.ArrayLike | None = None,
    threads: int | None = None,
    compiled: bool = True,
    progress: Progress | None = None,
) -> Replay:
    """What policies would have earned in the decisions of a log, exactly while the tape lasts.

    policies   by name, or a list; policies that count by key do so where the log has keys
    horizon    how many of the log's decisions, the first in the order of time; all if None
    runs       how often the log is replayed: policies, and a pooled tape, decide by chance
    resamples  how many logs that might have been are replayed, once each; 0 for no intervals. By
               time there are none, and errors are those of keys, or rows
    pooled     whether a key's reward is that of any key at the same arm and exposure, which takes
               keys to be exchangeable; if None, where most tapes of one key and arm are too short
    calendar   what the diagnosis says: True if rewards move with the calendar. Then exposures do
               not tell a reward, and replay is refused unless `by_time`
    by_time    go through the rows in the order of time and keep those in which the policy chooses
               what was shown; right if the log chose at random, with known propensities or evenly
    simulator  means [arm, exposure - 1] of what was not logged, as fitted; or [draw, arm, exposure
               - 1], the first the estimate and the others its uncertainty. If None, each arm's own
               decreasing curve, its last level carried on
    compiled   False runs the same loops as plain Python
    progress   called with (replays done, replays)

    The mean reward is a decision's, over the log's own arrivals. Rows whose reward is not known are
    decisions too, but answer none.

    >>> import numpy as np
    >>> from rotting import policies
    >>> log = Log(*(np.array(x, dtype=np.int32) for x in ([0] * 4, [0, 0, 1, 1])),
    ...           time=np.arange(4.0), reward=np.array([1.0, 0.0, 1.0, 1.0]),
    ...           exposure=np.array([1, 2, 1, 2], dtype=np.int32), arms=("red", "blue"))
    >>> found = replay(log, [policies.RoundRobin()], resamples=0, compiled=False)
    >>> found["RoundRobin"].reward.mean, found["RoundRobin"].exact
    (0.75, True)
    """
    asked = check_asked(
        log, horizon, seed, runs, resamples, level, threads, pooled, calendar, by_time, simulator
    )
    players = named(policies, asked.keyed)
    _checks.flag("compiled", compiled)
    if by_time:
        return replay_by_time(log, players, asked.horizon, seed, runs, level, compiled)
    report = progress or (lambda done, of: None)
    return Session(asked.source(log), players, asked, compiled, report).all()
