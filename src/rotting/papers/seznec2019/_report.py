"""The reproduction as text, a figure, a page and plain data."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rotting._show import pages as html
from rotting._show import plots
from rotting._show.ink import inks
from rotting._show.line_names import End, name_ends
from rotting._table import Cell, Table
from rotting.papers._paper import Shown
from rotting.papers.seznec2019 import _published, _setups
from rotting.papers.seznec2019._reproduction import Reproduction, far_off

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def table(found: Reproduction, errors: bool = True) -> Table:
    """Our mean regrets, and the reference's in parentheses."""
    rows = []
    for name, cells in found.table.items():
        row: list[str | Cell] = [name]
        for setup, (mean, error) in cells.items():
            reference = _published.FIGURES.get(name, {}).get(setup)
            shown = f"{mean:.1f} +- {error:.1f}" if errors else f"{mean:.1f}"
            row.append(Cell(shown, f"{reference[0]:g}" if reference else ""))
        rows.append(row)
    title = "mean regret; in parentheses the reference"
    return Table(["policy", *_published.SETUPS.values()], rows, title=title)


def figure(found: Reproduction) -> Figure:
    """Mean regret over the whole family, on log axes."""
    drawn, (axes,) = plots.new_figure()
    levels = [_setups.level(i) for i in range(_setups.LEVELS)]
    ends = []
    for name, ink in inks(found.family).items():
        cells = found.family[name]
        means = [mean for mean, _ in cells]
        axes.plot(levels, means, **ink.line)
        ends.append(End(means[-1], name, ink.colour))
        axes.fill_between(
            levels,
            [max(1e-3, m - plots.BAND * e) for m, e in cells],
            [m + plots.BAND * e for m, e in cells],
            color=ink.colour,
            alpha=0.2,
            linewidth=0,
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="L, the size of the fall  (bands: 95 % intervals)",
        ylabel="mean regret at T = 10,000",
    )
    axes.minorticks_off()
    name_ends(axes, ends, at=levels[-1])
    return drawn


def write(found: Reproduction, folder: Path, command: str) -> None:
    """Write a page, the figure, and the numbers as data into a folder."""
    drawn = figure(found)
    for ending in ("png", "svg"):
        plots.save_figure(drawn, folder / f"family.{ending}")
    wrong = far_off(found)
    verdict = (
        "Every figure lies within four standard errors of its reference."
        if not wrong
        else "Not within four standard errors: " + "; ".join(wrong)
    )
    body = [
        "<h1>Seznec et al. 2019, reproduced</h1>",
        f'<p class="lead">{found.runs} runs with common noise. {escape(verdict)}</p>',
        "<h2>Mean regret</h2>",
        table(found).html(),
        '<p class="note">In parentheses the reference.</p>',
        "<h2>Over the whole family of Fig. 1</h2>",
        html.figures([(plots.svg_text(drawn), "Mean regret against L for five policies")]),
        f"<p><code>{escape(command)}</code>, {found.seconds:.0f} s.</p>",
    ]
    page = html.page("Seznec et al. 2019, reproduced", body)
    (folder / "report.html").write_text(page, encoding="utf-8")
    (folder / "results.json").write_text(json.dumps(as_data(found, command), indent=1) + "\n")


def as_data(found: Reproduction, command: str = "") -> dict[str, Any]:
    """What results.json holds."""
    return {
        "command": command,
        "runs": found.runs,
        "seed": found.seed,
        "seconds": found.seconds,
        "table": found.table,
        "levels": [_setups.level(i) for i in range(_setups.LEVELS)],
        "family": found.family,
        "far_off": far_off(found),
    }


def show(found: Reproduction) -> Shown:
    """The table for the terminal, and what lies far from its reference."""
    return Shown(
        [table(found, errors=False)],
        [f"Not within four standard errors: {line}" for line in far_off(found)],
    )
