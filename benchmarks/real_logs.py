"""Diagnoses of two real tables, where their files are: phone marketing, and TV seasons.

    python benchmarks/real_logs.py --data FOLDER

FOLDER holds bank-full.csv (UCI Bank Marketing; Moro, Cortez, Rita 2014) and tv_ratings.csv
(TidyTuesday 2019-01-08). They are not shipped. The verdicts are recorded, and
docs/reference/real-logs.md quotes them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from record import record
from rotting.logs import Diagnosis, Log, diagnose, read
from rotting.logs._diagnosis.companions import within_keys
from rotting.logs._diagnosis.stories import stories_of

TV = {"key": "titleId", "exposure": "seasonNumber", "time": "date"}
UNCOUNTED: dict[str, tuple[str, dict[str, Any]]] = {
    "bank": ("bank-full.csv", {"exposure": "campaign", "reward": "y", "rows": "last"}),
    "tv share": ("tv_ratings.csv", {**TV, "reward": "share"}),
    "tv av_rating": ("tv_ratings.csv", {**TV, "reward": "av_rating"}),
}


def slopes(log: Log) -> list[dict[str, Any]]:
    """What a season changes, with effects of each show, and of each period as well or not."""
    stories = stories_of(log)
    return [
        {"with_periods": periods, **within_keys(stories, calendar=periods, logs=logs).as_data()}
        for logs in (False, True)
        for periods in (False, True)
    ]


def row_of(name: str, found: Diagnosis) -> dict[str, Any]:
    """What is kept of a diagnosis."""
    said = found.as_data()
    parts = ("contents", "exposure", "selection", "calendar", "recovery", "cost", "unknown")
    return {
        "name": name,
        "overall": found.overall,
        "headline": found.headline,
        "verdicts": {part: said[part]["verdict"] for part in parts},
        "evidence": {part: said[part]["evidence"] for part in ("exposure", "calendar")},
        "advice": found.advice,
        "problems": said["problems"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data
    console = Console(width=100, highlight=False)
    missing = [name for name, _ in UNCOUNTED.values() if not (folder / name).exists()]
    if missing:
        console.print(f"data must be a folder with {', '.join(sorted(set(missing)))}, got {folder}")
        return 2
    rows = []
    for name, (file, columns) in UNCOUNTED.items():
        found = diagnose(folder / file, **columns)
        found = Diagnosis(**{**vars(found), "settings": {**found.settings, "source": file}})
        console.rule(name)
        console.print(str(found), markup=False)
        row = row_of(name, found)
        if columns["rows" if "rows" in columns else "time"] != "last":
            row["slopes"] = slopes(read(folder / file, **columns))
            for one in row["slopes"]:
                console.print(one)
        rows.append(row)
    record("real_logs", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
