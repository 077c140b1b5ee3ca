"""Writes the files of a reproduction."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from rotting import _provenance
from rotting._show import plots
from rotting._show.folders import final
from rotting.papers.levine2017 import _figures, _tables
from rotting.papers.levine2017._report import report
from rotting.papers.levine2017._reproduction import MANY, Reproduction


def write(reproduction: Reproduction, folder: Path, command: str) -> None:
    """Write report, figure, table and raw results into a folder."""
    versions = _provenance.versions("numpy", "numba", "scipy")
    text = report(reproduction, command, versions, final(folder))
    (folder / "report.html").write_text(text, encoding="utf-8")
    figure = _figures.figure_1(reproduction.reported)
    for ending in ("png", "svg", "pdf"):
        plots.save_figure(figure, folder / f"figure1.{ending}")
    data = _tables.as_data(reproduction)
    data["provenance"] = {
        "command": command,
        "seed": reproduction.seed,
        "runs": reproduction.runs,
        "swucb_b": reproduction.swucb_b,
        "seconds": reproduction.seconds,
        "gpu_seconds": reproduction.gpu_seconds,
        "versions": versions,
    }
    (folder / "table1.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (folder / "table1.csv").write_text(_tables.as_csv(reproduction), encoding="utf-8")
    (folder / "table1.tex").write_text(_tables.as_tex(reproduction), encoding="utf-8")
    _write_results(reproduction, folder / "results")


def _write_results(reproduction: Reproduction, raw: Path) -> None:
    """One file a result; above MANY runs only the final regrets, in one file.

    A million curves would take gigabytes and minutes. The command in the report makes them again.
    """
    raw.mkdir()
    found = {
        f"{setup}-{name}-{version}": result
        for version, chosen in (("reported", reproduction.reported), ("tuned", reproduction.tuned))
        for setup, comparison in chosen.items()
        for name, result in comparison.results.items()
    }
    if reproduction.runs > MANY:
        np.savez(raw / "final_regret.npz", **{k: r.final_regret for k, r in found.items()})  # type: ignore[arg-type]
        return
    for key, result in found.items():
        result.save(raw / f"{key}.npz")
