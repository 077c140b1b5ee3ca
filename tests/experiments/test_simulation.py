"""simulate: its arguments, checkpoints and progress."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from helpers.cases import Copycat, scenarios
from rotting import policies, simulate


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"runs": 0}, "runs must be an integer >= 1, got 0"),
        ({"engine": "gpu"}, "engine must be one of 'cpu', 'reference', 'cuda', got 'gpu'"),
        ({"noise": "none"}, "noise must be one of"),
        ({"threads": 0}, "threads must be an integer >= 1"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"seed": 1.5}, "seed must be an integer from 0"),
        ({"checkpoints": 0}, "checkpoints must be an integer >= 1"),
        ({"checkpoints": [5, 2]}, "checkpoints must be rising rounds from 1 to the horizon 300"),
        ({"checkpoints": [5, 299]}, "the last one the horizon itself, got 299"),
        ({"policy": object()}, "policy must be a rotting Policy, an object with select"),
        ({"policy": Copycat(2), "checkpoints": [300]}, ""),
    ],
)
def test_bad_arguments(wrong: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {"policy": policies.UCB1(), "runs": 1, **wrong}
    if not words:
        simulate(scenario=scenarios()["fixed"], **arguments)  # fewer arms than there are is fine
        return
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        simulate(scenario=scenarios()["fixed"], **arguments)


def test_checkpoints() -> None:
    scenario = scenarios()["fixed"]
    asked = simulate(policies.UCB1(), scenario, runs=2, checkpoints=[1, 10, 300])
    usual = simulate(policies.UCB1(), scenario, runs=2, checkpoints=300)
    np.testing.assert_array_equal(asked.regret, usual.regret[:, [0, 9, 299]])
    short = dataclasses.replace(scenario, horizon=7)
    assert simulate(policies.UCB1(), short, runs=1).checkpoints.tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_progress_is_reported_and_interrupts() -> None:
    scenario = scenarios(horizon=20_000)["fixed"]
    seen: list[int] = []
    simulate(policies.UCB1(), scenario, runs=400, progress=lambda done, total: seen.append(done))
    assert seen[-1] == 400
    assert seen == sorted(seen)
    assert len(seen) > 2

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(policies.UCB1(), scenario, runs=400, progress=interrupt)
