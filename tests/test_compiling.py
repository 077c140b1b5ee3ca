"""Compilation: what is imported when, what is cached, and that an edit is noticed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import types
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from rotting import Arm, NoNoise, Scenario, models, policies, simulate
from rotting.engines.compiled import compiling
from rotting.engines.compiled import overloads as verbs
from rotting.engines.compiled.fingerprint import fingerprint
from rotting.engines.compiled.image import image_of
from rotting.engines.compiled.stepper import Stepper
from rotting.engines.loop import play
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
        from rotting.engines.compiled import compiling
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
    assert second["hits"] >= 2 * len({kind.verbs for kind in policies.POLICIES.values()})


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


def digest_of(text: str, scope: dict[str, Any]) -> str | None:
    """The fingerprint of f, made from a text in a module's scope."""
    exec(text, scope)
    return fingerprint([scope["f"]])


def test_fingerprint_follows_every_path() -> None:
    """Submodules, functions wrapped by numba, closures of one factory, and what it cannot know."""
    import numba

    outer, inner = types.ModuleType("outer"), types.ModuleType("outer.inner")
    outer.inner = inner  # type: ignore[attr-defined]
    text = "def f(x):\n    return x + outer.inner.F"
    marks = set()
    for whole in (1, 2):
        inner.F = whole  # type: ignore[attr-defined]
        marks.add(digest_of(text, {"outer": outer}))
    for value in (1.0, 2.0):
        scope: dict[str, Any] = {"C": value}
        exec("def g(x):\n    return x + C", scope)
        scope["g"] = numba.njit(scope["g"])
        marks.add(digest_of("def f(x):\n    return g(x)", scope))
    factory = "def make(a):\n    def g(x):\n        return x + a\n    return g\n"
    for second in (2, 3):
        scope = {}
        exec(factory + f"g, h = make(1), make({second})", scope)
        marks.add(digest_of("def f(x):\n    return g(x) + h(x)", scope))
    assert None not in marks
    assert len(marks) == 6
    assert digest_of("def f(x):\n    return thing.value", {"thing": object()}) is None


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
    assert run(tmp_path, edit + SCRIPT, cache)["reward"] == 10.0
    assert run(tmp_path, SCRIPT, cache)["reward"] == 0.0


def make_mine(favourite: int) -> Any:
    """A policy class defined anew, as by running a notebook's cell again."""
    module = types.ModuleType("a_notebook")
    sys.modules["a_notebook"] = module
    text = MODULE.replace("import helper", "").replace("from __future__ import annotations", "")
    text = text.replace("min(helper.favourite(state.time[0]), params.arms - 1)", str(favourite))
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
        with pytest.raises(ValueError, match="select must return an arm from 0 to 2"):
            simulate(policy, scenario, runs=1)
        with pytest.raises(ValueError, match="select must return an arm from 0 to 2"):
            simulate(policy, scenario, runs=1, engine="reference")
        for compiled in (True, False):
            with pytest.raises(ValueError, match="select must return an arm from 0 to 2"):
                policy.online(range(3), compiled=compiled).select()
    finally:
        policies.POLICIES.pop("mine", None)


def test_two_policies_cannot_share_their_params() -> None:
    with pytest.raises(ValueError, match="params of Thief must be a type of its own"):

        class Thief(policies.Policy):
            verbs: ClassVar[policies.Verbs] = policies.UCB1.verbs._replace(update=print)


def test_fields_that_compiled_code_cannot_take_are_refused() -> None:
    verbs = policies.UCB1.verbs
    params: Any = policies.UCB1().prepare(2, None, 100)
    state = verbs.init(params, 2, 100)
    with pytest.raises(ValueError, match="c of Params must be a number or an array, got None"):
        Stepper(params._replace(c=None), state, new_draw(0))
    with pytest.raises(ValueError, match="pulls of State must be a contiguous array"):
        Stepper(params, state._replace(pulls=np.zeros(4, dtype=np.int64)[::2]), new_draw(0))


def test_shared_fields_come_first() -> None:
    """States that work on shared pieces begin with their fields, in order."""
    from rotting.policies import dcto, dcto_ucb, swa, wswa
    from rotting.policies.parts import halves, window

    for module in (dcto, dcto_ucb):
        assert module.State._fields[: len(halves.Halves._fields)] == halves.Halves._fields
    for module in (swa, wswa):
        assert module.State._fields[: len(window.Window._fields)] == window.Window._fields


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


def test_the_start_of_a_run_is_part_of_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    """`restart` is found by types, so the digest of the loops does not reach what it does."""

    def name() -> str:
        params = type(policies.UCB1().prepare(2, None, 100))
        found: str = compiling._compile(play, params, "").py_func.__qualname__  # type: ignore[attr-defined]
        return found

    class Image(NamedTuple):
        now: Any
        start: Any

    before = name()
    assert before == name()
    with monkeypatch.context() as patch:
        patch.setattr(verbs, "copy_words", lambda fresh, work: None)
        assert name() != before
    monkeypatch.setattr(compiling, "Image", Image)
    assert name() != before


@pytest.mark.parametrize("wrong", [[0], 0, np.array([None])])
def test_a_state_of_arrays_only(wrong: Any) -> None:
    fresh = policies.UCB1.verbs.init(None, 3, 10)
    with pytest.raises(ValueError, match="time of the state must be an array of numbers"):
        image_of(fresh._replace(time=wrong), set())
