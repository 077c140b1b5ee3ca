"""What policies say of an arm to those who watch: plain Python, never compiled.

Minus infinity is what indices begin with; to people it is no number.
"""

from __future__ import annotations

import math
from typing import Any

from rotting.kernel.verbs import Inspection, score
from rotting.policies.parts.arms import TIME, next_pull
from rotting.policies.parts.padding import padding_at


def certain(value: Any) -> Inspection:
    """An estimate that is the index itself: nothing is added."""
    return Inspection() if value == -math.inf else Inspection(value, None, value)


def padded(mean: Any, width: Any, bonus: Any) -> Inspection:
    """A mean with the padding bonus * width, as `argmax_padded` compares them."""
    return (
        Inspection() if mean == -math.inf else Inspection(mean, bonus * width, mean + bonus * width)
    )


def sampled(mean: Any, deviation: Any) -> Inspection:
    """A posterior from which a number is drawn."""
    if mean == -math.inf:
        return Inspection(rule="sampled")
    return Inspection(mean, deviation, rule="sampled")


def worth_and_padding(params: Any, state: Any, arm: Any) -> Inspection:
    """The verb `inspect` of a policy that adds sqrt(c ln t) width to what it judges."""
    bonus = padding_at(params.padding, params.c, state.arms.clock[TIME] + 1)
    worth = score(params, state, arm, next_pull(state.arms, arm))
    return padded(worth, state.width[arm], bonus)


def ranked(params: Any, state: Any, arm: Any) -> Inspection:
    """The verb `inspect` of a policy that keeps a ranking of its arms."""
    return certain(state.ranking.value[arm])


def judged(params: Any, state: Any, arm: Any) -> Inspection:
    """The verb `inspect` of a policy that judges pulls: what it makes of the arm's next one.

    It is the index as well if the policy ranks arms by it. Else that may have a padding, of which
    nothing is known here.
    """
    found = certain(score(params, state, arm, next_pull(state.arms, arm)))
    return found if hasattr(state, "ranking") else Inspection(found.estimate)
