"""Compilation: what is imported when, what is cached, and that an edit is noticed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np

from rotting import policies
from rotting.engines.fingerprint import fingerprint
from rotting.engines.online import Stepper
from rotting.random import new_draw

MODULE = '''
from __future__ import annotations
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple
import numpy as np
import helper
from rotting.policies import Policy, Verbs

class Params(NamedTuple):
    arms: int

class State(NamedTuple):
    time: Any

def init(params, arms, capacity):
    return State(np.zeros(1, dtype=np.int64))

def select(params, state, draw):
    state.time[0] += 1
    return min(helper.favourite(state.time[0]), params.arms - 1)

def update(params, state, arm, pull, reward):
    pass

@dataclass(frozen=True)
class Mine(Policy):
    """Always the same arm."""
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update)
    def prepare(self, arms, horizon, capacity):
        return Params(arms)
'''
HELPER = """
from rotting.compilable import shared
import constants

@shared
def favourite(t):
    return constants.FAVOURITE
"""
SCRIPT = """
import json, sys
import mine, rotting
from rotting import Arm, NoNoise, Scenario, models
from rotting.engines import compile as compiling
from rotting.engines.loop import play
scenario = Scenario([Arm(models.Constant(float(i))) for i in range(3)], NoNoise(), 10)
result = rotting.simulate(mine.Mine(), scenario, runs=1)
stats = compiling.compiled(play, mine.Params).stats
print(json.dumps({"reward": result.total_reward[0],
                  "hits": sum(stats.cache_hits.values()),
                  "misses": sum(stats.cache_misses.values())}))
"""


def run(folder: Path, script: str, cache: Path | None = None) -> dict[str, float]:
    """Run a script in a process of its own, perhaps with a cache of its own."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], cwd=folder, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_a_users_policy_is_cached_and_an_edit_is_noticed(tmp_path: Path) -> None:
    """The policy, a helper of its own module, and a constant in a third: all enter the key."""
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "helper.py").write_text(HELPER)
    constants = tmp_path / "constants.py"
    constants.write_text("FAVOURITE = 1\n")
    first = run(tmp_path, SCRIPT, tmp_path / "cache")
    assert first == {"reward": 10.0, "hits": 0, "misses": 1}
    again = run(tmp_path, SCRIPT, tmp_path / "cache")
    assert again == {"reward": 10.0, "hits": 1, "misses": 0}
    constants.write_text("FAVOURITE = 2\n")
    edited = run(tmp_path, SCRIPT, tmp_path / "cache")
    assert edited == {"reward": 20.0, "hits": 0, "misses": 1}
    policy = tmp_path / "mine.py"
    policy.write_text(MODULE.replace("params.arms - 1)", "params.arms - 2)"))
    edited = run(tmp_path, SCRIPT, tmp_path / "cache")
    assert edited == {"reward": 10.0, "hits": 0, "misses": 1}


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import json, rotting
        from rotting import policies
        from rotting.engines import compile as compiling
        from cases import examples, playable, scenarios
        scenario = scenarios()["constants"]
        for policy in examples():
            rotting.simulate(playable(policy, scenario), scenario, runs=1)
            policy.online(range(3), horizon=300).select()
        stats = [f.stats for f in compiling._DONE.values()]
        print(json.dumps({"misses": sum(sum(s.cache_misses.values()) for s in stats),
                          "hits": sum(sum(s.cache_hits.values()) for s in stats)}))
    """)
    here = Path(__file__).parent
    run(here, script)
    second = run(here, script)
    assert second["misses"] == 0
    assert second["hits"] >= 2 * len(policies.POLICIES)


def test_import_is_light() -> None:
    """`import rotting` brings in neither numba nor SciPy nor Matplotlib."""
    script = (
        "import sys, json, rotting; from rotting.papers import levine2017; print(json.dumps("
        "{m: 1.0 for m in sys.modules if m in ('numba', 'scipy', 'matplotlib', 'rich', 'typer',"
        " 'pandas')}))"
    )
    assert run(Path(), script) == {}


def test_fingerprint_sees_constants_and_functions() -> None:
    scope: dict[str, object] = {"C": 1.0, "__name__": "somewhere"}
    exec("def g(x):\n    return x + C\ndef f(x):\n    return g(x)", scope)
    before = fingerprint([scope["f"]])  # type: ignore[list-item]
    scope["C"] = 2.0
    after = fingerprint([scope["f"]])  # type: ignore[list-item]
    assert before != after
    scope["C"] = 1.0
    assert fingerprint([scope["f"]]) == before  # type: ignore[list-item]


def test_compiled_verbs_write_to_the_state() -> None:
    """Numba 0.68 with inline="always" loses these writes; the verbs must not be compiled so."""
    policy = policies.UCB1()
    params = policy.prepare(2, None, 100)
    state = policy.verbs.init(params, 2, 100)
    stepper = Stepper(params, state, new_draw(0))
    arm = stepper.decide(stepper.block)
    stepper.learn(stepper.block, arm, 1, 0.5)
    assert state.pulls.tolist() == [1, 0]
    assert state.mean[0] == 0.5
    assert state.time.tolist() == [1]
    np.testing.assert_array_equal(state.observed, [1, 0])
