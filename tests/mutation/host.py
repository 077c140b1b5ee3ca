"""The process that hosts all trials: it imports the package and collects the tests once.

A mutant is then a fork of it, and costs a few milliseconds beside its tests.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from mutation import plain
from mutation.sites import ROOT, SOURCE

# Tests of the mutated floors. Tests of the compiler, of pictures and of commands are not among
# them: they are slow in plain Python, or say little about numbers.
TESTS = (
    "tests/policies",
    "tests/theory",
    "tests/engines/test_baseline.py",
    "tests/engines/test_drawn_arms.py",
    "tests/engines/test_regret.py",
    "tests/engines/test_rewards.py",
    "tests/live/test_steps.py",
    "tests/experiments/test_comparison.py",
    "tests/experiments/test_rounding.py",
    "tests/experiments/test_stats.py",
    "tests/online/test_late_rewards.py",
    "tests/test_recorded.py",
    "src/rotting/theory",
    "src/rotting/policies",
    "src/rotting/stats.py",
)
# Minutes in plain Python, or a duplicate of another test without the compiler.
TOO_SLOW = (
    "test_same_decisions_as_a_scan",
    "test_skipped_chunks_hide_nothing",
    "test_swa_with_a_window_longer",
    "test_regret_of_the_oracle_is_zero_up_to_rounding",
    "-True]",
    *(f", {record}]" for record in ("gaussian 1", "gaussian 10", "gaussian 60", "bernoulli 10")),
)
OPTIONS = [
    *("-m", ""),  # the long forms as well
    *("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "--rootdir", str(ROOT)),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # hypothesis is imported before pytest
]


class Host:
    """A pytest plugin that, instead of playing the tests, does the given work with them."""

    def __init__(self, work: Callable[[Sequence[Any]], None]) -> None:
        self.work = work

    def pytest_runtestloop(self, session: Any) -> bool:
        """The tests are collected: to work. What pytest would print of them is of no interest."""
        session.config.pluginmanager.unregister(name="terminalreporter")
        self.work([i for i in session.items if not any(slow in i.nodeid for slow in TOO_SLOW)])
        return True


def with_tests(work: Callable[[Sequence[Any]], None], tests: Sequence[str] = TESTS) -> None:
    """Import the package in its plain form, collect the tests, and do the work with them."""
    import scipy.stats  # noqa: F401  # takes longer to import than most tests take to play
    from hypothesis import Phase, settings

    settings.register_profile(  # no shrinking: any example that kills a mutant will do
        "mutation",
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        max_examples=30,
    )
    settings.load_profile("mutation")
    os.chdir(ROOT)
    sys.path.insert(0, str(SOURCE))
    plain.install()
    paths = [str(ROOT / test) for test in tests if (ROOT / test.split("::")[0]).exists()]
    code = pytest.main([*OPTIONS, *paths], plugins=[Host(work)])
    if code not in (0, 5):  # 5: no test was played in this process itself
        raise SystemExit(f"the tests could not be collected: pytest ended with {int(code)}")


def passes(item: Any) -> bool:
    """Whether a test passes, run in this process without output."""
    outcome: list[bool] = []

    class Watch:
        def pytest_runtest_logreport(self, report: Any) -> None:
            outcome.append(not report.failed)

    watch = Watch()
    item.config.pluginmanager.register(watch)
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    item.config.pluginmanager.unregister(watch)
    return all(outcome) and len(outcome) == 3


def hush() -> None:
    """What this process prints from now on goes nowhere."""
    void = os.open(os.devnull, os.O_WRONLY)
    os.dup2(void, 1)
    os.dup2(void, 2)
