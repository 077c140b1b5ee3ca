"""The files of a comparison: its summary, a picture, the raw results."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from rotting.experiments.comparison import Comparison
from rotting.reports import plots
from rotting.reports.data import json_text

_LONGEST = 80  # of a file's name, so that folder and ending fit wherever it is copied to


def write(found: Comparison, folder: Path) -> None:
    """Write comparison.json, regret.png and each policy's result into a folder.

    The results have the policies' names (`file_names`); comparison.json says which is whose.
    """
    files = file_names(found.results)
    summary = {**found.summary(), "files": files}
    (folder / "comparison.json").write_text(json_text(summary) + "\n", encoding="utf-8")
    plots.regret_curves(found, folder / "regret.png")
    for name, result in found.results.items():
        result.save(folder / files[name])


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
