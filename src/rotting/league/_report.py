"""The league as tables, a picture, a page and plain data."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from rotting._experiments.results import GREEDY
from rotting._show import pages as html
from rotting._show import plots
from rotting._show.ink import inks
from rotting.league._play import REFERENCE, League, geometric_mean
from rotting.theory._choice import CHOICES


def standing_rows(league: League) -> tuple[list[str], list[list[str]]]:
    """A row a policy: regret relative to RAW-UCB and to the best, tail, rank, cost."""
    header = ["policy", "mean/RAW", "worst/RAW", "on", "mean/best", "p95/RAW", "rank", "ns", "n"]
    ranks = league.ranks()
    lines = []
    for name in league.standing():
        best = league.relative(name)
        where, worst = league.worst(name)
        cost = [row[name]["nanoseconds"] for row in league.cells.values() if name in row]
        lines.append(
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
    return header, lines


def cell_rows(league: League, what: str) -> tuple[list[str], list[list[str]]]:
    """One figure of every policy on every scenario."""
    names = league.standing()
    header = ["scenario", *names]
    lines = [
        [scenario, *(f"{row[name][what]:.4g}" if name in row else "" for name in names)]
        for scenario, row in league.cells.items()
    ]
    return header, lines


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


def as_data(league: League, command: str) -> dict[str, Any]:
    """The contents of league.json."""
    return {
        "scenarios": league.cells,
        "recommended": CHOICES,
        "about": {name: entry.about for name, entry in league.entries.items()},
        "runs": league.runs,
        "seed": league.seed,
        "seconds": league.seconds,
        "command": command,
    }


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


def write(league: League, folder: Path, command: str) -> None:
    """Write league.json, a page and a picture into a folder."""
    (folder / "league.json").write_text(json.dumps(as_data(league, command), indent=1) + "\n")
    drawn = figure(league)
    for ending in ("png", "svg"):
        plots.save_figure(drawn, folder / f"league.{ending}")
    about = [
        [name, entry.about, str(entry.scenario.arm_count), f"{entry.scenario.horizon:,}"]
        for name, entry in league.entries.items()
    ]
    body = [
        "<h1>The league of rotting bandits</h1>",
        f'<p class="lead">{league.runs} runs of every policy on every scenario; no parameter is '
        "tuned per scenario, and policies get only what a user would know.</p>",
        html.figures([(plots.svg_text(drawn), "Mean regret relative to RAW-UCB, by scenario")]),
        "<h2>Standing</h2>",
        html.table(*standing_rows(league)),
        '<p class="note">Mean regret relative to RAW-UCB (alpha = 1.4), geometric mean, and the '
        "worst scenario; relative to the best of each scenario, geometric mean; the 95th "
        "percentile relative to RAW-UCB's; the mean rank; nanoseconds a decision; scenarios "
        "played. Parametric policies play where a family is given, right or wrong. SteadyUCB None "
        "never gets sigma; RAWUCB told plays click rates with their own sigma, not with "
        "1/2.</p>",
        "<h2>Mean regret</h2>",
        html.table(*cell_rows(league, "mean")),
        "<h2>95th percentile</h2>",
        html.table(*cell_rows(league, "p95")),
        "<h2>Worst run</h2>",
        html.table(*cell_rows(league, "max")),
        "<h2>Nanoseconds a decision</h2>",
        html.table(*cell_rows(league, "nanoseconds")),
        "<h2>The scenarios</h2>",
        html.table(["scenario", "what", "arms", "horizon"], about),
        *_about_greedy(league),
        f"<p><code>{escape(command)}</code>, {league.seconds:.0f} s.</p>",
    ]
    (folder / "league.html").write_text(html.page("The league of rotting bandits", body))
