"""The twin of Exp3.S."""

import math

from twins.common import History, drawn


def exp3s(
    history: History,
    arms: int,
    gamma: float,
    alpha: float,
    uniforms: list[float],
    low: float = 0.0,
    high: float = 1.0,
) -> set[int]:
    """Exp3.S: draw from p_i = (1 - gamma) w_i / sum w + gamma / K by the uniform number of a round.

    After a reward, w_j <- w_j exp(gamma xhat_j / K) + (e alpha / K) sum w, with xhat_a = x / p_a
    for the arm played and 0 for the others, x = (r - low) / (high - low) clipped to [0, 1].
    """

    def probabilities() -> list[float]:
        return [(1 - gamma) * weight / sum(weights) + gamma / arms for weight in weights]

    weights = [1.0] * arms
    for arm, reward in history:
        x = min(max((reward - low) / (high - low), 0.0), 1.0)
        estimates = [0.0] * arms
        estimates[arm] = x / probabilities()[arm]
        shared = math.e * alpha / arms * sum(weights)
        weights = [
            weight * math.exp(gamma * estimate / arms) + shared
            for weight, estimate in zip(weights, estimates, strict=True)
        ]
        if sum(weights) > 1e100:  # only their ratios matter
            weights = [weight / sum(weights) for weight in weights]
    return set(drawn(probabilities(), uniforms[0]))
