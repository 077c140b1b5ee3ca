"""Why the last arm was chosen, in a sentence or two.

What was compared is not written down when it is decided: that would take longer than deciding. The
sentence is made from what is known when it is asked for. While no reward has come since, the pull
of the last decision is taken back first, in a copy of the state. Otherwise the figures are those of
now, and the sentence says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rotting.arrays import IntArray
from rotting.live import ledger as at
from rotting.live.ledger import NOBODY, Desk
from rotting.online.table import figure, quoted
from rotting.policies.base import Policy
from rotting.policies.parts.arms import TIME, Arms
from rotting.policies.parts.exposures import take_back
from rotting.state import is_part
from rotting.verbs import Opinion, look, reopen

_SINCE = " Rewards have come since: these are the figures of now."


class Asked(NamedTuple):
    """A player as it was when it was asked; state and desk are copies."""

    policy: Policy
    arms: tuple[Any, ...]  # labels
    params: Any
    state: Any
    desk: Desk
    whom: str = ""  # of an audience: for which key, in words, the last decision was


def explain(asked: Asked) -> str:
    """Why the last arm was chosen."""
    clock = asked.desk.clock.tolist()
    arm, pull, allowed = clock[at.LAST_ARM], clock[at.LAST_PULL], clock[at.LAST_ALLOWED]
    if clock[at.DECIDED] == 0:
        return "Nothing has been decided yet."
    if clock[at.LAST_KEY] == NOBODY:
        return "The last decision is not known: its key was forgotten."
    if arm == NOBODY:
        return "The last decision is not known: it was made before this player was saved."
    who = f"{quoted(asked.arms[arm])} was chosen{asked.whom} (pull {pull})"
    if allowed == 0:
        return f"Nothing was decided since {quoted(asked.arms[arm])} came last in the history."
    if clock[at.LAST_CONTROL]:
        drawn = f"it was drawn from {allowed} arms with equal probabilities"
        return f"{who} for the control group: {drawn}, whatever the policy thinks."
    if allowed == 1:
        return f"{who}: it was the only arm that could be."
    flags = _choosable(asked.desk, arm, allowed)
    if flags is not None and asked.policy.verbs.reopen is not None:
        reopen(asked.params, asked.state, flags)
    if not clock[at.LEARNT]:
        _take_back(asked.state, arm)
    opinion = look(asked.params, asked.state, arm)
    return who + _because(asked, arm, opinion, flags)


def _choosable(desk: Desk, arm: int, allowed: int) -> IntArray | None:
    """The arms that could be chosen in the last decision, if that is still known."""
    for flags in (desk.open, desk.allowed):
        if flags.sum() == allowed and flags[arm]:
            return flags
    return None


def _take_back(state: Any, arm: int) -> None:
    """Take back a pull, wherever pulls and rounds are counted."""
    if isinstance(state, Arms):
        state.pulls[arm] -= 1
        state.clock[TIME] = max(0, state.clock[TIME] - 1)
        take_back(state.exposure, arm)
    for part in state:
        if is_part(part):
            _take_back(part, arm)


def _because(asked: Asked, arm: int, opinion: Opinion | None, flags: IntArray | None) -> str:
    """The rest of the sentence, after who was chosen."""
    title, clock = asked.policy.title, asked.desk.clock
    untried = clock[at.LAST_SEEN] == 0
    since = _SINCE if clock[at.LEARNT] > 0 else ""
    rule = "" if opinion is None else opinion.rule
    if rule == "uniform":
        return f": {title} draws from {clock[at.LAST_ALLOWED]} arms with equal probabilities."
    if rule == "turn":
        return f": {title} takes the arms in turn, and it was its turn."
    if rule == "chance" and opinion is not None and flags is not None:
        return f": it was drawn, with probability {figure(opinion.index)}.{since}"
    from_prior = rule == "sampled" and opinion is not None and opinion.estimate is not None
    if rule in ("highest", "mostly", "sampled", "filtered") and untried and not from_prior:
        return " to ramp up: no reward of it was known."
    if rule == "filtered":
        return f": it passed the filter of {title}, and no other arm that did had been pulled less."
    if opinion is None or (opinion.index is None and opinion.estimate is None):
        if rule in ("highest", "mostly", "sampled"):
            return f" to ramp up: {title} wants to know more of it before it compares it."
        return f" by {title}, which does not say why."
    if rule == "sampled":
        mean, deviation = figure(opinion.estimate), figure(opinion.padding)
        posterior = f"its posterior has mean {mean} and standard deviation {deviation}"
        return f": the number drawn for it was the highest; {posterior}.{since}"
    if opinion.index is None:
        worth = f"expects {figure(opinion.estimate)} of it"
        return f" by {title}, which {worth} and does not say what it compares.{since}"
    return _compared(asked, arm, opinion, flags, since)


def _compared(asked: Asked, arm: int, opinion: Opinion, flags: IntArray | None, since: str) -> str:
    """The index in words and numbers, and the runner-up's."""
    own = opinion.index
    assert own is not None
    named = "its next mean" if opinion.rule == "told" else "its index"
    said = f"{named} {figure(own)}"
    if opinion.padding is not None and opinion.estimate is not None:
        sign = "-" if opinion.padding < 0 else "+"
        said += f" = {figure(opinion.estimate)} {sign} {figure(abs(opinion.padding))}"
    others = [] if flags is None else _others(asked, arm, flags)
    if not others:
        count = asked.desk.clock[at.LAST_ALLOWED]
        return f" from {count} arms; by the figures of now it has {said.removeprefix('its ')}."
    value, rival = max(others, key=lambda other: other[0])
    next_one = quoted(asked.arms[rival])
    if own > value:
        rest = f"next is {next_one} with {figure(value)}"
        return f": {said} is the highest of {len(others) + 1} arms; {rest}.{since}"
    if own == value:
        return f": {said} is the highest of {len(others) + 1} arms, a tie with {next_one}.{since}"
    higher = f"{next_one} has {figure(value)}"
    if opinion.rule == "mostly" and not since:
        tries = f"{asked.policy.title} also tries neglected arms that may be better"
        return f" although {said} is not the highest, {higher}: {tries}."
    when = "by the figures of now" if since else "with that pull counted"
    return f"; {when} {said} is not the highest, {higher}."


def _others(asked: Asked, arm: int, flags: IntArray) -> list[tuple[float, int]]:
    """The indices of the other arms that could be chosen, each with its arm."""
    found = []
    for other in flags.nonzero()[0].tolist():
        opinion = None if other == arm else look(asked.params, asked.state, other)
        if opinion is not None and opinion.index is not None:
            found.append((opinion.index, other))
    return found
