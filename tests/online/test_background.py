"""A player decides in plain Python at first, and in compiled code once a child process made it.

Each script runs in a child process with an empty cache, as a user's first one does.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from helpers.cases import run_script
from rotting import policies
from rotting._online import background

# plays until the player is compiled, and some rounds more; `same` is a plain player in parallel
PLAY = """
import json, logging, os, sys, time
from rotting import Player, policies
from rotting._online import background

said = []
class Kept(logging.Handler):
    def emit(self, record):
        said.append(record.getMessage())
logging.getLogger("rotting").addHandler(Kept())
logging.getLogger("rotting").setLevel(logging.INFO)

def play(player, same, rounds, until=None):
    begin, left = time.monotonic(), rounds
    while left > 0 and time.monotonic() < begin + 100:
        decision, other = player.select(), same.select()
        assert decision == other, (decision, other)
        for each in (player, same):
            each.update(decision, 1.0 if decision.pull % 3 == 0 else 0.0)
        left -= 1 if until is None or until() else 0
        time.sleep(0 if until is None or until() else 0.0005)
"""


def play(folder: Path, script: str, cache: Path | None = None) -> dict[str, Any]:
    return run_script(folder, PLAY + script, cache=cache or folder / "cache")


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that several tests use: who comes first compiles."""
    return tmp_path_factory.mktemp("warm")


def test_it_changes_between_two_calls_also_once_saved(tmp_path: Path, warm: Path) -> None:
    found = play(
        tmp_path,
        """
player = policies.UCB1().online(["a", "b"], seed=3)
same = policies.UCB1().online(["a", "b"], seed=3, compiled=False)
first = player.compiled
play(player, same, 20)
again = Player.from_json(player.to_json())
wanted = json.loads(player.to_json())["compiled"]
other = Player.from_json(same.to_json())
play(player, same, 50, until=lambda: player.compiled)
play(again, other, 50)
new = policies.UCB1(c=0.7).online(range(3))  # of the same kind: nothing is left to do
print(json.dumps({"first": first, "wanted": wanted, "then": player.compiled, "new": new.compiled,
                  "again": again.compiled, "saved": json.loads(again.to_json())["compiled"]}))
""",
        warm,
    )
    assert found == {
        **{"first": False, "wanted": None, "then": True, "new": True, "again": True},
        "saved": None,
    }


def test_the_first_decision_comes_before_any_compiler(tmp_path: Path) -> None:
    found = play(
        tmp_path,
        """
begin = time.process_time()
player = policies.recommended(rewards="bernoulli", audience=True).audience(["a", "b"])
player.select("ann")
print(json.dumps({"took": time.process_time() - begin, "numba": "numba" in sys.modules}))
""",
    )
    assert not found["numba"]
    assert found["took"] < 0.5  # CPU seconds; usually .02


@pytest.mark.skipif(os.name == "nt", reason="needs limits of the operating system")
@pytest.mark.parametrize(
    "how",
    [
        "no interpreter",
        pytest.param("in a script", marks=pytest.mark.long),
        pytest.param("cannot be kept", marks=pytest.mark.long),
    ],
)
def test_without_a_process_it_compiles_at_the_thousandth_decision(tmp_path: Path, how: str) -> None:
    prepare = {
        "no interpreter": "sys.executable = ''",
        "in a script": "policies.UCB1.__module__ = '__main__'",
        # no file may be longer than this, as on a full disk
        "cannot be kept": """
import resource, warnings
warnings.simplefilter("ignore")  # which says that it cannot be kept
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
""",
    }[how]
    found = play(
        tmp_path,
        prepare
        + """
player = policies.UCB1().online(["a", "b"], seed=3)
same = policies.UCB1().online(["a", "b"], seed=3, compiled=False)
play(player, same, 20)
while not player.core.job.settled:
    time.sleep(0.01)
play(player, same, 979)
before = player.compiled
play(player, same, 20)
print(json.dumps({"before": before, "after": player.compiled,
                  "said": [s for s in said if s.startswith("compiling UCB1 within")]}))
""",
    )
    assert (found["before"], found["after"]) == (False, True)
    assert len(found["said"]) == 1


def test_what_cannot_be_compiled_plays_on(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        """
from typing import ClassVar
from dataclasses import dataclass
from rotting.policies import Policy, Verbs
from rotting.policies.parts.arms import Arms, no_pulls, rewarded
from typing import NamedTuple

class Params(NamedTuple):
    c: float

class State(NamedTuple):
    arms: Arms

def init(params, arms, capacity):
    return State(no_pulls(arms))

def update(params, state, arm, pull, reward):
    rewarded(state.arms, arm, 1)

def choose(params, state, draw):
    return len([x for x in sorted(state.arms.pulls.tolist())]) - 1

@dataclass(frozen=True)
class Mine(Policy):
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update)
    def prepare(self, arms, horizon, reach):
        return Params(1.0)
"""
    )
    found = play(
        tmp_path,
        f"""
sys.path.insert(0, {str(tmp_path)!r})
import mine
player = mine.Mine().online(["a", "b"])
same = mine.Mine().online(["a", "b"], compiled=False)
play(player, same, 500)
while not player.core.job.settled:
    time.sleep(0.05)
play(player, same, 600)
print(json.dumps({{"compiled": player.compiled, "said": [s for s in said if "plays in" in s]}}))
""",
    )
    assert not found["compiled"]
    assert len(found["said"]) == 1
    assert "Mine plays in plain Python: Mine cannot be compiled" in found["said"][0]


def test_a_large_batch_waits_for_the_compiler(tmp_path: Path, warm: Path) -> None:
    found = play(
        tmp_path,
        """
player = policies.UCB1().online(["a", "b"])
few = player.select_many(100)
before = player.compiled
many = player.select_many(5000)
print(json.dumps({"before": before, "after": player.compiled, "count": len(many)}))
""",
        warm,
    )
    assert found == {"before": False, "after": True, "count": 5000}


@pytest.mark.parametrize("end", ["", "os._exit(0)", "os.kill(os.getpid(), 9)"])
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_no_process_is_left_behind(tmp_path: Path, end: str) -> None:
    import subprocess
    import sys

    script = f"""
import os, sys, time
from rotting import policies
from rotting._online import background
player = policies.UCB1().online(["a", "b"])
player.select()
while player.core.job._process is None:
    time.sleep(0.01)
print(player.core.job._process.pid, flush=True)
{end}
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    child = Path("/proc") / done.stdout.strip()
    until = time.monotonic() + 15.0
    while child.exists() and "State:\tZ" not in _status(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not child.exists() or "State:\tZ" in _status(child)


def _status(process: Path) -> str:
    try:
        return (process / "status").read_text()
    except OSError:
        return "State:\tZ"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    "delays", [(0.3,), pytest.param((0.0, 0.3, 0.6, 0.9), marks=pytest.mark.long)], ids=len
)
def test_workers_that_are_forked_meanwhile(
    tmp_path: Path, delays: tuple[float, ...], warm: Path
) -> None:
    """Each plays on, and compiles for itself; the parent's player is not disturbed."""
    found = play(
        tmp_path,
        f"delays = {delays}"
        """
player = policies.UCB1().online(["a", "b"], seed=3)
same = policies.UCB1().online(["a", "b"], seed=3, compiled=False)
play(player, same, 10)
workers = []
for delay in delays:
    time.sleep(delay)
    worker = os.fork()
    if worker == 0:
        try:
            play(player, same, 1500)
            os._exit(0 if player.compiled else 3)
        except BaseException:
            os._exit(4)
    workers.append(worker)
codes = [os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) for worker in workers]
play(player, same, 50, until=lambda: player.compiled)
print(json.dumps({"codes": codes, "compiled": player.compiled}))
""",
        warm if len(delays) == 1 else None,
    )
    assert found == {"codes": [0] * len(delays), "compiled": True}


@pytest.mark.parametrize("count", [2, pytest.param(8, marks=pytest.mark.long)])
def test_processes_that_start_together(tmp_path: Path, count: int) -> None:
    """Spawned, as servers do it: all of them get there."""
    found = play(
        tmp_path,
        f"count = {count}"
        """
import subprocess
script = '''
import time
from rotting import policies
player = policies.UCB1().online(["a", "b"])
begin = time.monotonic()
while not player.compiled and time.monotonic() < begin + 100:
    player.update(player.select(), 1.0)
    time.sleep(0.001)
print(player.compiled)
'''
started = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
           for _ in range(count)]
print(json.dumps({"compiled": [each.communicate()[0].strip() for each in started]}))
""",
    )
    assert found == {"compiled": ["True"] * count}


def test_true_and_false_mean_what_they_say() -> None:
    assert policies.UCB1().online(["a"], compiled=True).compiled
    assert not policies.UCB1().online(["a"], compiled=False).compiled
    assert policies.UCB1().online(["a"], compiled=False).core.job is None


def test_a_job_that_is_settled_while_a_player_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read twice, it was not ready first and then ready: the player stayed in plain Python."""

    class Settling(background.Job):
        looks = 0

        @property
        def ready(self) -> bool:
            self.looks += 1
            return self.looks > 1

        @ready.setter
        def ready(self, value: bool) -> None:
            pass

    job = Settling()
    monkeypatch.setattr(background, "job_for", lambda core: job)
    core = policies.UCB1().online(["a", "b"]).core
    assert core.fast or core.job is job
