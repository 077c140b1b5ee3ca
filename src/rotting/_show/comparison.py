"""The files of a comparison: its summary, tables, a picture, the raw results."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from rotting._experiments.comparison import Comparison
from rotting._printable import printable
from rotting._show import plots
from rotting._show.data import json_text
from rotting._table import Column, Table

_LONGEST = 80  # of a file's name, so that folder and ending fit wherever it is copied to


def write(found: Comparison, folder: Path) -> None:
    """Write summary, tables, the picture and each policy's result into a folder.

    comparison.json, .csv and .tex; regret.png, .svg and .pdf. The results have the policies' names
    (`file_names`); comparison.json says which is whose.
    """
    files = file_names(found.results)
    summary = {**found.summary(), "files": files}
    (folder / "comparison.json").write_text(json_text(summary) + "\n", encoding="utf-8")
    (folder / "comparison.csv").write_text(as_csv(found), encoding="utf-8")
    (folder / "comparison.tex").write_text(as_tex(found), encoding="utf-8")
    drawn = plots.regret_curves(found).figure.canvas.figure
    for suffix in plots.PICTURES:
        plots.save_figure(drawn, folder / f"regret{suffix}")
    for name, result in found.results.items():
        result.save(folder / files[name])


def as_csv(found: Comparison) -> str:
    """A row a policy, the columns of `Comparison.rows`; empty where there is no figure."""
    return Table.of(found.rows()).csv()


def as_tex(found: Comparison) -> str:
    """A row a policy, for a paper: the mean regret, its interval, and the worst run.

    With a reference also the difference to it, and the p-value corrected by Holm.
    """
    columns = [
        Column("policy", "text"),
        Column("mean regret", "figure"),
        Column("95 % interval", "interval"),
        Column("worst run", "figure"),
    ]
    if found.reference is not None:
        columns += [
            Column("difference", "signed"),
            Column("95 % interval", "interval"),
            Column("p (Holm)", "p"),
        ]
    rows = []
    for row in found.rows():
        ends = (row["low_95"], row["high_95"])
        cells = [row["policy"], row["mean_regret"], ends, row["worst_run"]]
        if found.reference is not None:
            apart = (row["difference_low_95"], row["difference_high_95"])
            cells += [row["difference"], apart, row["p_value_holm"]]
        rows.append(cells)
    said = [f"{key} {printable(str(value))}" for key, value in found.provenance.items()]
    about = [", ".join(said)] if said else []
    if found.reference is not None:
        about.append(f"Differences are those to {printable(found.reference)}, paired by run.")
    return Table(columns, rows).tex(about)


def file_names(names: Iterable[str]) -> dict[str, str]:
    """A file for each policy's result, named after it: letters, digits and . = _ + - only.

    Everything else becomes a hyphen. Where two would then be the same file, on a system that
    does not tell upper from lower case too, the later one gets a number.

    >>> file_names(["UCB1", "ucb1", "wSWA(alpha=0.2, restart=keep)", "../*"])
    {'UCB1': 'result-UCB1.npz',
     'ucb1': 'result-ucb1-2.npz',
     'wSWA(alpha=0.2, restart=keep)': 'result-wSWA-alpha=0.2-restart=keep.npz',
     '../*': 'result-policy.npz'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        words = re.sub(r"[^A-Za-z0-9.=_+-]+", "-", name)
        stem = re.sub(r"-{2,}", "-", words)[:_LONGEST].strip("-.") or "policy"
        unique, place = stem, 1
        while unique.lower() in taken:
            place += 1
            unique = f"{stem}-{place}"
        taken.add(unique.lower())
        found[name] = f"result-{unique}.npz"
    return found
