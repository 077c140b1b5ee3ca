"""Counting, scanning, padding and growing windows: each part against its definition."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rotting.kernel.random import new_draw, normal
from rotting.policies import EFFRAWUCB
from rotting.policies.parts import arms as counting
from rotting.policies.parts import growing_windows, likelihood, padding, rounds
from rotting.policies.parts.argmax import argmax
from rotting.policies.parts.openings import AllOpen
from rotting.policies.parts.sampling import highest_draw

FEW = st.lists(st.integers(0, 3), min_size=1, max_size=7)


@settings(deadline=None)
@given(st.lists(st.sampled_from([-math.inf, -1.0, 0.0, 2.0]), min_size=1, max_size=9))
def test_the_first_of_the_highest(index: list[float]) -> None:
    assert argmax(np.array(index), AllOpen()) == index.index(max(index))


@settings(deadline=None)
@given(FEW, FEW, st.integers(1, 3))
def test_who_is_tried_next(pulls: list[int], seen: list[int], need: int) -> None:
    """The first of the least pulled arms with too few rewards; none if all have enough."""
    observed = [min(a, b) for a, b in zip(pulls, [*seen, *[0] * len(pulls)], strict=False)]
    arms = counting.no_pulls(len(pulls))
    arms.pulls[:] = pulls
    arms.observed[:] = observed
    arms.clock[counting.WAITING] = sum(n < need for n in observed)
    least = [i for i, n in enumerate(pulls) if n == min(pulls) and observed[i] < need]
    assert counting.next_untried(arms, need) == (least[0] if least else -1)
    assert counting.next_untried(arms, need) == (least[0] if least else -1)  # the cursor has moved
    never = [i for i, n in enumerate(pulls) if n == 0]
    if arms.clock[counting.WAITING]:
        assert arms.clock[counting.TRIED] == (never[0] if never else len(pulls))


@pytest.mark.parametrize("need", [1, 2])
def test_who_is_tried_next_of_three(need: int) -> None:
    """All cases of up to two pulls each."""
    for pulls in itertools.product(range(3), repeat=3):
        for observed in itertools.product(*(range(n + 1) for n in pulls)):
            arms = counting.no_pulls(3)
            arms.pulls[:], arms.observed[:] = pulls, observed
            arms.clock[counting.WAITING] = sum(n < need for n in observed)
            least = [i for i in range(3) if pulls[i] == min(pulls) and observed[i] < need]
            assert counting.next_untried(arms, need) == (least[0] if least else -1)
            if arms.clock[counting.WAITING]:
                assert arms.clock[counting.TRIED] == (*pulls, 0).index(0)


def test_the_least_pulled_of_all_or_some() -> None:
    for pulls in itertools.product(range(3), repeat=4):
        for kept in ([2, 0, 3, 1], [0, 1, 2, 3]):
            for count in (1, 2, 3, 4):
                expected = min(kept[:count], key=lambda i: pulls[i])
                assert counting.least_pulled(np.array(pulls), np.array(kept), count) == expected


def test_pulls_and_rewards_are_counted() -> None:
    arms = counting.no_pulls(3)
    assert arms.clock.tolist() == [0, 3, 0]
    for t in range(1, 5):
        counting.count_pull(None, SimpleNamespace(arms=arms), 1)
        assert arms.pulls.tolist() == [0, t, 0]
        assert arms.clock.tolist() == [t, 3, 0]
    for n in range(1, 5):
        assert counting.rewarded(arms, 1, 2) == n
        assert arms.observed.tolist() == [0, n, 0]
        assert arms.clock[counting.WAITING] == (3 if n < 2 else 2)


@settings(deadline=None)
@given(FEW, st.data())
def test_the_least_pulled_of_some(pulls: list[int], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(pulls))))
    count = data.draw(st.integers(1, len(pulls)))
    among = order[:count]
    expected = min(among, key=lambda i: (pulls[i], among.index(i)))
    assert counting.least_pulled(np.array(pulls), np.array(order), count) == expected


def test_padding_and_widths_are_the_same_within_and_beyond_their_tables() -> None:
    table = padding.log_padding(3.0, 50)
    widths = padding.width_table(50)
    assert table.size == widths.size == 51
    assert not table.flags.writeable  # all policies share them
    assert not widths.flags.writeable
    for n in (1, 2, 49, 50, 51, 1000):
        assert padding.padding_at(table, 3.0, n) == math.sqrt(3.0 * math.log(n))
        assert padding.width_at(widths, n) == 1.0 / math.sqrt(n)
    assert padding.log_padding(1.0, 1 << 21).size == padding.width_table(1 << 21).size


@pytest.mark.parametrize("growth", [1.001, 1.1, 2.0, 7.5])
def test_lengths_grow_by_the_factor_and_reach_far_enough(growth: float) -> None:
    found = growing_windows.lengths(growth, 187).tolist()
    assert found[0] == 1
    assert found[-1] > 187 >= found[-2]
    for short, long in itertools.pairwise(found):
        assert growth * short - 1e-6 <= long < growth * short + 1
    assert 187 in growing_windows.lengths(1.1, 400)  # 1.1 * 170, which is more than 187 in floats


@pytest.mark.parametrize("growth", [1.1, 1.6, 2.0, 3.0])
def test_a_growing_window_holds_rewards_in_a_row_that_are_not_old(growth: float) -> None:
    """Its mean is that of w rewards in a row, the last of them less than w rewards ago."""
    rewards = np.random.default_rng(int(10 * growth)).normal(size=60)
    sums = np.concatenate([[0.0], np.cumsum(rewards)])
    lengths, widths = growing_windows.window_tables(growth, 40)
    np.testing.assert_allclose(widths, lengths**-0.5)
    windows = growing_windows.empty_windows(2, lengths.size)
    for n, reward in enumerate(rewards, start=1):
        growing_windows.add_to_windows(lengths, windows, 1, n, reward)
        full = int(windows.full[1])
        assert full == np.count_nonzero(lengths <= n)
        for j in range(full):
            w = int(lengths[j])
            ends = np.arange(max(w, n - w + 1), n + 1)
            possible = (sums[ends] - sums[ends - w]) / w
            assert np.min(np.abs(possible - windows.current[1, j])) < 1e-9
    assert windows.current[0].tolist() == [0.0] * lengths.size


@pytest.mark.parametrize("tau", [1, 2, 3, 7, 12])
def test_the_last_rounds_add_up(tau: int) -> None:
    """Means, widths and counts are those of the observed rewards of the last tau rounds."""
    rng = np.random.default_rng(tau)
    arms, window = counting.no_pulls(3), rounds.no_rounds(3, tau)
    played: list[tuple[int, int, float | None]] = []
    for t in range(60):
        arm = int(rng.integers(3))
        rounds.enter(window, arms, tau, arm)
        played.append((arm, int(arms.pulls[arm]), None))
        for k in rng.permutation(len(played))[: rng.integers(3)]:
            who, pull, known = played[k]
            if known is None:
                reward = float(rng.normal())
                rounds.credit(window, arms, who, pull, reward)
                played[k] = who, pull, (reward if k > t - tau else math.nan)
        assert arms.clock[counting.TIME] == t + 1
        last = played[-tau:]
        for i in range(3):
            seen = [x for who, _, x in last if who == i and x is not None and x == x]
            assert arms.observed[i] == len(seen)
            assert window.pulls[i] == sum(who == i for who, _, _ in last)
            mean = sum(seen) / len(seen) if seen else -math.inf
            assert window.mean[i] == pytest.approx(mean, abs=1e-9)
            assert window.width[i] == (1 / math.sqrt(len(seen)) if seen else 0.0)
        assert arms.clock[counting.WAITING] == np.count_nonzero(arms.observed == 0)
        alone = [i for i in range(3) if arms.observed[i] == 0]
        least = [i for i in alone if window.pulls[i] == window.pulls.min()]
        assert rounds.absent(window, arms) == (least[0] if least else -1)


def test_rounding_does_not_pile_up_in_the_last_rounds() -> None:
    arms, window = counting.no_pulls(1), rounds.no_rounds(1, 4)
    for pull in range(1, 13):
        rounds.enter(window, arms, 4, 0)
        rounds.credit(window, arms, 0, pull, 1e17 if pull == 2 else 0.25)
    assert window.mean[0] == 0.25


@pytest.mark.parametrize("constants", [False, True])
def test_the_fit_of_each_model(constants: bool) -> None:
    """Squares about zero, or about the mean residual; the first of the best wins."""
    rng = np.random.default_rng(8)
    mu = np.vstack([np.zeros(3), rng.normal(size=(20, 3))])
    mu[:, 2] = mu[:, 1]
    fit = likelihood.no_fit(2, 3)
    rewards = mu[1:, 1] + 0.01 * rng.normal(size=20) + (0.7 if constants else 0.0)
    for n, reward in enumerate(rewards, start=1):
        likelihood.add_residuals(mu, fit, 1, n, reward, constants)
        off = rewards[:n, None] - mu[1 : n + 1]
        expected = ((off - off.mean(axis=0) * constants) ** 2).sum(axis=0)
        found = [likelihood.misfit(fit, 1, k, n, constants) for k in range(3)]
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert likelihood.best_fit(fit, 1, 20, constants) == 1
    assert not fit.squares[0].any()
    assert fit.residual.any() == constants
    for n in range(1, 21):
        likelihood.add_residuals(mu, fit, 0, n, mu[n, 0], constants)
    assert likelihood.best_fit(fit, 0, 20, constants) == 0


def test_weights() -> None:
    assert likelihood.weight_of(0.0) == likelihood.weight_of(-1.0) == 1.0
    assert likelihood.weight_of(2.0) == math.exp(-2.0)
    assert likelihood.weight_of(0.5) == math.exp(-0.5)
    # beyond, a weight is less than the rounding of 1, with whatever prior
    for prior in (0.0, 3.0):
        edge = likelihood.negligible(5.0, 0.3, prior)
        worse = (edge - 5.0) / (2 * 0.3)
        weight = math.exp(prior / 2) * likelihood.weight_of(worse)
        assert weight == pytest.approx(math.exp(-40), rel=1e-9, abs=0.0)


def test_the_highest_draw() -> None:
    mean, width = np.array([0.3, -math.inf, 0.2, 0.1]), np.array([0.5, 1.0, 2.0, 1.0])
    chosen = set()
    for seed in range(60):
        ahead = new_draw(seed)
        values = [m + 0.7 * w * normal(ahead) for m, w in zip(mean, width, strict=True)]
        found = highest_draw(mean, width, 0.7, AllOpen(), new_draw(seed))
        assert found == int(np.argmax(values))
        chosen.add(found)
    assert chosen == {0, 2, 3}
    nothing = np.full(3, -math.inf)
    assert highest_draw(nothing, np.ones(3), 1.0, AllOpen(), new_draw(0)) == 0


def test_the_factor_by_which_windows_may_grow() -> None:
    for growth in (1.001, 1e6):
        assert EFFRAWUCB(0.5, growth=growth).growth == growth
        assert growing_windows.lengths(growth, 1).tolist() == [1, math.ceil(growth)]
    for growth in (1.0009, 1e6 + 0.5):
        with pytest.raises(ValueError, match=r"growth must be a number >= 1\.001 and <= 1e\+06"):
            EFFRAWUCB(0.5, growth=growth)


@pytest.mark.parametrize("constants", [False, True])
def test_the_likeliest_of_all_models(constants: bool) -> None:
    """In whatever place it is; of several the first."""
    for misfits in itertools.product((0.0, 1.0, 2.0), repeat=3):
        fit = likelihood.no_fit(1, 3)
        fit.squares[0] = misfits
        if constants:
            fit.residual[0] = 2.0  # of four rewards: the squares about their mean are one less
            fit.squares[0] += 1.0
        assert likelihood.best_fit(fit, 0, 4, constants) == misfits.index(min(misfits))


def test_residuals_are_rewards_less_means() -> None:
    mu = np.array([[0.0, 0.0], [1.0, 0.5], [0.75, 0.25]])
    fit = likelihood.no_fit(2, 2)
    likelihood.add_residuals(mu, fit, 1, 2, 1.75, True)
    likelihood.add_residuals(mu, fit, 1, 1, 1.5, True)
    assert fit.residual.tolist() == [[0.0, 0.0], [1.5, 2.5]]
    assert fit.squares.tolist() == [[0.0, 0.0], [1.25, 3.25]]


@pytest.mark.parametrize("arm", [0, 1])
def test_means_follow_sums_that_are_made_afresh(arm: int) -> None:
    """The arm with the large reward has no other round when that leaves, and its mean is exact."""
    arms, window = counting.no_pulls(2), rounds.no_rounds(2, 4)
    for who, reward in ((arm, 1e17), (arm, 0.25), (1 - arm, 1.0), (1 - arm, 3.0)):
        rounds.enter(window, arms, 4, who)
        rounds.credit(window, arms, who, int(arms.pulls[who]), reward)
    rounds.enter(window, arms, 4, 1 - arm)
    assert window.total[arm] == window.mean[arm] == 0.25
    assert window.mean[1 - arm] == 2.0
