"""The twin of sliding-window UCB."""

import math

from twins.common import History, Opened, argmax, choosable, rewards_of


def swucb(
    history: History,
    arms: int,
    tau: int,
    B: float = 2.0,
    xi: float = 0.5,
    opened: Opened | None = None,
) -> set[int]:
    """Sliding-window UCB (section Simulations), on the last tau rounds only.

    An arm absent from the window goes first (the lowest index if several are); otherwise
    argmax mean_tau + B sqrt(xi ln min(t, tau) / N_tau).
    """
    t = len(history) + 1
    window = history[-tau:]
    absent = [arm for arm in choosable(arms, opened) if not rewards_of(window, arm)]
    if absent:
        return {absent[0]}
    scores = {}
    for arm in choosable(arms, opened):
        rewards = rewards_of(window, arm)
        n = len(rewards)
        scores[arm] = sum(rewards) / n + B * math.sqrt(xi * math.log(min(t, tau)) / n)
    return argmax(scores)
