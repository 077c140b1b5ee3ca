"""From a log to its diagnosis: the questions in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from rotting import _checks
from rotting._log_columns import ColumnOptions, Columns, takes_columns
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


@takes_columns
def diagnose(
    source: Any,
    columns: Columns | None = None,
    *,
    smallest: float = 0.1,
    alpha: float = 0.05,
    seed: int = 0,
    progress: Report | None = None,
    **named: Unpack[ColumnOptions],
) -> Diagnosis:
    """Test whether rewards fall with use, or by selection or the calendar, and what that costs.

    Args:
        source: A CSV or Parquet file, a frame of polars, pandas or Arrow, a mapping of columns, or
            a `Log`.
        columns: Which column holds what; see `Columns`.
        smallest: The smallest fall that matters, as a share of first showings: "does-not-rot" is
            the verdict only if a larger one is excluded.
        alpha: The level of all tests together (Holm).
        seed: Of the bands, and of the sample of keys where a log has very many.
        progress: Called with (what is done, steps done by it), four steps in all.
        key, arm, time, reward, ...: The fields of `Columns`, which can be given as keyword
            arguments instead, as `read` takes them.

    Returns:
        A `Diagnosis`. It prints itself, and shows itself with pictures in a notebook.

    Raises:
        ValueError: A setting is out of its range, or the source cannot be a log (see `read`).

    >>> from rotting import logs
    >>> log = logs.synthetic("constant", keys=40, exposures=2, seed=1)
    >>> found = logs.diagnose(log, key="key", alpha=0.01)
    >>> found["contents"].evidence["keys"], found["exposure"].title
    (40, 'Does the reward fall with exposure?')
    """
    smallest, alpha, seed = check_settings(smallest, alpha, seed)
    report = progress or (lambda what, steps: None)
    log = read(source, columns, **named)
    report("read", 1)
    return diagnose_log(log, smallest=smallest, alpha=alpha, seed=seed, progress=report)


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
