"""Provenance of figures: one version, the libraries, the machine, GPU seconds."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import rotting
from helpers.cases import scenarios
from rotting import _provenance, policies, simulate

ROOT = Path(__file__).parents[1]
while not (ROOT / "pyproject.toml").exists():
    ROOT = ROOT.parent


def test_the_version_stands_in_one_place() -> None:
    assert rotting.__version__ == _provenance.VERSION
    assert re.fullmatch(r"\d+\.\d+\.\d+\w*", _provenance.VERSION)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {
        "attr": "rotting._provenance.VERSION"
    }
    standing = [
        path.name
        for path in (ROOT / "src").rglob("*.py")
        if f'"{_provenance.VERSION}"' in path.read_text()
    ]
    assert standing == ["_provenance.py"]


def test_versions_and_machine() -> None:
    found = _provenance.versions("numpy", "numba", "scipy")
    assert list(found) == ["rotting", "python", "numpy", "numba", "scipy"]
    assert found["numpy"] == np.__version__
    assert sys.version.startswith(found["python"])
    assert re.search(r".+, \d+ cores, \w+", _provenance.machine())


def test_gpu_seconds_are_provenance(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time an engine reports for kernels is kept with the result, unless it is None."""
    from rotting._engines import reference

    play = reference.simulate

    def on_a_gpu(*args: object) -> float:
        play(*args)  # type: ignore[arg-type]
        return 1.5

    scenario = scenarios()["constants"]
    plain = simulate(policies.UCB1(), scenario, runs=2, engine="reference")
    assert "gpu_seconds" not in plain.provenance
    monkeypatch.setattr(reference, "simulate", on_a_gpu)
    found = simulate(policies.UCB1(), scenario, runs=2, engine="reference")
    assert found.provenance["gpu_seconds"] == 1.5
    assert _provenance.gpu_seconds(r.provenance for r in (found, plain, found)) == 3.0


def test_the_ground_is_light() -> None:
    """The version and progress reports need no heavy import."""
    code = (
        "import sys, rotting._progress, rotting._provenance\n"
        "print([m for m in ('numba', 'scipy', 'rich', 'typer', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
