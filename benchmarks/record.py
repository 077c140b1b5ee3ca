"""Times work, and keeps the latest figures of a benchmark as data, with the machine in words."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

import rotting


def record(
    script: str, rows: list[dict[str, Any]], *, name: str | None = None, **more: str
) -> None:
    """Write benchmarks/results/NAME.json, NAME being the script's where no other is given."""
    about = {
        "command": f"python benchmarks/{script}.py",
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()}",
        "versions": {
            "rotting": rotting.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
        },
        **more,
        "rows": rows,
    }
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / f"{name or script}.json").write_text(json.dumps(about, indent=1) + "\n")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def seconds(work: Callable[[], object]) -> float:
    """How long some work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
