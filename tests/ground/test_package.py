"""The package as a whole: a light import, a version."""

from __future__ import annotations

from pathlib import Path

import rotting
from helpers.cases import run_script


def test_import_is_light() -> None:
    """`import rotting` brings in neither numba nor SciPy nor Matplotlib."""
    script = (
        "import sys, json, rotting; from rotting.papers import levine2017; print(json.dumps("
        "{m: 1.0 for m in sys.modules if m in ('numba', 'scipy', 'matplotlib', 'rich', 'typer',"
        " 'pandas')}))"
    )
    assert run_script(Path(), script) == {}


def test_version() -> None:
    assert rotting.__version__
