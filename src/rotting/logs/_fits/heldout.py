"""Which curves foretell best: each is fitted without some keys, and judged by their rewards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.logs._fits.curves import Curves, by_grid, grid_of, table_curves
from rotting.logs._fits.factors import Factors, group_values, sums
from rotting.logs._fits.likelihood import coarse
from rotting.logs._fits.rows import Rows, some_groups
from rotting.logs._fits.shapes import NAMES

BORROWS = (0.0, 0.03, 0.1, 0.3)  # what arms with shapes of their own may borrow from the others


@dataclass(frozen=True)
class Candidate:
    """A kind of shape, for all arms or for each, and how well it foretold held-out rewards.

    borrow   1 if all arms have one shape; else what an arm's shape borrows from the others
    size     how many numbers the shapes have
    score    the log-likelihood of a held-out reward, on average; with its standard error
    behind   how much lower that is than the best one's, with the standard error of the difference
    """

    kind: str
    borrow: float
    size: int
    score: float = float("nan")
    score_error: float = float("nan")
    behind: float = float("nan")
    behind_error: float = float("nan")

    @property
    def pooled(self) -> bool:
        """Whether all arms have one shape."""
        return self.borrow == 1.0

    @property
    def name(self) -> str:
        """As tables call it."""
        whose = "" if self.kind == "constant" else ", pooled" if self.pooled else ", per arm"
        return self.kind + whose


def candidates(kinds: Sequence[str], arms: int, nodes: int) -> list[Candidate]:
    """All that are tried."""
    found = []
    for kind in kinds:
        size = nodes - 1 if kind == "table" else len(NAMES[kind])
        found.append(Candidate(kind, 1.0, size))
        if arms > 1 and kind != "constant":
            found += [Candidate(kind, borrow, size * arms) for borrow in BORROWS]
    return found


def compare(
    rows: Rows,
    factors: Factors,
    kinds: Sequence[str],
    folds: int,
    seed: int,
    step: Callable[[], None],
) -> list[Candidate]:
    """Every kind, pooled and per arm with as much borrowed as serves best; the best one first."""
    tried = candidates(kinds, rows.arms, len(rows.nodes))
    fold = np.random.default_rng(seed).permutation(rows.groups) % folds
    values = np.zeros((len(tried), rows.groups))
    for k in range(folds):
        cells = coarse(sums(rows, factors, fold[rows.group] != k))
        test = some_groups(rows, fold == k)
        grids = {c.kind: grid_of(c.kind, cells, rows.nodes) for c in tried if c.kind != "table"}
        for place, tried_one in enumerate(tried):
            if tried_one.kind == "table":
                curves = table_curves(cells, rows.nodes, rows.firsts, tried_one.borrow)
            else:
                curves = by_grid(grids[tried_one.kind], tried_one.borrow, cells, rows.nodes)
            values[place, fold == k] = group_values(test, _safe(curves, rows), factors)
        step()
    return _judged(tried, values, rows.by_group(rows.weight))


def _safe(curves: Curves, rows: Rows) -> FloatArray:
    """Means; click rates so far from 0 and 1 that no single reward decides."""
    means = curves.means(rows.nodes)
    return np.clip(means, 1e-6, 1.0 - 1e-6) if rows.binary else means


def _judged(tried: list[Candidate], values: FloatArray, counts: FloatArray) -> list[Candidate]:
    total = values.sum(axis=1)
    kept = []
    for pooled in (True, False):  # of those that borrow, the best of a kind
        for kind in dict.fromkeys(c.kind for c in tried):
            same = [i for i, c in enumerate(tried) if c.kind == kind and c.pooled == pooled]
            if same:
                kept.append(max(same, key=lambda i: total[i]))
    best = max(kept, key=lambda i: total[i])
    found = []
    for i in kept:
        score, score_error = _per_row(values[i], counts)
        behind, behind_error = _per_row(values[best] - values[i], counts)
        found.append(
            replace(
                tried[i],
                score=score,
                score_error=score_error,
                behind=behind,
                behind_error=behind_error,
            )
        )
    return sorted(found, key=lambda c: -c.score)


def _per_row(values: FloatArray, counts: FloatArray) -> tuple[float, float]:
    """A sum over groups per row, and its standard error."""
    mean = float(values.sum() / counts.sum())
    off = values - mean * counts
    return mean, float(np.sqrt(np.sum(off**2)) / counts.sum())


def simplest(found: Sequence[Candidate]) -> Candidate:
    """The one with the fewest numbers among those at most a standard error behind the best."""
    near = [c for c in found if c.behind <= c.behind_error]
    return min(near or found[:1], key=lambda c: (c.size, -c.score))
