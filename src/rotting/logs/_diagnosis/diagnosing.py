"""From a log to its diagnosis: the questions in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rotting import _checks
from rotting.logs._diagnosis import verdicts
from rotting.logs._diagnosis.asking import ask
from rotting.logs._diagnosis.diagnosis import Diagnosis
from rotting.logs._diagnosis.hopeless import hopeless
from rotting.logs._diagnosis.misfit import misfit
from rotting.logs._diagnosis.shape import shapes
from rotting.logs._diagnosis.stories import MOST_UNITS, stories_of
from rotting.logs._log import Log
from rotting.logs._read.reader import read

STEPS = 4  # of progress
Report = Callable[[str, int], None]


def diagnose(
    source: Any,
    *,
    key: Any = None,
    arm: Any = None,
    time: Any = None,
    reward: Any = None,
    exposure: Any = None,
    propensity: Any = None,
    rows: str = "all",
    window: Any = None,
    history_complete: bool = True,
    smallest: float = 0.1,
    alpha: float = 0.05,
    seed: int = 0,
    progress: Report | None = None,
) -> Diagnosis:
    """Say whether what is in a log wears out with use, and how sure that is.

    source    a CSV or Parquet file, a frame of polars, pandas or Arrow, or a `Log`
    smallest  the fall, as a part of first showings, below which "does not rot" may be said
    alpha     the level of all tests together (Holm)
    seed      of what is drawn: bands, and which keys where there are very many

    The other arguments are those of `read`.
    """
    smallest, alpha, seed = check_settings(smallest, alpha, seed)
    tell = progress or (lambda what, steps: None)
    log = read(
        source,
        key=key,
        arm=arm,
        time=time,
        reward=reward,
        exposure=exposure,
        propensity=propensity,
        rows=rows,
        window=window,
        history_complete=history_complete,
    )
    tell("read", 1)
    return diagnose_log(log, smallest=smallest, alpha=alpha, seed=seed, progress=tell)


def check_settings(smallest: float, alpha: float, seed: int) -> tuple[float, float, int]:
    """What `diagnose` is told beside the log, or a refusal before a log is read."""
    return (
        _checks.number("smallest", smallest, above=0.0, below=1.0),
        _checks.number("alpha", alpha, above=0.0, below=0.5),
        _checks.integer("seed", seed, least=0),
    )


def diagnose_log(
    log: Log, *, smallest: float, alpha: float, seed: int, progress: Report, pictures: bool = True
) -> Diagnosis:
    """The diagnosis of a log that has been read; without `pictures` its shapes are left out."""
    settings = {"smallest": smallest, "alpha": alpha, "seed": seed, "source": log.source}
    asked = log.only(log.settled)  # a young row has a reward only if one came already
    reason = hopeless(asked)
    if reason is not None:
        return verdicts.nothing_to_tell(log, reason, settings)
    stories = stories_of(asked, seed)
    answers = ask(stories)
    found = verdicts.Findings(stories, answers, smallest, alpha)
    # where use and calendar cannot be told apart, that is the better reason
    told = found.torn or (found.falls and found.together)
    reason = None if told else misfit(stories, answers)
    if reason is not None:
        progress("tests", STEPS - 1)
        return verdicts.nothing_to_tell(log, reason, settings)
    progress("tests", 1)
    drawn = shapes(stories, calendar=answers.p_calendar is not None, seed=seed) if pictures else []
    progress("shapes", 1)
    sampled = log.has_keys and log.keys > MOST_UNITS
    decided = verdicts.decide(log, stories, answers, drawn, settings, sampled)
    progress("verdicts", 1)
    return decided
