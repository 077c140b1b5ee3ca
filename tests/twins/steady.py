"""The twin of SteadyUCB."""

import math

from twins.common import TOLERANCE, History, rewards_of, unpulled


def noise_of(history: History, arms: int) -> float:
    """The pooled scatter about the arms' means; the mean square while there is little to go by."""
    per_arm = [rewards_of(history, arm) for arm in range(arms)]
    count = len(history)
    if count < 2 * arms:
        return math.sqrt(sum(r * r for _, r in history) / max(1, count))
    scatter = 0.0
    for rewards in per_arm:
        if rewards:
            mean = sum(rewards) / len(rewards)
            scatter += sum((r - mean) ** 2 for r in rewards)
    return math.sqrt(scatter / (count - arms))


def steady_ucb(
    history: History,
    arms: int,
    sigma: float | None,
    alpha: float = 3.0,
    c: float = 0.87,
    few: float = 0.3,
) -> set[int]:
    """Each arm once; then the highest index, or any of those that rounding cannot tell apart."""
    start = unpulled(history, arms)
    if start:
        return start
    scores = steady_scores(history, arms, sigma, alpha, c, few)
    sure = max(low for low, _ in scores)
    return {arm for arm, (_, high) in enumerate(scores) if high >= sure - TOLERANCE}


def steady_scores(
    history: History,
    arms: int,
    sigma: float | None,
    alpha: float = 3.0,
    c: float = 0.87,
    few: float = 0.3,
) -> list[tuple[float, float]]:
    """Each arm's mean(h) + (1 + few/h) sqrt(2 c s^2 ln(t+10) / h), s = sigma: the least, the most.

    h minimises mean(h) + sqrt(2 alpha s^2 ln(t' + 10) / h), as it was at the arm's last reward,
    in round t', with what was known of s then. Where windows tie, any of them may have been taken.
    """
    t = len(history) + 1
    now = sigma if sigma is not None else noise_of(history, arms)
    scores = []
    for arm in range(arms):
        last = max(s for s, (pulled, _) in enumerate(history, start=1) if pulled == arm)
        then = sigma if sigma is not None else noise_of(history[:last], arms)
        rewards = rewards_of(history, arm)
        values = {}
        for h in range(1, len(rewards) + 1):
            width = math.sqrt(2 * alpha * then**2 * math.log(last + 10) / h)
            values[h] = sum(rewards[-h:]) / h + width
        tied = [h for h, value in values.items() if value <= min(values.values()) + 1e-12]
        found = []
        for window in tied:
            padding = math.sqrt(2 * c * now**2 * math.log(t + 10) / window)
            found.append(sum(rewards[-window:]) / window + (1 + few / window) * padding)
        scores.append((min(found), max(found)))
    return scores
