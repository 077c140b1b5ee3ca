"""The same bits from every engine, whatever the threads and chunks."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import recorded
from helpers.cases import examples, name_of, playable, scenarios, shorter, slow
from rotting import Result, policies, simulate
from rotting._engines import cpu
from rotting.policies import Policy


def assert_same(a: Result, b: Result) -> None:
    for field in ("checkpoints", "regret", "pulls", "total_reward", "adversarial_regret"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field), err_msg=field)


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_reference_and_cpu_agree_to_the_bit(policy: Policy) -> None:
    runs, most = (1, 3) if slow(policy) else (3, None)
    for scenario in list(scenarios(shorter(policy, 300, by=2)).values())[:most]:
        played = playable(policy, scenario)
        reference = simulate(played, scenario, runs=runs, seed=7, engine="reference")
        compiled = simulate(played, scenario, runs=runs, seed=7)
        assert_same(reference, compiled)


AS_USERS_HAVE_IT = """
import json, sys
import numba
import lockstep, recorded
policy = recorded.examples()["ducb 0"]
lockstep.check_episode(policy, seed=0, number=0, steps=300, single=True)
found = recorded.simulated(policy, recorded.scenarios()["gaussian 10"])
print(json.dumps({"level": int(numba.config.OPT), **found}))
"""


def test_at_the_usual_level_of_optimisation_too() -> None:
    """The other tests compile at a lower one: see conftest.py."""
    record = json.loads(recorded.RECORD.read_text())["ducb 0"]["gaussian 10"]
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_OPT"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", AS_USERS_HAVE_IT],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["level"] == 3
    assert found["pulls"] == record["pulls"]
    assert found["regret"] == pytest.approx(record["regret"], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_threads_and_chunks_do_not_matter(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = scenarios()["constants"]
    played = playable(policy, scenario)
    one = simulate(played, scenario, runs=11, seed=3, threads=1)
    monkeypatch.setattr(cpu, "_DECISIONS_A_CHUNK", 600)  # chunks of two runs
    two = simulate(played, scenario, runs=11, seed=3, threads=2)
    assert_same(one, two)


def test_verbs_of_the_reference_are_plain_functions() -> None:
    for kind in policies.POLICIES.values():
        for verb in kind.verbs[2:]:
            assert verb is None or type(verb).__name__ == "function"


def test_more_runs_begin_with_the_same_runs() -> None:
    scenario = scenarios()["constants"]
    few = simulate(policies.UCB1(), scenario, runs=3)
    many = simulate(policies.UCB1(), scenario, runs=9)
    np.testing.assert_array_equal(few.regret, many.regret[:3])


def test_common_and_independent_noise() -> None:
    scenario = scenarios()["constants"]
    policies_ = (policies.RoundRobin(), policies.RoundRobin())
    a, b = (simulate(p, scenario, runs=2, noise="common") for p in policies_)
    assert_same(a, b)
    # UCB1 with almost the same padding sees other noise, if it is independent
    close = (policies.UCB1(c=2.0), policies.UCB1(c=2.0 + 1e-13))
    a, b = (simulate(p, scenario, runs=20, noise="common") for p in close)
    np.testing.assert_array_equal(a.regret, b.regret)
    a, b = (simulate(p, scenario, runs=20, noise="independent") for p in close)
    assert np.any(a.regret != b.regret)


def test_bandits_do_not_depend_on_the_policy() -> None:
    """Uniform random play is the same problem as round robin: their best rewards agree."""
    scenario = scenarios()["constants"]
    a, b = (simulate(p, scenario, runs=5) for p in (policies.Uniform(), policies.RoundRobin()))
    np.testing.assert_allclose(
        a.final_regret + a.total_reward, b.final_regret + b.total_reward, rtol=1e-12
    )
