"""Times work, and keeps the latest figures of a benchmark as data, with the machine in words."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rotting.provenance import machine, versions


def record(name: str, rows: list[dict[str, Any]]) -> None:
    """Write benchmarks/results/NAME.json."""
    about = {
        "command": f"python benchmarks/{name}.py",
        "machine": machine(),
        "versions": versions("numpy", "numba"),
        "rows": rows,
    }
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(about, indent=1) + "\n")


def seconds(work: Callable[[], object]) -> float:
    """How long some work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
