"""From a log to fitted curves: what is learnt of keys, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rotting import _checks
from rotting._progress import Progress
from rotting.kernel.arrays import FloatArray
from rotting.logs._diagnosis.key_levels import key_levels
from rotting.logs._fits.accepted import (
    check_log,
    doubt_of,
    notes_on,
    one_a_row,
    said_of_keys,
    wanted_kinds,
)
from rotting.logs._fits.curves import (
    Curves,
    by_grid,
    curves_of_kind,
    grid_of,
    refined,
    table_curves,
)
from rotting.logs._fits.factors import Factors, alike, centred, expect, learn_factors, sums
from rotting.logs._fits.fitted import Described, Fit
from rotting.logs._fits.heldout import Candidate, compare, simplest
from rotting.logs._fits.resampling import resample
from rotting.logs._fits.rows import MOST_KEYS, MOST_ROWS, Rows, known_rows, packed, rows_of
from rotting.logs._fits.shapes import LONGEST_TABLE
from rotting.logs._log import Log

_ROUNDS, _SETTLED = (
    12,
    1e-3,
)  # of EM for the chosen curves, and the change of means at which it ends
_FEWEST_KEYS = 30  # with two rewards or more, for keys' factors to be learnt


def fit(
    log: Log,
    *,
    seed: int = 0,
    level: float = 0.95,
    folds: int = 5,
    resamples: int = 200,
    families: Sequence[str] | None = None,
    keys_differ: bool = True,
    weights: FloatArray | None = None,
    offsets: FloatArray | None = None,
    key_factors: tuple[Any, Any] | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Fit curves of the mean reward over exposures: an amplitude for each arm times a shape.

    The shapes are constant, power, exponential with a floor, plateau, step, and a decreasing table;
    one for all arms, or one for each arm, shrunk towards the common one. They are compared on
    held-out keys, and the simplest within a standard error of the best is chosen. Intervals come
    from resamples of keys. Without keys, blocks of rows take their place.

    Args:
        log: What `read` returns.
        seed: The same seed gives the same fit.
        level: Of the intervals.
        folds: Of the cross-validation.
        resamples: Resamples of keys for the intervals.
        families: The shapes to try, such as ["constant", "power"]; None: all.
        keys_differ: Whether to learn each key's factor on all its means, with a model of which keys
            leave. Curves are then those of all keys, and not of the keys that stayed.
        weights: One a row of the log. With weights or offsets, keys' factors are not learnt: curves
            are weighted means as seen in the log, among the keys that stayed.
        offsets: One a row: a known factor on its mean.
        key_factors: Values of keys' factors, and for each key of the log the probability of each
            value, from a model of which keys leave; used instead of what is learnt here.
        progress: Called with (steps done, steps).

    Returns:
        A `Fit`: curves with intervals, and from them models, a family, a scenario, a policy.

    Raises:
        ValueError: The log cannot be fitted (it has one exposure only, or its rewards are constant
            or not positive on average), or an argument is out of its range.

    >>> from rotting import logs
    >>> log = logs.read(logs.synthetic("rested", keys=60, exposures=4, arms=1, seed=1))
    >>> found = logs.fit(log, families=["constant", "power"], resamples=10)
    >>> found.arms, found.simulator().shape
    (('arm 0',), (1, 4))
    """
    seed = _checks.integer("seed", seed, least=0)
    level = _checks.number("level", level, above=0, below=1)
    folds = _checks.integer("folds", folds, 2, 100)
    resamples = _checks.integer("resamples", resamples, 10, 100_000)
    kinds = wanted_kinds(families)
    check_log(log)
    weights, offsets = one_a_row("weights", weights, log), one_a_row("offsets", offsets, log)
    notes = notes_on(log)
    learn = keys_differ and weights is None and offsets is None and _several(log)
    modelled = key_levels(log, seed) if learn and key_factors is None else None
    key_factors = key_factors if modelled is None else modelled  # who leaves tells about the key
    keys = _sample(log, seed, notes) if learn or key_factors is not None else None
    rows = rows_of(log, weights, offsets, keys)
    sigma = None if rows.binary else _sigma(rows)
    if rows.nodes[-1] > LONGEST_TABLE and "table" in kinds and len(kinds) > 1:
        kinds = tuple(kind for kind in kinds if kind != "table")
        notes.append(f"Tables are not tried beyond {LONGEST_TABLE:,} exposures.")
    if key_factors is not None:
        factors = _given(key_factors, log, keys, sigma)
    elif learn:
        factors = learn_factors(rows, sigma)
    else:
        rows = rows if offsets is not None else packed(rows)
        factors = alike(rows, sigma)
    factors, _ = centred(factors)
    notes.append(
        said_of_keys(log, learn, modelled is not None, key_factors is not None, weights, offsets)
    )
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, folds + len(kinds))

    found = compare(rows, factors, kinds, min(folds, rows.groups), seed, step)
    best = simplest(found)
    curves, factors = _settled(rows, factors, best, fixed=key_factors is not None)
    draws = resample(rows, factors, curves, best.borrow, resamples, seed)
    described = [Described(best, curves, draws)]
    cells = sums(rows, factors)
    for other in found:
        if other.pooled and other is not best:
            also = curves_of_kind(other.kind, 1.0, cells, rows.nodes, rows.firsts)
            drawn = resample(rows, factors, also, 1.0, resamples, seed)
            described.append(Described(other, also, drawn))
            step()
    step()
    free = weights is None and offsets is None
    doubt = doubt_of(log, curves) if free else ""
    return Fit(
        log=log,
        candidates=tuple(found),
        best=best,
        described=tuple(described),
        factors=factors,
        level=level,
        seed=seed,
        longest=int(log.exposure.max()),
        notes=tuple(note for note in (doubt, *notes) if note),
        doubt=doubt,
    )


def _settled(rows: Rows, factors: Factors, best: Candidate, fixed: bool) -> tuple[Curves, Factors]:
    """The chosen curves, and keys' factors that agree with them: EM until both stay."""
    cells = sums(rows, factors)
    if len(factors.values) == 1 or fixed:
        return curves_of_kind(best.kind, best.borrow, cells, rows.nodes, rows.firsts), factors
    if best.kind == "table":
        apart, curves = np.zeros(0), table_curves(cells, rows.nodes, rows.firsts, best.borrow)
    else:
        grid = grid_of(best.kind, cells, rows.nodes)
        apart, curves = grid.apart, by_grid(grid, best.borrow, cells, rows.nodes)
        curves = refined(curves, apart, best.borrow, cells, rows.nodes)
    for _ in range(_ROUNDS):
        before = curves.means(rows.nodes)
        factors, _ = centred(expect(rows, before, factors)[0])
        cells = sums(rows, factors)
        if best.kind == "table":
            curves = table_curves(cells, rows.nodes, rows.firsts, best.borrow)
        else:
            curves = refined(curves, 0.25 * apart, best.borrow, cells, rows.nodes)
        if np.abs(curves.means(rows.nodes) / before - 1.0).max() < _SETTLED:
            break
    return curves, factors


def _several(log: Log) -> bool:
    """Whether enough keys have several rewards for their factors to be learnt."""
    if not log.has_keys or log.rows != "all":
        return False
    counts = np.bincount(log.key[known_rows(log)])
    return int((counts >= 2).sum()) >= _FEWEST_KEYS


def _sample(log: Log, seed: int, notes: list[str]) -> Any:
    """Which keys are looked at; None for all."""
    known = known_rows(log)
    keys = np.unique(log.key[known])
    most = int(min(MOST_KEYS, MOST_ROWS * len(keys) // int(known.sum())))
    if len(keys) <= max(most, _FEWEST_KEYS):
        return None
    notes.append(
        f"Of {len(keys):,} keys a random sample of {most:,} was fitted, since keys' factors are "
        "learnt one by one."
    )
    return np.sort(np.random.default_rng(seed).choice(keys, most, replace=False))


def _sigma(rows: Rows) -> float:
    """What rewards scatter by around the means of their arm and exposure."""
    count = np.maximum(rows.by_cell(rows.weight), 1e-300)
    total = rows.by_cell(rows.weight * rows.reward)
    off = rows.reward - (total / count)[rows.arm, rows.cell]
    free = len(off) - int((count > 1e-300).sum())
    variance = float(rows.weight @ off**2) / float(rows.weight.sum())
    return float(np.sqrt(max(variance * len(off) / max(free, 1), 1e-24)))


def _given(key_factors: Any, log: Log, keys: Any, sigma: float | None) -> Factors:
    """Keys' factors from elsewhere."""
    values, posterior = (np.asarray(part, dtype=np.float64) for part in key_factors)
    if posterior.shape != (log.keys, len(values)) or values.ndim != 1:
        raise ValueError(
            f"key_factors must be J values and an array of {log.keys} keys by J, got shapes "
            f"{values.shape} and {posterior.shape}"
        )
    if (values < 0.0).any() or not np.allclose(posterior.sum(axis=1), 1.0, atol=1e-6):
        raise ValueError(
            "key_factors must be values >= 0 and chances that add up to 1 for each key"
        )
    known = np.unique(log.key[known_rows(log)])
    kept = posterior[known if keys is None else keys]
    return Factors(values, kept.mean(axis=0), kept, sigma)
