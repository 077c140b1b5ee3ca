"""Everything of the two benchmarks: the table against its reference, and regret over all L."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from rotting.experiments.simulation import simulate
from rotting.papers import seznec2019
from rotting.papers.seznec2019 import published
from rotting.reports import pages as html
from rotting.reports import plots

Cell = tuple[float, float]  # mean regret and its standard error

FAMILY_POLICIES = ("RAW-UCB 1.4", "EFF-RAW 1.4, m = 1.1", "FEWA 0.06", "wSWA .002", "wSWA .2")


@dataclass(frozen=True)
class Reproduction:
    """`table` by policy and setup; `family` by policy, one cell for each L."""

    table: dict[str, dict[str, Cell]]
    family: dict[str, list[Cell]]
    runs: int
    seed: int
    seconds: float


def steps() -> int:
    """How many simulations a reproduction takes."""
    return len(seznec2019.policies()) * 3 + len(FAMILY_POLICIES) * seznec2019.LEVELS


def reproduce(
    runs: int, seed: int, report: Callable[[str, int], None], **options: Any
) -> Reproduction:
    """Run all of it, with common noise as in the reference."""
    started = time.perf_counter()
    setups = {"L11": seznec2019.two_arms(11), "L24": seznec2019.two_arms(24),
              "ten": seznec2019.ten_arms()}  # fmt: skip

    def cell(policy: Any, scenario: Any) -> Cell:
        result = simulate(
            policy, scenario, runs=runs, seed=seed, noise="common", checkpoints=1, **options
        )
        return float(result.mean_regret[-1]), float(result.standard_error[-1])

    table: dict[str, dict[str, Cell]] = {}
    for name, policy in seznec2019.policies().items():
        table[name] = {}
        for setup, scenario in setups.items():
            table[name][setup] = cell(policy, scenario)
            report(name, 1)
    family: dict[str, list[Cell]] = {name: [] for name in FAMILY_POLICIES}
    for i in range(seznec2019.LEVELS):
        for name in FAMILY_POLICIES:
            family[name].append(cell(seznec2019.policies()[name], seznec2019.two_arms(i)))
            report(f"L = {seznec2019.level(i):.3g}", 1)
    return Reproduction(table, family, runs, seed, time.perf_counter() - started)


def far_off(found: Reproduction) -> list[str]:
    """Cells more than four standard errors, theirs and ours combined, from the reference."""
    wrong = []
    for name, cells in published.FIGURES.items():
        for setup, (mean, error) in cells.items():
            ours, own = found.table[name][setup]
            rounding = 0.5 if mean >= 20 else 0.05
            if abs(ours - mean) > 4.0 * (error**2 + own**2) ** 0.5 + rounding:
                wrong.append(f"{name}, {published.SETUPS[setup]}: {ours:.1f} +- {own:.1f} against "
                             f"{mean:g} +- {error:g}")  # fmt: skip
    return wrong


def rows(found: Reproduction, errors: bool = True) -> tuple[list[str], list[list[str]]]:
    """The table as text: ours, and the reference's mean in parentheses."""
    header = ["policy", *published.SETUPS.values()]
    lines = []
    for name, cells in found.table.items():
        line = [name]
        for setup, (mean, error) in cells.items():
            reference = published.FIGURES.get(name, {}).get(setup)
            shown = f"{mean:.1f} +- {error:.1f}" if errors else f"{mean:.1f}"
            line.append(shown + (f" ({reference[0]:g})" if reference else ""))
        lines.append(line)
    return header, lines


def figure(found: Reproduction) -> Any:
    """Mean regret over the whole family, on log axes."""
    drawn, (axes,) = plots.new_figure(7.5, 4.5)
    levels = [seznec2019.level(i) for i in range(seznec2019.LEVELS)]
    for place, (name, cells) in enumerate(found.family.items()):
        means = [mean for mean, _ in cells]
        axes.plot(levels, means, color=plots.COLOURS[place], marker=".", label=name)
        axes.fill_between(levels, [max(1e-3, m - 1.96 * e) for m, e in cells],
                          [m + 1.96 * e for m, e in cells], color=plots.COLOURS[place],
                          alpha=0.2, linewidth=0)  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="L, the size of the fall",
             ylabel="mean regret at T = 10,000")  # fmt: skip
    axes.legend(frameon=False, fontsize=8)
    return drawn


def write(found: Reproduction, folder: Path, command: str) -> None:
    """A page, the figure, and the figures as data."""
    drawn = figure(found)
    for ending in ("png", "svg"):
        plots.save_figure(drawn, folder / f"family.{ending}")
    header, lines = rows(found)
    wrong = far_off(found)
    verdict = ("Every figure lies within four standard errors of its reference." if not wrong
               else "Not within four standard errors: " + "; ".join(wrong))  # fmt: skip
    body = [
        "<h1>Seznec et al. 2019, reproduced</h1>",
        f'<p class="lead">{found.runs} runs with common noise. {escape(verdict)}</p>',
        "<h2>Mean regret</h2>",
        html.table(header, lines),
        '<p class="note">In parentheses the reference.</p>',
        "<h2>Over the whole family of Fig. 1</h2>",
        html.figures([(plots.svg_text(drawn), "Mean regret against L for five policies")]),
        f"<p><code>{escape(command)}</code>, {found.seconds:.0f} s.</p>",
    ]
    page = html.page("Seznec et al. 2019, reproduced", body)
    (folder / "report.html").write_text(page, encoding="utf-8")
    (folder / "results.json").write_text(json.dumps(as_data(found, command), indent=1) + "\n")


def as_data(found: Reproduction, command: str = "") -> dict[str, Any]:
    """The figures as plain data."""
    return {
        "command": command, "runs": found.runs, "seed": found.seed, "seconds": found.seconds,
        "table": found.table, "levels": [seznec2019.level(i) for i in range(seznec2019.LEVELS)],
        "family": found.family, "far_off": far_off(found),
    }  # fmt: skip
