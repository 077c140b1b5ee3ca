"""Results of the verb `inspect`, ready made: plain Python, never compiled.

Indices begin with minus infinity, which stands for "no value" here.
"""

from __future__ import annotations

import math
from typing import Any

from rotting.kernel.verbs import Inspection, score
from rotting.policies.parts.arms import TIME, next_pull
from rotting.policies.parts.padding import padding_at

__all__ = [
    "certain",
    "padded",
    "ranked",
    "sampled",
    "scored",
    "worth_and_padding",
]


def certain(value: Any) -> Inspection:
    """An estimate that is the index itself, without padding.

    Args:
        value: The estimate; minus infinity if there is none.

    Returns:
        An `Inspection`.

    >>> certain(0.5).index
    0.5
    """
    return Inspection() if value == -math.inf else Inspection(value, None, value)


def padded(mean: Any, width: Any, bonus: Any) -> Inspection:
    """A mean with the padding bonus * width, as `argmax_padded` compares them.

    Args:
        mean: The estimate; minus infinity if there is none.
        width: The arm's width.
        bonus: The factor of the widths.

    Returns:
        An `Inspection`.

    >>> padded(0.5, 0.25, 2.0)
    Inspection(estimate=0.5, padding=0.5, index=1.0, rule='highest')
    """
    return (
        Inspection() if mean == -math.inf else Inspection(mean, bonus * width, mean + bonus * width)
    )


def sampled(mean: Any, deviation: Any) -> Inspection:
    """A posterior from which a number is drawn.

    Args:
        mean: Its mean; minus infinity if there is none.
        deviation: Its standard deviation.

    Returns:
        An `Inspection` with the rule "sampled".
    """
    if mean == -math.inf:
        return Inspection(rule="sampled")
    return Inspection(mean, deviation, rule="sampled")


def worth_and_padding(params: Any, state: Any, arm: Any) -> Inspection:
    """The verb `inspect` of a policy whose index is its `score` plus sqrt(c ln t) width.

    Args:
        params: Params with fields `padding` and `c`, see `rotting.policies.parts.padding`.
        state: A state with a part `arms` and a field `width`.
        arm: The arm.

    Returns:
        An `Inspection`.
    """
    bonus = padding_at(params.padding, params.c, state.arms.clock[TIME] + 1)
    worth = score(params, state, arm, next_pull(state.arms, arm))
    return padded(worth, state.width[arm], bonus)


def ranked(params: Any, state: Any, arm: Any) -> Inspection:
    """The verb `inspect` of a policy whose state has a `Ranking`; its default without `score`.

    Args:
        params: Unused.
        state: A state with a part `ranking`.
        arm: The arm.

    Returns:
        An `Inspection`.
    """
    return certain(state.ranking.value[arm])


def scored(params: Any, state: Any, arm: Any) -> Inspection:
    """The verb `inspect` of a policy with the verb `score`; its default.

    The score of the arm's next pull is the index as well if the policy ranks arms by it. Otherwise
    the index may have a padding, which is unknown here.

    Args:
        params: The policy's params.
        state: A state with a part `arms`.
        arm: The arm.

    Returns:
        An `Inspection`.
    """
    found = certain(score(params, state, arm, next_pull(state.arms, arm)))
    return found if hasattr(state, "ranking") else Inspection(found.estimate)
