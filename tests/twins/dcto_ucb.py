"""The twin of D-CTO_UCB (Algorithm 3)."""

from twins.common import History, Model, Opened, Seen
from twins.dcto import constant_ucb, detect_by_halves


def dcto_ucb(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    sigma: float,
    exploration: int,
    opened: Opened | None = None,
) -> set[int]:
    """D-CTO_UCB (Algorithm 3): each arm m times in turn, detect once by Z, then the UCB rule.

    What is pulled beyond that (a decision may be restricted) has no part in the detection.
    """

    def detect(arm: Seen) -> list[float]:
        return detect_by_halves(arm.rewards[:exploration], thetas, mu)

    return constant_ucb(history, arms, detect, mu, sigma, 8.0, exploration, opened)
