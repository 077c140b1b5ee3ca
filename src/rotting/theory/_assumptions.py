"""Checks of the paper's Assumptions 2.1, 4.1, 4.2 and 4.3, each with its reason.

For n^-theta, its plateaus and exp(-theta (n-1)) the answers follow from their growth:

- det of thetas a < b is of order n^(2a-1) for a < 1/2, tends to a positive limit for a = 1/2 and
  to infinity for a > 1/2, since the sums are of order n^(1-a). det* at a level that falls like
  1 / ln(zeta) is then of order ln(zeta)^(1 / (1-2a)), bal of a power of its argument (the largest
  theta over the smallest), and a power of ln(zeta) is o(zeta): Assumption 4.2 holds if and only if
  of any two models one has theta < 1/2, and none has theta = 0 (an arm that does not fade is
  never balanced, bal is infinite).
- Ddet is of the same order, with the smaller theta that is not 0 in place of a, because the half-
  differences of a constant vanish: Assumption 4.3 holds if and only if that is < 1/2 for all pairs.
- Sums of exp(-theta (n-1)) are bounded, so det and Ddet grow like n: both fail.

For other models the pulls up to `limit` are examined: a counterexample decides, its absence does
not.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from rotting import _checks
from rotting.models import (
    Amplitude,
    Constant,
    Exponential,
    Family,
    MixedFamily,
    Model,
    Plateau,
    Polynomial,
    Scaled,
    Step,
    Table,
)
from rotting.theory._detection import ddet, det
from rotting.theory._star_down import LIMIT

_PROVED = (Polynomial, Plateau, Exponential)


@dataclass(frozen=True)
class Verdict:
    """Whether an assumption holds, and why.

    Attributes:
        assumption: Its number in the paper, such as "4.2".
        holds: True, False, or None if it is not decided.
        why: The reason, in words.
        witness: A counterexample, if it fails: a theta, a pair of them, or a model and a pull.
        examined: The last pull examined, if it is not decided.

    >>> print(Verdict("4.3", True, "one model needs no detection"))
    Assumption 4.3 holds: one model needs no detection
    """

    assumption: str
    holds: bool | None
    why: str
    witness: Any = None
    examined: int | None = None

    def __str__(self) -> str:
        answer = {True: "holds", False: "fails", None: "not decided"}[self.holds]
        return f"Assumption {self.assumption} {answer}: {self.why}"


def check_rotting(*models: Model, constant: float = 0.0, limit: int = 1 << 16) -> Verdict:
    """Assumption 2.1 for arms: every mean is positive and never rises.

    Args:
        models: The arms' models.
        constant: Added to every mean.
        limit: The pulls examined where no proof is known.

    Returns:
        A `Verdict`.

    >>> from rotting import models
    >>> print(check_rotting(models.Polynomial(0.3), models.Constant(0.2)))
    Assumption 2.1 holds: every mean is positive and never rises
    """
    return _positive("2.1", models, _checks.number("constant", constant), limit)


def check_rotting_models(family: Family, limit: int = 1 << 16) -> Verdict:
    """Assumption 4.1 for a family: every model is positive, never rises, and is o(1).

    Args:
        family: The models.
        limit: The pulls examined where no proof is known.

    Returns:
        A `Verdict`.

    >>> from rotting import models
    >>> print(check_rotting_models(models.Polynomial().over([0.0, 0.3])))
    Assumption 4.1 fails: with theta = 0 the mean stays at 1 and does not vanish
    """
    found = _positive("4.1", family.members, 0.0, limit)
    if found.holds is False:
        return found
    for member in family.members:
        if isinstance(member, _PROVED) and member.theta == 0:
            why = "with theta = 0 the mean stays at 1 and does not vanish"
            return Verdict("4.1", False, why, witness=member.theta)
        last = _last_mean(member)
        if last is not None:
            why = f"the mean of {member!r} stays at {last:g} and does not vanish"
            return Verdict("4.1", False, why, witness=member)
    if all(isinstance(_unscaled(member), _PROVED) for member in family.members):
        return Verdict("4.1", True, "every model is positive, never rises, and tends to zero")
    last = max(float(member.mean(limit)) for member in family.members)
    why = f"means are positive and do not rise up to n = {limit}, where the largest is {last:.4g}"
    return Verdict("4.1", None, why, examined=limit)


def _last_mean(model: Model) -> float | None:
    """The mean at which a model stays for ever; None if that is unknown."""
    match model:
        case Constant(value=last) | Step(after=last):
            return last
        case Table(values=values):
            return values[-1]
        case Scaled(model=inner, factor=factor) | Amplitude(model=inner, theta=factor):
            flat = isinstance(inner, _PROVED) and inner.theta == 0
            unscaled = 1.0 if flat else _last_mean(inner)
            return None if unscaled is None or factor is None else factor * unscaled
    return None


def _unscaled(model: Model) -> Model:
    """A model without its amplitude: it changes neither a mean's sign nor its order of growth."""
    shape, _ = model.unscaled
    return _unscaled(shape.model) if isinstance(shape, Amplitude) and shape.theta else shape


def check_simultaneous(family: Family) -> Verdict:
    """Assumption 4.2 for a family: bal(max det*(1 / (16 ln zeta))) is o(zeta).

    It is what CTO_SIM needs (Theorem 4.1).

    Args:
        family: The models.

    Returns:
        A `Verdict`.

    >>> from rotting import models
    >>> check_simultaneous(models.Polynomial().over([0.01, 0.2, 0.49])).holds
    True
    """
    return _detectable("4.2", family, "det")


def check_difference_detection(family: Family) -> Verdict:
    """Assumption 4.3 for a family: Ddet* is finite at every level, for all pairs.

    It is what D-CTO_UCB needs (Theorem 4.2).

    Args:
        family: The models.

    Returns:
        A `Verdict`.

    >>> from rotting import models
    >>> check_difference_detection(models.Polynomial().over([0.3, 0.6, 0.7])).witness
    (0.6, 0.7)
    """
    return _detectable("4.3", family, "Ddet")


def check_assumptions(family: Family) -> list[Verdict]:
    """Assumptions 2.1, 4.1, 4.2 and 4.3 for a family.

    Args:
        family: The models.

    Returns:
        Four `Verdict` objects, in this order.

    >>> from rotting import models
    >>> [found.holds for found in check_assumptions(models.Polynomial().over([0.1, 0.4]))]
    [True, True, True, True]
    """
    return [
        check_rotting(*family.members),
        check_rotting_models(family),
        check_simultaneous(family),
        check_difference_detection(family),
    ]


def _positive(name: str, models: tuple[Model, ...], constant: float, limit: int) -> Verdict:
    limit = _checks.integer("limit", limit, least=1, most=LIMIT)
    decided = True
    for model in models:
        pulls = _telling_pulls(model, limit)
        means = np.asarray(model.mean(pulls)) + constant
        shape = _unscaled(model)
        proved = isinstance(shape, _PROVED) and constant >= 0.0  # positive, whatever underflows
        low = np.flatnonzero((means <= 0.0) & (not proved))
        rising = np.flatnonzero(means[1:] > means[:-1])
        if rising.size:
            n = int(pulls[rising[0] + 1])
            return Verdict(name, False, f"{model!r} rises at n = {n}", witness=(model, n))
        if low.size:
            n = int(pulls[low[0]])
            why = f"{model!r} plus {constant:g} is not positive: mu({n}) = {means[low[0]]:.4g}"
            return Verdict(name, False, why, witness=(model, n))
        if isinstance(shape, _PROVED):
            if constant < 0.0 and shape.theta:
                why = f"{model!r} plus {constant:g} is not positive in the end"
                return Verdict(name, False, why, witness=(model, None))
        elif not isinstance(model, (Constant, Step, Table)):
            decided = False
    if decided:
        return Verdict(name, True, "every mean is positive and never rises")
    return Verdict(
        name, None, f"means are positive and do not rise up to n = {limit}", examined=limit
    )


def _telling_pulls(model: Model, limit: int) -> Any:
    """The pulls to examine: where the mean changes, if these are few, else all up to the limit."""
    if isinstance(model, Constant):
        return np.array([1])
    if isinstance(model, Step):
        return np.array([1, model.at, model.at + 1])
    return np.arange(1, (len(model.values) if isinstance(model, Table) else limit) + 1)


def _detectable(name: str, family: Family, what: str) -> Verdict:
    shape = None if isinstance(family, MixedFamily) else family.model.unscaled[0]
    if not isinstance(shape, _PROVED):
        separation, n = (det if what == "det" else ddet), 1 << 16
        pairs = itertools.combinations(family.members, 2)
        largest = max([float(separation(a, b, 1.0, n)) for a, b in pairs], default=0.0)
        why = f"the largest {what} is {largest:.4g} sigma^2 at n = {n}; beyond, nothing is known"
        return Verdict(name, None, why, examined=n)
    if len(family) == 1:
        return Verdict(name, True, "one model needs no detection")
    if name == "4.2" and 0.0 in family.thetas:
        return Verdict(name, False, "bal is infinite: theta = 0 never fades", witness=0.0)
    for pair in itertools.combinations(sorted(family.thetas), 2):
        if isinstance(shape, Exponential):
            if name == "4.3" or pair[0] > 0:
                why = f"sums of exponentials are bounded, so {what} grows with n"
                return Verdict(
                    name, False, f"{why}, as for theta = {pair[0]:g}, {pair[1]:g}", witness=pair
                )
            continue
        lead = pair[0] or pair[1]
        if lead >= 0.5:
            end = "stays above a positive limit" if lead == 0.5 else "grows without bound"
            why = f"{what} of theta = {pair[0]:g} and {pair[1]:g} {end}"
            return Verdict(name, False, why, witness=pair)
    leads = [a or b for a, b in itertools.combinations(sorted(family.thetas), 2)]
    power = 1.0 / (1.0 - 2.0 * max(leads))
    if name == "4.3":
        why = f"Ddet falls like n^-{1.0 / power:.3g} for the hardest pair"
        return Verdict(name, True, why)
    balance = max(family.thetas) / min(family.thetas)
    return Verdict(name, True, f"bal(det*) grows like ln(zeta)^{power * balance:.4g}, o(zeta)")
