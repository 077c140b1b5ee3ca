"""The provenance of figures: versions of this library and its dependencies, and the machine."""

from __future__ import annotations

import importlib
import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

VERSION = "0.2.0"  # the single place; pyproject.toml and `rotting.__version__` read it here
# The version of the decisions: raise it whenever a recorded decision changes. A service replays the
# events of its own version, and takes those of other versions as they are written.
PLAYS = 1


def versions(*libraries: str) -> dict[str, str]:
    """The versions of this library, of Python, and of the named libraries.

    >>> list(versions("numpy"))
    ['rotting', 'python', 'numpy']
    """
    found = {"rotting": VERSION, "python": platform.python_version()}
    for name in libraries:
        found[name] = str(importlib.import_module(name).__version__)
    return found


def machine() -> str:
    """This machine in words: processor, cores, operating system."""
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:  # not on Linux
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def gpu_seconds(provenances: Iterable[Mapping[str, Any]]) -> float:
    """The total seconds of several simulations in GPU kernels; 0 without a GPU.

    >>> gpu_seconds([{"engine": "cuda", "gpu_seconds": 1.5}, {"engine": "cpu"}])
    1.5
    """
    return float(sum(about.get("gpu_seconds", 0.0) for about in provenances))


def duration(seconds: float, gpu_seconds: float = 0.0) -> str:
    """A duration in words, and its part in GPU kernels, if any.

    >>> duration(105.13, 43.8), duration(7)
    ('105.1 s, 43.8 s of them on the GPU', '7.0 s')
    """
    return f"{seconds:.1f} s" + (f", {gpu_seconds:.1f} s of them on the GPU" if gpu_seconds else "")
