"""Twins of Posterior, with a finite Theta and with an interval."""

import math

from twins.common import (
    Counted,
    History,
    Model,
    Opened,
    Seen,
    drawn,
    highest_possible,
    pulls_of,
    rewards_of,
    seen_arms,
    short_of,
)
from twins.lcto import fit


def pooled_variance(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    constants: bool,
    counted: Counted | None = None,
) -> float:
    """Return sum_k min_theta RSS / sum_k (N_k - need) over the arms with a reward.

    It is 1 if the denominator is not positive or the ratio is at most 1e-12.
    """
    need = 2 if constants else 1
    squares = 0.0
    freedom = 0
    for arm in range(arms):
        rewards = rewards_of(history, arm)
        if rewards:
            pulls = pulls_of(history, arm, counted)
            squares += min(fit(rewards, pulls, theta, mu, constants)[0] for theta in thetas)
            freedom += len(rewards) - need
    if freedom > 0 and squares / freedom > 1e-12:
        return squares / freedom
    return 1.0


def posterior(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    sigma: float | None,
    constants: bool = False,
    rule: str = "mean",
    z: float = 1.0,
    numbers: list[float] | None = None,
    weights: list[float] | None = None,
    opened: Opened | None = None,
    counted: Counted | None = None,
) -> set[int]:
    """Bayes over the models, w ~ prior exp(-RSS_theta / (2 s2)): the best index of c + mu(N_i + 1).

    The prior is what `weights` are, or uniform.

    "mean": E = sum_theta w value, value_theta = c_theta + mu(N_i + 1; theta). "upper": E + z sd,
    of variance sum_theta w (value - E)^2, plus s2 / N_i with constants. "thompson": the value of
    a theta drawn by a uniform number; with constants, plus sqrt(s2 / N_i) times a normal one. The
    arms that may be chosen take the numbers in turn.

    First the arms with fewer than 2 pulls with constants, 1 without. s2 = sigma^2 if known, else
    the pooled variance after the last reward of the arm. A uniform number at the boundary of two
    models leaves both values possible.
    """
    draws = iter(numbers or [])
    prior = weights or [1.0] * len(thetas)

    def scores(seen: Seen) -> list[float]:
        arm, rewards, pulls, following = seen
        n = len(rewards)
        if sigma is not None:
            s2 = sigma**2
        else:
            last = max(s for s, (pulled, _) in enumerate(history, start=1) if pulled == arm)
            known = None if counted is None else counted._replace(past=counted.past[:last])
            s2 = pooled_variance(history[:last], arms, thetas, mu, constants, known)
        fits = [fit(rewards, pulls, theta, mu, constants) for theta in thetas]
        least = min(square for square, _ in fits)
        chances = [
            p * math.exp(-(square - least) / (2 * s2))
            for p, (square, _) in zip(prior, fits, strict=True)
        ]
        chances = [chance / sum(chances) for chance in chances]
        values = [
            constant + mu(following, theta)
            for (_, constant), theta in zip(fits, thetas, strict=True)
        ]
        mean = sum(w * value for w, value in zip(chances, values, strict=True))
        if rule == "mean":
            return [mean]
        if rule == "upper":
            variance = sum(
                w * (value - mean) ** 2 for w, value in zip(chances, values, strict=True)
            )
            if constants:
                variance += s2 / n
            return [mean + z * math.sqrt(variance)]
        if rule == "thompson":
            possible = [values[k] for k in drawn(chances, next(draws))]
            shift = math.sqrt(s2 / n) * next(draws) if constants else 0.0
            return [value + shift for value in possible]
        raise ValueError(f"rule must be 'mean', 'upper' or 'thompson', not {rule!r}")

    return highest_possible(history, arms, scores, opened, counted, pulls=2 if constants else 1)


def interval_posterior(
    history: History,
    arms: int,
    low: float,
    high: float,
    mu: Model,
    sigma: float,
    constants: bool = False,
    points: int = 400,
    tolerance: float = 2e-3,
    counted: Counted | None = None,
) -> set[int]:
    """Posterior mean of the next reward, theta uniform on [low, high], by a sum over many points.

    All arms within the tolerance of the best are allowed: policies may integrate less finely.
    """
    need = 2 if constants else 1
    short = short_of(history, arms, need)
    if short:
        return short
    values = []
    for _, rewards, pulls, following in seen_arms(history, arms, None, counted):
        n = len(rewards)
        fits, worths = [], []
        for k in range(points + 1):
            theta = low + (high - low) * k / points
            residuals = [r - mu(j, theta) for j, r in zip(pulls, rewards, strict=True)]
            constant = sum(residuals) / n if constants else 0.0
            fits.append(sum((x - constant) ** 2 for x in residuals))
            worths.append(constant + mu(following, theta))
        weights = [math.exp(-(fit - min(fits)) / (2 * sigma**2)) for fit in fits]
        weights[0] /= 2
        weights[-1] /= 2
        values.append(sum(w * x for w, x in zip(weights, worths, strict=True)) / sum(weights))
    return {arm for arm in range(arms) if values[arm] >= max(values) - tolerance}
