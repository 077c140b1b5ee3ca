"""Naive twins of the theory: every quantity of the paper summed and searched by brute force.

"The paper" is Levine, Crammer and Mannor, "Rotting Bandits" (2017). A model is mu(n, theta) with
n >= 1 and sigma > 0. Every search stops at a limit, and None means that the answer is not there.
Sums are correctly rounded, so that two models have the same statistic only if they coincide.
"""

import math
from collections.abc import Callable

Model = Callable[[int, float], float]
Probability = Callable[[int, float, list[float], Model, float], float]


def normal_cdf(x: float) -> float:
    """Phi(x), with full relative precision far in the lower tail."""
    return math.erfc(-x / math.sqrt(2)) / 2


# ------------------------------------------------------------- statistics, det, Ddet, star, bal


def total(n: int, theta: float, mu: Model) -> float:
    """sum_{j<=n} mu(j; theta): what Y (Eq. 6) compares with the sum of the first n rewards."""
    return math.fsum(mu(j, theta) for j in range(1, n + 1))


def half_difference(n: int, theta: float, mu: Model) -> float:
    """First floor(n/2) means minus the others: what Z (Eq. 9) compares with the rewards' own."""
    return math.fsum(mu(j, theta) if j <= n // 2 else -mu(j, theta) for j in range(1, n + 1))


def det(n: int, theta1: float, theta2: float, mu: Model, sigma: float) -> float:
    """det_{theta1,theta2}(n) of Definition 4.2; infinite where the sums are equal."""
    difference = total(n, theta1, mu) - total(n, theta2, mu)
    return n * sigma**2 / difference**2 if difference**2 > 0 else math.inf


def ddet(n: int, theta1: float, theta2: float, mu: Model, sigma: float) -> float:
    """Ddet_{theta1,theta2}(n) of Definition 4.2; infinite where the half-differences are equal."""
    difference = half_difference(n, theta1, mu) - half_difference(n, theta2, mu)
    return n * sigma**2 / difference**2 if difference**2 > 0 else math.inf


def star_down(f: Callable[[int], float], zeta: float, limit: int) -> int | None:
    """f-star-down(zeta) of Definition 4.1 up to limit: smallest N with f <= zeta on N..limit."""
    answer = None
    for n in range(limit, 0, -1):
        if not f(n) <= zeta:
            break
        answer = n
    return answer


def bal(n: int, thetas: list[float], mu: Model, limit: int) -> int | None:
    """bal(n) of Definition 4.3: smallest alpha with max mu(alpha; .) <= min mu(n; .) over Theta."""
    target = min(mu(n, theta) for theta in thetas)
    for alpha in range(1, limit + 1):
        if max(mu(alpha, theta) for theta in thetas) <= target:
            return alpha
    return None


# ----------------------------------------------------------------- misdetection, proximity rules


def misdetection_nearest(values: list[float], true: int, shift: float, deviation: float) -> float:
    """P(the value nearest to Normal(values[true] + shift, deviation^2) is not values[true]).

    The cell of a value ends half way to its neighbours; of equal values the first has the cell.
    """
    if values[true] in values[:true]:
        return 1.0
    gaps = [value - values[true] for value in values]
    below = max((gap for gap in gaps if gap < 0), default=-math.inf)
    above = min((gap for gap in gaps if gap > 0), default=math.inf)
    under = normal_cdf((below / 2 - shift) / deviation)
    over = normal_cdf((shift - above / 2) / deviation)
    return under + over


def misdetection_sum(n: int, theta: float, thetas: list[float], mu: Model, sigma: float) -> float:
    """P(theta-hat != theta) by the sum rule (Eq. 7) after n pulls with Gaussian noise, exactly."""
    values = [total(n, candidate, mu) for candidate in thetas]
    return misdetection_nearest(values, thetas.index(theta), 0.0, math.sqrt(n) * sigma)


def misdetection_difference(
    n: int, theta: float, thetas: list[float], mu: Model, sigma: float, constant: float = 0.0
) -> float:
    """P(theta-hat != theta) by the half-difference rule (Eq. 10), Gaussian noise, exactly.

    The arm's mean is constant + mu(j; theta): at odd n one constant is left, with a minus sign.
    """
    values = [half_difference(n, candidate, mu) for candidate in thetas]
    shift = (n // 2 - (n - n // 2)) * constant
    return misdetection_nearest(values, thetas.index(theta), shift, math.sqrt(n) * sigma)


def misdetection_bound_sum(
    n: int, theta: float, thetas: list[float], mu: Model, sigma: float
) -> float:
    """2 exp(-1 / (8 det)) with the model nearest to theta at n (Appendix D.1): the largest det."""
    d = max((det(n, theta, o, mu, sigma) for o in thetas if o != theta), default=0.0)
    return 2 * math.exp(-1 / (8 * d)) if d > 0 else 0.0


def misdetection_bound_difference(
    n: int, theta: float, thetas: list[float], mu: Model, sigma: float
) -> float:
    """2 exp(-1 / (8 Ddet)) with the model nearest to theta at n (D.2: even n or no constant)."""
    d = max((ddet(n, theta, o, mu, sigma) for o in thetas if o != theta), default=0.0)
    return 2 * math.exp(-1 / (8 * d)) if d > 0 else 0.0


def m_star(
    p: float,
    theta: float,
    thetas: list[float],
    mu: Model,
    sigma: float,
    probability: Probability,
    limit: int,
    step: int = 1,
) -> int | None:
    """m*(p; theta) of Eq. 11: smallest m with probability <= p at every step-th n, m..limit."""
    steps = star_down(lambda k: probability(k * step, theta, thetas, mu, sigma), p, limit // step)
    return None if steps is None else steps * step


# -------------------------------------------------------------- misdetection, likelihood (beyond)


def likelihood_misdetection(n: int, theta: float, other: float, mu: Model, sigma: float) -> float:
    """P(other is likelier than theta) after n pulls of theta with Gaussian noise (not the paper).

    With r = mu1 + e and d = mu1 - mu2, other wins when sum (e + d)^2 < sum e^2, that is when
    sum d e < -sum d^2 / 2, and sum d e is Normal(0, sigma^2 sum d^2): Phi(-|d| / (2 sigma)).
    Where the models coincide the two tie, and 1/2 (the limit, a fair coin) is returned.
    """
    squares = math.fsum((mu(j, theta) - mu(j, other)) ** 2 for j in range(1, n + 1))
    return normal_cdf(-math.sqrt(squares) / (2 * sigma))


def likelihood_misdetection_profiled(
    n: int, theta: float, other: float, mu: Model, sigma: float
) -> float:
    """likelihood_misdetection when each model's unknown constant is its best fit (not the paper).

    The best constant is the mean residual, so the residuals e and e + d are replaced by their
    centred versions, whatever the true constant; sum (d - dbar)(e - ebar) = sum (d - dbar) e is
    Normal(0, sigma^2 sum (d - dbar)^2), and the argument above holds with d - dbar for d.
    """
    differences = [mu(j, theta) - mu(j, other) for j in range(1, n + 1)]
    mean = math.fsum(differences) / n
    squares = math.fsum((difference - mean) ** 2 for difference in differences)
    return normal_cdf(-math.sqrt(squares) / (2 * sigma))


# --------------------------------------------------------------------------------- SWA and wSWA


def swa_window(arms: int, horizon: int, sigma: float, alpha: float) -> int:
    """M of Algorithm 1 and Appendix C.1, rounded up."""
    cube = 16 * sigma**2 * horizon**2 * math.log(math.sqrt(2) * horizon) / arms**2
    return math.ceil(alpha * math.pow(cube, 1 / 3))


def swa_q(arms: int, horizon: int, sigma: float, alpha: float) -> float:
    """q of Appendix C.1: a window's mean is off by q with probability at most 1 / T^2."""
    cube = 2 * sigma**2 * arms / horizon * math.log(math.sqrt(2) * horizon)
    return math.pow(cube, 1 / 3) / math.sqrt(alpha)


def swa_bound(arms: int, horizon: int, sigma: float, alpha: float, max_mean: float) -> float:
    """Regret bound of SWA (Theorem 3.1)."""
    cube = 16 * sigma**2 * arms * horizon**2 * math.log(math.sqrt(2) * horizon)
    slope = alpha * max_mean + 1 / math.sqrt(alpha)
    return slope * math.pow(cube, 1 / 3) + 3 * arms * max_mean


def wswa_bound(arms: int, horizon: int, sigma: float, alpha: float, max_mean: float) -> float:
    """Regret bound of wSWA (Corollary 3.1.1)."""
    cube = 512 * sigma**2 * arms * horizon**2 * math.log(math.sqrt(2) * horizon)
    slope = alpha * max_mean + 1 / math.sqrt(alpha)
    return slope * math.pow(cube, 1 / 3) + 3 * arms * max_mean * (math.log2(horizon) + 1)


def best_alpha(max_mean: float) -> float:
    """Alpha that minimises the bound of Theorem 3.1, as noted under it."""
    return math.pow(2 * max_mean, -2 / 3)


# --------------------------------------------------------------------------- D-CTO_UCB and T_SIM


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
