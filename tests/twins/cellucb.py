"""The twin of CellUCB."""

import math

from twins.common import Counted, History, Opened, Seen, highest


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

    def upper(arm: Seen) -> float:
        bounds = []
        for cell in range(1, min(arm.following, cells) + 1):
            pairs = zip(arm.pulls, arm.rewards, strict=True)
            seen = [reward for pull, reward in pairs if min(pull, cells) == cell]
            if seen:
                n = len(seen)
                log = math.log(math.pi**2 * cells * n**2 / (3 * delta))
                bounds.append(sum(seen) / n + sigma * math.sqrt(2 * log / n))
        return min(bounds)

    return highest(history, arms, upper, opened, counted)
