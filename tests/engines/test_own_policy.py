"""A user's own policy: compiled, cached, and noticed when it is edited."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cases import run_script
from rotting import Arm, NoNoise, Scenario, models, policies, simulate

MODULE = '''
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar, NamedTuple
import helper
from rotting.policies import Policy, Verbs
from rotting.policies.parts.arms import Arms, no_pulls

class Params(NamedTuple):
    arms: int

class State(NamedTuple):
    arms: Arms

def init(params, arms, capacity):
    return State(no_pulls(arms))

def choose(params, state, draw):
    return min(helper.favourite(state.arms.clock[0] + 1), params.arms - 1)

def update(params, state, arm, pull, reward):
    pass

@dataclass(frozen=True)
class Mine(Policy):
    """Always the same arm."""
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update)
    def prepare(self, arms, horizon, reach):
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
from rotting.engines.compiled import compiling
scenario = Scenario([Arm(models.Constant(float(i))) for i in range(3)], NoNoise(), 10)
result = rotting.simulate(mine.Mine(), scenario, runs=1)
stats = next(loop.stats for (name, kinds, _), loop in compiling._DONE.items()
             if name == "play" and mine.Params in kinds)
print(json.dumps({"reward": result.total_reward[0],
                  "hits": sum(stats.cache_hits.values()),
                  "misses": sum(stats.cache_misses.values())}))
"""


def test_a_users_policy_is_cached_and_an_edit_is_noticed(tmp_path: Path) -> None:
    """The policy, a helper of its own module, and a constant in a third: all enter the key."""
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "helper.py").write_text(HELPER)
    constants = tmp_path / "constants.py"
    constants.write_text("FAVOURITE = 1\n")
    first = run_script(tmp_path, SCRIPT, tmp_path / "cache")
    assert first == {"reward": 10.0, "hits": 0, "misses": 1}
    again = run_script(tmp_path, SCRIPT, tmp_path / "cache")
    assert again == {"reward": 10.0, "hits": 1, "misses": 0}
    constants.write_text("FAVOURITE = 2\n")
    edited = run_script(tmp_path, SCRIPT, tmp_path / "cache")
    assert edited == {"reward": 20.0, "hits": 0, "misses": 1}
    policy = tmp_path / "mine.py"
    policy.write_text(MODULE.replace("params.arms - 1)", "params.arms - 2)"))
    edited = run_script(tmp_path, SCRIPT, tmp_path / "cache")
    assert edited == {"reward": 10.0, "hits": 0, "misses": 1}


def test_an_edit_after_the_import_does_not_poison_the_cache(tmp_path: Path) -> None:
    """What is compiled is what was imported; a later process compiles what the file then says."""
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "constants.py").write_text("FAVOURITE = 1\n")
    edit = (
        "import mine, pathlib\n"
        "path = pathlib.Path('mine.py')\n"
        "path.write_text(path.read_text().replace('params.arms - 1', 'params.arms - 3'))\n"
    )
    cache = tmp_path / "cache"
    assert run_script(tmp_path, edit + SCRIPT, cache)["reward"] == 10.0
    assert run_script(tmp_path, SCRIPT, cache)["reward"] == 0.0


def make_mine(favourite: int) -> Any:
    """A policy class defined anew, as by running a notebook's cell again."""
    module = types.ModuleType("a_notebook")
    sys.modules["a_notebook"] = module
    text = MODULE.replace("import helper", "").replace("from __future__ import annotations", "")
    text = text.replace(
        "min(helper.favourite(state.arms.clock[0] + 1), params.arms - 1)", str(favourite)
    )
    exec(text, module.__dict__)
    return module.__dict__["Mine"]


def test_a_policy_defined_anew_is_compiled_anew() -> None:
    try:
        for favourite in (0, 2, 1):
            policy = make_mine(favourite)()
            assert policy.online(range(3)).select().arm == favourite
            assert policy.online(range(3), compiled=False).select().arm == favourite
            scenario = Scenario([Arm(models.Constant(float(i))) for i in range(3)], NoNoise(), 4)
            assert simulate(policy, scenario, runs=1).total_reward[0] == 4 * favourite
    finally:
        policies.POLICIES.pop("mine", None)


def test_an_arm_that_does_not_exist_is_refused() -> None:
    try:
        policy = make_mine(7)()
        scenario = Scenario([Arm(models.Constant(1.0))] * 3, NoNoise(), 10)
        with pytest.raises(ValueError, match="choose must return an arm from 0 to 2"):
            simulate(policy, scenario, runs=1)
        with pytest.raises(ValueError, match="choose must return an arm from 0 to 2"):
            simulate(policy, scenario, runs=1, engine="reference")
        for compiled in (True, False):
            with pytest.raises(ValueError, match="choose must return an arm from 0 to 2"):
                policy.online(range(3), compiled=compiled).select()
    finally:
        policies.POLICIES.pop("mine", None)


def test_two_policies_cannot_share_their_params() -> None:
    with pytest.raises(ValueError, match="params of Thief must be a type of its own"):

        class Thief(policies.Policy):
            verbs: ClassVar[policies.Verbs] = policies.UCB1.verbs._replace(update=print)
