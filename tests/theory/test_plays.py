"""pi_max and the estimated best policy of Appendix C.1, against plain lists."""

from __future__ import annotations

import numpy as np
import pytest

from rotting import Arm, NoNoise, Scenario, models, policies, simulate, theory


def naive(means: np.ndarray, horizon: int, *, last: bool) -> list[int]:
    """Round by round: the arm of the highest next mean, or last mean; the first if several."""
    pulls = [0] * len(means)
    sequence = []
    for t in range(horizon):
        if last and t < len(means):
            arm = t
        else:
            worth = [row[n - 1 if last else n] for row, n in zip(means, pulls, strict=True)]
            arm = worth.index(max(worth))
        pulls[arm] += 1
        sequence.append(arm)
    return sequence


def curves(seed: int) -> np.ndarray:
    """Random falling curves, many of them with equal means."""
    generator = np.random.default_rng(seed)
    drawn = np.round(generator.random((int(generator.integers(1, 6)), 60)), 1)
    return np.sort(drawn, axis=1)[:, ::-1]


@pytest.mark.parametrize("seed", range(20))
def test_plays_and_what_the_estimate_loses(seed: int) -> None:
    means = curves(seed)
    for horizon in (1, 7, 60):
        best, estimate = (
            play(means, horizon) for play in (theory.best_play, theory.estimated_best_play)
        )
        assert best.sequence.tolist() == naive(means, horizon, last=False)
        assert estimate.sequence.tolist() == naive(means, horizon, last=True)
        for play in (best, estimate):
            assert play.pulls.sum() == horizon
            pulled = [means[arm, n] for arm, pulls in enumerate(play.pulls) for n in range(pulls)]
            assert play.total == pytest.approx(sum(pulled))
        largest = np.sort(means.ravel())[::-1][:horizon]
        assert best.total == pytest.approx(float(largest.sum()))  # Lemma 2.1
        assert best.total - estimate.total + 1e-12 >= 0.0
        assert best.total - estimate.total <= len(means) * means[:, 0].max()


def test_the_best_play_collects_what_the_oracle_does() -> None:
    arms = [Arm(models.Polynomial(0.3)), Arm(models.Step(40, 0.9, 0.1)), Arm(models.Constant(0.4))]
    horizon = 200
    result = simulate(policies.Oracle(), Scenario(arms, NoNoise(), horizon), runs=1)
    means = np.stack([arm.model.table(horizon) for arm in arms])
    assert theory.best_play(means, horizon).total == pytest.approx(float(result.total_reward[0]))


def test_refusals() -> None:
    for play in (theory.best_play, theory.estimated_best_play):
        with pytest.raises(ValueError, match="for at least 3 pulls, got shape"):
            play([[1.0, 0.5]], 3)
        with pytest.raises(ValueError, match="means must be finite and never rise"):
            play([[1.0, 0.5, 0.6]], 3)
        with pytest.raises(ValueError, match="horizon must be an integer >= 1, got 0"):
            play([[1.0]], 0)
