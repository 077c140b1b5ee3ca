"""`replay`: offline evaluation of policies on a log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy.typing as npt

from rotting import _checks
from rotting._progress import Progress
from rotting.logs._log import Log
from rotting.logs._replay.request import checked_request, named
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
    """Estimate what policies would have earned in the decisions of a log.

    By exposure: the n-th time a policy shows an arm (to a key, if there are keys) it gets the
    reward of the n-th showing in the log. This is exact while the log has that showing; beyond it,
    rewards come from a curve, and bounds say what is possible without one. The mean reward is per
    decision, over the log's own arrivals. Rows of unknown reward are decisions, too, but have no
    reward to give.

    Args:
        log: What `read` returns.
        policies: Policies by name, or a list. Policies that count by key do so where the log has
            keys.
        horizon: The number of the log's decisions, the first in the order of time; None: all.
        seed: The same seed gives the same result.
        runs: Replays of the log. There are several because policies, and a pooled tape, draw at
            random.
        resamples: Replays of resampled logs, for the intervals; 0 for none. By time there are no
            resamples; errors are clustered by key, or by row.
        level: Of the intervals.
        pooled: Whether a key's reward is that of any key at the same arm and exposure, which
            assumes that keys are exchangeable. None: only if most tapes of one key and arm are too
            short.
        calendar: Whether rewards move with the calendar, as the diagnosis says. Then the exposure
            does not determine the reward, and a replay is refused unless `by_time`.
        by_time: Go through the rows in the order of time, and keep those in which the policy
            chooses what was shown. Right if the log chose at random, with known propensities or
            evenly.
        simulator: Means [arm, exposure - 1] of what was not logged, such as a fit's `simulator()`;
            or [draw, arm, exposure - 1], where the first draw is the estimate and the others its
            uncertainty. None: each arm's own decreasing curve, its last level carried on.
        threads: The number of threads; None: as many as there are processors.
        compiled: False runs the same loops as plain Python.
        progress: Called with (replays done, replays).

    Returns:
        A `Replay`, with estimates, intervals and bounds for each policy.

    Raises:
        ValueError: The log or a policy cannot be replayed, or an argument is out of its range.

    >>> import numpy as np
    >>> from rotting import policies
    >>> log = Log(*(np.array(x, dtype=np.int32) for x in ([0] * 4, [0, 0, 1, 1])),
    ...           time=np.arange(4.0), reward=np.array([1.0, 0.0, 1.0, 1.0]),
    ...           exposure=np.array([1, 2, 1, 2], dtype=np.int32), arms=("red", "blue"))
    >>> found = replay(log, [policies.RoundRobin()], resamples=0, compiled=False)
    >>> found["RoundRobin"].reward.mean, found["RoundRobin"].exact
    (0.75, True)
    """
    request = checked_request(
        log, horizon, seed, runs, resamples, level, threads, pooled, calendar, by_time, simulator
    )
    players = named(policies, request.keyed)
    _checks.flag("compiled", compiled)
    if by_time:
        return replay_by_time(log, players, request.horizon, seed, runs, level, compiled)
    report = progress or (lambda done, of: None)
    return Session(request.source(log), players, request, compiled, report).all()
