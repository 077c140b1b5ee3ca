"""The league by regret: its tables, its picture, and what its page says."""

from __future__ import annotations

from html import escape
from typing import Any

from rotting._experiments.results import GREEDY
from rotting._show import plots
from rotting._show.ink import inks
from rotting._table import Column, Table
from rotting.league._play import REFERENCE, League, geometric_mean

PICTURE = "Mean regret relative to RAW-UCB, by scenario"


def standing_table(league: League) -> Table:
    """One row for each policy: regret against RAW-UCB and the best, tail, rank, cost."""
    columns: list[Column | str] = [
        Column("policy", "text"),
        *("mean/RAW", "worst/RAW"),
        Column("on", "text"),
        *("mean/best", "p95/RAW", "rank", "ns", "n"),
    ]
    ranks = league.ranks()
    rows = []
    for name in league.standing():
        best = league.relative(name)
        where, worst = league.worst(name)
        cost = [row[name]["nanoseconds"] for row in league.cells.values() if name in row]
        rows.append(
            [
                name,
                f"{geometric_mean(league.ratio(name).values()):.2f}",
                f"{worst:.2f}",
                where,
                f"{geometric_mean(best.values()):.2f}",
                f"{geometric_mean(league.ratio(name, 'p95').values()):.2f}",
                f"{ranks[name]:.1f}",
                f"{sum(cost) / len(cost):.0f}",
                str(len(best)),
            ]
        )
    return Table(columns, rows, title=f"{len(league.cells)} scenarios, {league.runs} runs each")


def _cells(league: League, what: str) -> Table:
    """One figure of every policy on every scenario."""
    names = league.standing()
    rows = [
        [scenario, *(f"{row[name][what]:.4g}" if name in row else "" for name in names)]
        for scenario, row in league.cells.items()
    ]
    return Table(["scenario", *names], rows)


def figure(league: League, most: int = 8) -> Any:
    """Mean regret relative to RAW-UCB's on every scenario, for the best policies, on a log axis."""
    names = [name for name in league.standing() if name != REFERENCE]
    names = [*names[:most], *(name for name in names[most:] if name in league.extra)]
    drawn, (axes,) = plots.new_figure(height=0.28 * len(league.cells) + 1.8)
    scenarios = list(league.cells)
    axes.axvline(1.0, color="#888888", linewidth=1)
    for name, ink in inks(names).items():
        ratios = league.ratio(name)
        shown = [k for k, scenario in enumerate(scenarios) if scenario in ratios]
        axes.plot(
            [max(0.02, ratios[scenarios[k]]) for k in shown],
            shown,
            ink.marker,
            color=ink.colour,
            label=name,
            markersize=6,
            alpha=0.85,
        )
    axes.set_yticks(range(len(scenarios)), scenarios, fontsize=9)
    axes.set_ylim(len(scenarios) - 0.3, -0.7)
    axes.set(xscale="log", xlabel="mean regret / that of RAW-UCB (alpha = 1.4)")
    ticks = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]
    left, right = axes.get_xlim()
    axes.minorticks_off()
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xlim(left, right)
    plots.legend_above(axes)
    return drawn


def _about_greedy(league: League) -> list[str]:
    """A note on regret in scenarios whose arms come and go, if there are any."""
    names = [name for name, entry in league.entries.items() if entry.scenario.closes]
    if not names:
        return []
    return [
        f'<p class="note">Arms come and go in {escape(", ".join(names))}. Regret is there measured '
        f"against {GREEDY} play, which always takes the best next mean among the arms that are "
        "open: pi_max is not optimal where arms close.</p>"
    ]


def sections(league: League) -> list[str]:
    """The page below its picture."""
    return [
        "<h2>Standing</h2>",
        standing_table(league).html(),
        '<p class="note">Mean regret relative to RAW-UCB (alpha = 1.4), geometric mean, and the '
        "worst scenario; relative to the best of each scenario, geometric mean; the 95th "
        "percentile relative to RAW-UCB's; the mean rank; nanoseconds a decision; scenarios "
        "played. Parametric policies play where a family is given, right or wrong. SteadyUCB None "
        "gets no sigma anywhere; RAWUCB told plays click rates with their own sigma, not with "
        "1/2.</p>",
        "<h2>Mean regret</h2>",
        _cells(league, "mean").html(),
        "<h2>95th percentile</h2>",
        _cells(league, "p95").html(),
        "<h2>Worst run</h2>",
        _cells(league, "max").html(),
        "<h2>Nanoseconds a decision</h2>",
        _cells(league, "nanoseconds").html(),
        *_about_greedy(league),
    ]
