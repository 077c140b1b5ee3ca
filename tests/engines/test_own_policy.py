"""A user's own policy: compiled, cached, and compiled again after an edit."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from helpers.cases import run_script
from helpers.own_policy import MODULE, make_mine
from rotting import Arm, NoNoise, Scenario, models, policies, simulate

HELPER = """
from rotting.kernel.compilable import shared
import constants

@shared
def favourite(t):
    return constants.FAVOURITE
"""


SCRIPT = """
import json, sys
import mine, rotting
from rotting import Arm, NoNoise, Scenario, models
from rotting._engines.compiled import compiler
scenario = Scenario([Arm(models.Constant(float(i))) for i in range(3)], NoNoise(), 10)
result = rotting.simulate(mine.Mine(), scenario, runs=1)
stats = next(done.loop.stats for (name, kinds, _), done in compiler._DONE.items()
             if name == "play" and mine.Params in kinds)
print(json.dumps({"reward": result.total_reward[0],
                  "hits": sum(stats.cache_hits.values()),
                  "misses": sum(stats.cache_misses.values())}))
"""


def test_a_users_policy_is_cached_and_an_edit_is_noticed(tmp_path: Path) -> None:
    """The policy, a helper in its module, and a constant in a third module: all enter the key."""
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


def test_a_policy_defined_anew_is_compiled_anew() -> None:
    try:
        for favourite in (0, 2):
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


NOTEBOOK = """
import numpy as np
from dataclasses import dataclass
from typing import ClassVar, NamedTuple
import numba
from rotting.kernel.compilable import shared
from rotting.policies import Policy, Verbs
from rotting.policies.parts.arms import Arms, no_pulls
from rotting.kernel.verbs import KINDS

STEP = 1
DEEP = 0
TABLE = np.zeros(4, dtype=np.int64)

class Params(NamedTuple):
    arms: int

class State(NamedTuple):
    arms: Arms

def init(params, arms, capacity):
    return State(no_pulls(arms))

@shared
def deeper(t, extra=0):
    return DEEP + extra

@shared
def helper(t):
    return deeper(t)

def make(amount):
    @shared
    def closed(t):
        return amount

    def set_amount(value):
        nonlocal amount
        amount = value

    return closed, set_amount

closed, set_amount = make(0)

@numba.njit
def jitted(t):
    return OWN

OWN = 0

def choose(params, state, draw):
    t = state.arms.clock[0]
    return STEP + helper(t) + TABLE[1] + closed(t) + jitted(t)

def update(params, state, arm, pull, reward):
    pass

@dataclass(frozen=True)
class Mine(Policy):
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update)
    def prepare(self, arms, horizon, reach):
        return Params(arms)
"""

# what a later cell of the notebook says, and the arm that is chosen from then on
CELLS = {
    "pass": 1,
    "STEP = 2": 2,
    "DEEP = 1": 3,
    "TABLE[1] = 1\nset_amount(1)\ndeeper.__defaults__ = (1,)": 6,
    "@shared\ndef helper(t):\n    return deeper(t) + 1": 7,
    "OWN = 1": 8,
    "KINDS[Params] = Mine.verbs = Mine.verbs._replace(choose=lambda params, state, draw: 9)": 9,
}


def notebook(text: str = NOTEBOOK) -> dict[str, Any]:
    """The names of a notebook after its first cell; no other process finds its classes."""
    scope: dict[str, Any] = {"__name__": "a_notebook_of_a_test"}
    run_cell(text, scope)
    return scope


def run_cell(text: str, scope: dict[str, Any]) -> None:
    exec(compile(text, "<cell>", "exec", dont_inherit=True), scope)


FEW = ("pass", "DEEP = 1", list(CELLS)[-1])  # and what is then chosen: each adds to the arm


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(dict(zip(FEW, (1, 2, 9), strict=True)), id="few"),
        pytest.param(CELLS, id="all", marks=pytest.mark.long),
    ],
)
def test_what_changes_within_a_process_is_noticed(cells: dict[str, int]) -> None:
    """Constants (of helpers, changed in place), closures, defaults, redefined functions."""
    scope = notebook()
    scenario = Scenario([Arm(models.Constant(float(i))) for i in range(10)], NoNoise(), 4)
    try:
        policy = scope["Mine"]()
        players = []
        for cell, arm in cells.items():
            run_cell(cell, scope)
            players.append((policy.online(range(10)), arm))
            assert players[-1][0].select().arm == arm, cell
            assert policy.online(range(10), compiled=False).select().arm == arm, cell
            if cell in ("pass", "DEEP = 1"):
                assert simulate(policy, scenario, runs=1).total_reward[0] == 4 * arm, cell
        for player, arm in players:  # those that play already keep what they were made with
            assert player.select().arm == arm
    finally:
        policies.POLICIES.pop("mine", None)


def test_another_policy_does_not_meet_an_old_helper() -> None:
    """The compiler caches a helper by its types, whichever policy calls it."""
    scope = notebook()
    second = NOTEBOOK[NOTEBOOK.index("class Params") : NOTEBOOK.index("@shared")]
    second += NOTEBOOK[NOTEBOOK.index("def choose") :].replace("Mine", "Other")
    try:
        assert scope["Mine"]().online(range(10)).select().arm == 1
        scope["DEEP"] = 4
        run_cell(second, scope)
        assert scope["Other"]().online(range(10)).select().arm == 5
    finally:
        policies.POLICIES.pop("mine", None)
        policies.POLICIES.pop("other", None)


def test_what_cannot_be_compiled_is_explained_wherever_it_is_compiled() -> None:
    """Simulated, online, and by the threads, who compile other types of the same params."""
    allocating = NOTEBOOK.replace("return STEP", "allocated = params.arms + 1\n    return STEP")
    allocating = allocating.replace("    def prepare", "    width: int = 0\n    def prepare")
    given = "Params(np.zeros(self.width) if self.width else arms)"
    mine = notebook(allocating.replace("Params(arms)", given))["Mine"]
    scenario = Scenario([Arm(models.Constant(float(i))) for i in range(3)], NoNoise(), 4)
    try:
        for play in (
            lambda policy: policy.online(range(3)),
            lambda policy: simulate(policy, scenario, runs=1),
        ):
            with pytest.raises(ValueError, match=r"^Mine cannot be compiled: .*CONTRIBUTING"):
                play(mine(2))
        assert simulate(mine(0), scenario, runs=1).total_reward[0] == 4
        with pytest.raises(ValueError, match=r"^Mine cannot be compiled: .*CONTRIBUTING"):
            simulate(mine(2), scenario, runs=1)
    finally:
        policies.POLICIES.pop("mine", None)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("helpre(t)", r"compiled: NameError: name 'helpre' is not defined, in choose\(\)"),
        ("state.arms + 1", r"function add>\) found for signature: >>> add\(Arms.*, at .*line \d+"),
        ("state.amrs", r"compiled: Unknown attribute 'amrs' of type State.*, at .*line \d+"),
        ("helper()", r"missing a required argument: 't'.*, at .*line \d+"),
    ],
)
def test_the_reason_is_the_innermost_that_the_compiler_says(line: str, told: str) -> None:
    wrong = NOTEBOOK.replace("return STEP", f"wrong = {line}\n    return STEP")
    assert wrong != NOTEBOOK
    mine = notebook(wrong)["Mine"]
    scenario = Scenario([Arm(models.Constant(float(i))) for i in range(3)], NoNoise(), 4)
    try:
        with pytest.raises(ValueError, match=told) as refused:
            simulate(mine(), scenario, runs=1)
        assert "\n" not in str(refused.value)
        assert "\x1b" not in str(refused.value)
    finally:
        policies.POLICIES.pop("mine", None)
