"""The twin of sliding-window UCB."""

import math

from twins.common import History, Opened, Seen, highest


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

    def index(arm: Seen) -> float:
        n = len(arm.rewards)
        return sum(arm.rewards) / n + B * math.sqrt(xi * math.log(min(t, tau)) / n)

    return highest(history[-tau:], arms, index, opened)
