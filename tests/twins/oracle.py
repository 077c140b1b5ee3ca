"""The twin of pi_max, and the best total by brute force."""

from twins.common import Mean, Opened, choosable


def oracle(pulls: list[int], means: list[Mean], opened: Opened | None = None) -> set[int]:
    """pi_max (section 2.1): argmax of mu_i(N_i + 1); exact ties are all allowed."""
    upcoming = {arm: means[arm](pulls[arm] + 1) for arm in choosable(len(means), opened)}
    return {arm for arm, value in upcoming.items() if value == max(upcoming.values())}


def compositions(total: int, parts: int) -> list[list[int]]:
    """List every way to write total as an ordered sum of that many non-negative integers."""
    if parts == 1:
        return [[total]]
    return [
        [first, *rest]
        for first in range(total + 1)
        for rest in compositions(total - first, parts - 1)
    ]


def best_total(means: list[Mean], horizon: int) -> float:
    """Maximum of J(T) in the definition of regret, over every vector of pull counts (Lemma 2.1)."""
    return max(
        sum(mean(j) for n, mean in zip(counts, means, strict=True) for j in range(1, n + 1))
        for counts in compositions(horizon, len(means))
    )
