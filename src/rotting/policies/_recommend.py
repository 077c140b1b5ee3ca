"""The policy to use in each situation, justified by the league."""

from __future__ import annotations

import math

from rotting import _checks
from rotting.models import Family
from rotting.policies._base import Policy
from rotting.policies._fatigue import Fatigue
from rotting.policies._guarded import Guarded
from rotting.policies._posterior import Posterior
from rotting.policies._steady import SteadyUCB
from rotting.theory._choice import policy_for


def recommended(
    *,
    sigma: float | None = None,
    family: Family | None = None,
    constants: bool = False,
    rewards: str = "gaussian",
    arms: int = 10,
    audience: bool = False,
) -> Policy:
    """The policy to use, given what is known about arms and rewards.

    - Nothing, or the noise only: `SteadyUCB(sigma)`; sigma=None estimates it.
    - A family of models: `Guarded(family, sigma)`, which plays by the posterior mean while the
      family fits and falls back to `SteadyUCB` when it does not; `constants=True` if arms may keep
      a constant.
    - rewards="bernoulli": `SteadyUCB(None)`, since the standard deviation of click rates is far
      below 1/2. With a family, sigma is the largest that its rates allow.
    - audience=True, arms that rot for each key (user) separately: `Fatigue()` for clicks, and
      `Fatigue("gaussian", sigma)` for rewards of any size, whose sigma may be unknown. With a
      family that is known to be right: `Posterior` with rule "thompson", its sigma estimated if
      unknown. It is ahead while there are few rewards, and not later: after 50,000 showings
      `Fatigue`, which needs no family, is as good (`docs/reference/audience-league.md`).
    - Many arms, or many decisions: `SteadyUCB` too. It keeps O(log t) numbers an arm.

    The league (`docs/guides/choosing.md`) has the figures behind each choice, and `rotting theory`
    recommends the same (`rotting.theory._choice`).

    Args:
        sigma: The standard deviation of a reward about its mean; None if unknown.
        family: The models that arms may follow; None if unknown.
        constants: Whether arms of the family may keep a constant.
        rewards: "gaussian" for numbers, "bernoulli" for clicks.
        arms: The number of arms; the choice is the same for any number.
        audience: Whether arms rot for each key separately.

    Returns:
        A policy.

    Raises:
        ValueError: An argument is outside its range, or sigma is missing with a family and Gaussian
            rewards.

    >>> from rotting import policies
    >>> policies.recommended(sigma=0.5).label
    'SteadyUCB(sigma=0.5)'
    >>> policies.recommended(rewards="bernoulli", audience=True).label
    'Fatigue'
    """
    _checks.choice("rewards", rewards, ("gaussian", "bernoulli"))
    _checks.integer("arms", arms, least=1)
    if audience:
        if family is not None:
            return Posterior(family, sigma, constants=constants, rule="thompson")
        return Fatigue() if rewards == "bernoulli" else Fatigue("gaussian", sigma)
    name = policy_for(family=family is not None, constants=constants)
    if family is None or name == "SteadyUCB":
        return SteadyUCB(sigma)
    if sigma is None and rewards == "bernoulli":
        sigma = _largest_sigma(family)
    if sigma is None:
        raise ValueError("sigma must be given with a family, got None")
    return Guarded(family, sigma, constants=constants)


def _largest_sigma(family: Family) -> float:
    """The largest standard deviation of clicks under a model of the family: sqrt(p (1 - p)).

    Rates only fall, so it is at the first pull, or where the rate is 1/2.
    """
    rates = [min(0.5, float(member.mean(1))) for member in family.members]
    return math.sqrt(max(rate * (1.0 - rate) for rate in rates))
