"""Times work, and keeps the latest figures of a benchmark as data, with the machine in words."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rotting.provenance import machine, versions


def record(
    script: str, rows: list[dict[str, Any]], *, name: str | None = None, **more: Any
) -> None:
    """Write benchmarks/results/NAME.json, NAME being the script's where no other is given."""
    about = {
        "command": shlex.join(["python", f"benchmarks/{script}.py", *sys.argv[1:]]),
        "machine": machine(),
        "versions": versions("numpy", "numba"),
        **more,
        "rows": rows,
    }
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / f"{name or script}.json").write_text(json.dumps(about, indent=1) + "\n")


def seconds(work: Callable[[], object]) -> float:
    """How long some work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
