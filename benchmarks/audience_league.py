"""The audience league: who takes how much of what pi_max takes, and where ours is beaten.

    python benchmarks/audience_league.py [--runs 20] [--seed 0] [--page]

Plays the groups `audience` and, once its seed is chosen, `audience_drawn`; keeps the figures in
benchmarks/results/audience_league.json, prints them by scenario, and puts summaries and pictures
made from them into docs/reference/audience-league.md. With --page only that, from the figures at
hand.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rotting._cli import console
from rotting._progress import bar
from rotting._provenance import machine, versions
from rotting._show import plots
from rotting._show.data import json_text
from rotting.league import AUDIENCES
from rotting.league import _play as playing
from rotting.league import _share as report

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "audience_league.json"
PAGE = ROOT / "docs" / "reference" / "audience-league.md"
PICTURES = ROOT / "docs" / "images"
GROUPS = ("audience", "audience_drawn")


def play(group: str, runs: int, seed: int) -> dict[str, Any]:
    """The data of a group."""
    with bar(playing.matches(playing.entries_of(group))) as progress:
        found = playing.play(runs, seed, group=group, progress=progress)
    print(f"{group}: {found.seconds:.0f} s")
    return found.as_data(f"rotting league --runs {runs} --seed {seed} --group {group}")


def write_page(groups: dict[str, Any]) -> None:
    """Print each group, put summaries into the page, and draw a picture of each group."""
    PAGE.write_text(report.renewed(PAGE.read_text(encoding="utf-8"), groups), encoding="utf-8")
    for data in groups.values():
        console.table(report.standing_table(data))
    for group, data in groups.items():
        drawn = report.figure(data).figure.canvas.figure
        plots.save_figure(drawn, PICTURES / f"{group}_league.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=playing.RUNS[playing.SHARE])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--page", action="store_true", help="only print and write, from figures at hand"
    )
    asked = parser.parse_args()
    if asked.page:
        write_page(json.loads(RESULTS.read_text(encoding="utf-8"))["groups"])
        return
    groups = {name: play(name, asked.runs, asked.seed) for name in GROUPS if name in AUDIENCES}
    about = {
        "command": f"python benchmarks/audience_league.py --runs {asked.runs} --seed {asked.seed}",
        "machine": machine(),
        "versions": versions("numpy", "numba"),
        "groups": groups,
    }
    RESULTS.write_text(json_text(about) + "\n", encoding="utf-8")
    write_page(groups)


if __name__ == "__main__":
    main()
