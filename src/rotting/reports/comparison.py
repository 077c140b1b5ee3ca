"""The files of a comparison: its summary, a picture, the raw results."""

from __future__ import annotations

import json
from pathlib import Path

from rotting.experiments.comparison import Comparison
from rotting.reports import plots


def write(found: Comparison, folder: Path) -> None:
    """Write comparison.json, regret.png and a result-N.npz for each policy into a folder."""
    (folder / "comparison.json").write_text(json.dumps(found.summary(), indent=1) + "\n")
    plots.regret_curves(found.results, folder / "regret.png")
    for place, result in enumerate(found.results.values(), start=1):
        result.save(folder / f"result-{place}.npz")
