"""The twin of D-CTO_UCB (Algorithm 3)."""

from twins.common import History, Model
from twins.dcto import constant_ucb, detect
from twins.simple import round_robin


def dcto_ucb(
    history: History, arms: int, thetas: list[float], mu: Model, sigma: float, exploration: int
) -> set[int]:
    """D-CTO_UCB (Algorithm 3): round robin for K m rounds, detect once by Z, then the UCB rule."""
    if len(history) < arms * exploration:
        return round_robin(history, arms)
    models = detect(history[: arms * exploration], arms, thetas, mu)
    return constant_ucb(history, models, mu, sigma, 8.0)
