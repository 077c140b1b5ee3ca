"""Steps of the paper's proofs without a function in the library, checked in numbers.

The equations are named as in docs/paper/by-name.md.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from rotting import models, theory

SIGMA = 0.2**0.5


def curves(generator: np.random.Generator, arms: int, length: int) -> np.ndarray:
    return np.sort(generator.random((arms, length)), axis=1)[:, ::-1]


def collected(means: np.ndarray, sequence: list[int]) -> float:
    pulls = [0] * len(means)
    total = 0.0
    for arm in sequence:
        total += means[arm, pulls[arm]]
        pulls[arm] += 1
    return total


def test_equation_15_as_printed_may_lose() -> None:
    """Appendix B puts the best arm first and drops the last pull; what follows is then later pulls.

    The candidate a, b, a collects 2, which is the most; b, a, b collects 1.6, though (15) has
    mu_m - mu_T = 1 - 0.5 more.
    """
    means = np.array([[0.5, 0.5, 0.5], [1.0, 0.1, 0.1]])
    assert theory.best_play(means, 3).total == collected(means, [0, 1, 0]) == 2.0
    assert collected(means, [1, 0, 1]) == pytest.approx(1.6)


def test_lemma_2_1_by_an_exchange_that_never_loses() -> None:
    """The first deviation mended: the best arm's own next pull is brought forward, if it has one.

    That changes no total. Else the last pull is dropped, as in (15), which is then right.
    """
    generator = np.random.default_rng(0)
    for _ in range(50):
        means = curves(generator, 3, 9)
        sequence = generator.integers(0, 3, 8).tolist()
        for m in range(8):
            worth = [means[i, sequence[:m].count(i)] for i in range(3)]
            best = int(np.argmax(worth))
            rest = sequence[m:]
            if best in rest:
                rest.remove(best)
            else:
                rest.pop()
            exchanged = [*sequence[:m], best, *rest]
            assert collected(means, exchanged) >= collected(means, sequence) - 1e-12
            sequence = exchanged
        assert sequence == theory.best_play(means, 8).sequence.tolist()


@pytest.mark.parametrize("horizon", [10, 1000, 30_000])
@pytest.mark.parametrize("alpha", [0.2, 1.0])
def test_equation_16_a_window_is_that_precise(horizon: int, alpha: float) -> None:
    """Hoeffding's inequality (14) with M and q: 2 exp(-M q^2 / (2 sigma^2)) is at most 1/T^2."""
    for arms in (2, 10):
        window = theory.averaging_window(alpha, SIGMA, arms, horizon)
        precision = theory.swa_precision(arms, horizon, SIGMA, alpha)
        assert 2.0 * math.exp(-window * precision**2 / (2.0 * SIGMA**2)) <= horizon**-2 * 1.000001


def play_swa(
    means: np.ndarray, rewards: np.ndarray, window: int, horizon: int
) -> tuple[list[np.ndarray], float]:
    """SWA's pulls after each round from the end of its ramp-up on, and its largest error.

    The error is that of any average that was looked at, from what it is expected to be.
    """
    pulls = np.full(len(means), window)
    error, after = 0.0, [pulls.copy()]
    for _ in range(len(means) * window, horizon):
        recent = [rewards[i, n - window : n].mean() for i, n in enumerate(pulls)]
        expected = [means[i, n - window : n].mean() for i, n in enumerate(pulls)]
        error = max(error, float(np.abs(np.subtract(recent, expected)).max()))
        pulls[int(np.argmax(recent))] += 1
        after.append(pulls.copy())
    return after, error


def test_equations_17_to_23_what_swa_loses_when_its_averages_are_near() -> None:
    """With q the largest error, so that the event always holds.

    (17), (18): at most M pulls of an arm are more than 2 q below the best last mean. (20), (21):
    what another policy collects less is in the pulls that differ, and is K M max mu + 2 q T at
    most. (22), (23): with K max mu more, twice, that is the regret.
    """
    generator = np.random.default_rng(1)
    for _ in range(20):
        arms, window, horizon = 3, 4, 120
        means = curves(generator, arms, horizon)
        rewards = means + generator.normal(0.0, 0.1, means.shape)
        after, q = play_swa(means, rewards, window, horizon)
        for counts in after:
            best = max(means[i, n - 1] for i, n in enumerate(counts))
            for i, n in enumerate(counts):
                assert np.count_nonzero(means[i, :n] < best - 2.0 * q - 1e-12) <= window
        counts = after[-1]
        estimate = theory.estimated_best_play(means, horizon)
        ours = {(i, n) for i in range(arms) for n in range(estimate.pulls[i])}
        theirs = {(i, n) for i in range(arms) for n in range(counts[i])}
        difference = sum(means[x] for x in ours - theirs) - sum(means[x] for x in theirs - ours)
        total = sum(float(means[i, :n].sum()) for i, n in enumerate(counts))
        assert estimate.total - total == pytest.approx(difference)
        largest = float(means.max())
        assert difference <= arms * window * largest + 2.0 * q * horizon + 1e-12
        regret = theory.best_play(means, horizon).total - total
        assert regret <= arms * largest * (2 + window) + 2.0 * q * horizon + 1e-12


def test_equation_24_the_best_later_rewards_are_least_after_the_best_play() -> None:
    """After any pulls pi_max collects at least what it would have after its own."""
    generator = np.random.default_rng(3)
    means = curves(generator, 2, 12)
    before, after = 4, 5
    best = theory.best_play(means, before)
    own = theory.best_play(means, before + after).total - best.total
    for start in itertools.product(range(2), repeat=before):
        left = [means[i, start.count(i) :] for i in range(2)]
        rest = np.stack([np.pad(row, (0, 12 - row.size), mode="edge") for row in left])
        assert theory.best_play(rest, after).total >= own - 1e-12


def test_equation_25_an_epoch_of_wswa_is_a_swa_on_arms_that_were_pulled_before() -> None:
    """Its regret against pi_max in the same rounds is at most that of SWA on what is left."""
    generator = np.random.default_rng(6)
    before, window, length = 12, 3, 60
    for _ in range(20):
        means = curves(generator, 3, before + length)
        earlier = np.bincount(generator.integers(0, 3, before), minlength=3)
        left = np.stack([means[i, n : n + length] for i, n in enumerate(earlier)])
        rewards = left + generator.normal(0.0, 0.1, left.shape)
        after, _ = play_swa(left, rewards, window, length)
        total = sum(float(left[i, :n].sum()) for i, n in enumerate(after[-1]))
        whole = theory.best_play(means, before + length).total
        same_rounds = whole - theory.best_play(means, before).total - total
        assert same_rounds <= theory.best_play(left, length).total - total + 1e-12


@pytest.mark.parametrize("horizon", [2, 100, 30_000])
def test_equation_26_the_epochs_bounds_add_up_to_the_corollary(horizon: int) -> None:
    epochs = [
        theory.swa_regret_bound(3, 2**y, SIGMA, alpha=0.2, max_mean=1.0)
        for y in range(horizon.bit_length())
    ]
    whole = theory.wswa_regret_bound(3, horizon, SIGMA, alpha=0.2, max_mean=1.0)
    assert sum(epochs) <= whole


def test_equations_28_to_30_and_45_to_48_a_small_det_makes_detection_sure() -> None:
    """From where det (Ddet) is at most 1 / (8 ln(2 / p)) on, models are missed with p at most."""
    family = models.Polynomial().over([0.1, 0.4])
    first, second = family.members
    for p in (0.01, 1e-6):
        level = 1.0 / (8.0 * math.log(2.0 / p))
        far_enough = int(theory.det_star(first, second, SIGMA, level).low)
        assert theory.misdetection(family, far_enough, SIGMA, method="bound").max() <= p * 1.000001
        assert theory.m_star(family, p, SIGMA).max() <= far_enough
        star = int(theory.ddet_star(first, second, SIGMA, level).low)
        even = star + star % 2
        missed = theory.misdetection(family, even, SIGMA, "difference", "bound")
        assert missed.max() <= p * 1.000001
        assert theory.m_star(family, p, SIGMA, "difference", even=True).max() <= even


def test_equation_37_misdetection_costs_at_most_what_was_not_collected() -> None:
    """J of pi_max less J of another is at most T times the largest mean at the fewest pulls."""
    generator = np.random.default_rng(4)
    for _ in range(50):
        means = curves(generator, 3, 30)
        sequence = [0, 1, 2, *generator.integers(0, 3, 27).tolist()]
        fewest = int(np.bincount(sequence, minlength=3).min())
        lost = theory.best_play(means, 30).total - collected(means, sequence)
        assert lost <= 30 * means[:, fewest - 1].max() + 1e-12


def test_equation_38_misdetection_at_rate_one_in_t_costs_a_mean_at_the_fewest_pulls() -> None:
    """With (37) and a probability of 1/T at most: T mu(min N) / T, which is at most mu(1)."""
    model, horizon = models.Polynomial(0.3), 400
    for fewest in (1, 10, 100):
        cost = horizon * float(model.mean(fewest)) / horizon
        assert cost == pytest.approx(float(model.mean(fewest)))
        assert cost <= theory.cto_regret_bound([0.3], models.Polynomial().over([0.3]), 0.1, 10**9)


def test_equation_39_all_pulls_are_bounded_by_the_fewest_and_one_more() -> None:
    """Under argmax, ties by least pulls, no arm has more than max(N + 1, bal(N + 1)) pulls.

    N is the fewest. As printed, bal(N), it fails at once: after 2, 1 and 1 pulls bal(1) is 1. And
    bal(n) >= n, which the appendix calls trivial, fails on plateaus: bal(99) is 1 there.
    """
    as_printed = []
    for family in (
        models.Polynomial().over([0.25, 0.5]),
        models.Plateau(length=10).over([0.1, 0.4]),
        models.Plateau(length=100).over([0.1, 0.4]),
    ):
        members = [family.members[k] for k in (0, 1, 1)]
        table = np.stack([member.table(1500) for member in members])
        pulls = np.ones(3, dtype=int)
        for _ in range(900):
            worth = [(table[i, n], -n) for i, n in enumerate(pulls)]
            pulls[worth.index(max(worth))] += 1
            fewest = int(pulls.min())
            assert pulls.max() <= max(fewest + 1, theory.bal(family, fewest + 1))
            as_printed.append(pulls.sum() <= 3 * theory.bal(family, fewest))
    assert not as_printed[0]
    assert theory.bal(models.Plateau(length=100).over([0.1, 0.4]), 99) == 1


def test_equations_50_and_51_one_of_three_events_or_the_worse_arm_is_not_pulled() -> None:
    """If none holds, the index of the best arm is larger; its events use mu(s), (12) mu(s + 1)."""
    generator = np.random.default_rng(7)
    for _ in range(2000):
        mu_c = generator.uniform(0.0, 1.0, 2)
        rotting = generator.uniform(0.0, 1.0, 2)
        estimate = mu_c + generator.normal(0.0, 0.2, 2)
        width = generator.uniform(0.01, 0.5, 2)
        events = [
            estimate[0] <= mu_c[0] - width[0],
            estimate[1] >= mu_c[1] + width[1],
            mu_c[0] + rotting[0] < mu_c[1] + rotting[1] + 2.0 * width[1],
        ]
        if not any(events):
            assert estimate[0] + rotting[0] + width[0] > estimate[1] + rotting[1] + width[1]


def test_equation_42_regret_is_in_the_pulls_of_other_arms() -> None:
    """D-CTO's decomposition: regret <= C~ + sum over other arms of N_i (Delta_i + mu(1))."""
    generator = np.random.default_rng(5)
    horizon = 400
    for _ in range(30):
        constants = np.sort(generator.random(3))[::-1]
        family = [models.Polynomial(theta) for theta in generator.uniform(0.2, 2.0, 3)]
        tables = np.stack([m.table(horizon) for m in family])
        means = constants[:, None] + tables
        pulls = np.bincount(generator.choice(3, horizon, p=[0.8, 0.1, 0.1]), minlength=3)
        regret = theory.best_play(means, horizon).total - sum(
            float(means[i, :n].sum()) for i, n in enumerate(pulls)
        )
        gaps = constants[0] - constants
        early = [int(min(horizon, theory.mean_star(family[i], float(gaps[i])))) for i in (1, 2)]
        c = sum(float(means[i, :n].sum()) for i, n in zip((1, 2), early, strict=True))
        assert regret <= c + sum(pulls[i] * (gaps[i] + tables[0, 0]) for i in (1, 2)) + 1e-9


def test_equation_52_is_an_inequality() -> None:
    """Hoeffding's bound for c_{t,s} is t^-4; a Gaussian's own tail is far less."""
    for t, s in ((10, 3), (1000, 50)):
        width = math.sqrt(8.0 * math.log(t) * SIGMA**2 / s)
        hoeffding = math.exp(-s * width**2 / (2.0 * SIGMA**2))
        assert hoeffding == pytest.approx(t**-4.0)
        exact = 0.5 * math.erfc(width * math.sqrt(s) / SIGMA / math.sqrt(2.0))
        assert exact < 0.2 * hoeffding


def test_equations_53_and_54_the_pulls_of_a_worse_arm() -> None:
    """From l_i pulls on 2 c is at most Delta - epsilon; the sums come to pi^2 / 3 at most."""
    gap, epsilon, horizon = 0.4, 0.1, 10_000
    pulls = math.ceil(32.0 * SIGMA**2 * math.log(horizon) / (gap - epsilon) ** 2)
    width = math.sqrt(8.0 * math.log(horizon) * SIGMA**2 / pulls)
    assert 2.0 * width <= gap - epsilon
    assert sum(2.0 * t * t * t**-4.0 for t in range(1, 10_000)) <= math.pi**2 / 3.0
