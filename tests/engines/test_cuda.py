"""The CUDA engine: checks without a GPU, and the rest where there is one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from helpers.cases import examples, name_of, playable, scenarios
from rotting import policies, simulate
from rotting._engines.baseline import play_baseline
from rotting._engines.cuda import engine
from rotting._engines.cuda.kernels import SHARED, small_arrays, source_of
from rotting._engines.loop import Scratch, play
from rotting.kernel.state import leaves
from rotting.papers import levine2017
from rotting.policies import Policy


def has_gpu() -> bool:
    try:
        engine.require()
    except ValueError:
        return False
    return True


needs_gpu = pytest.mark.skipif(not has_gpu(), reason="no NVIDIA GPU with numba-cuda here")


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
def test_without_a_gpu_it_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match=r"got 'cuda': .*needs an NVIDIA GPU"):
        simulate(policies.UCB1(), scenarios()["fixed"], runs=1, engine="cuda")


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_the_kernels_source_is_right(policy: Policy) -> None:
    """It names every array of the state once and keeps within a block's shared memory."""
    scenario = scenarios()["fixed"]
    params = playable(policy, scenario).prepare_for(scenario)
    fresh = policy.verbs.init(params, 3, scenario.horizon)
    for loop in (play, play_baseline):
        source, _, size = source_of(loop, fresh, 3, 32)
        compile(source, "kernel", "exec")
        assert size <= SHARED
        for leaf in leaves(fresh):
            shared = f"work_{leaf.path.replace('.', '_')}"
            used = source.count(f"{shared},") + source.count(f"{shared})")
            assert used + source.count(f"work.{leaf.path}[") == 1, leaf.path


class Work(NamedTuple):
    huge: Any
    small: Any


def test_large_arrays_stay_out_of_shared_memory() -> None:
    holders = {"work": Work(np.zeros(10**6), np.zeros(4)), "scratch": Scratch.empty(10)}
    inside = small_arrays(holders, 32)
    assert ("work", "small") in inside
    assert ("work", "huge") not in inside


@needs_gpu
@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_same_decisions_as_the_cpu(policy: Policy) -> None:
    scenario = scenarios()["constants"]
    kind = playable(policy, scenario)
    ours = simulate(kind, scenario, runs=64, seed=2)
    theirs = simulate(kind, scenario, runs=64, seed=2, engine="cuda")
    assert np.mean(np.all(ours.pulls == theirs.pulls, axis=1)) > 0.95  # rounding may decide ties


@needs_gpu
def test_means_agree_on_the_paper() -> None:
    scenario = levine2017.av()
    ours = simulate(policies.CTO(levine2017.FAMILY), scenario, runs=200, checkpoints=1)
    theirs = simulate(
        policies.CTO(levine2017.FAMILY),
        scenario,
        runs=20_000,
        checkpoints=1,
        first_run=200,
        engine="cuda",
    )
    error = np.hypot(ours.standard_error[-1], theirs.standard_error[-1])
    assert abs(ours.mean_regret[-1] - theirs.mean_regret[-1]) < 4 * error
