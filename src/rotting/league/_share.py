"""The league by shares, of audiences: its tables, its picture, and what its page says.

All of it is made from the data that league.json holds, so that a page can be made again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

from rotting._show import plots
from rotting._show.ink import inks
from rotting._table import Column, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURE = "Share of pi_max, by scenario and policy"
BEST_CAP = "best cap"
FAR_BELOW = ("UCB1", "PerKey", "CellUCB", "Uniform")  # left out where they would hide the others
Data = Mapping[str, Any]


class Beaten(NamedTuple):
    """A policy that is significantly better than the recommended one."""

    scenario: str
    by: str
    difference: float
    low: float  # the 95 % interval of the difference
    high: float


def beaten(data: Data) -> list[Beaten]:
    """The policies that beat the recommended one; of all caps only the best counts."""
    return [
        Beaten(scenario, name, cell["difference"], cell["low"], cell["high"])
        for scenario, found in data["scenarios"].items()
        for name, cell in found["policies"].items()
        if cell["low"] is not None and cell["low"] > 0.0
        if not is_cap(name) or name == found["best_cap"]
    ]


def is_cap(name: str) -> bool:
    """Whether a policy of the league is a frequency cap, by its name."""
    return "(cap=" in name


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


def standing_table(data: Data) -> Table:
    """One row a scenario: the recommended policy's share, and the others' differences to it."""
    names = columns(data)
    rows = []
    for title, scenario in data["scenarios"].items():
        row = [title]
        for column in names:
            found = cell_of(scenario, column)
            row.append("" if found is None else _cell(scenario, column, *found))
        rows.append(row)
    title = f"{len(rows)} scenarios, {data['runs']} runs each: share of pi_max, differences"
    return Table(["scenario", *names], rows, title=title)


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


def summary_table(data: Data) -> Table:
    """One row a policy: mean share, mean difference, and in how many scenarios it is clear."""
    rows = []
    for column in columns(data):
        cells = (cell_of(scenario, column) for scenario in data["scenarios"].values())
        found = [cell[1] for cell in cells if cell is not None]
        mean_of = {key: mean(cell[key] for cell in found) for key in ("share", "difference")}
        better = sum(cell["low"] > 0.0 for cell in found)
        worse = sum(cell["high"] < 0.0 for cell in found)
        compared = [f"{mean_of['difference']:+.4f}", str(better), str(worse)]
        if any(scenario["compared_with"] == column for scenario in data["scenarios"].values()):
            compared = ["", "", ""]
        rows.append([column, str(len(found)), f"{mean_of['share']:.4f}", *compared])
    names = ["policy", "scenarios", "mean share", "mean difference", "better in", "worse in"]
    return Table(names, rows)


def beaten_table(data: Data) -> Table:
    """A row for each policy that beats the recommended one on a scenario."""
    rows = [
        [each.scenario, each.by, f"{each.difference:+.4f}", f"{each.low:+.4f} to {each.high:+.4f}"]
        for each in beaten(data)
    ]
    columns: list[Column | str] = [Column("scenario", "text"), Column("by", "text")]
    return Table([*columns, "difference", "95 % interval"], rows)


def cost_table(data: Data) -> Table:
    """Nanoseconds a decision, pi_max's for the regret included."""
    names = columns(data)
    rows = []
    for title, scenario in data["scenarios"].items():
        cells = (cell_of(scenario, column) for column in names)
        rows.append([title, *(f"{c[1]['nanoseconds']:.0f}" if c else "" for c in cells)])
    return Table(["scenario", *names], rows)


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


def sections(data: Data) -> list[str]:
    """The page below its picture."""
    lost = beaten_table(data)
    return [
        "<h2>Shares</h2>",
        standing_table(data).html(),
        '<p class="note">The first policy\'s share of what pi_max collects, with its standard '
        "error, and what the others' shares are more or less than that, with half the width of "
        "a 95 % interval, paired by run. Behind the best cap is which it is. Where arms come and "
        "go, or recover, pi_max is greedy and not optimal.</p>",
        "<h2>Where it is beaten</h2>",
        lost.html() if lost.rows else "<p>Nowhere by more than chance explains.</p>",
        "<h2>Nanoseconds a decision</h2>",
        cost_table(data).html(),
        '<p class="note">Processor time, including what pi_max takes for the regret.</p>',
    ]


def renewed(page: str, groups: Mapping[str, Data]) -> str:
    """A page in Markdown with the tables of these groups replaced, all else unchanged.

    A table stands between `<!-- shares of GROUP -->` (a summary by policy, below the picture
    ../images/GROUP_league.svg) or `<!-- beaten in GROUP -->`, and `<!-- end -->`. A group that was
    not played has none.

    >>> renewed("<!-- shares of audience -->old<!-- end -->, and words", {})
    '<!-- shares of audience --><!-- end -->, and words'
    """

    def table(mark: re.Match[str]) -> str:
        what, group = mark.groups()
        text = ""
        if group in groups:
            data = groups[group]
            text = f"\n{_markdown(beaten_table(data))}\n"
            if what == "shares of":
                shown = f"![Shares of pi_max by scenario and policy](../images/{group}_league.svg)"
                text = f"\n{shown}\n\n{_markdown(summary_table(data))}\n"
        return f"<!-- {what} {group} -->{text}<!-- end -->"

    marks = r"<!-- (shares of|beaten in) (\w+) -->.*?<!-- end -->"
    return re.sub(marks, table, page, flags=re.DOTALL)


def _markdown(table: Table) -> str:
    if not table.rows:
        return "Nowhere by more than chance explains."
    named = [[f"`{row[0]}`" if row[0].isidentifier() else row[0], *row[1:]] for row in table.rows]
    return Table(table.columns, named).markdown()
