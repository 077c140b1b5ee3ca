"""The twin of Exp3.S."""

import math

from twins.common import History, Opened, drawn


def exp3s(
    history: History,
    arms: int,
    gamma: float,
    alpha: float,
    uniforms: list[float],
    low: float = 0.0,
    high: float = 1.0,
    opened: Opened | None = None,
) -> set[int]:
    """Exp3.S: draw from p_i = (1 - gamma) w_i / sum w + gamma / K by the uniform number of a round.

    After a reward, w_j <- w_j exp(gamma xhat_j / K) + (e alpha / K) sum w, with xhat_a = x / p_a
    for the arm played and 0 for the others, x = (r - low) / (high - low) clipped to [0, 1]. Closed
    arms have no part in K, the sum and what is shared out. p is that of the arms that could be
    chosen. An arm that opens for the first time gets the mean weight of the open arms that were
    pulled; of all that were open before, if none of them was.
    """
    if opened is None:
        everything = [set(range(arms))] * (len(history) + 1)
        opened = Opened(everything, everything)

    def probabilities(among: set[int]) -> dict[int, float]:
        total = sum(weights[arm] for arm in among)
        return {arm: (1 - gamma) * weights[arm] / total + gamma / len(among) for arm in among}

    weights = dict.fromkeys(range(arms), 1.0)
    known = set(opened.open[0])
    for t in range(len(history) + 1):
        before = opened.open[t] & known
        tried = {arm for arm, _ in history[:t]} & before
        models = tried or before
        for arm in opened.open[t] - known:
            if models:
                weights[arm] = sum(weights[model] for model in models) / len(models)
        known |= opened.open[t]
        if t == len(history):
            break
        arm, reward = history[t]
        x = min(max((reward - low) / (high - low), 0.0), 1.0)
        estimate = x / probabilities(opened.among[t])[arm]
        count = len(opened.open[t])
        shared = math.e * alpha / count * sum(weights[other] for other in opened.open[t])
        weights[arm] *= math.exp(gamma * estimate / count)
        for other in opened.open[t]:
            weights[other] += shared
        if sum(weights.values()) > 1e100:  # only their ratios matter
            weights = {arm: weight / sum(weights.values()) for arm, weight in weights.items()}
    chances = probabilities(opened.among[-1])
    places = sorted(chances)
    return {places[k] for k in drawn([chances[arm] for arm in places], uniforms[0])}
