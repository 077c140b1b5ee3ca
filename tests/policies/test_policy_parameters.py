"""Parameters that no policy takes are refused at construction."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from rotting import Arm, Gaussian, RandomArms, Scenario, models, policies
from rotting.papers import levine2017

ARM = Arm(models.Constant(0.5))
FAMILY = models.Plateau(length=100).over([0.1, 0.2])


REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("too large", lambda: policies.UCB1(c=10**400)),
    ("at most 2\\*\\*62", lambda: policies.SWUCB(tau=10**19)),
    (
        "arms of Oracle must be the scenario's own",
        lambda: policies.Oracle([ARM]).prepare_for(levine2017.av()),
    ),
    ("c must be a number > 0", lambda: policies.UCB1(c=0)),
    ("gamma must be a number > 0 and < 1, got 1.0", lambda: policies.DUCB(gamma=1.0)),
    ("gamma must be a number > 0 and < 1, got 0", lambda: policies.DUCB(gamma=0)),
    ("tau must be an integer >= 1, got 0", lambda: policies.SWUCB(tau=0)),
    ("alpha must be a number > 0, got 0", lambda: policies.SWA(alpha=0, sigma=1)),
    ("alpha must be a number > 0, got -1", lambda: policies.WSWA(alpha=-1, sigma=1)),
    ("sigma must be a number > 0, got 0", lambda: policies.WSWA(alpha=1, sigma=0)),
    (
        "sigma must be a number > 0, got '1'",
        lambda: policies.SWA(alpha=1, sigma="1"),  # type: ignore[arg-type]
    ),
    ("restart must be one of 'forget', 'keep'", lambda: policies.WSWA(1, 1, restart="no")),
    ("family of CTO must be a Family", lambda: policies.CTO([0.1])),  # type: ignore[arg-type]
    ("start must be an integer >= 1", lambda: policies.DCTO(FAMILY, sigma=1, start=0)),
    ("halves must be one of", lambda: policies.DCTO(FAMILY, sigma=1, halves="odd")),
    (
        "delta must be a number > 0 and < 1, got 1",
        lambda: policies.DCTO_UCB(FAMILY, sigma=1, delta=1),
    ),
    (
        "exploration must be an integer >= 2",
        lambda: policies.DCTO_UCB(FAMILY, 1, 0.1, exploration=1),
    ),
]


@pytest.mark.parametrize(("words", "wrong"), REFUSED, ids=[words for words, _ in REFUSED])
def test_refused_at_construction(words: str, wrong: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=words):
        wrong()


def test_positivity_is_asked_for_where_theory_needs_it() -> None:
    @dataclasses.dataclass(frozen=True)
    class Sinking(models.Model):
        """Falls below zero."""

        theta: float | None = None

        def _mean(self, n: Any) -> Any:
            return 1.0 - float(self.theta or 0.0) * n

    family = Sinking().over([0.01, 0.02])
    scenario = Scenario(RandomArms(family, 2), Gaussian(0.1), horizon=200)
    with pytest.raises(ValueError, match=r"CTO needs a positive family.*mu\(100; 0.01\)"):
        policies.CTO(family).prepare_for(scenario)
    fading = models.Exponential().over([1.0, 2.0])  # positive, though floats run out
    assert policies.CTO(fading).prepare(2, None, 2000).mu[2000, 0] == 0.0


@pytest.mark.parametrize("growth", [1.0, 1.0 + 5e-10, 1e30])
def test_windows_must_grow_sensibly(growth: float) -> None:
    with pytest.raises(ValueError, match=r"growth must be a number >= 1\.001"):
        policies.EFFRAWUCB(0.5, growth=growth)
