"""The twin of C-CTO: theta in an interval."""

from twins.common import Counted, History, Model, Opened, argmax, seen_arms, unpulled


def interpolated(nodes: list[float], theta: float, values: list[float]) -> float:
    """The value at theta of the broken line through (node, value)."""
    for left, right, a, b in zip(nodes, nodes[1:], values, values[1:], strict=False):
        if theta <= right:
            return a + (b - a) * (theta - left) / (right - left)
    return values[-1]


def interval_cto(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    opened: Opened | None = None,
    counted: Counted | None = None,
) -> set[int]:
    """CTO with theta-hat anywhere between the nodes: where the broken line of sums meets the sum.

    Beyond the ends theta-hat is at the end; where all sums are equal, at the first node. Ties go
    to the fewest pulls.
    """
    start = unpulled(history, arms, opened)
    if start:
        return start
    values, counts = {}, {}
    for arm, rewards, pulls, following in seen_arms(history, arms, opened, counted):
        total = sum(rewards)
        sums = [sum(mu(j, theta) for j in pulls) for theta in thetas]
        theta = thetas[0]
        if total <= sums[-1] < sums[0]:
            theta = thetas[-1]
        elif sums[-1] < total < sums[0]:
            for left, right, a, b in zip(thetas, thetas[1:], sums, sums[1:], strict=False):
                if b <= total <= a and a > b:
                    theta = left + (right - left) * (a - total) / (a - b)
                    break
        values[arm] = interpolated(thetas, theta, [mu(following, node) for node in thetas])
        counts[arm] = len(rewards)
    best = argmax(values)
    if any(values[i] != values[j] for i in best for j in best):
        return best
    return {arm for arm in best if counts[arm] == min(counts[i] for i in best)}
