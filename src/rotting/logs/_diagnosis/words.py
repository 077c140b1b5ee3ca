"""The sentences of a diagnosis: what a marketing person reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rotting.logs._diagnosis import diagnosis
from rotting.logs._diagnosis.cost import Cost
from rotting.logs._diagnosis.phrases import p_text as p_text
from rotting.logs._diagnosis.phrases import percent as percent
from rotting.logs._diagnosis.phrases import sentence as sentence
from rotting.logs._diagnosis.shape import Shape
from rotting.logs._log import Log

if TYPE_CHECKING:
    from rotting.logs._diagnosis.verdicts import Findings

UNTOLD = {
    "selection": "Cannot tell: see above.",
    "calendar": "Not asked: nothing is known of a fall, which may be selection alone.",
    "recovery": "Not asked: nothing is known of a fall that rest could bring back.",
    "shape": "Not drawn: means by showing, as they are in the log, mix fatigue and selection.",
    "cost": "Unknown: without knowing what falls nobody can say what it costs.",
}


def assumption(log: Log, together: bool) -> str:
    """What the answer about exposure rests on."""
    if not log.has_keys:
        return (
            "arms have levels of their own, and whoever chose the arms did not know the next reward"
        )
    text = "keys differ by a factor, and leave by it, by their last reward and the showing's number"
    return text + ("; use and calendar could not be taken apart" if together else "")


def exposure(found: Findings, log: Log) -> str:
    """Does the reward fall with exposure?"""
    whom = ", keys who left being accounted for" if log.has_keys else ""
    band = f"{percent(found.low)} to {percent(found.high)}"
    if found.falls:
        first = (
            f"Yes. Over the showings in this log rewards are {percent(found.fall)} below those "
            f"of first showings (95 % interval {band}; {p_text(found.p['use'])}){whom}."
        )
        if found.together:
            first += " Use and calendar move together here, so this is the fall of both."
        return first
    if found.most < found.smallest:
        if found.high < 0.0:
            return (
                f"No: rewards rise with exposure, by {percent(-found.fall)} on average "
                f"({percent(-found.high)} to {percent(-found.low)})."
            )
        if found.most <= 0.0:
            return "No: with 95 % confidence rewards do not fall with exposure."
        return (
            f"No fall that matters: with 95 % confidence it is below {percent(found.most, 1)}, "
            f"and {percent(found.smallest)} was asked for."
        )
    return (
        f"Cannot tell. A fall was not shown ({p_text(found.p['use'])}), but one of up to "
        f"{percent(found.most)} is not excluded either; the smallest that matters was said to be "
        f"{percent(found.smallest)}."
    )


def selection(found: Findings, log: Log, code: str, seen: float) -> str:
    """Could that be selection?"""
    if not log.has_keys:
        return (
            "Cannot be asked: without keys it is not known who was shown what. If it was shown to "
            "people who come and go, the fall may be theirs; name the column that says who (--key)."
        )
    if code == "nobody-leaves":
        return (
            "Hardly anybody leaves before the end: those who are still there are those who began."
        )
    moved = f"As they stand in the log rewards are {_off(seen)} first showings"
    if code == "no":
        return f"No sign of it: leaving depends neither on the key nor on its last reward. {moved}."
    causes = []
    if found.answers.p_type is not None and found.answers.p_type < found.alpha:
        causes.append("on the key's own level")
    if found.answers.p_paid is not None and found.answers.p_paid < found.alpha:
        causes.append("on its last reward")
    why = " and ".join(causes) or "on what was seen"
    return (
        f"Those who stay are not those who left: leaving depends {why}. {moved}; with that "
        f"accounted for they are {_off(found.fall)} them."
    )


def _off(fall: float) -> str:
    return f"{percent(abs(fall))} {'below' if fall >= 0.0 else 'above'}"


def calendar(found: Findings, log: Log, code: str) -> str:
    """Is it use, or the calendar?"""
    answers = found.answers
    if code == "no-times":
        return "Cannot tell: the table has no times."
    if found.together:
        return (
            "Cannot tell: use and calendar move together. Of how often an arm was shown, "
            f"{percent(1.0 - max(0.0, answers.apart))} follows from the date alone (1 - R^2 = "
            f"{answers.apart:.2f})."
        )
    if found.torn:
        raw, logs = found.scales
        return (
            "Cannot tell: the split depends on the scale. With effects of each key and period a "
            f"showing changes the reward by {raw.value:+.3g} (+- {raw.error:.2g}) and its "
            f"logarithm by {logs.value:+.3g} (+- {logs.error:.2g}), for use and calendar can "
            f"hardly be separated within a key (1 - R^2 = {answers.apart_within:.2f})."
        )
    assert answers.calendar is not None
    change, low, high = (end - 1.0 for end in answers.calendar)
    band = f"{percent(low)} to {percent(high)}"
    if code == "yes":
        also = ", beside the fall by use" if found.falls else "; no fall by use was shown"
        return (
            f"The calendar moves it: from the first day to the last by {percent(change)} "
            f"({band}; {p_text(found.p['calendar'])}), whatever is shown{also}."
        )
    what = "So the fall is by use. " if found.falls else ""
    return (
        f"{what}The calendar was not shown to move it: {percent(change)} from the first day to "
        f"the last ({band}; {p_text(found.p['calendar'])})."
    )


def recovery(found: Findings, log: Log, code: str) -> str:
    """Does rest bring it back?"""
    if code == "cannot-tell":
        if not log.has_times:
            return "Cannot tell: the table has no times."
        return "Cannot tell: " + (
            "use and calendar move together."
            if found.together
            else "showings come at a steady pace."
        )
    if code == "nothing-to-recover":
        return "There is no fall that rest could bring back."
    if code == "yes":
        return (
            f"Yes: half of a showing is forgotten after about {_days(found.answers.half_life)} "
            f"({p_text(found.p['rest'])})."
        )
    return (
        "Not shown: showings that are never forgotten explain the log as well "
        f"({p_text(found.p['rest'])})."
    )


def _days(days: float | None) -> str:
    if days is None:
        return "an unknown time"
    if days < 0.1:
        return f"{24.0 * days:.1f} hours"
    return f"{days:.1f} days"


def shape(found: Findings, drawn: Sequence[Shape]) -> str:
    """What shape has the fall?"""
    if not drawn:
        return "Not drawn."
    whole = drawn[0]
    if not found.falls:
        return "No fall was shown, so it has no shape."
    last = int(whole.numbers[-1])
    text = (
        f"It falls {whole.about}. Without a formula, showings from {last} on are worth "
        f"{percent(float(whole.worth[-1]))} of the first ({percent(float(whole.low[-1]))} to "
        f"{percent(float(whole.high[-1]))})."
    )
    others = [one for one in drawn[1:] if len(one.numbers) > 1]
    if len(others) > 1:
        common = min(int(one.numbers[-1]) for one in others)  # all arms have rows there
        worth = {one.name: one.at(common) for one in others}
        steep, flat = min(worth, key=worth.__getitem__), max(worth, key=worth.__getitem__)
        if percent(worth[steep]) == percent(worth[flat]):
            return f"{text} The arms fall alike, to {percent(worth[flat])} at showing {common}."
        text += (
            f" Of the arms {steep!r} falls most, to {percent(worth[steep])} at showing {common}, "
            f"and {flat!r} least, to {percent(worth[flat])}."
        )
    return text


def cost(found: Findings, lost: Cost, total: tuple[float, float, float], binary: bool) -> str:
    """What does it cost?"""
    unit = "rewards of one (clicks, say)" if binary else "of the reward's unit"
    if not found.falls:
        return "No fall was shown, so no cost is claimed."
    text = (
        f"About {total[0]:,.4g} {unit} were lost against first showings "
        f"({total[1]:,.4g} to {total[2]:,.4g}): {percent(lost.share)} of what they would have paid."
    )
    if found.overall == diagnosis.UNKNOWN:
        text += " It is the loss by use and calendar together."
    return text


def open_questions(found: Findings, log: Log) -> list[str]:
    """What stays open."""
    asked = []
    if found.together:
        asked.append("Whether it is use or the calendar: the two move together in this log.")
    if found.torn:
        asked.append(
            "Whether it is use or the calendar: the answer depends on the scale of the rewards."
        )
    if not log.has_times:
        asked.append(
            "Whether it is use or the calendar, and whether rest helps: there are no times."
        )
    if found.overall == diagnosis.UNKNOWN and not (found.falls or found.torn):
        asked.append(
            "Whether it falls at all: the log is too small for a fall of the size that matters."
        )
    if found.answers.p_rest is None and log.has_times and not found.together:
        asked.append("Whether rest brings it back: showings come at a steady pace.")
    if not log.history_complete:
        asked.append("What keys had seen before the log began.")
    return asked


def headline(found: Findings, log: Log) -> str:
    """The verdict on the whole, in a sentence or two."""
    lost = f"rewards over the log are {percent(found.fall)} below those of first showings"
    if found.torn:
        return (
            "This log cannot tell use from calendar: within a key the two move together, and "
            "whether rewards fall with use depends on the scale on which they are looked at."
        )
    code = found.overall
    if code == diagnosis.UNKNOWN and found.falls:
        return f"It falls ({lost}), but whether by use or by the calendar this log cannot tell."
    if code == diagnosis.UNKNOWN and found.moves:
        return (
            "The calendar moves it; whether use does, too, this log cannot tell: a fall by use "
            f"was not shown, and one of up to {percent(found.most)} is not excluded."
        )
    if code == diagnosis.UNKNOWN:
        return (
            f"This log cannot tell: a fall was not shown, and one of up to {percent(found.most)} "
            "is not excluded."
        )
    if code == diagnosis.STAYS and found.most <= 0.0:
        return "It does not rot: with 95 % confidence rewards do not fall with exposure."
    if code == diagnosis.STAYS:
        return f"It does not rot: the fall is below {percent(found.most, 1)} with 95 % confidence."
    if code == diagnosis.CALENDAR:
        return "It is the calendar: rewards move with time, and no fall by use was shown."
    if code == diagnosis.RECOVERS:
        rest = _days(found.answers.half_life)
        also = " The calendar moves it, too." if found.moves else ""
        return (
            f"It rots and recovers: {lost}, and half of a showing is forgotten after {rest}.{also}"
        )
    if code == diagnosis.BOTH:
        return f"It rots, and the calendar moves it too: by use alone {lost}."
    if not log.has_times:
        return (
            f"It rots: {lost}; whether by use or with time the table cannot say, having no times."
        )
    return f"It rots: {lost}, and that is by use."


def advice(found: Findings, log: Log) -> str:
    """The small experiment that would settle what is open; empty if nothing is."""
    if found.together or found.torn:
        return (
            "Let a random half of new keys meet the arm a few weeks later than the others. First "
            "showings on the same day then come beside later ones: if they pay alike it is the "
            "calendar, and if first showings pay more it is use."
        )
    if found.overall == diagnosis.UNKNOWN:
        times = found.more_rows()
        if times < 1.2:
            return "A few more keys would settle it, if there is no fall."
        if times < 1000.0:
            return f"About {times:.1f} times as many keys would settle it, if there is no fall."
        return "Many more keys would be needed."
    if not log.has_times:
        return "Log the time of each showing: then calendar and rest can be asked about."
    return ""
