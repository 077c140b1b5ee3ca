"""Progress: steps of a whole, a bar on terminals only, and Ctrl-C."""

from __future__ import annotations

import io
from typing import Any

import pytest
import rich.console

from helpers.cases import scenarios
from rotting import _progress, compare, policies, simulate
from rotting._cli import console

SCENARIO = scenarios()["constants"]
PLAIN: dict[str, Any] = {"runs": 3, "engine": "reference"}


class Terminal(io.StringIO):
    """A terminal, as far as Rich can tell."""

    def isatty(self) -> bool:
        return True


def test_compare_reports_every_run_of_every_policy() -> None:
    seen: dict[str, int] = {}

    def report(name: str, runs: int) -> None:
        seen[name] = seen.get(name, 0) + runs

    known = {"a": policies.UCB1(), "b": policies.Uniform()}
    found = compare(known, SCENARIO, report=report, **PLAIN)
    assert seen == {"a": 3, "b": 3}
    played = {known["a"]: found["a"]}
    again = compare(
        {**known, "c": policies.UCB1(c=1)}, SCENARIO, report=report, played=played, **PLAIN
    )
    assert seen == {"a": 6, "b": 6, "c": 3}
    assert again["a"] is found["a"]
    assert again["b"] is not found["b"]
    with pytest.raises(ValueError, match="progress must not be given together with report"):
        compare(known, SCENARIO, report=report, progress=True, **PLAIN)


def test_results_at_hand_must_be_of_the_same_experiment() -> None:
    policy = policies.UCB1()
    found = compare([policy], SCENARIO, **PLAIN)["UCB1"]
    with pytest.raises(ValueError, match="played must hold results with seed = 1, got 0 for UCB1"):
        compare([policy], SCENARIO, seed=1, played={policy: found}, **PLAIN)
    with pytest.raises(ValueError, match="played must hold results with runs = 4, got 3"):
        compare([policy], SCENARIO, played={policy: found}, runs=4, engine="reference")


def test_no_bar_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    simulate(policies.UCB1(), SCENARIO, progress=True, **PLAIN)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("shown", [True, False])
def test_a_bar_on_a_terminal(shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    written = Terminal()
    monkeypatch.setattr("sys.stderr", written)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert rich.console.Console(stderr=True).is_terminal
    with _progress.bar(4, shown=shown) as report:
        for _ in range(4):
            report("some work", 1)
    assert ("some work" in written.getvalue()) == shown
    assert ("100 %" in written.getvalue()) == shown


def test_an_interrupt_that_got_lost_stops_the_next_step() -> None:
    with console.progress(2, quiet=True) as advance:
        advance("work", 1)
        console.interrupted.set()
        try:
            with pytest.raises(KeyboardInterrupt):
                advance("work", 1)
        finally:
            console.interrupted.clear()
