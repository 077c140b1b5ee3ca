"""The paper's guarantees for each of its algorithms, at one horizon."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rotting import _checks
from rotting._numbers import count
from rotting.models import Family
from rotting.theory._balance import first_true
from rotting.theory._bounds import swa_regret_bound, wswa_regret_bound
from rotting.theory._parametric import dcto_ucb_regret_bound, t_sim
from rotting.theory._samples import m_star


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of one of the paper's algorithms, for the arguments of `advise`.

    Attributes:
        algorithm: Its name.
        source: The theorem.
        bound: The bound on the regret; infinite where there is none.
        vacuous: Whether it says nothing at this horizon: the bound is no better than the trivial
            one, or the theorem does not apply.
        useful_from: The least horizon at which the bound is below the trivial one (or can be, where
            it depends on constants that are not given).
        detection: The pulls of an arm that identify its model; None for algorithms without models.
        note: More in words.
    """

    algorithm: str
    source: str
    bound: float
    vacuous: bool
    useful_from: float
    detection: float | None
    note: str

    @property
    def state(self) -> str:
        """The guarantee in a word: "vacuous", "no figure" or "meaningful"."""
        if self.vacuous:
            return "vacuous"
        return "no figure" if math.isinf(self.bound) else "meaningful"


def no_guarantee(algorithm: str, source: str, failed: list[str]) -> Guarantee:
    """The guarantee where an assumption of its theorem fails: none."""
    note = f"no guarantee: Assumption {' and '.join(failed)} fails"
    return Guarantee(algorithm, source, math.inf, True, math.inf, None, note)


def of_windows(arms: int, sigma: float, horizon: int, top: float, alpha: float) -> list[Guarantee]:
    """The guarantees of SWA and wSWA."""
    found = []
    for name, source, bound in (
        ("SWA", "Theorem 3.1", swa_regret_bound),
        ("wSWA", "Corollary 3.1.1", wswa_regret_bound),
    ):
        # both bounds over T fall from T = 4 on: so do ln(sqrt(2) T) / T and log2(T) / T
        def useful(t: int, bound: Callable[..., float] = bound) -> bool:
            return bound(arms, t, sigma, alpha, top) < t * top

        start = first_true(useful, start=4, farthest=_checks.LARGEST // 2)
        value = bound(arms, horizon, sigma, alpha, top)
        vacuous = value >= horizon * top
        found.append(Guarantee(name, source, value, vacuous, start, None, f"alpha = {alpha:.3g}"))
    return found


def of_cto(
    arms: int, sigma: float, horizon: int, family: Family, thetas: Any, top: float
) -> Guarantee:
    """The guarantee of CTO_SIM, for the arms' `thetas` or else for the worst ones of K arms."""
    start = t_sim(arms if thetas is None else list(thetas), family, sigma)
    p = 1.0 / (arms * float(horizon) ** 2)
    detection = float(m_star(family, p, sigma).max()) if p < 1.0 else 1.0
    vacuous = horizon < start
    bound = horizon * top if vacuous else top
    whose = "for any theta*" if thetas is None else "for the given theta*"
    note = f"T*_SIM at most {count(start)} {whose}; detection with probability 1 - 1/(K T^2)"
    if math.isinf(start):
        note = f"T*_SIM is not known to be finite {whose}"
    return Guarantee("CTO_SIM", "Theorem 4.1", bound, vacuous, start, detection, note)


def exploration_bound(family: Family, p: float, sigma: float) -> float:
    """The pulls of each arm while D-CTO_UCB explores: the bound on m*_diff(p), rounded up to even.

    Appendix D.2's bound needs no Gaussian noise; `of_dcto_ucb` gives the exact figure beside it.
    """
    pulls = float(m_star(family, p, sigma, "difference", "bound").max())
    return pulls + pulls % 2 if math.isfinite(pulls) else math.inf


def of_dcto_ucb(
    arms: int,
    sigma: float,
    horizon: int,
    family: Family,
    constants: Any,
    thetas: Any,
    delta: float,
    top: float,
) -> Guarantee:
    """The guarantee of D-CTO_UCB; with a figure if the arms' constants and thetas are given."""
    pulls = float(m_star(family, delta / arms, sigma, "difference", even=True).max())
    needed = arms * pulls
    bound, start = math.inf, needed
    if thetas is not None and not isinstance(constants, bool):
        own = [family.members[family.thetas.index(float(theta))] for theta in thetas]

        def at(t: int) -> float:
            return dcto_ucb_regret_bound(own, constants, sigma, t, pulls)

        bound = at(horizon) if horizon >= needed else math.inf
        if needed < _checks.LARGEST // 4:
            start = first_true(
                lambda t: at(t) < t * top, start=int(needed), farthest=_checks.LARGEST // 2
            )
    if math.isinf(needed):
        note = "cannot finish exploring: some models cannot be told apart"
    elif needed > horizon:
        note = (
            f"cannot finish exploring: {arms} arms x {count(pulls)} pulls = {count(needed)} "
            f"decisions, {count(needed / horizon)} times the horizon"
        )
    elif math.isinf(bound) and start == needed:
        note = f"explores for {count(needed)} decisions; the bound depends on the arms' constants"
    elif math.isinf(bound):
        note = f"explores for {count(needed)} decisions; no bound, another arm ties with the best"
    else:
        note = f"explores for {count(needed)} decisions; holds with probability {1 - delta:g}"
    if math.isfinite(needed):
        by_bound = exploration_bound(family, delta / arms, sigma)
        note += (
            f"; {count(pulls)} pulls an arm is exact for Gaussian noise, the paper's bound, which "
            f"the policy explores by, is {count(by_bound)}"
        )
    vacuous = needed > horizon or (math.isfinite(bound) and bound >= horizon * top)
    return Guarantee("D-CTO_UCB", "Theorem 4.2", bound, vacuous, start, pulls, note)
