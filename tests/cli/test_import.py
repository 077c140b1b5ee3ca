"""`rotting --import MODULE`: policies of a user's own, on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

MINE = '''
from dataclasses import dataclass
from rotting.policies import RoundRobin

@dataclass(frozen=True)
class MyTurn(RoundRobin):
    """One arm after the other."""

    verbs = RoundRobin.verbs
'''


def rotting(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "rotting", *words]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True)


def test_a_policy_of_ones_own_has_a_name(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    words = ["compare", "myturn", "roundrobin", "--scenario", "fall_28", "--runs", "2"]
    done = rotting(tmp_path, "--import", "mine", *words, "--engine", "reference", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert set(found["policies"]) == {"MyTurn", "RoundRobin"}
    without = rotting(tmp_path, *words)
    assert without.returncode == 2
    assert "unknown policy 'myturn'" in without.stderr


def test_a_module_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = rotting(tmp_path, "--import", "nowhere.at_all", "policies")
    assert done.returncode == 2
    assert done.stderr == (
        "rotting: --import must name a module that Python finds from here, got 'nowhere.at_all'\n"
    )
    (tmp_path / "broken.py").write_text("import not_installed_here\n")
    done = rotting(tmp_path, "--import", "broken", "policies")
    assert done.returncode == 1
    assert "No module named 'not_installed_here'" in done.stderr  # with the user's own line
    assert "broken.py" in done.stderr
