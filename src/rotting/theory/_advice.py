"""The guarantees for given arms, noise and horizon, and whether they mean anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rotting import _checks
from rotting._numbers import count
from rotting.models import Family
from rotting.theory._assumptions import Verdict, check_assumptions, check_rotting
from rotting.theory._balance import mean_at
from rotting.theory._bounds import best_alpha, lower_bound_order, trivial_regret_bound
from rotting.theory._choice import policy_for
from rotting.theory._guarantees import (
    Guarantee,
    no_guarantee,
    of_cto,
    of_dcto_ucb,
    of_windows,
)


@dataclass(frozen=True)
class Advice:
    """The answer of `advise`: guarantees, verdicts on assumptions, and the policy to use.

    Print it, or take `data()` or `rows()`.

    Attributes:
        arms: The number of arms, K.
        sigma: The noise level.
        horizon: The number of rounds, T.
        delta: The probability with which D-CTO_UCB may fail.
        max_mean: The largest first mean.
        trivial: The trivial bound, T times `max_mean`.
        lower_order: The order of the least worst-case regret, see `lower_bound_order`.
        guarantees: A `Guarantee` for each algorithm.
        assumptions: A `Verdict` for each assumption; empty without a family.
        policy: The name of the policy that `policies.recommended` returns for the same question.
        use: The same in a sentence, beside the best proved bound.

    >>> advice = advise(arms=2, sigma=0.5, horizon=1000, max_mean=1.0)
    >>> advice.policy, advice.trivial
    ('SteadyUCB', 1000.0)
    """

    arms: int
    sigma: float
    horizon: int
    delta: float
    max_mean: float
    trivial: float
    lower_order: float
    guarantees: tuple[Guarantee, ...]
    assumptions: tuple[Verdict, ...]
    policy: str
    use: str

    def data(self) -> dict[str, Any]:
        """Everything as plain data, for JSON.

        Returns:
            A dict of the attributes; guarantees and assumptions are lists of dicts.
        """
        found = asdict(self)
        found["assumptions"] = [
            {"assumption": v.assumption, "holds": v.holds, "why": v.why} for v in self.assumptions
        ]
        return found

    def rows(self) -> list[list[str]]:
        """The guarantees as a table of text.

        Returns:
            A row for each guarantee: algorithm, theorem, bound, state, the least horizon at which
            the bound is useful, pulls for detection, and a note.
        """
        return [
            [
                g.algorithm,
                g.source,
                count(g.bound),
                g.state,
                count(g.useful_from),
                "" if g.detection is None else count(g.detection),
                g.note,
            ]
            for g in self.guarantees
        ]

    def __str__(self) -> str:
        lines = [
            f"K = {self.arms}, sigma = {self.sigma:.4g}, T = {self.horizon:,}, "
            f"delta = {self.delta:g}, largest mean {self.max_mean:g}",
            f"Trivial bound: {count(self.trivial)}. Order of the least worst-case regret "
            f"(later work, constant unknown): {count(self.lower_order)}.",
        ]
        for g in self.guarantees:
            lines.append(
                f"{g.algorithm} ({g.source}): bound {count(g.bound)}, {g.state} at this horizon, "
                f"meaningful from T = {count(g.useful_from)}. {g.note}"
            )
        lines += [str(verdict) for verdict in self.assumptions]
        return "\n".join([*lines, f"Use: {self.use}"])


HEADER = ["algorithm", "from", "bound", "at this horizon", "useful from T", "detection", "note"]


def advise(
    *,
    arms: int,
    sigma: float,
    horizon: int,
    family: Family | None = None,
    max_mean: float | None = None,
    constants: bool | Sequence[float] = False,
    thetas: Sequence[float] | None = None,
    delta: float = 0.1,
    alpha: float | None = None,
) -> Advice:
    """The guarantees of the paper's algorithms for K arms, noise sigma and a horizon.

    Args:
        arms: The number of arms, K.
        sigma: The noise level.
        horizon: The number of rounds, T.
        family: The prior knowledge about the arms; with it CTO_SIM or D-CTO_UCB is judged too.
        max_mean: The largest first mean; by default that of the family.
        constants: True if arms have unknown constants; or the constants themselves, for which
            Theorem 4.2 gives a figure together with `thetas`.
        thetas: The arms' theta*, in the family's Theta.
        delta: The probability with which D-CTO_UCB may fail.
        alpha: The parameter of SWA and wSWA; by default the one with the least bound.

    Returns:
        An `Advice`.

    Raises:
        ValueError: There is neither a family nor `max_mean`, constants or thetas do not fit the
            arms, or an argument is outside its range.

    >>> from rotting import models
    >>> advice = advise(arms=2, sigma=0.2 ** 0.5, horizon=30_000, max_mean=1.0, alpha=0.2)
    >>> [(g.algorithm, round(g.bound), g.vacuous) for g in advice.guarantees]
    [('SWA', 9615, False), ('wSWA', 30603, True)]
    """
    arms = _checks.integer("arms", arms, least=1)
    horizon = _checks.integer("horizon", horizon, least=1)
    sigma = _checks.number("sigma", sigma, above=0, most=1e100)
    delta = _checks.number("delta", delta, least=1e-100, below=1)
    given = _check_arms(arms, family, constants, thetas)
    if max_mean is None:
        if family is None:
            raise ValueError("max_mean must be given where there is no family, got None")
        max_mean = max(mean_at(m, 1) for m in family.members) + max([0.0, *given])
    top = _checks.number("max_mean", max_mean, above=0, most=1e100)
    alpha = best_alpha(top) if alpha is None else _checks.number("alpha", alpha, above=0)
    guarantees = of_windows(arms, sigma, horizon, top, alpha)
    verdicts: tuple[Verdict, ...] = ()
    if family is not None:
        verdicts = tuple(check_assumptions(family))
        if given:
            arms_own = check_rotting(*family.members, constant=min(given))
            verdicts = (arms_own, *verdicts[1:])
        if constants is False:
            failed = _failed(verdicts, "4.1", "4.2")
            found = no_guarantee("CTO_SIM", "Theorem 4.1", failed)
            if not failed:
                found = of_cto(arms, sigma, horizon, family, thetas, top)
        else:
            failed = _failed(verdicts, "4.1", "4.3")
            found = no_guarantee("D-CTO_UCB", "Theorem 4.2", failed)
            if not failed:
                found = of_dcto_ucb(arms, sigma, horizon, family, constants, thetas, delta, top)
        guarantees.append(found)
    order = lower_bound_order(arms, horizon, sigma)
    trivial = trivial_regret_bound(horizon, top)
    policy = policy_for(family=family is not None, constants=constants is not False)
    use = _in_words(policy, guarantees)
    return Advice(
        arms, sigma, horizon, delta, top, trivial, order, tuple(guarantees), verdicts, policy, use
    )


def _in_words(policy: str, guarantees: Sequence[Guarantee]) -> str:
    """The policy to use, and the least bound that is below the trivial one."""
    proven = [g for g in guarantees if not g.vacuous and math.isfinite(g.bound)]
    proof = "No algorithm of the paper has a guarantee that says anything here"
    if proven:
        best = min(proven, key=lambda g: g.bound)
        proof = f"With a proof: {best.algorithm}, regret at most {count(best.bound)}"
    return (
        f"{policy}, for little regret (no proof; docs/guides/choosing.md has the figures). {proof}."
    )


def _check_arms(arms: int, family: Any, constants: Any, thetas: Any) -> list[float]:
    """The constants as numbers; arguments that do not fit together are refused."""
    if family is not None and not isinstance(family, Family):
        raise ValueError(f"family must be a Family, as model.over([...]), got {family!r}")
    given: list[float] = []
    if not isinstance(constants, bool):
        if isinstance(constants, str) or not isinstance(constants, Sequence):
            raise ValueError(
                f"constants must be True, False or a list of numbers, got {constants!r}"
            )
        given = [_checks.number("constants", c, least=-1e100, most=1e100) for c in constants]
    for name, values in (("constants", constants), ("thetas", thetas)):
        if values is None or isinstance(values, bool):
            continue
        if not isinstance(values, Sequence) or len(values) != arms:
            raise ValueError(f"{name} must be one for each of {arms} arms, got {values!r}")
    for theta in thetas or []:
        if family is None or _checks.number("thetas", theta) not in family.thetas:
            raise ValueError(f"thetas must be in the family's Theta, got {theta!r}")
    return given


def _failed(verdicts: Sequence[Verdict], *names: str) -> list[str]:
    return [v.assumption for v in verdicts if v.assumption in names and v.holds is False]


__all__ = ["HEADER", "Advice", "Guarantee", "advise"]
