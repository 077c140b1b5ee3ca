"""What is asked of a log, and the tests that answer: use, calendar, rest, and who leaves."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.logs._diagnosis import companions, joint
from rotting.logs._diagnosis.stories import Stories, exposure_effect, model_data, start_of

APART = 0.1  # 1 - R^2 of the showing's number on periods: below, use and calendar move together
_HALF_LIVES = (0.3, 0.8, 2.0, 5.0, 12.0)  # in median gaps
_STEADY = 0.1  # spread of the logarithms of gaps below which rest says nothing
_BELIEVED = 0.05  # a half-life with a higher p-value is not used in other answers
_ASK_REST = 1.0  # standard errors that a fall must have before rest is asked about


class Answers(NamedTuple):
    """The tests of a log; p-values are not corrected yet.

    theta, error    the n-th showing is worth n^-theta of the first; n may be what is remembered
    p_use           one-sided, of theta being zero; None if use and calendar move together
    p_together      one-sided, of no fall by either, where they do
    calendar        the calendar's change from the first to the last day, as a factor
    p_calendar      of a calendar that moves nothing; None without times
    half_life       days after which a showing is half forgotten, inf if never; None if not asked
    p_rest          of showings that are never forgotten
    p_type, p_paid  of leaving not depending on the key's level, on the last reward; None if nobody
                    leaves
    """

    theta: float
    error: float
    p_use: float | None
    p_together: float | None
    calendar: tuple[float, float, float] | None
    p_calendar: float | None
    half_life: float | None
    p_rest: float | None
    p_type: float | None
    p_paid: float | None
    apart: float
    apart_within: float
    use: FloatArray  # ln of what is remembered of showings, by row
    fitted: joint.Fitted
    data: joint.Data


def ask(stories: Stories) -> Answers:
    """Fit the joint model and test what it says."""
    log = stories.log
    apart = apart_within = math.nan
    together = False
    if log.has_times:
        apart = companions.separability(stories, within=not log.has_keys, logs=True)
        apart_within = companions.separability(stories, within=True, logs=False)
        together = apart < APART
    plain = exposure_effect(stories)
    data = model_data(stories, plain, calendar=log.has_times and not together)
    fitted = joint.fit(data, start_of(data))
    theta, error = fitted.effect(0)
    p_fall = _falls(theta, error)
    half_life, p_rest, chosen, use = None, None, (fitted, data), plain
    if log.has_times and not together and _gaps_vary(stories):
        half_life, p_rest = math.inf, 1.0
        if theta > _ASK_REST * error:
            half_life, p_rest, further = _rest(stories, fitted, data)
            if further is not None and p_rest < _BELIEVED:
                chosen, use = further, exposure_effect(stories, half_life)
    p_type, p_paid = _leaving(*chosen)
    moved = None
    p_calendar = None
    if log.has_times and not together:
        moved, p_calendar = _calendar(*chosen)
    return Answers(
        theta=theta,
        error=error,
        p_use=None if together else p_fall,
        p_together=p_fall if together else None,
        calendar=moved,
        p_calendar=p_calendar,
        half_life=half_life,
        p_rest=p_rest,
        p_type=p_type,
        p_paid=p_paid,
        apart=apart,
        apart_within=apart_within,
        use=use,
        fitted=chosen[0],
        data=chosen[1],
    )


def _falls(theta: float, error: float) -> float:
    from scipy.stats import norm

    return float(norm.sf(theta / error)) if error > 0.0 else 1.0


def _gaps_vary(stories: Stories) -> bool:
    gaps = stories.gap[np.isfinite(stories.gap) & (stories.gap > 0.0)]
    return gaps.size > 20 and float(np.std(np.log(gaps))) > _STEADY


def _rest(
    stories: Stories, fitted: joint.Fitted, data: joint.Data
) -> tuple[float, float, tuple[joint.Fitted, joint.Data] | None]:
    """The half-life that fits best, and how sure it is that showings are forgotten at all.

    Showings that are never forgotten are the end of the scale (1 / half-life = 0), so the ratio of
    likelihoods is zero half of the time, and else a chi-square of one degree (Self and Liang 1987).
    The p-value is that of the chi-square alone: twice as large, for half-lives are searched.
    """
    from scipy.stats import chi2

    gaps = stories.gap[np.isfinite(stories.gap) & (stories.gap > 0.0)]
    middle = float(np.median(gaps))
    best: tuple[float, joint.Fitted, joint.Data] | None = None
    worse = 0
    for times in reversed(_HALF_LIVES):
        changed = data.x.copy()
        changed[:, 0] = -exposure_effect(stories, times * middle)
        tried = data._replace(x=changed)
        found = joint.search(tried, fitted.parameters if best is None else best[1].parameters)
        if best is None or found.likelihood > best[1].likelihood:
            best, worse = (times * middle, found, tried), 0
        else:
            worse += 1
            if worse == 2:  # the likelihood has one peak over half-lives, or nearly
                break
    assert best is not None
    gain = 2.0 * (best[1].likelihood - fitted.likelihood)
    if gain <= 0.0:
        return math.inf, 1.0, None
    p_value = float(chi2.sf(gain, 1))
    return best[0], p_value, (joint.with_errors(best[1], best[2]), best[2])


def _leaving(fitted: joint.Fitted, data: joint.Data) -> tuple[float | None, float | None]:
    if not data.leaving:
        return None, None
    first, ends = data.effects, data.seen.shape[1]
    paid = list(range(first + 1, first + ends - 1))
    return fitted.wald([first + ends]), fitted.wald(paid)


def _calendar(fitted: joint.Fitted, data: joint.Data) -> tuple[tuple[float, float, float], float]:
    """What is left at the end of what the calendar gave at the beginning, with 95 % limits."""
    value, error = fitted.effect(1)  # the trend from the first day to the last; the bend is even
    ends = (-value, -value - 1.96 * error, -value + 1.96 * error)
    middle, low, high = (math.exp(min(50.0, end)) for end in ends)
    return (middle, low, high), fitted.wald([1, 2])
