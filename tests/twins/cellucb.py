"""The twin of CellUCB."""

import math

from twins.common import (
    Counted,
    History,
    Opened,
    argmax,
    choosable,
    next_pull,
    pulls_of,
    rewards_of,
    unpulled,
)


def cell_ucb(
    history: History,
    arms: int,
    sigma: float,
    cells: int,
    delta: float,
    opened: Opened | None = None,
    counted: Counted | None = None,
) -> set[int]:
    """Each arm once, then the arm whose next pull has the highest upper bound.

    A cell is a pull number, the last one all numbers from `cells` on. Its bound is the mean of its
    n rewards plus sigma sqrt(2 ln(pi^2 cells n^2 / (3 delta)) / n). That of a pull is the least of
    its cell's and those of all cells before it that have rewards.
    """
    start = unpulled(history, arms, opened)
    if start:
        return start
    scores = {}
    for arm in choosable(arms, opened):
        last = min(next_pull(history, arm, counted), cells)
        bounds = []
        for cell in range(1, last + 1):
            seen = [
                reward
                for pull, reward in zip(
                    pulls_of(history, arm, counted), rewards_of(history, arm), strict=True
                )
                if min(pull, cells) == cell
            ]
            if seen:
                n = len(seen)
                log = math.log(math.pi**2 * cells * n**2 / (3 * delta))
                bounds.append(sum(seen) / n + sigma * math.sqrt(2 * log / n))
        scores[arm] = min(bounds)
    return argmax(scores)
