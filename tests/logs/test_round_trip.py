"""A log simulated from a fit, diagnosed and fitted again, gives the truth back."""

from __future__ import annotations

import pytest

from rotting.logs import Fit, diagnose, fit, read, synthetic

FAMILIES = ["constant", "power"]


@pytest.fixture(scope="module")
def first() -> Fit:
    log = read(synthetic("rested", "rate", theta=0.3, keys=3000, seed=0))
    return fit(log, resamples=50, families=FAMILIES)


def test_a_simulated_log_rots_as_the_first_did(first: Fit) -> None:
    assert diagnose(first.simulate(seed=1)).overall == "rots"


def test_a_simulated_log_gives_its_theta_back(first: Fit) -> None:
    theta, low, high = first.parameters("arm 0")["theta"]
    again = fit(read(first.simulate(seed=1)), resamples=50, families=FAMILIES)
    found = again.parameters("arm 0")["theta"][0]
    # two logs, each with the error that the interval of the first tells
    assert found == pytest.approx(theta, abs=1.5 * (high - low))
    assert low > 0.0


def test_a_flat_log_stays_flat() -> None:
    log = read(synthetic("constant", keys=3000, seed=0))
    flat = fit(log, resamples=20, families=FAMILIES)
    assert flat.best.kind == "constant"
    assert diagnose(flat.simulate(seed=1)).overall == "does-not-rot"
