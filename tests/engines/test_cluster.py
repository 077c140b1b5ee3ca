"""Many machines: Dask with worker processes, one of which is killed, and a local Ray."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

from rotting import Arm, Gaussian, Result, Scenario, models, policies, simulate
from rotting.papers import levine2017

SCENARIO = Scenario(
    [Arm(models.Plateau(theta, length=50)) for theta in (0.1, 0.2, 0.4)], Gaussian(0.4), 3000
)
POLICY = policies.WSWA(0.2, 0.4)


def same(one: Result, other: Result) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("regret", "pulls", "total_reward", "adversarial_regret")
    )


@pytest.mark.filterwarnings("ignore")
def test_dask_gives_the_same_bits_though_a_worker_is_killed() -> None:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    long = levine2017.av()
    policy = policies.CTO(levine2017.FAMILY)
    here = simulate(policy, long, runs=1200, seed=3, checkpoints=4)
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        victims = [worker.pid for worker in cluster.workers.values()]
        done: list[int] = []

        def kill_one() -> None:
            while not done:
                time.sleep(0.01)
            os.kill(victims[0], signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        there = simulate(
            policy,
            long,
            runs=1200,
            seed=3,
            checkpoints=4,
            backend="dask",
            address=cluster.scheduler_address,
            progress=lambda finished, total: done.append(finished),
        )
        killer.join()
        assert victims[0] not in [worker.pid for worker in cluster.workers.values()]
    assert done[0] < 1200  # it was killed in the middle
    assert same(here, there)
    assert there.provenance["backend"] == "dask"


@pytest.mark.filterwarnings("ignore")
def test_ray_gives_the_same_bits() -> None:
    ray = pytest.importorskip("ray", reason="ray is not installed: an optional extra")
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
    try:
        here = simulate(POLICY, SCENARIO, runs=40, seed=3, checkpoints=4)
        there = simulate(POLICY, SCENARIO, runs=40, seed=3, checkpoints=4, backend="ray")
    finally:
        ray.shutdown()
    assert same(here, there)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"backend": "spark"}, "backend must be one of"),
        ({"address": "tcp://nowhere:1"}, "address must be given with backend"),
        ({"backend": "dask", "engine": "reference"}, "backend must be 'threads' for other engines"),
    ],
)
def test_bad_arguments(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        simulate(POLICY, SCENARIO, runs=2, **wrong)
