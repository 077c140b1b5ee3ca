"""Results, comparisons and grid searches as a notebook shows them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from rotting._experiments.comparison import Comparison
from rotting._experiments.results import PI_MAX, Result
from rotting._experiments.tuning import Tuning
from rotting._numbers import count, figure
from rotting._show import plots
from rotting._show.means import spread
from rotting._show.notebook import CELL, fewer, fragment, picture, short_names
from rotting._table import Column, Table

_POINTS = 120  # of a curve
_LINES = 6  # curves of a picture
_ROWS = 30  # of a table
_VALUES = 300  # of a parameter that are drawn
_LEAST = "Lower is better."


def result_html(result: Result) -> str:
    """The figures at the horizon and the regret curve."""
    figures = result.summary()
    columns = [
        *_regret_columns(result.measure),
        Column("worst run"),
        Column(f"share of {_whose(result.against)}", "percent"),
        Column("mean reward"),
    ]
    row = [
        *_regret(figures),
        figure(figures["worst_run"]),
        figures["mean_share"],
        figure(figures["mean_reward"]),
    ]
    policy = str(result.provenance.get("policy", "A policy"))
    return fragment(
        f"{policy}: {_played(result)}",
        [Table(columns, [row]).dense().html(CELL), _curves({policy: result})],
        [*map(_sentence, result.notes), _about(result)],
    )


def comparison_html(found: Comparison) -> str:
    """A row a policy, the least mean regret first, and the regret curves."""
    rows = sorted(found.rows(), key=lambda row: float(row["mean_regret"]))
    first = next(iter(found.results.values()))
    pairs = first.runs * (len(rows) - 1)
    columns = [
        Column("policy", "text"),
        *_regret_columns(first.measure),
        Column(f"share of {_whose(first.against)}", "percent"),
        Column(f"wins of {pairs:,}"),
    ]
    cells = [
        [
            f"{row['policy']} ({row['note']})" if row["note"] else str(row["policy"]),
            *_regret(row),
            row["mean_share"],
            count(row["wins"]) if pairs else None,
        ]
        for row in rows[:_ROWS]
    ]
    best = [row["policy"] for row in rows[:_LINES]]
    return fragment(
        f"{_count(len(rows), 'policy', 'policies')} on the same bandits, {_played(first)}",
        [Table(columns, cells).dense().html(CELL), _curves({name: found[name] for name in best})],
        [
            _LEAST + (" Wins are counted run by run, against each of the others." if pairs else ""),
            fewer(len(cells), len(rows), "policies", "in the table, those with the least regret"),
            fewer(len(best), len(rows), "policies", "drawn, those with the least regret"),
        ],
    )


def tuning_html(tuning: Tuning) -> str:
    """A row a setting, the best in bold, and the curve of a grid over one parameter."""
    rows, chosen, first = tuning.rows(), tuning.chosen, tuning.results[0]
    best = next(k for k, setting in enumerate(tuning.settings) if setting is chosen)
    least = sorted(range(len(rows)), key=lambda k: float(rows[k]["mean_regret"]))
    least.remove(best)
    shown = sorted([best, *least[: _ROWS - 1]])
    cells = [
        [
            *(_value(rows[k][name]) for name in chosen),
            figure(rows[k]["mean_regret"]),
            figure(rows[k]["standard_error"]),
        ]
        for k in shown
    ]
    columns = [
        *(Column(name, "text") for name in chosen),
        Column(f"mean {first.measure}"),
        Column("standard error"),
    ]
    table = Table(columns, cells, styles={shown.index(best): "bold"})
    pieces = [table.dense().html(CELL)]
    if len(chosen) == 1 and 1 < len(rows) <= _VALUES:
        about = f"Mean {first.measure} against {next(iter(chosen))}, the least marked"
        pieces.append(picture(lambda axes: plots.grid_curve(tuning, axes=axes), about))
    return fragment(
        f"Best of {_count(len(rows), 'setting', 'settings')}: {tuning.best.short_label}, "
        f"{_played(first)} each",
        pieces,
        [
            f"{_LEAST} The best is in bold.",
            fewer(len(shown), len(rows), "settings", "in the table, those with the least regret"),
        ],
    )


def _regret_columns(measure: str) -> list[Column]:
    return [
        Column(f"mean {measure}"),
        Column("standard error"),
        Column("95 % interval", "interval"),
    ]


def _regret(row: Mapping[str, Any]) -> list[Any]:
    """The mean regret, its standard error and interval."""
    ends = (row["low_95"], row["high_95"])
    return [figure(row["mean_regret"]), figure(row["standard_error"]), ends]


def _whose(against: str) -> str:
    """Whose reward a share is taken of; a loss has none."""
    return against if against == PI_MAX else f"{against} play"


def _count(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:]}."


def _played(result: Result) -> str:
    return f"{_count(result.runs, 'run', 'runs')} of {int(result.checkpoints[-1]):,} rounds"


def _about(result: Result) -> str:
    """Where it comes from, as far as it is known."""
    known = {name: result.provenance.get(name) for name in ("seed", "noise", "engine")}
    said = ", ".join(f"{name} {value}" for name, value in known.items() if value is not None)
    return _sentence(said) if said else ""


def _value(value: Any) -> str:
    return figure(value) if isinstance(value, float) else str(value)


def _curves(results: Mapping[str, Result]) -> str:
    """Regret curves with short names, of not too many points; nothing for single points."""
    if all(result.checkpoints.size == 1 for result in results.values()):
        return ""
    names = short_names(results)
    thin = {names[name]: _thinned(result) for name, result in results.items()}
    measure = next(iter(results.values())).measure
    about = f"Mean {measure} over rounds: {', '.join(names.values())}"
    return picture(lambda axes: plots.regret_curves(thin, axes=axes), about)


def _thinned(result: Result) -> Result:
    places = spread(result.checkpoints.size, _POINTS)
    return dataclasses.replace(
        result, checkpoints=result.checkpoints[places], regret=result.regret[:, places]
    )
