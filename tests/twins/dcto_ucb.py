"""The twin of D-CTO_UCB (Algorithm 3)."""

from twins.common import History, Model, Opened, choosable, rewards_of, short_of
from twins.dcto import constant_ucb, detect


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
    short = short_of(history, arms, exploration, opened)
    if short:
        return short
    models = {
        arm: detect(rewards_of(history, arm)[:exploration], thetas, mu)
        for arm in choosable(arms, opened)
    }
    return constant_ucb(history, models, mu, sigma, 8.0)
