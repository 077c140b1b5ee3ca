"""The state at the end of a run, and a policy's estimated curves."""

from __future__ import annotations

import numpy as np
import pytest

from rotting import Arm, Audience, Bernoulli, Scenario, models, policies, simulate
from rotting._experiments.final import curves_of, final_state, showings_of
from rotting.bandits import RandomArms
from rotting.theory._caps import caps_of

FAMILY = models.Polynomial().over([0.1, 0.5, 1.0], amplitudes=[0.3, 0.6, 0.9])
ARMS = [Arm(models.Polynomial(1.0).times(0.9)), Arm(models.Polynomial(0.1).times(0.3))]
SCENARIO = Scenario(ARMS, Bernoulli(), 600, audience=Audience(30))
POLICY = policies.Posterior(FAMILY, rule="thompson")


@pytest.mark.parametrize("compiled", [False, True])
def test_the_run_is_the_one_that_simulate_plays(compiled: bool) -> None:
    played = simulate(POLICY, SCENARIO, runs=3, seed=4, noise="common", engine="reference")
    for run in (0, 2):
        final = final_state(POLICY, SCENARIO, seed=4, run=run, compiled=compiled)
        assert final.state.arms.pulls.tolist() == played.pulls[run].tolist()
        assert final.state.arms.exposure.counts.sum() == SCENARIO.horizon
    assert not np.array_equal(played.pulls[0], played.pulls[2])


def test_the_arms_are_those_of_the_run() -> None:
    source = RandomArms(models.Polynomial().between(0.1, 0.4), 2, amplitudes=(0.5, 0.9))
    scenario = Scenario(source, Bernoulli(), 50, audience=Audience(5))
    final = final_state(policies.UCB1(), scenario, seed=2, run=1, compiled=False)
    assert final.arms == source.arms(2, 1)
    with pytest.raises(ValueError, match="policy must be a rotting Policy, got 'ucb1'"):
        final_state("ucb1", scenario)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="run must be an integer >= 0, got -1"):
        final_state(policies.UCB1(), scenario, run=-1)


def test_what_is_believed_comes_near_the_truth_and_has_a_cap() -> None:
    final = final_state(POLICY, SCENARIO, compiled=False)
    shown = showings_of(final)
    assert 8 <= shown <= 30
    first, second = curves_of(final, showings=6)
    np.testing.assert_array_equal(first.truth, ARMS[0].mean(np.arange(1, 7)))
    assert first.estimate is not None
    np.testing.assert_allclose(first.estimate, first.truth, atol=0.1)
    assert first.low is None
    # 0.9, 0.45, 0.3: from the third or fourth showing on the other arm, 0.3, is worth more
    assert first.cap is not None
    assert first.cap.showings in (2, 3)
    assert first.cap.rival == pytest.approx(0.3, abs=0.05)
    assert second.cap is not None


def test_a_policy_that_ignores_keys_has_no_curves() -> None:
    final = final_state(policies.UCB1(), SCENARIO, compiled=False)
    for curve in curves_of(final):
        assert (curve.estimate, curve.low, curve.high, curve.cap) == (None, None, None, None)
        assert curve.truth.size == 30


def test_an_arm_that_was_never_shown_leaves_the_others_their_caps() -> None:
    scenario = Scenario(
        [*ARMS, ARMS[0]], Bernoulli(), 600, openings={2: (601, None)}, audience=Audience(30)
    )
    final = final_state(policies.Fatigue(), scenario, compiled=False)
    assert final.state.arms.observed[2] == 0
    *known, never = curves_of(final, showings=6)
    assert (never.estimate, never.low, never.high, never.cap) == (None, None, None, None)
    assert [curve.cap for curve in known] == caps_of(np.array([c.estimate for c in known]))
