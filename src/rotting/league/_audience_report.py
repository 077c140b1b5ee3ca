"""The audience league as tables, a picture, a page and plain data.

All of it is made from the data of audience_league.json, so that pages can be updated later.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rotting._show import pages as html
from rotting._show import plots
from rotting._show.data import json_text
from rotting._show.ink import inks
from rotting.league._audience_play import beaten, is_cap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "The audience league"
BEST_CAP = "best cap"
FAR_BELOW = ("UCB1", "PerKey", "CellUCB", "Uniform")  # left out where they would hide the others
Data = Mapping[str, Any]


def columns(data: Data, without: Sequence[str] = ()) -> list[str]:
    """The columns: policies in the order of play, with all caps as one column."""
    found: dict[str, None] = {}
    for each in data["scenarios"].values():
        for name in each["policies"]:
            found[BEST_CAP if is_cap(name) else name] = None
    return [name for name in found if name not in without]


def cell_of(scenario: Data, column: str) -> tuple[str, Data] | None:
    """The policy that a column shows in a scenario, and its figures; None if it did not play."""
    policies = scenario["policies"]
    name = scenario["best_cap"] if column == BEST_CAP else column
    return (name, policies[name]) if name in policies else None


def standing_rows(data: Data, without: Sequence[str] = ()) -> tuple[list[str], list[list[str]]]:
    """A row a scenario: the recommended policy's share, and the others' differences from it."""
    names = columns(data, without)
    rows = []
    for title, scenario in data["scenarios"].items():
        row = [title]
        for column in names:
            found = cell_of(scenario, column)
            row.append("" if found is None else _cell(scenario, column, *found))
        rows.append(row)
    return ["scenario", *names], rows


def _cell(scenario: Data, column: str, name: str, cell: Data) -> str:
    if name == scenario["compared_with"]:
        return f"{cell['share']:.4f} +- {cell['standard_error']:.4f}"
    which = f" ({_cap_of(name)})" if column == BEST_CAP else ""
    half = (cell["high"] - cell["low"]) / 2.0
    return f"{cell['difference']:+.4f} +- {half:.4f}{which}"


def _cap_of(name: str) -> str:
    """The cap in a policy's name.

    >>> _cap_of("Capped(cap=8), resting"), _cap_of("Thompson")
    ('8, resting', 'none')
    """
    return name.partition("(cap=")[2].replace(")", "") if is_cap(name) else "none"


def beaten_rows(data: Data) -> tuple[list[str], list[list[str]]]:
    """A row for each policy that beats the recommended one on a scenario."""
    header = ["scenario", "by", "difference", "95 % interval"]
    return header, [
        [each.scenario, each.by, f"{each.difference:+.4f}", f"{each.low:+.4f} to {each.high:+.4f}"]
        for each in beaten(data)
    ]


def cost_rows(data: Data) -> tuple[list[str], list[list[str]]]:
    """Nanoseconds a decision, pi_max's for the regret included."""
    names = columns(data)
    rows = []
    for title, scenario in data["scenarios"].items():
        cells = (cell_of(scenario, column) for column in names)
        rows.append([title, *(f"{c[1]['nanoseconds']:.0f}" if c else "" for c in cells)])
    return ["scenario", *names], rows


def figure(data: Data) -> Axes:
    """Shares of pi_max with 95 % intervals on every scenario, without those far below."""
    scenarios = data["scenarios"]
    names = columns(data, FAR_BELOW)
    with plots.drawing(None, None, 5.6, 0.34 * len(scenarios) + 1.8) as axes:
        for place, (column, ink) in enumerate(inks(names).items()):
            cells = [cell_of(scenario, column) for scenario in scenarios.values()]
            rows = [k for k, cell in enumerate(cells) if cell is not None]
            shown = [cell[1] for cell in cells if cell is not None]
            axes.errorbar(
                [cell["share"] for cell in shown],
                [k + 0.8 * ((place + 0.5) / len(names) - 0.5) for k in rows],
                xerr=[plots.BAND * cell["standard_error"] for cell in shown],
                fmt=ink.marker,
                color=ink.colour,
                label=column,
                markersize=4,
                linewidth=1,
            )
        named = [name.removeprefix("audience_") for name in scenarios]
        axes.set_yticks(range(len(scenarios)), named, fontsize=9)
        axes.set_ylim(len(scenarios) - 0.5, -0.5)
        for row in range(0, len(scenarios), 2):
            axes.axhspan(row - 0.5, row + 0.5, color="#F3F3F3", zorder=0)
        axes.grid(visible=False, axis="y")
        axes.grid(axis="x", color="#dddddd", linewidth=0.6)
        axes.set_xlabel("share of pi_max's reward (bars: 95 % intervals)")
        plots.legend_above(axes)
        return axes


def write(data: Data, folder: Path) -> None:
    """Write audience_league.json, a page and a picture into a folder."""
    (folder / "audience_league.json").write_text(json_text(data) + "\n", encoding="utf-8")
    drawn = figure(data).figure.canvas.figure
    for ending in ("png", "svg"):
        plots.save_figure(drawn, folder / f"audience_league.{ending}")
    about = [[name, scenario["about"]] for name, scenario in data["scenarios"].items()]
    lost = beaten_rows(data)
    body = [
        f"<h1>{TITLE}</h1>",
        f'<p class="lead">{data["runs"]} runs of every policy on every scenario, curves drawn anew '
        "for every run; all see the same rewards, and no parameter is tuned per scenario but the "
        "cap, which is the best in hindsight.</p>",
        html.figures([(plots.svg_text(drawn), "Share of pi_max, by scenario and policy")]),
        "<h2>Shares</h2>",
        html.table(*standing_rows(data)),
        '<p class="note">The first policy\'s share of what pi_max collects, with its standard '
        "error, and what the others' shares are more or less than that, with half the width of "
        "a 95 % interval, paired by run. Behind the best cap is which it is. Where arms come and "
        "go, or recover, pi_max is greedy and not optimal.</p>",
        "<h2>Where it is beaten</h2>",
        html.table(*lost) if lost[1] else "<p>Nowhere by more than chance explains.</p>",
        "<h2>Nanoseconds a decision</h2>",
        html.table(*cost_rows(data)),
        '<p class="note">Processor time, including what pi_max takes for the regret.</p>',
        "<h2>The scenarios</h2>",
        html.table(["scenario", "what"], about),
        f"<p><code>{escape(data['command'])}</code>, {data['seconds']:.0f} s.</p>",
    ]
    (folder / "audience_league.html").write_text(html.page(TITLE, body), encoding="utf-8")


def renewed(page: str, groups: Mapping[str, Data]) -> str:
    """A page in Markdown with the tables of these groups replaced, and all else unchanged.

    A table stands between `<!-- shares of GROUP -->`, or `<!-- beaten in GROUP -->`, and
    `<!-- end -->`. For a group that was not played it is empty. Shares have a picture above them,
    ../images/GROUP_league.svg.

    >>> renewed("<!-- shares of audience -->old<!-- end -->, and words", {})
    '<!-- shares of audience --><!-- end -->, and words'
    """

    def table(mark: re.Match[str]) -> str:
        what, group = mark.groups()
        text = ""
        if group in groups:
            data = groups[group]
            text = f"\n{_markdown(*beaten_rows(data))}\n"
            if what == "shares of":
                shown = f"![Shares of pi_max by scenario and policy](../images/{group}_league.svg)"
                text = f"\n{shown}\n\n{_markdown(*standing_rows(data, FAR_BELOW))}\n"
        return f"<!-- {what} {group} -->{text}<!-- end -->"

    marks = r"<!-- (shares of|beaten in) (\w+) -->.*?<!-- end -->"
    return re.sub(marks, table, page, flags=re.DOTALL)


def _markdown(header: list[str], rows: list[list[str]]) -> str:
    if not rows:
        return "Nowhere by more than chance explains."
    named = [[f"`{row[0]}`", *row[1:]] for row in rows]
    lines = [header, ["---"] * len(header), *named]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
