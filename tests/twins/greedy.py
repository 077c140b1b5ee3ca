"""The twin of GreedyLast."""

from twins.common import History, Opened, argmax, choosable, rewards_of, unpulled


def greedy_last(history: History, arms: int, opened: Opened | None = None) -> set[int]:
    """Each arm once, then the largest last reward; ties to the lowest index.

    Distinct rewards closer than the tolerance are all allowed, each at its lowest index.
    """
    start = unpulled(history, arms, opened)
    if start:
        return start
    last = {arm: rewards_of(history, arm)[-1] for arm in choosable(arms, opened)}
    return {next(i for i in last if last[i] == last[arm]) for arm in argmax(last)}
