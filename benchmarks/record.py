"""Times work, and keeps the latest figures of a benchmark as data, with the machine in words."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rotting._provenance import machine, versions


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


def publish(paper: str, key: str, value: Any) -> None:
    """Put what a paper's report shows into the package, src/rotting/papers/PAPER/measured.json."""
    path = Path(__file__).parents[1] / "src" / "rotting" / "papers" / paper / "measured.json"
    data = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**data, key: value}, indent=1) + "\n")


def put_table(page: str, mark: str, header: list[str], rows: list[list[str]]) -> None:
    """Put a table into docs/PAGE, between <!-- MARK --> and <!-- end of MARK -->."""
    path = Path(__file__).parents[1] / "docs" / page
    before, begin, rest = path.read_text(encoding="utf-8").partition(f"<!-- {mark} -->")
    _, end, after = rest.partition(f"<!-- end of {mark} -->")
    lines = ["| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *rows]]
    text = "\n".join([begin, *lines, "", end])
    path.write_text(before + text + after, encoding="utf-8")


def seconds(work: Callable[[], object]) -> float:
    """How long some work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
