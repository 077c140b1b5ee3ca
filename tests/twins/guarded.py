"""The twin of Guarded."""

import math

from twins.common import (
    TOLERANCE,
    History,
    Model,
    Opened,
    choosable,
    pull_counts,
    rewards_of,
    short_of,
)
from twins.lcto import likelihood_dcto
from twins.posterior import posterior
from twins.steady import play, steady_scores, steady_ucb


def likeliest_first(rewards: list[float], thetas: list[float], mu: Model, constants: bool) -> float:
    """The first theta with the least sum of squares, about the mean residual with constants."""
    fits = []
    for theta in thetas:
        residuals = [r - mu(j, theta) for j, r in enumerate(rewards, start=1)]
        constant = sum(residuals) / len(residuals) if constants else 0.0
        fits.append(sum((x - constant) ** 2 for x in residuals))
    return thetas[min(range(len(thetas)), key=lambda k: (round(fits[k], 9), k))]


def is_doubted(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    sigma: float,
    constants: bool,
    doubt: float,
    opened: Opened | None = None,
) -> bool:
    """Whether at some 16th reward of an arm its likeliest model missed its last rewards clearly.

    That is those after a milestone of SteadyUCB's, of level 4 or higher.
    """
    need = 2 if constants else 1
    for t, (arm, _) in enumerate(history, start=1):
        rewards = rewards_of(history[:t], arm)
        n = len(rewards)
        if n % 16 or n < need:
            continue
        theta = likeliest_first(rewards, thetas, mu, constants)
        residuals = [r - mu(j, theta) for j, r in enumerate(rewards, start=1)]
        constant = sum(residuals) / n if constants else 0.0
        milestones = play(history, arms, sigma, opened=opened).milestones[t - 1]
        for start in (start for level, start in milestones.items() if level >= 4):
            h = n - start
            off = abs(sum(residuals[start:]) - constant * h)
            if off > math.sqrt(2 * doubt * sigma**2 * math.log(t + 10) * h):
                return True
    return False


def is_unsure(history: History, arms: int, thetas: list[float], mu: Model, sigma: float) -> bool:
    """Whether at the latest 16th reward of an arm some arm stood apart from all the others.

    It is "each arm is off by its own Normal(0, sigma^2 / 50)" against "none is", for every arm in
    turn, in the mean residual d of its n rewards minus that of the others' N - n, whose variance is
    v = sigma^2 (1/n + 1/(N - n)): density of d under Normal(0, v + sigma^2 / 50) over that under
    Normal(0, v), beyond 20 K.
    """
    looks = [t for t in range(1, len(history) + 1) if is_16th(history[:t])]
    if not looks:
        return False
    seen = history[: looks[-1]]
    residuals: list[list[float]] = []
    for arm in range(arms):
        rewards = rewards_of(seen, arm)
        theta = likeliest_first(rewards, thetas, mu, False) if rewards else thetas[0]
        residuals.append([r - mu(j, theta) for j, r in enumerate(rewards, start=1)])
    for arm in range(arms):
        own = residuals[arm]
        others = [x for k, found in enumerate(residuals) if k != arm for x in found]
        if not own or not others:
            continue
        d = sum(own) / len(own) - sum(others) / len(others)
        narrow = sigma**2 * (1 / len(own) + 1 / len(others))
        wide = narrow + sigma**2 / 50
        odds = math.sqrt(narrow / wide) * math.exp(d**2 / 2 * (1 / narrow - 1 / wide))
        if odds > 20 * arms:
            return True
    return False


def is_16th(history: History) -> bool:
    """Whether the latest reward is the 16th, 32nd, ... of its arm."""
    return len(rewards_of(history, history[-1][0])) % 16 == 0


def hopeful(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    sigma: float,
    leader: int,
    opened: Opened | None = None,
) -> set[int]:
    """The leader, or the neglected arm with hopes whose SteadyUCB index is highest."""
    counts = pull_counts(history, arms)
    found = likeliest_first(rewards_of(history, leader), thetas, mu, False)
    allowed = {leader}
    for arm in choosable(arms, opened):
        rewards = rewards_of(history, arm)
        fits = {
            theta: sum((r - mu(j, theta)) ** 2 for j, r in enumerate(rewards, start=1))
            for theta in thetas
        }
        likely = [
            theta
            for theta in thetas
            if math.exp((min(fits.values()) - fits[theta]) / (2 * sigma**2)) >= 1 / 1000
        ]
        hope = max(mu(4 * (counts[arm] + 1), theta) for theta in likely)
        if 4 * counts[arm] < counts[leader] and hope >= mu(counts[leader] + 1, found):
            allowed.add(arm)
    scores = steady_scores(history, arms, sigma, opened=opened)
    highest = max(scores[arm] for arm in allowed)
    return {arm for arm in allowed if scores[arm] >= highest - TOLERANCE}


def guarded(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    sigma: float,
    constants: bool = False,
    c: float = 1.0,
    doubt: float = 2.0,
    opened: Opened | None = None,
) -> set[int]:
    """By the family while nothing speaks against it, else as steady_ucb; see the parts above."""
    start = short_of(history, arms, 2 if constants else 1, opened)
    if start:
        return start
    if is_doubted(history, arms, thetas, mu, sigma, constants, doubt, opened):
        return steady_ucb(history, arms, sigma, opened=opened)
    if constants:
        return likelihood_dcto(history, arms, thetas, mu, sigma, c, opened=opened)
    if is_unsure(history, arms, thetas, mu, sigma):
        return steady_ucb(history, arms, sigma, opened=opened)
    leaders = posterior(history, arms, thetas, mu, sigma, opened=opened)
    return set().union(*(hopeful(history, arms, thetas, mu, sigma, arm, opened) for arm in leaders))
