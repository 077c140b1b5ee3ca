"""What the answers mean: a verdict for each question, and one for all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.logs._diagnosis import companions, contents, diagnosis, words
from rotting.logs._diagnosis.asking import APART, Answers
from rotting.logs._diagnosis.cost import Cost, allowed, cost_of, fall
from rotting.logs._diagnosis.diagnosis import Diagnosis, Part
from rotting.logs._diagnosis.hopeless import Reason
from rotting.logs._diagnosis.shape import Shape, by_arm
from rotting.logs._diagnosis.stories import Stories, calendar_effects
from rotting.logs._log import Log
from rotting.stats import holm

ONE_SIDED, TWO_SIDED = 1.645, 1.96
JOINT = "joint model of rewards and leaving, maximum likelihood, sandwich errors by key"
GIVEN_LEVELS = "rewards by fixed levels of the arms, maximum likelihood, errors by blocks of rows"
_HALF = 0.5  # of the calendar's change: what is not excluded of use must be less
_POSITIVE = 0.95  # of real rewards that must be positive before their logarithms are looked at


def nothing_to_tell(log: Log, reason: Reason, settings: Mapping[str, Any]) -> Diagnosis:
    """The diagnosis of a log from which nothing can be concluded."""
    seen = contents.means_by_exposure(log)
    parts = {"contents": contents.part(log)}
    for name in ("exposure", "selection", "calendar", "recovery", "shape", "cost"):
        parts[name] = Part(
            name,
            "cannot-tell",
            words.UNTOLD[name] if name != "exposure" else f"Cannot tell. {reason.sentence}",
            "means of the rewards by showing" if name == "exposure" else "not asked",
            "none: nothing is concluded",
            evidence=seen if name == "exposure" else {},
        )
    parts["unknown"] = Part("unknown", reason.code, reason.sentence, "what the table holds", "none")
    return Diagnosis(
        diagnosis.UNKNOWN,
        f"This log cannot tell whether it rots. {reason.sentence}",
        parts,
        log.problems,
        log.notes,
        settings,
        reason.advice,
    )


class Findings:
    """The corrected p-values, falls and intervals that verdicts are made of."""

    def __init__(self, stories: Stories, answers: Answers, smallest: float, alpha: float) -> None:
        self.answers, self.smallest, self.alpha = answers, smallest, alpha
        asked = {
            "use": answers.p_use if answers.p_use is not None else answers.p_together,
            "calendar": answers.p_calendar,
            "rest": answers.p_rest,
        }
        named = {name: p for name, p in asked.items() if p is not None}
        self.p = dict(zip(named, holm(list(named.values())), strict=True))
        self.together = answers.p_use is None
        self.falls = self.p["use"] < alpha
        self.moves = self.p.get("calendar", 1.0) < alpha
        self.rests = self.falls and self.p.get("rest", 1.0) < alpha
        self.plain = plain = stories.log_exposure
        theta, error = answers.theta, answers.error
        self.fall = fall(plain, theta)
        self.low = fall(plain, theta - TWO_SIDED * error)
        self.high = fall(plain, theta + TWO_SIDED * error)
        self.most = fall(plain, theta + ONE_SIDED * error)
        self.moved = 0.0 if answers.calendar is None else abs(1.0 - answers.calendar[0])
        self.scales = _scales(stories, answers)
        hardly = answers.apart_within < APART
        self.torn = (self.falls or self.moves) and hardly and _disagree(self.scales)

    @property
    def overall(self) -> str:
        """The verdict on the whole, as a word."""
        if (self.falls and self.together) or self.torn:
            return diagnosis.UNKNOWN
        if self.rests:
            return diagnosis.RECOVERS
        if self.falls:
            return diagnosis.BOTH if self.moves else diagnosis.ROTS
        if self.moves and self.most < max(self.smallest, _HALF * self.moved):
            return diagnosis.CALENDAR
        if self.moves:  # the calendar moves it, but a fall by use of that order is not excluded
            return diagnosis.UNKNOWN
        return diagnosis.STAYS if self.most < self.smallest else diagnosis.UNKNOWN

    def more_rows(self) -> float:
        """How many times as many keys would do to say "does not rot", if it does not."""
        low, high = 0.0, 10.0
        use = self.plain
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if fall(use, middle) < self.smallest else (low, middle)
        needed = low / ONE_SIDED
        return max(1.0, (self.answers.error / max(needed, 1e-12)) ** 2)


def _scales(stories: Stories, answers: Answers) -> list[companions.Slope]:
    """Slopes with key and period effects, of rewards and of their logarithms where those exist."""
    log = stories.log
    if not log.has_times or not log.has_keys:
        return []
    found = [companions.within_keys(stories, calendar=True)]
    if not log.binary and float(np.mean(log.reward > 0.0)) >= _POSITIVE:
        found.append(companions.within_keys(stories, calendar=True, logs=True))
    return found


def _disagree(scales: Sequence[companions.Slope]) -> bool:
    """Whether raw rewards and their logarithms say different things of use, once keys are fixed."""
    if len(scales) < 2 or any(math.isnan(one.value) for one in scales):
        return False
    return (scales[0].p_falls < 0.05) != (scales[1].p_falls < 0.05)


def decide(
    log: Log,
    stories: Stories,
    answers: Answers,
    drawn: Sequence[Shape],
    settings: Mapping[str, Any],
    sampled: bool,
) -> Diagnosis:
    """All verdicts of a log that can be asked."""
    found = Findings(stories, answers, settings["smallest"], settings["alpha"])
    error = answers.fitted.effect(0)
    theta, spread = error if found.rests else (answers.theta, answers.error)
    use = answers.use if found.rests else stories.log_exposure
    ends = theta - TWO_SIDED * spread, theta + TWO_SIDED * spread
    most = allowed(stories, _moved(stories, answers))
    cost = cost_of(stories.log.reward, use, theta, *ends, most)
    parts = [
        contents.part(log, stories.units if sampled else None),
        _exposure(found, stories),
        _selection(found, stories),
        _calendar(found, stories),
        _recovery(found, stories),
        _shape(found, drawn),
        _cost(found, cost, stories, log),
        _unknown(found, log),
    ]
    return Diagnosis(
        found.overall,
        words.headline(found, log),
        {part.name: part for part in parts},
        log.problems,
        log.notes,
        settings,
        words.advice(found, log),
    )


def _moved(stories: Stories, answers: Answers) -> FloatArray:
    """What the calendar makes of each row's reward, as fitted."""
    if answers.calendar is None:
        return np.ones(stories.log.reward.size)
    effects = np.stack(calendar_effects(stories), axis=1) @ answers.fitted.parameters[1:3]
    return np.asarray(np.exp(np.clip(effects, -50.0, 50.0)))


def _method(stories: Stories) -> str:
    return JOINT if stories.log.has_keys else GIVEN_LEVELS


def _exposure(found: Findings, stories: Stories) -> Part:
    answers = found.answers
    code = "yes" if found.falls else "no" if found.most < found.smallest else "cannot-tell"
    evidence = {
        "theta": answers.theta,
        "standard_error": answers.error,
        "upper_limit": found.most,
        "smallest": found.smallest,
        **contents.means_by_exposure(stories.log),
    }
    return Part(
        "exposure",
        code,
        words.exposure(found, stories.log),
        _method(stories),
        words.assumption(stories.log, found.together),
        p_value=found.p["use"],
        estimate=found.fall,
        interval=(found.low, found.high),
        evidence=evidence,
    )


def _selection(found: Findings, stories: Stories) -> Part:
    answers, log = found.answers, stories.log
    slopes = {"pooled": companions.pooled_trend(stories)}
    if log.has_keys:
        slopes["within_keys"] = companions.within_keys(stories, calendar=False)
        slopes["weighted"] = companions.weighted_differences(stories)
    level = float(np.mean(log.reward[log.exposure == log.exposure.min()]))
    level = level or float(np.mean(log.reward)) or 1.0
    seen = -slopes["pooled"].value * float(np.mean(stories.log_exposure)) / level
    depends = [p for p in (answers.p_type, answers.p_paid) if p is not None]
    p_value = min(1.0, 2.0 * min(depends)) if depends else None
    code = "nobody-leaves" if p_value is None else "yes" if p_value < found.alpha else "no"
    return Part(
        "selection",
        code if log.has_keys else "no-keys",
        words.selection(found, log, code, seen),
        "Wald tests in the joint model: does the chance to leave depend on the key's level, on "
        "the last reward"
        if log.has_keys
        else "none",
        "the chance to leave depends on the key's level, its last reward and the showing's number",
        p_value=p_value,
        estimate=seen,
        evidence={
            "p_level": answers.p_type,
            "p_last_reward": answers.p_paid,
            "fall_as_seen": seen,
            "fall_corrected": found.fall,
            "companions": {name: slope.as_data() for name, slope in slopes.items()},
        },
    )


def _calendar(found: Findings, stories: Stories) -> Part:
    answers, log = found.answers, stories.log
    evidence: dict[str, Any] = {
        "separability": answers.apart,
        "separability_within_keys": answers.apart_within,
        "slopes_with_key_and_period_effects": [one.as_data() for one in found.scales],
    }
    if log.has_times and log.has_keys:
        evidence["first_exposures"] = companions.first_exposures(stories).as_data()
        evidence["over_time"] = contents.means_by_period(stories)
    if not log.has_times:
        code = "no-times"
    elif found.together or found.torn:
        code = "cannot-tell"
    else:
        code = "yes" if found.moves else "no"
    moved = answers.calendar
    return Part(
        "calendar",
        code,
        words.calendar(found, log, code),
        "trend and bend over time in the joint model, Wald test; first showings over time; 1 - "
        "R^2 of the showing's number on periods and keys",
        "keys that come early and keys that come late are alike"
        if log.has_keys
        else "the calendar moves all arms alike",
        p_value=found.p.get("calendar"),
        estimate=None if moved is None else moved[0] - 1.0,
        interval=None if moved is None else (moved[1] - 1.0, moved[2] - 1.0),
        evidence=evidence,
    )


def _recovery(found: Findings, stories: Stories) -> Part:
    answers = found.answers
    if answers.p_rest is None:
        code = "cannot-tell"
    elif not found.falls:
        code = "nothing-to-recover"
    else:
        code = "yes" if found.rests else "not-shown"
    half = answers.half_life
    finite = half is not None and math.isfinite(half)
    return Part(
        "recovery",
        code,
        words.recovery(found, stories.log, code),
        "likelihood ratio of showings that are half forgotten after some days against showings "
        "that are never forgotten",
        "days between showings do not depend on what the key will pay next",
        p_value=found.p.get("rest"),
        estimate=half if finite else None,
        evidence={"half_life_days": half if finite else None},
    )


def _shape(found: Findings, drawn: Sequence[Shape]) -> Part:
    whole = drawn[0] if drawn else None
    unclear = found.together or found.torn  # an arm's fall may then be the calendar's
    return Part(
        "shape",
        whole.family if whole and found.falls else "none" if not found.falls else "unknown",
        words.shape(found, drawn),
        "the joint model with a level for each cell of showings, made falling by isotonic "
        "regression; bands by draws from its covariance; families by generalised least squares "
        "and Akaike",
        "as for the exposure; with the calendar's trend taken out where it could be asked",
        evidence={
            "curves": [one.as_data() for one in drawn],
            "arms": [] if unclear else by_arm(drawn, found.smallest, found.alpha),
        },
        interval=(float(whole.low[-1]), float(whole.high[-1])) if whole else None,
        estimate=float(whole.worth[-1]) if whole else None,
    )


def _cost(found: Findings, cost: Cost, stories: Stories, log: Log) -> Part:
    share = np.count_nonzero(~np.isnan(log.reward)) / max(1, stories.log.reward.size)
    lost = (cost.lost * share, cost.lost_low * share, cost.lost_high * share)
    return Part(
        "cost",
        "yes" if found.falls else "none",
        words.cost(found, cost, lost, log.binary),
        "each row's reward against what the fitted fall says a first showing would have paid",
        "a first showing to the same key would have paid in proportion",
        estimate=lost[0],
        interval=(lost[1], lost[2]),
        evidence={
            "lost": lost[0],
            "share": cost.share,
            "share_interval": [cost.share_low, cost.share_high],
            "paid": float(np.nansum(log.reward)),
        },
    )


def _unknown(found: Findings, log: Log) -> Part:
    open_questions = words.open_questions(found, log)
    return Part(
        "unknown",
        "nothing" if not open_questions else "something",
        " ".join(open_questions) or "Nothing that was asked stays open.",
        "the verdicts above",
        f"all of the above; use and calendar count as apart from {APART:g} on",
        evidence={"open": open_questions},
    )
