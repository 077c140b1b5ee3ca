"""Draws the pictures of docs/images again, all or some, from recorded figures or short simulations.

    python benchmarks/pictures.py [growth.svg ...]

What a benchmark has measured is taken from benchmarks/results; nothing is measured anew. The rest
is simulated with a fixed seed, in a few minutes. Only the dashboard's picture differs from time
to time: visitors come by the clock.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rotting._show.plots import save_figure
from rotting.league._play import League
from rotting.league._regret import figure

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "images"
BENCHMARKS = {
    "audience_curves.svg": "audience_curves.py --draw",
    "audience_drawn_league.svg": "audience_league.py --page",
    "audience_growth.svg": "audience.py --draw",
    "audience_league.svg": "audience_league.py --page",
    "batches.svg": "batches.py --draw",
    "crowd.svg": "crowd.py --draw",
    "growth.svg": "growth.py --draw",
    "hero-dark.svg": "hero.py",
    "hero-light.svg": "hero.py",
    "serve-dashboard.png": "serve_picture.py",
    "swucb-constant.svg": "swucb_constant.py --draw",
}
PAPERS = {
    "figure1.png": ("levine2017", "figure1.png"),
    "seznec2019.svg": ("seznec2019", "family.svg"),
}
BOUNDS = "theory --scenario anv --runs 200 --out docs/images/bounds.svg"


def python(*words: str) -> None:
    """Run it, from the root of the repository."""
    print("python", *words, flush=True)
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def of_a_paper(name: str) -> None:
    """Reproduce the paper, and keep one picture of it."""
    paper, file = PAPERS[name]
    with tempfile.TemporaryDirectory() as folder:
        python("-m", "rotting", "reproduce", paper, "--out", f"{folder}/{paper}")
        shutil.copyfile(f"{folder}/{paper}/{file}", PICTURES / name)


def of_the_league() -> None:
    """From what `rotting league` has recorded."""
    data = json.loads((ROOT / "benchmarks" / "results" / "league.json").read_text())
    league = League(data["scenarios"], {}, data["runs"], data["seed"], data["seconds"])
    save_figure(figure(league), PICTURES / "league.svg")


def main() -> None:
    known = [*BENCHMARKS, *PAPERS, "bounds.svg", "league.svg"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", nargs="*", help=", ".join(known))
    asked = parser.parse_args().picture or known
    if set(asked) - set(known):
        parser.error(f"picture must be one of {', '.join(known)}")
    for command in dict.fromkeys(BENCHMARKS[name] for name in asked if name in BENCHMARKS):
        script, *more = command.split()
        python(f"benchmarks/{script}", *more)
    for name in asked:
        if name in PAPERS:
            of_a_paper(name)
    if "bounds.svg" in asked:
        python("-m", "rotting", *BOUNDS.split())
    if "league.svg" in asked:
        of_the_league()


if __name__ == "__main__":
    main()
