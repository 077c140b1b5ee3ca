"""Shared by the twins: a history, quantities read off it, ramp-up and ties."""

from collections.abc import Callable
from typing import Any, NamedTuple

History = list[tuple[int, float]]
Mean = Callable[[int], float]
Model = Callable[[int, float], float]
TOLERANCE = 1e-9


class Opened(NamedTuple):
    """Which arms were open in every round so far, and are in the present one; a set a round.

    A decision may be restricted to some of the open arms. That is over when its pull is counted.
    """

    open: list[set[int]]
    among: list[set[int]]


class Counted(NamedTuple):
    """Pull numbers in an audience, where each key counts its own and numbers repeat."""

    past: list[int]  # of every pull in the history
    upcoming: list[int]  # of each arm's next pull, for the key that decides


class Seen(NamedTuple):
    """An arm that may be chosen, as the history shows it."""

    arm: int
    rewards: list[float]  # oldest first
    pulls: list[int]  # the numbers of their pulls
    following: int  # the number of its next pull


def choosable(arms: int, opened: Opened | None) -> list[int]:
    """Return the arms that may be chosen in this round, in order: all, unless some are closed."""
    return list(range(arms)) if opened is None else sorted(opened.among[-1])


def rewards_of(history: History, arm: int) -> list[float]:
    """Return the rewards of one arm, oldest first (the paper's r^i_1, r^i_2, ...)."""
    return [reward for pulled, reward in history if pulled == arm]


def pulls_of(history: History, arm: int, counted: Counted | None = None) -> list[int]:
    """Return the numbers of one arm's pulls, oldest first: 1, 2, ..., or what keys counted."""
    if counted is None:
        return list(range(1, len(rewards_of(history, arm)) + 1))
    return [n for (pulled, _), n in zip(history, counted.past, strict=True) if pulled == arm]


def next_pull(history: History, arm: int, counted: Counted | None = None) -> int:
    """Return the number of an arm's next pull."""
    return len(rewards_of(history, arm)) + 1 if counted is None else counted.upcoming[arm]


def seen_arms(
    history: History, arms: int, opened: Opened | None = None, counted: Counted | None = None
) -> list[Seen]:
    """Return the arms that may be chosen in this round, in order."""
    return [
        Seen(
            arm,
            rewards_of(history, arm),
            pulls_of(history, arm, counted),
            next_pull(history, arm, counted),
        )
        for arm in choosable(arms, opened)
    ]


def discounted(history: History, arms: int, gamma: float) -> tuple[list[float], list[float]]:
    """Return the weights and weighted rewards of every arm; round s weighs gamma^(t-1-s)."""
    t = len(history) + 1
    weight = [0.0] * arms
    total = [0.0] * arms
    for s, (arm, reward) in enumerate(history, start=1):
        weight[arm] += gamma ** (t - 1 - s)
        total[arm] += gamma ** (t - 1 - s) * reward
    return weight, total


def pull_counts(history: History, arms: int) -> list[int]:
    """Return N_i(t), the pulls of every arm before this round."""
    return [len(rewards_of(history, arm)) for arm in range(arms)]


def unpulled(history: History, arms: int, opened: Opened | None = None) -> set[int]:
    """Return the first arm never pulled ("each arm once in index order"), or the empty set."""
    return short_of(history, arms, 1, opened)


def short_of(history: History, arms: int, pulls: int, opened: Opened | None = None) -> set[int]:
    """Return the least pulled arm of those with fewer pulls, lowest index first, or nothing."""
    counts = pull_counts(history, arms)
    least = min(choosable(arms, opened), key=counts.__getitem__)
    return {least} if counts[least] < pulls else set()


def argmax(scores: dict[int, float]) -> set[int]:
    """Return the arms whose score is the best up to rounding."""
    return {arm for arm, score in scores.items() if score >= max(scores.values()) - TOLERANCE}


def possibly_best(scores: dict[int, list[Any]], slack: float = TOLERANCE) -> set[int]:
    """Return the arms that may be the best, where rounding leaves several scores possible.

    The best possible score of such an arm reaches the worst possible score of every arm.
    """
    least = max(min(possible) for possible in scores.values())
    return {
        arm
        for arm, possible in scores.items()
        if max(possible) >= (least - slack if slack else least)
    }


def highest_possible(
    history: History,
    arms: int,
    scores: Callable[[Seen], list[Any]],
    opened: Opened | None = None,
    counted: Counted | None = None,
    pulls: int = 1,
    slack: float = TOLERANCE,
) -> set[int]:
    """Ramp up to `pulls` pulls of each arm, the least pulled first; then possibly_best."""
    short = short_of(history, arms, pulls, opened)
    return short or possibly_best(
        {seen.arm: scores(seen) for seen in seen_arms(history, arms, opened, counted)}, slack
    )


def highest(
    history: History,
    arms: int,
    score: Callable[[Seen], float],
    opened: Opened | None = None,
    counted: Counted | None = None,
    pulls: int = 1,
) -> set[int]:
    """Ramp up to `pulls` pulls of each arm, the least pulled first; then the highest scores."""
    return highest_possible(history, arms, lambda seen: [score(seen)], opened, counted, pulls)


def closest(distances: list[float], thetas: list[float], curves: list[list[float]]) -> list[float]:
    """Every theta that rounding may make of the one at the least distance.

    `curves` are the models' means at the pulls so far. The first of the closest models where they
    coincide on all of these; otherwise a near tie leaves all of them possible.
    """
    near = [k for k, distance in enumerate(distances) if distance <= min(distances) + TOLERANCE]
    if all(curves[k] == curves[near[0]] for k in near):
        return [thetas[near[0]]]
    return [thetas[k] for k in near]


def drawn(weights: list[float], u: float) -> list[int]:
    """Every k that rounding may make of "the first with weights_0 + ... + weights_k > u".

    The last one if there is none; a u within the tolerance of a boundary allows both sides.
    """
    below = 0.0
    possible = []
    for k, weight in enumerate(weights):
        above = below + weight
        last = k == len(weights) - 1
        if below - TOLERANCE <= u and (last or u < above + TOLERANCE):
            possible.append(k)
        below = above
    return possible
