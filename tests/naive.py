"""Naive twins of the policies: slow, obvious, and recomputed from the full history every round.

A twin returns the set of arms its rule allows at round t = len(history) + 1; fast code is right
when the arm it plays is always in that set. Arms are 0-based, pulls and rounds 1-based. "The
paper" is Levine, Crammer and Mannor, "Rotting Bandits" (2017); a model is mu(n, theta), n >= 1.
"""

import math
from collections.abc import Callable

History = list[tuple[int, float]]
Mean = Callable[[int], float]
Model = Callable[[int, float], float]

TOLERANCE = 1e-9


# ---------------------------------------------------------------- what the rules have in common


def rewards_of(history: History, arm: int) -> list[float]:
    """Return the rewards of one arm, oldest first (the paper's r^i_1, r^i_2, ...)."""
    return [reward for pulled, reward in history if pulled == arm]


def pull_counts(history: History, arms: int) -> list[int]:
    """Return N_i(t), the pulls of every arm before this round."""
    return [len(rewards_of(history, arm)) for arm in range(arms)]


def unpulled(history: History, arms: int) -> set[int]:
    """Return the first arm never pulled ("each arm once in index order"), or the empty set."""
    counts = pull_counts(history, arms)
    return {counts.index(0)} if 0 in counts else set()


def argmax(scores: list[float]) -> set[int]:
    """Return the arms whose score is the best up to rounding."""
    return {arm for arm, score in enumerate(scores) if score >= max(scores) - TOLERANCE}


# ---------------------------------------------------------------------------------- benchmarks


def uniform(history: History, arms: int) -> set[int]:
    """Allow every arm."""
    return set(range(arms))


def round_robin(history: History, arms: int) -> set[int]:
    """Play the arms in turn: i(t) = (t - 1) mod K."""
    return {len(history) % arms}


def greedy_last(history: History, arms: int) -> set[int]:
    """Each arm once, then the largest last reward; ties to the lowest index.

    Distinct rewards closer than the tolerance are all allowed, each at its lowest index.
    """
    start = unpulled(history, arms)
    if start:
        return start
    last = [rewards_of(history, arm)[-1] for arm in range(arms)]
    return {last.index(last[arm]) for arm in argmax(last)}


def ucb1(history: History, arms: int, c: float = 2.0) -> set[int]:
    """UCB1 (section Simulations): each arm once, then argmax mean_i + sqrt(c ln t / N_i)."""
    start = unpulled(history, arms)
    if start:
        return start
    t = len(history) + 1
    scores = []
    for arm in range(arms):
        rewards = rewards_of(history, arm)
        n = len(rewards)
        scores.append(sum(rewards) / n + math.sqrt(c * math.log(t) / n))
    return argmax(scores)


def ducb(history: History, arms: int, gamma: float, B: float = 1.0, xi: float = 0.5) -> set[int]:
    """Discounted UCB (section Simulations): argmax mean_gamma + 2 B sqrt(xi ln n_gamma / N_gamma).

    Round s weighs gamma^(t-1-s): the most recent round has weight 1.
    """
    start = unpulled(history, arms)
    if start:
        return start
    t = len(history) + 1
    weight = [0.0] * arms
    total = [0.0] * arms
    for s, (arm, reward) in enumerate(history, start=1):
        weight[arm] += gamma ** (t - 1 - s)
        total[arm] += gamma ** (t - 1 - s) * reward
    log_n = max(0.0, math.log(sum(weight)))
    scores = []
    for n, reward_sum in zip(weight, total, strict=True):
        scores.append(reward_sum / n + 2 * B * math.sqrt(xi * log_n / n))
    return argmax(scores)


def swucb(history: History, arms: int, tau: int, B: float = 2.0, xi: float = 0.5) -> set[int]:
    """Sliding-window UCB (section Simulations), on the last tau rounds only.

    An arm absent from the window goes first (the lowest index if several are); otherwise
    argmax mean_tau + B sqrt(xi ln min(t, tau) / N_tau).
    """
    t = len(history) + 1
    window = history[-tau:]
    absent = [arm for arm in range(arms) if not rewards_of(window, arm)]
    if absent:
        return {absent[0]}
    scores = []
    for arm in range(arms):
        rewards = rewards_of(window, arm)
        n = len(rewards)
        scores.append(sum(rewards) / n + B * math.sqrt(xi * math.log(min(t, tau)) / n))
    return argmax(scores)


# --------------------------------------------------------------------------- SWA (Algorithm 1)


def swa_window(alpha: float, sigma: float, arms: int, horizon: int) -> int:
    """M of Algorithm 1: ceil(alpha 4^(2/3) sigma^(2/3) K^(-2/3) T^(2/3) ln^(1/3)(sqrt(2) T))."""
    return math.ceil(
        alpha
        * math.pow(4, 2 / 3)
        * math.pow(sigma, 2 / 3)
        * math.pow(arms, -2 / 3)
        * math.pow(horizon, 2 / 3)
        * math.pow(math.log(math.sqrt(2) * horizon), 1 / 3)
    )


def last_means(history: History, arms: int, window: int) -> list[float]:
    """Return the mean of each arm's last M rewards, as in the Balance step of Algorithm 1."""
    return [sum(rewards_of(history, arm)[-window:]) / window for arm in range(arms)]


def swa(history: History, arms: int, horizon: int, alpha: float, sigma: float) -> set[int]:
    """SWA (Algorithm 1): round robin for K M rounds, then argmax of the last M rewards' mean."""
    window = swa_window(alpha, sigma, arms, horizon)
    if len(history) < arms * window:
        return round_robin(history, arms)
    return argmax(last_means(history, arms, window))


def wswa(
    history: History, arms: int, alpha: float, sigma: float, restart: str = "forget"
) -> set[int]:
    """Restart SWA in epochs (wSWA, Appendix C.2): horizon 2^(n-1) in rounds 2^(n-1) .. 2^n - 1.

    "forget" starts each epoch empty; "keep" only changes M, and first brings every arm to M pulls.
    """
    t = len(history) + 1
    horizon = 1
    while 2 * horizon <= t:
        horizon *= 2
    if restart == "forget":
        return swa(history[horizon - 1 :], arms, horizon, alpha, sigma)
    if restart != "keep":
        raise ValueError(f"restart must be 'forget' or 'keep', not {restart!r}")
    window = swa_window(alpha, sigma, arms, horizon)
    counts = pull_counts(history, arms)
    if min(counts) < window:
        return {counts.index(min(counts))}
    return argmax(last_means(history, arms, window))


# ----------------------------------------------------------------------------- CTO and D-CTO


def halves(values: list[float]) -> float:
    """First floor(N/2) values minus the rest: the half-difference of Z and of Ddet."""
    middle = len(values) // 2
    return sum(values[:middle]) - sum(values[middle:])


def closest_to_origin(
    rewards: list[float],
    thetas: list[float],
    mu: Model,
    statistic: Callable[[list[float]], float],
) -> list[float]:
    """Every theta-hat that rounding may make of argmin |statistic(r) - statistic(mu(.; theta))|.

    The statistic is the sum (Y) or the half-difference (Z). The first of the closest models when
    they have coincided on all the pulls so far; otherwise a near tie leaves all of them possible.
    """
    curves = [[mu(j, theta) for j in range(1, len(rewards) + 1)] for theta in thetas]
    distances = [abs(statistic(rewards) - statistic(curve)) for curve in curves]
    closest = [k for k, distance in enumerate(distances) if distance <= min(distances) + TOLERANCE]
    if all(curves[k] == curves[closest[0]] for k in closest):
        return [thetas[closest[0]]]
    return [thetas[k] for k in closest]


def cto(history: History, arms: int, thetas: list[float], mu: Model) -> set[int]:
    """CTO_SIM (Algorithm 2): each arm once, then argmax mu(N_i + 1; theta-hat_i), theta-hat by Y.

    Exact ties of mu go to the least pulled arms. Where several models of an arm are possible, an
    arm is allowed if its best possible score reaches the worst possible score of every arm.
    """
    start = unpulled(history, arms)
    if start:
        return start
    worst: list[tuple[float, int]] = []
    best: list[tuple[float, int]] = []
    for arm in range(arms):
        rewards = rewards_of(history, arm)
        n = len(rewards)
        possible = closest_to_origin(rewards, thetas, mu, sum)
        scores = [(mu(n + 1, theta), -n) for theta in possible]
        worst.append(min(scores))
        best.append(max(scores))
    return {arm for arm in range(arms) if best[arm] >= max(worst)}


def detect(history: History, arms: int, thetas: list[float], mu: Model) -> list[list[float]]:
    """Detect step of Algorithm 3: the possible theta-hat_i of every arm, by Z."""
    return [closest_to_origin(rewards_of(history, arm), thetas, mu, halves) for arm in range(arms)]


def constant_ucb(
    history: History, possible: list[list[float]], mu: Model, sigma: float, c: float
) -> set[int]:
    """UCB rule of D-CTO: argmax mu_c-hat + mu(N_i + 1; theta-hat_i) + sqrt(c ln t sigma^2 / N_i).

    Several possible models of an arm are treated as in cto.
    """
    t = len(history) + 1
    worst = []
    best = []
    for arm, thetas in enumerate(possible):
        rewards = rewards_of(history, arm)
        n = len(rewards)
        scores = []
        for theta in thetas:
            constant = sum(reward - mu(j, theta) for j, reward in enumerate(rewards, start=1)) / n
            width = math.sqrt(c * math.log(t) * sigma**2 / n)
            scores.append(constant + mu(n + 1, theta) + width)
        worst.append(min(scores))
        best.append(max(scores))
    return {arm for arm in range(len(possible)) if best[arm] >= max(worst) - TOLERANCE}


def dcto(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    sigma: float,
    c: float = 8.0,
    start: int = 2,
    halves: str = "all",
) -> set[int]:
    """D-CTO_SIM-UCB: each arm `start` times, then detect by Z and follow the UCB rule every round.

    With halves = "even" an arm is detected from its even number of pulls before an odd one,
    except at the start.
    """
    if len(history) < start * arms:
        return round_robin(history, arms)
    detected = []
    for arm in range(arms):
        rewards = rewards_of(history, arm)
        if halves == "even" and len(rewards) % 2 == 1 and len(rewards) > start:
            rewards = rewards[:-1]
        detected += detect([(0, reward) for reward in rewards], 1, thetas, mu)
    return constant_ucb(history, detected, mu, sigma, c)


def dcto_ucb(
    history: History, arms: int, thetas: list[float], mu: Model, sigma: float, exploration: int
) -> set[int]:
    """D-CTO_UCB (Algorithm 3): round robin for K m rounds, detect once by Z, then the UCB rule."""
    if len(history) < arms * exploration:
        return round_robin(history, arms)
    models = detect(history[: arms * exploration], arms, thetas, mu)
    return constant_ucb(history, models, mu, sigma, 8.0)


# ---------------------------------------------------------------------- optimum, Ddet and models


def oracle(pulls: list[int], means: list[Mean]) -> set[int]:
    """pi_max (section 2.1): argmax of mu_i(N_i + 1); exact ties are all allowed."""
    upcoming = [mean(n + 1) for n, mean in zip(pulls, means, strict=True)]
    return {arm for arm, value in enumerate(upcoming) if value == max(upcoming)}


def compositions(total: int, parts: int) -> list[list[int]]:
    """List every way to write total as an ordered sum of that many non-negative integers."""
    if parts == 1:
        return [[total]]
    return [
        [first, *rest]
        for first in range(total + 1)
        for rest in compositions(total - first, parts - 1)
    ]


def best_total(means: list[Mean], horizon: int) -> float:
    """Maximum of J(T) in the definition of regret, over every vector of pull counts (Lemma 2.1)."""
    return max(
        sum(mean(j) for n, mean in zip(counts, means, strict=True) for j in range(1, n + 1))
        for counts in compositions(horizon, len(means))
    )


def ddet(n: int, theta1: float, theta2: float, mu: Model, sigma: float) -> float:
    """Ddet_{theta1,theta2}(n) of section 4: n sigma^2 / (half-difference of mu1 - mu2)^2."""
    difference = halves([mu(j, theta1) - mu(j, theta2) for j in range(1, n + 1)])
    return n * sigma**2 / difference**2 if difference**2 > 0 else math.inf


def ddet_star(
    zeta: float, theta1: float, theta2: float, mu: Model, sigma: float, limit: int
) -> int | None:
    """f-star-down of section 4 for Ddet, up to limit: smallest N with Ddet <= zeta on N..limit."""
    prefix = [0.0]
    for j in range(1, limit + 1):
        prefix.append(prefix[-1] + (mu(j, theta1) - mu(j, theta2)))
    answer = None
    for n in range(1, limit + 1):
        difference = 2 * prefix[n // 2] - prefix[n]
        value = n * sigma**2 / difference**2 if difference**2 > 0 else math.inf
        if value > zeta:
            answer = None
        elif answer is None:
            answer = n
    return answer


def polynomial(n: int, theta: float) -> float:
    """Return n^(-theta), the rotting model of Example 4.1."""
    return math.pow(n, -theta)


def plateau(n: int, theta: float, length: int) -> float:
    """Return (int(n / length) + 1)^(-theta), the rotting model of section Simulations."""
    return math.pow(n // length + 1, -theta)
