"""The paper's three setups are those of its section Simulations."""

from __future__ import annotations

import dataclasses

import pytest

from rotting.papers import levine2017


def test_the_papers_scenarios() -> None:
    np_, av, anv = levine2017.non_parametric(), levine2017.av(), levine2017.anv()
    assert [s.arm_count for s in (np_, av, anv)] == [2, 10, 10]
    assert all(s.horizon == 30_000 for s in (np_, av, anv))
    means = np_.world().means
    rows = np_.bandits(0, 0, 1)
    falling = means[rows.models[0, 1]] + rows.constants[0, 1]
    assert falling[7499] == 1.0
    assert falling[7500] == 0.4
    assert rows.constants[0, 0] == 0.5
    assert dataclasses.replace(av, horizon=700).horizon == 700
    with pytest.raises(ValueError, match="setup must be one of"):
        levine2017.reported_policies("xyz")
