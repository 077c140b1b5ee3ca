"""A shell's completion: the right words, nothing else, and no heavy imports."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rotting.policies import POLICIES

PROGRAM = """
import sys
from rotting._cli import main
sys.argv = ["rotting"]
try:
    main()
finally:
    heavy = {"matplotlib", "numba", "pandas", "scipy"} & set(sys.modules)
    assert not heavy, heavy
"""


def completed(line: str) -> list[str]:
    """What the shell fish would offer at the end of a line."""
    asked = {
        "_ROTTING_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        env={**os.environ, **asked},
        check=True,
    )
    assert done.stderr == ""
    return [word.partition("\t")[0] for word in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rotting sc", ["scenarios"]),
        ("rotting compare ucb1 ", sorted(kind for kind in POLICIES)),
        ("rotting simulate wswa:alpha=0.2,re", ["wswa:alpha=0.2,restart="]),
        ("rotting theory --scenario non", ["non_parametric"]),
        ("rotting tune wswa alpha=1 --noise co", ["common"]),
        ("rotting reproduce lev", ["levine2017"]),
    ],
)
def test_words_are_offered(line: str, words: list[str]) -> None:
    found = completed(line)
    assert [word for word in found if word in words] == words
    if not line.endswith(" "):  # tests may register further policies
        assert found == words
