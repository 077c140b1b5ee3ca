"""The twin of GreedyLast."""

from twins.common import History, argmax, rewards_of, unpulled


def greedy_last(history: History, arms: int) -> set[int]:
    """Each arm once, then the largest last reward; ties to the lowest index.

    Distinct rewards closer than the tolerance are all allowed, each at its lowest index.
    """
    start = unpulled(history, arms)
    if start:
        return start
    last = [rewards_of(history, arm)[-1] for arm in range(arms)]
    return {last.index(last[arm]) for arm in argmax(last)}
