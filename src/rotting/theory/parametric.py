"""Theorems 4.1 and 4.2: T*_SIM and the regret bounds of CTO_SIM and D-CTO_UCB."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rotting import checks
from rotting.models import Family, Model
from rotting.theory.balance import first_true, mean_star
from rotting.theory.bounds import trivial_regret_bound
from rotting.theory.detection import m_star
from rotting.theory.sums import cumulative

_SEARCH = 1 << 17  # pulls that m* is searched up to


def t_sim(
    arms: Sequence[float],
    family: Family,
    sigma: float,
    farthest: int = 10**12,
    search: int = _SEARCH,
) -> float:
    """The bound on T*_SIM by the optimisation problem of Theorem 4.1.

    `arms` are the arms' theta*. The least T such that every horizon from T to `farthest` leaves
    enough pulls: with M the largest m*(1 / (K T^2); theta) of the arms' models, arm i needs
    t_i >= M pulls, until mu(t_i + 1; theta_i) <= min over Theta of mu(M). The pulls needed never
    fall as T grows, so going down from `farthest` by T <- pulls needed at T skips no failure.
    Infinite if `farthest` itself is not enough. m* is exact for Gaussian noise, as far as
    `search` pulls.

    >>> from rotting import models
    >>> family = models.Plateau(length=100).over([0.1, 0.4])
    >>> t_sim([0.1, 0.4], family, sigma=0.2 ** 0.5)
    240630.0
    """
    thetas = [checks.number("theta", theta) for theta in arms]
    for theta in thetas:
        if theta not in family.thetas:
            raise ValueError(f"arms must have their theta in Theta {family.thetas}, got {theta}")
    places = sorted({family.thetas.index(theta) for theta in thetas})

    def needed(horizon: int) -> float:
        p = 1.0 / (len(thetas) * horizon**2)
        detection = float(m_star(family, p, sigma, limit=search)[places].max())
        if math.isinf(detection):
            return math.inf
        level = min(float(member.mean(int(detection))) for member in family.members)
        stars = {k: mean_star(family.members[k], level) for k in places}
        return sum(max(detection, stars[family.thetas.index(theta)] - 1.0) for theta in thetas)

    horizon = checks.integer("farthest", farthest, least=2)
    if needed(horizon) > horizon:
        return math.inf
    while True:
        pulls = needed(horizon - 1) if horizon > 2 else math.inf
        if pulls > horizon - 1:
            return float(horizon)
        horizon = max(2, int(min(pulls, horizon - 1)))


def cto_regret_bound(arms: Sequence[float], family: Family, sigma: float, horizon: int) -> float:
    """Theorem 4.1: max mu(1; theta) from T*_SIM on, and the trivial bound before."""
    members = dict(zip(family.thetas, family.members, strict=True))
    start = t_sim(arms, family, sigma)
    largest = max(float(members[theta].mean(1)) for theta in arms)
    trivial = trivial_regret_bound(horizon, largest)
    return largest if horizon >= start else trivial


def dcto_ucb_regret_bound(
    models: Sequence[Model],
    constants: Sequence[float],
    sigma: float,
    horizon: int,
    detection: float,
) -> float:
    """Theorem 4.2, with probability 1 - delta: D-CTO_UCB's regret, optimised over the epsilon_i.

    `models` and `constants` are the arms' own, `detection` is m*_diff(delta / K). Infinite if
    another arm ties with the best constant (Delta_i = 0), and if `detection` is.

    For each other arm the best epsilon is mu(N) for some N: the bound's middle term is then N, and
    its last falls with N, so the least of their maximum is found by bisection.
    """
    horizon = checks.integer("horizon", horizon, least=1)
    sigma = checks.number("sigma", sigma, above=0)
    if len(models) != len(constants) or not models:
        raise ValueError(f"constants must be one an arm, got {len(constants)} for {len(models)}")
    best = max(range(len(models)), key=lambda i: constants[i])
    top = float(models[best].mean(1))
    total = 0.0
    for i, (model, constant) in enumerate(zip(models, constants, strict=True)):
        if i == best:
            continue
        gap = constants[best] - constant
        if gap <= 0.0:
            return math.inf
        pulls = max(detection, _pulls_of_other_arm(model, gap, sigma, horizon))
        star = mean_star(model, gap)
        if math.isinf(star) or math.isinf(pulls):
            return math.inf
        early = float(cumulative(model, int(star))) + constant * star
        total += (pulls + (math.pi**2 + 3.0) / 3.0) * (gap + top) + early
    return total


def _pulls_of_other_arm(model: Model, gap: float, sigma: float, horizon: int) -> float:
    """The least of max(mu*(epsilon), 32 sigma^2 ln T / (gap - epsilon)^2) over epsilon < gap."""

    def last_term(n: int) -> float:
        epsilon = float(model.mean(n))
        if epsilon >= gap:
            return math.inf
        return 32.0 * sigma**2 * math.log(horizon) / (gap - epsilon) ** 2

    crossing = first_true(lambda n: n >= last_term(n))
    if math.isinf(crossing):
        return math.inf
    before = last_term(int(crossing) - 1) if crossing > 1 else math.inf
    return min(crossing, before)
