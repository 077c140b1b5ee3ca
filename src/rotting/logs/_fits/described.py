"""A fit as text, as a table for notebooks, and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rotting._numbers import figure
from rotting._online.curves import USUAL
from rotting._printable import printable
from rotting._show import notebook
from rotting._show.curves import draw_curves
from rotting._table import Column, Table
from rotting.logs._fits.belief import fall_of, wears_out
from rotting.logs._fits.rows import known_rows
from rotting.logs._fits.shapes import FORMULAS

if TYPE_CHECKING:
    from rotting.logs._fits.fitted import Fit

_LETTERS = 400  # of a cell, in which an arm's numbers may stand
_SHOWN = 20  # arms of a longer list that are shown


def data_of(fit: Fit) -> dict[str, Any]:
    """Families with their scores and numbers, arms with their curves, keys, and notes."""
    known = known_rows(fit.log)
    counts = np.bincount(fit.log.arm[known], minlength=len(fit.arms))
    return {
        "source": fit.log.source,
        "best": fit.best.name,
        "why": why(fit),
        "rewards": fit.rewards,
        "sigma": fit.sigma,
        "level": fit.level,
        "families": [_family(fit, place) for place in range(len(fit.candidates))],
        "arms": [
            {
                "arm": name,
                "rewards": int(counts[place]),
                **{key: _interval(each) for key, each in fit.parameters(place).items()},
            }
            for place, name in enumerate(fit.arms)
        ],
        "key_factors": {
            "standard_deviation": fit.key_spread,
            "values": fit.factors.values.tolist(),
            "weights": fit.factors.weights.tolist(),
        },
        "longest": fit.longest,
        "notes": list(fit.notes),
        "doubt": fit.doubt,
    }


def _interval(numbers: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("estimate", "low", "high"), numbers, strict=True))


def _numbers(fit: Fit, place: int) -> dict[str, tuple[float, float, float]]:
    """The numbers of a candidate's shape, where all arms have one."""
    wanted = fit.candidates[place]
    for each in fit.described:
        if each.candidate is wanted and wanted.pooled:
            named = each.curves.shapes[0].named()
            return {
                name: (value, *each.interval(number, fit.level))
                for number, (name, value) in enumerate(named.items())
            }
    return {}


def _family(fit: Fit, place: int) -> dict[str, Any]:
    one = fit.candidates[place]
    return {
        "family": one.name,
        "formula": FORMULAS[one.kind],
        "pooled": one.pooled,
        "borrow": one.borrow,
        "numbers": one.size,
        "score": one.score,
        "score_standard_error": one.score_error,
        "behind": one.behind,
        "behind_standard_error": one.behind_error,
        "parameters": {name: _interval(each) for name, each in _numbers(fit, place).items()},
    }


def why(fit: Fit) -> str:
    """Which family was taken, and by how much, in a sentence; and whether it falls at all."""
    chosen = _chosen(fit)
    if fit.doubt or wears_out(fit):
        return chosen
    if fit.best.kind == "constant":
        return f"{chosen} Nothing wears out by this fit."
    return (
        f"{chosen} Nothing wears out by this fit that matters: over the log's showings its curves "
        f"lie {100.0 * fall_of(fit):.0f} % below first showings, or no fall at all foretells as "
        "well within chance."
    )


def _chosen(fit: Fit) -> str:
    best, first = fit.best, fit.candidates[0]
    if best is first:
        second = next((c for c in fit.candidates if c is not best), None)
        if second is None:
            return f"{best.name}: the only one that was tried."
        return (
            f"{best.name}: it foretold held-out rewards best, {second.behind:.2g} a reward better "
            f"(log-likelihood, standard error {second.behind_error:.1g}) than {second.name}."
        )
    return (
        f"{best.name}: the simplest within a standard error of the best ({first.name}): "
        f"{best.behind:.2g} a reward behind it (log-likelihood, standard error "
        f"{best.behind_error:.1g})."
    )


def _shown(numbers: dict[str, tuple[float, float, float]]) -> str:
    return ", ".join(
        f"{name} {figure(value)}" + ("" if low == high else f" ({figure(low)} to {figure(high)})")
        for name, (value, low, high) in numbers.items()
    )


def _families(fit: Fit) -> Table:
    rows = []
    for place, one in enumerate(fit.candidates):
        name = one.name + (" *" if one is fit.best else "")
        numbers = _shown(_numbers(fit, place))
        rows.append(
            [name, f"{one.score:.5f}", f"{one.behind:.5f}", f"{one.behind_error:.5f}", numbers]
        )
    columns: list[Column | str] = ["family", "held-out", "behind", "+-", Column("numbers", "text")]
    return Table(columns, rows)


def _arms(fit: Fit) -> Table:
    last = fit.simulator()[:, -1]
    rows = []
    for place, name in enumerate(fit.arms[:_SHOWN]):
        numbers = fit.parameters(place)
        amplitude = numbers.pop("amplitude")
        first = f"{figure(amplitude[0])} ({figure(amplitude[1])} to {figure(amplitude[2])})"
        shown = "" if fit.best.pooled else _shown(numbers)
        rows.append([printable(name), first, figure(float(last[place])), shown])
    texts = [Column(name, "text") for name in ("arm", "first", "numbers")]
    columns = [*texts[:2], Column(f"#{fit.longest}"), texts[2]]
    return Table(columns, rows)


def _heading(fit: Fit) -> str:
    known = int(known_rows(fit.log).sum())
    keys = f", {fit.log.keys:,} keys" if fit.log.has_keys else ""
    return printable(
        f"Fit of {fit.log.source or 'a log'}: {known:,} rewards of {len(fit.arms)} arms{keys}"
    )


def _below(fit: Fit) -> list[str]:
    more = len(fit.arms) - _SHOWN
    return [
        *([f"and {more} more arms"] if more > 0 else []),
        f"sigma {figure(fit.sigma)}; keys' factors scatter by {figure(fit.key_spread)} around 1; "
        f"intervals at {100 * fit.level:g} %, by resampling "
        + ("keys" if fit.log.has_keys else "blocks of rows"),
        *fit.notes,
    ]


def text_of(fit: Fit) -> str:
    """For a terminal."""
    return "\n".join(
        [
            *(_heading(fit), why(fit), ""),
            *(_families(fit).text(), ""),
            *(_arms(fit).text(), ""),
            *_below(fit),
        ]
    )


def html_of(fit: Fit) -> str:
    """For notebooks: the families, the arms, and their curves."""
    tables = [each.dense().html(_LETTERS) for each in (_families(fit), _arms(fit))]
    curves = fit.curves(min(fit.longest, USUAL))
    drawn = notebook.picture(lambda axes: draw_curves(curves, axes), "Fitted curves of the arms")
    return notebook.fragment(_heading(fit), [*tables, drawn], [why(fit), *_below(fit)])
