"""What policies say of an arm to those who watch: plain Python, never compiled.

Minus infinity is what indices begin with; to people it is no number.
"""

from __future__ import annotations

import math
from typing import Any

from rotting.policies.parts.arms import TIME, next_pull
from rotting.policies.parts.padding import padding_at
from rotting.verbs import Opinion, judge


def certain(value: Any) -> Opinion:
    """An estimate that is the index itself: nothing is added."""
    return Opinion() if value == -math.inf else Opinion(value, None, value)


def padded(mean: Any, width: Any, bonus: Any) -> Opinion:
    """A mean with the padding bonus * width, as `argmax_padded` compares them."""
    return Opinion() if mean == -math.inf else Opinion(mean, bonus * width, mean + bonus * width)


def sampled(mean: Any, deviation: Any) -> Opinion:
    """A posterior from which a number is drawn."""
    if mean == -math.inf:
        return Opinion(rule="sampled")
    return Opinion(mean, deviation, rule="sampled")


def worth_and_padding(params: Any, state: Any, arm: Any) -> Opinion:
    """The verb `look` of a policy that adds sqrt(c ln t) width to what it judges."""
    bonus = padding_at(params.padding, params.c, state.arms.clock[TIME] + 1)
    worth = judge(params, state, arm, next_pull(state.arms, arm))
    return padded(worth, state.width[arm], bonus)


def ranked(params: Any, state: Any, arm: Any) -> Opinion:
    """The verb `look` of a policy that keeps a ranking of its arms."""
    return certain(state.ranking.value[arm])


def judged(params: Any, state: Any, arm: Any) -> Opinion:
    """The verb `look` of a policy that judges pulls: what it makes of the arm's next one.

    It is the index as well if the policy ranks arms by it. Else that may have a padding, of which
    nothing is known here.
    """
    found = certain(judge(params, state, arm, next_pull(state.arms, arm)))
    return found if hasattr(state, "ranking") else Opinion(found.estimate)
