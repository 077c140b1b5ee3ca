"""The service's clock: steady while the machine's jumps."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from helpers.serve.in_process import Time, serving
from rotting._serve.clock import Clock
from rotting._serve.verify import verify


class Machine:
    """A machine's clock, and what goes on evenly."""

    def __init__(self) -> None:
        self.wall, self.even = 1_000_000.0, 50.0

    def passes(self, seconds: float) -> None:
        self.wall += seconds
        self.even += seconds


def test_service_time_goes_on_evenly(caplog: pytest.LogCaptureFixture) -> None:
    machine = Machine()
    clock = Clock(lambda: machine.wall, lambda: machine.even)
    clock.begin(0.0)
    assert clock.now() == 1_000_000.0
    with caplog.at_level(logging.INFO, "rotting.serve"):
        machine.wall += 3600.0  # an administrator sets it, and sets it back
        machine.passes(10.0)
        clock.watch()
        assert clock.now() == 1_000_010.0
        assert clock.offset == pytest.approx(-3600.0)
        machine.wall -= 3600.0
        clock.watch()
        clock.watch()
    assert clock.jumps == 2
    said = [record.getMessage() for record in caplog.records]
    assert said[0].startswith("the clock jumped by +3600 s")
    assert said[1].startswith("the clock jumped by -3600 s")


def test_after_a_start_with_a_clock_that_was_ahead(caplog: pytest.LogCaptureFixture) -> None:
    machine = Machine()
    clock = Clock(lambda: machine.wall, lambda: machine.even)
    year = 365 * 86_400.0
    clock.begin(machine.wall + year)  # the last event is of then
    machine.passes(100.0)
    assert clock.now() == 1_000_000.0 + year + 100.0
    assert clock.offset == pytest.approx(year)
    assert "behind the last event" in caplog.text
    clock.begin(5.0)  # loaded again: nothing goes back
    assert clock.now() == 1_000_000.0 + year + 100.0


def test_windows_end_by_elapsed_time_after_a_jump(tmp_path: Path) -> None:
    """The clock was a year ahead at one start: windows still end, and late rewards are late."""
    path = tmp_path / "s.db"
    ahead, right = Time(2_000_000_000.0), Time(2_000_000_000.0 - 365 * 86_400.0)
    with serving(path, ahead) as inside:
        inside.create(reward_window=10.0, default_reward=0.0)
        inside.post("decisions", {"id": "before"})
    with serving(path, right) as inside:
        inside.post("decisions", {"id": "d"})
        assert inside.client.get("/ready").json()["clock_offset"] > 1e7
        assert inside.client.get("/v1/status").json()["clock_offset"] > 1e7
        assert b"rotting_clock_offset_seconds 3.1" in inside.client.get("/metrics").content
        right.now += 11.0
        found = inside.post("rewards", {"decision": "d", "reward": 1.0})
        assert (found["applied"], found["why"]) == (False, "late")
    assert verify(path).problems == []
