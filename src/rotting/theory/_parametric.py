"""Theorems 4.1 and 4.2: T*_SIM and the regret bounds of CTO_SIM and D-CTO_UCB."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rotting import _checks
from rotting.models import Family, Model
from rotting.theory import _far
from rotting.theory._balance import FARTHEST, bal, falls_to_least, first_true, mean_at, mean_star
from rotting.theory._bounds import trivial_regret_bound
from rotting.theory._samples import m_star
from rotting.theory._star_down import hardest_star
from rotting.theory._sums import cumulative


def t_sim(
    arms: Sequence[float] | int, family: Family, sigma: float, farthest: int = 10**60
) -> float:
    """The bound on T*_SIM, the horizon of CTO_SIM's guarantee, by the optimisation of Theorem 4.1.

    It is the least T such that every horizon from T to `farthest` leaves enough pulls: with M the
    largest m*(1 / (K T^2); theta) of the arms' models, arm i needs t_i >= M pulls, until
    mu(t_i + 1; theta_i) <= min over Theta of mu(M). The pulls needed never fall as T grows, so
    going down from `farthest` by T <- pulls needed at T skips no failure. m* is exact for Gaussian
    noise.

    Args:
        arms: The arms' theta*; or their number K, for the worst theta* that K arms can have.
        family: The model and its Theta.
        sigma: The noise level.
        farthest: The longest horizon considered, from 2 to 10**140.

    Returns:
        The horizon; infinite if `farthest` itself is not enough.

    Raises:
        ValueError: A theta* is not in Theta, or an argument is outside its range.

    >>> from rotting import models
    >>> family = models.Plateau(length=100).over([0.1, 0.4])
    >>> t_sim([0.1, 0.4], family, sigma=0.2 ** 0.5)
    240630
    """
    count, places = _places(arms, family)
    family, unit = family.unscaled
    sigma = _checks.number("sigma", sigma, above=0) / unit
    if not 2 <= farthest <= 10**140:
        raise ValueError(f"farthest must be an integer from 2 to 10**140, got {farthest}")

    def needed(horizon: int) -> float:
        p = 1.0 / (count * float(horizon) ** 2)
        detection = float(m_star(family, p, sigma)[sorted(set(places))].max())
        if math.isinf(detection):
            return math.inf
        stars = falls_to_least(family, int(detection))
        pulls = [max(detection, stars[k] - 1.0) for k in places]
        return sum(pulls) if isinstance(arms, Sequence) else count * max(pulls)

    return _least_horizon(needed, farthest)


def t_sim_by_balance(arms: int, family: Family, sigma: float, farthest: int = 10**100) -> float:
    """Appendix D.1's other bound on T*_SIM: U(1 / (K sqrt(2K))) / sqrt(2K).

    U(epsilon) is the least N such that bal(max over pairs of det*(1 / (16 ln n))) <= epsilon n for
    all n >= N. For n^-theta and plateaus the left side grows like a power of ln n (Appendix E).

    Args:
        arms: The number of arms, K.
        family: The model and its Theta.
        sigma: The noise level.
        farthest: The largest N considered.

    Returns:
        The horizon; infinite if there is no N up to `farthest`.

    Raises:
        ValueError: An argument is outside its range.

    >>> from rotting import models
    >>> family = models.Plateau(length=100).over([0.1, 0.4])
    >>> round(t_sim_by_balance(2, family, sigma=0.2 ** 0.5))
    819000
    """
    arms = _checks.integer("arms", arms, least=1)
    family, unit = family.unscaled
    sigma = _checks.number("sigma", sigma, above=0) / unit
    epsilon = 1.0 / (arms * math.sqrt(2.0 * arms))

    def needed(n: int) -> float:
        star = float(hardest_star(family, sigma, 1.0 / (16.0 * math.log(n))))
        balanced = bal(family, star if math.isinf(star) else int(star))
        return balanced if math.isinf(balanced) else math.ceil(balanced / epsilon)

    return _least_horizon(needed, farthest) / math.sqrt(2.0 * arms)


def _least_horizon(needed: Callable[[int], float], farthest: int) -> float:
    """The least T with needed(T') <= T' for all T' from T to farthest; `needed` never falls."""
    if needed(farthest) > farthest:
        return math.inf
    horizon = farthest
    while True:
        pulls = needed(horizon - 1) if horizon > 2 else math.inf
        if pulls > horizon - 1:
            return horizon
        horizon = max(2, int(min(pulls, horizon - 1)))


def _places(arms: Sequence[float] | int, family: Family) -> tuple[int, list[int]]:
    """The number of arms, and the places in Theta of the theta* that they have or can have."""
    if not isinstance(arms, Sequence):
        return _checks.integer("arms", arms, least=1), list(range(len(family)))
    if not arms:
        raise ValueError("arms must hold at least one theta, got none")
    for theta in arms:
        if _checks.number("theta", theta) not in family.thetas:
            raise ValueError(f"arms must have their theta in Theta {family.thetas}, got {theta}")
    return len(arms), [family.thetas.index(float(theta)) for theta in arms]


def cto_regret_bound(
    arms: Sequence[float] | int, family: Family, sigma: float, horizon: int
) -> float:
    """Theorem 4.1, CTO_SIM's regret: max mu(1; theta) from T*_SIM on, and the trivial bound before.

    Args:
        arms: The arms' theta*, or their number K, as for `t_sim`.
        family: The model and its Theta.
        sigma: The noise level.
        horizon: The number of rounds, T.

    Returns:
        The bound.

    Raises:
        ValueError: A theta* is not in Theta, or an argument is outside its range.

    >>> from rotting import models
    >>> family = models.Plateau(length=100).over([0.1, 0.4])
    >>> [cto_regret_bound([0.1, 0.4], family, 0.2 ** 0.5, T) for T in (30_000, 300_000)]
    [30000.0, 1.0]
    """
    _, places = _places(arms, family)
    largest = max(mean_at(family.members[k], 1) for k in places)
    trivial = trivial_regret_bound(horizon, largest)
    return largest if horizon >= t_sim(arms, family, sigma) else trivial


def dcto_ucb_regret_bound(
    models: Sequence[Model],
    constants: Sequence[float],
    sigma: float,
    horizon: int,
    detection: float,
) -> float:
    """Theorem 4.2, D-CTO_UCB's regret with probability 1 - delta, optimised over the epsilon_i.

    For each other arm the best epsilon is mu(N) for some N: the bound's middle term is then N, and
    its last term falls with N, so the least of their maximum is found by bisection.

    Args:
        models: The arms' own models.
        constants: The arms' own constants.
        sigma: The noise level.
        horizon: The number of rounds, T.
        detection: m*_diff(delta / K), the pulls of an arm that identify its model; see `m_star`.

    Returns:
        The bound; infinite if another arm ties with the best constant (Delta_i = 0), or if
        `detection` is infinite.

    Raises:
        ValueError: There are not as many constants as models, or an argument is outside its range.

    >>> from rotting import models
    >>> arms = [models.Polynomial(0.1), models.Polynomial(0.4)]
    >>> round(dcto_ucb_regret_bound(arms, [0.0, 0.5], 0.1, horizon=10**6, detection=100.0))
    4289
    """
    horizon = _checks.integer("horizon", horizon, least=1)
    sigma = _checks.number("sigma", sigma, above=0, most=1e100)
    if len(models) != len(constants) or not models:
        raise ValueError(
            f"models and constants must be one for each arm, got {len(models)} and {len(constants)}"
        )
    constants = [_checks.number("constant", constant) for constant in constants]
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
        early = sum_at(model, int(star)) + constant * star
        total += (pulls + (math.pi**2 + 3.0) / 3.0) * (gap + top) + early
    return total


def sum_at(model: Model, n: int) -> float:
    """The sum of the first n means, for n of any size where 60-digit sums are available."""
    return float(_far.cumulative(model, n)) if _far.known(model) else float(cumulative(model, n))


def _pulls_of_other_arm(model: Model, gap: float, sigma: float, horizon: int) -> float:
    """The least of max(mu*(epsilon), 32 sigma^2 ln T / (gap - epsilon)^2) over epsilon < gap."""

    def last_term(n: int) -> float:
        epsilon = mean_at(model, n)
        if epsilon >= gap:
            return math.inf
        return 32.0 * sigma**2 * math.log(horizon) / (gap - epsilon) ** 2

    known = _far.known(model)
    crossing = first_true(lambda n: n >= last_term(n), farthest=FARTHEST if known else 1 << 62)
    if math.isinf(crossing):
        return math.inf
    before = last_term(int(crossing) - 1) if crossing > 1 else math.inf
    return min(crossing, before)
