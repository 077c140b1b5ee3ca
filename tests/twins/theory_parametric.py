"""Twins of the bounds of D-CTO_UCB (Theorem 4.2) and T*_SIM (Eq. 8)."""

import math
from collections.abc import Callable

from twins.common import Model
from twins.theory_star import star_down


def mu_star(zeta: float, theta: float, mu: Model, limit: int) -> int:
    """mu-star-down(zeta; theta) of Theorem 4.2; an error if it is beyond limit."""
    answer = star_down(lambda n: mu(n, theta), zeta, limit)
    if answer is None:
        raise ValueError(f"mu(.; {theta}) is still above {zeta} at the limit {limit}")
    return answer


def dcto_ucb_bound(
    thetas_true: list[float],
    constants: list[float],
    mu: Model,
    sigma: float,
    horizon: int,
    m_diff: float,
    epsilons: list[float],
    limit: int,
) -> float:
    """Regret bound of D-CTO_UCB (Theorem 4.2, with C of Appendix D.2) for given epsilon_i.

    Lists go by arm, and epsilon of the best arm is not used; m_diff is m*_diff(delta / K).
    Infinite if another arm ties with a*: then no epsilon_i is in (0, Delta_i).
    """
    best = constants.index(max(constants))
    bound = 0.0
    for arm, theta in enumerate(thetas_true):
        if arm == best:
            continue
        delta = constants[best] - constants[arm]
        if delta == 0:
            return math.inf
        epsilon = epsilons[arm]
        if not 0 < epsilon < delta:
            raise ValueError(f"epsilon of arm {arm} must be in (0, {delta}), not {epsilon}")
        small = mu_star(epsilon, theta, mu, limit)
        rotten = mu_star(delta, theta, mu, limit)
        loss = delta + mu(1, thetas_true[best])
        pulls = max(m_diff, small, 32 * sigma**2 * math.log(horizon) / (delta - epsilon) ** 2)
        bound += pulls * loss
        bound += math.fsum(constants[arm] + mu(j, theta) for j in range(1, rotten + 1))
        bound += (math.pi**2 + 3) / 3 * loss
    return bound


def balanced(m: int, theta: float, thetas: list[float], mu: Model, limit: int) -> float:
    """Smallest t >= m with mu(t + 1; theta) <= min mu(m; .) over Theta; infinite beyond limit."""
    target = min(mu(m, candidate) for candidate in thetas)
    for t in range(m, limit + 1):
        if mu(t + 1, theta) <= target:
            return t
    return math.inf


def t_sim(
    thetas_true: list[float],
    thetas: list[float],
    mu: Model,
    sigma: float,
    m_star_of_p: Callable[[float, float], int],
    limit: int,
) -> int | None:
    """Bound on T*_SIM by Eq. 8, the problem of Theorem 4.1, with every T + b up to limit.

    At each horizon the best t_i is the smallest allowed one; m_star_of_p takes (p, theta),
    and sigma enters through it alone.
    """
    needed: dict[int, float] = {}
    answer = None
    for horizon in range(limit, 0, -1):
        p = 1 / (len(thetas_true) * horizon**2)
        m = max(m_star_of_p(p, theta) for theta in thetas_true)
        if m not in needed:
            needed[m] = sum(balanced(m, theta, thetas, mu, limit) for theta in thetas_true)
        if needed[m] > horizon:
            break
        answer = horizon
    return answer
