"""The theory against its naive twins, simulation, and values worked out by hand or elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import naive
import naive_theory
from rotting import Arm, Gaussian, Scenario, models, policies, simulate, theory
from rotting.papers import levine2017
from rotting.theory.sums import FUNCTION_LIMIT

SIGMA = 0.2**0.5
PAIR = models.Plateau(length=100).over([0.1, 0.4])
FAMILIES = {
    "polynomial": models.Polynomial().over([0.1, 0.3, 0.45]),
    "plateau": models.Plateau(length=7).over([0.4, 0.1, 0.2]),
    "exponential": models.Exponential().over([0.02, 0.001]),
}


def mu_of(family: models.Family) -> Callable[[int, float], float]:
    tables = dict(zip(family.thetas, (m.table(1000) for m in family.members), strict=True))
    return lambda n, theta: float(tables[theta][n - 1])


@pytest.mark.parametrize(
    "model",
    [
        models.Polynomial(0.3), models.Polynomial(1.0), models.Polynomial(0.0),
        models.Plateau(0.4, length=7), models.Plateau(0.4, length=1), models.Exponential(0.01),
        models.Exponential(0.0), models.Constant(0.3), models.Step(50, 1.0, 0.2),
        models.Table([1.0, 0.5, 0.4]), models.Function(lambda n: 1.0 / n),
    ],
    ids=repr,
)  # fmt: skip
def test_closed_sums_are_the_sums(model: models.Model) -> None:
    n = np.array([0, 1, 2, 6, 7, 8, 99, 100, 4095, 4096, 4097, 50_000])
    table = np.concatenate([[0.0], np.cumsum(model.table(50_000))])
    np.testing.assert_allclose(theory.cumulative(model, n), table[n], rtol=1e-12)


def test_sums_far_out() -> None:
    """Integral bounds: the sum of j^-0.3 over j <= n lies between two integrals."""
    n = 10**15
    total = float(theory.cumulative(models.Polynomial(0.3), n))
    assert ((n + 1) ** 0.7 - 1) / 0.7 < total < n**0.7 / 0.7
    with pytest.raises(ValueError, match="without a closed form"):
        theory.cumulative(models.Function(lambda n: 1.0 / n), FUNCTION_LIMIT + 1)
    with pytest.raises(ValueError, match="integers >= 0"):
        theory.cumulative(models.Polynomial(0.3), -1)


@pytest.mark.parametrize("name", list(FAMILIES))
def test_det_and_ddet(name: str) -> None:
    family = FAMILIES[name]
    mu = mu_of(family)
    first, second = family.members[:2]
    a, b = family.thetas[:2]
    for n in (1, 2, 3, 8, 21, 100, 333):
        for ours, theirs in ((theory.det, naive_theory.det), (theory.ddet, naive_theory.ddet)):
            expected = theirs(n, a, b, mu, 0.5)
            if expected < 1e9:  # beyond, the difference is rounding
                assert float(ours(first, second, 0.5, n)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", list(FAMILIES))
@pytest.mark.parametrize("constant", [0.0, 0.7])
def test_misdetection(name: str, constant: float) -> None:
    family = FAMILIES[name]
    mu, thetas = mu_of(family), list(family.thetas)
    numbers = [2, 3, 10, 41, 100, 301]
    sums = theory.misdetection(family, numbers, 0.5)
    halves = theory.misdetection(family, numbers, 0.5, "difference", constant=constant)
    bounds = theory.misdetection(family, numbers, 0.5, method="bound")
    for k, theta in enumerate(thetas):
        for place, n in enumerate(numbers):
            expected = naive_theory.misdetection_sum(n, theta, thetas, mu, 0.5)
            if sums[k, place] < 1.0 and expected < 1.0:
                assert sums[k, place] == pytest.approx(expected, abs=1e-9)
            bound = naive_theory.misdetection_bound_sum(n, theta, thetas, mu, 0.5)
            assert bounds[k, place] == pytest.approx(bound, rel=1e-6)
            expected = naive_theory.misdetection_difference(n, theta, thetas, mu, 0.5, constant)
            if halves[k, place] < 1.0 and expected < 1.0:
                assert halves[k, place] == pytest.approx(expected, abs=1e-9)


def test_misdetection_is_what_happens() -> None:
    """Exact probabilities against 4,000 simulated arms, within four standard errors."""
    rng = np.random.default_rng(0)
    for family in FAMILIES.values():
        for n in (10, 55, 200):
            table = family.table(n)
            values = np.cumsum(table, axis=1)[:, -1]
            exact = theory.misdetection(family, n, 0.5)[:, 0]
            for k in range(len(family)):
                sums = values[k] + 0.5 * math.sqrt(n) * rng.standard_normal(4000)
                nearest = np.abs(sums[:, None] - values).argmin(axis=1)
                missed = np.mean(nearest != k)
                error = math.sqrt(max(exact[k] * (1 - exact[k]), 1e-4) / 4000)
                assert abs(missed - exact[k]) < 4 * error


def test_models_that_coincide() -> None:
    """On the first plateau all models are one: the first in Theta's order is always detected."""
    found = theory.misdetection(models.Plateau(length=100).over([0.4, 0.1]), 50, 0.5)[:, 0]
    assert found.tolist() == [0.0, 1.0]


def test_m_star_of_the_papers_family() -> None:
    """K = 10, delta = 0.1, p = delta / K; the figures were found by two other implementations."""
    family = levine2017.FAMILY
    found = theory.m_star(family, 0.01, SIGMA, limit=100_000)
    assert found.tolist() == [1098, 1307, 1478, 1700, 1997, 2413, 2213]
    assert theory.m_star(family, 0.01, SIGMA, method="bound", limit=100_000).max() == 4070
    assert theory.m_star(PAIR, 0.01, SIGMA, limit=100_000).max() == 264
    assert theory.m_star(PAIR, 0.01, SIGMA, method="bound", limit=100_000).max() == 335


def test_m_star_of_half_differences() -> None:
    """Even n, all n (with no constant), and the bound; and how a constant matters at odd n."""

    def found(**options: Any) -> float:
        return float(theory.m_star(PAIR, 0.01, SIGMA, "difference", limit=10**6, **options).max())

    assert found(even=True) == 95_468
    assert found() == 95_504
    assert found(method="bound") == 117_630
    assert found(constant=0.5) != 95_504
    assert found(even=True, constant=0.5) == 95_468
    full = theory.m_star(levine2017.FAMILY, 0.01, SIGMA, "difference")
    assert full.max() == 3_366_924  # of theta = 0.1 and 0.15, whose halves cross at 1.47 million


def test_m_star_against_its_twin() -> None:
    family = models.Polynomial().over([0.1, 0.45])
    mu, thetas = mu_of(family), list(family.thetas)
    for even in (False, True):
        ours = theory.m_star(family, 0.05, 0.5, limit=400, even=even)
        for k, theta in enumerate(thetas):
            theirs = naive_theory.m_star(
                0.05, theta, thetas, mu, 0.5, naive_theory.misdetection_sum, 400, 2 if even else 1
            )
            assert ours[k] == theirs
    far = float(theory.m_star(family, 1e-9, 5.0, limit=400)[0])  # beyond the limit, by the proof
    assert theory.misdetection(family, int(far), 5.0)[0, 0] <= 1e-9
    assert theory.misdetection(family, int(far) - 1, 5.0)[0, 0] > 1e-9


def test_bounds_against_their_twins() -> None:
    for arms, horizon, sigma, alpha, mean in (
        (2, 30_000, SIGMA, 0.2, 1.0),
        (7, 500, 2.0, 0.9, 3.0),
    ):
        case = (arms, horizon, sigma, alpha, mean)
        assert theory.swa_regret_bound(*case) == pytest.approx(naive_theory.swa_bound(*case))
        assert theory.wswa_regret_bound(*case) == pytest.approx(naive_theory.wswa_bound(*case))
        q = theory.swa_precision(arms, horizon, sigma, alpha)
        assert q == pytest.approx(naive_theory.swa_q(arms, horizon, sigma, alpha))
        window = theory.averaging_window(alpha, sigma, arms, horizon)
        assert window == naive.swa_window(alpha, sigma, arms, horizon)
        assert theory.best_alpha(mean) == pytest.approx(naive_theory.best_alpha(mean))


def test_bounds_of_the_papers_setup_are_vacuous() -> None:
    """NP: 9,615 for SWA and 30,603 for wSWA; the second is above the trivial 30,000."""
    case = {"arms": 2, "horizon": 30_000, "sigma": SIGMA, "alpha": 0.2, "max_mean": 1.0}
    assert round(theory.swa_regret_bound(**case)) == 9615  # type: ignore[arg-type]
    assert round(theory.wswa_regret_bound(**case)) == 30_603  # type: ignore[arg-type]
    assert theory.trivial_regret_bound(30_000, 1.0) == 30_000


@pytest.mark.parametrize("seed", range(6))
def test_regret_stays_below_the_bounds(seed: int) -> None:
    """Random scenarios with positive means: mean regret of SWA and wSWA below their bounds."""
    rng = np.random.default_rng(seed)
    arms = [Arm(models.Polynomial(rng.uniform(0.1, 0.9)), constant=rng.uniform(0, 1))
            for _ in range(int(rng.integers(2, 6)))]  # fmt: skip
    sigma, horizon, alpha = rng.uniform(0.1, 1.0), int(rng.integers(200, 3000)), rng.uniform(0.1, 1)
    scenario = Scenario(arms, Gaussian(sigma), horizon)
    top = max(float(arm.mean(1)) for arm in arms)
    case = (len(arms), horizon, sigma, alpha, top)
    swa = simulate(policies.SWA(alpha, sigma), scenario, runs=40, seed=seed)
    wswa = simulate(policies.WSWA(alpha, sigma), scenario, runs=40, seed=seed)
    assert swa.mean_regret[-1] < theory.swa_regret_bound(*case)
    assert wswa.mean_regret[-1] < theory.wswa_regret_bound(*case)


@pytest.mark.parametrize("seed", range(6))
def test_regret_stays_below_the_parametric_bounds(seed: int) -> None:
    """Two distant models and little noise: horizons that Theorems 4.1 and 4.2 speak about."""
    rng = np.random.default_rng(seed)
    family = models.Polynomial().over([rng.uniform(0.1, 0.2), rng.uniform(0.4, 0.49)])
    sigma = rng.uniform(0.02, 0.06)
    thetas = [family.thetas[k] for k in rng.integers(0, 2, size=2)]
    own = [models.Polynomial(theta) for theta in thetas]
    start = theory.t_sim(thetas, family, sigma)
    assert start < 100_000
    at_start = Scenario([Arm(model) for model in own], Gaussian(sigma), int(start))
    cto = simulate(policies.CTO(family), at_start, runs=40, seed=seed, checkpoints=1)
    bound = theory.cto_regret_bound(thetas, family, sigma, int(start))
    assert bound == 1.0
    assert cto.mean_regret[-1] <= bound
    constants = [0.0, float(rng.uniform(0.2, 0.6))]
    pulls = theory.m_star(family, 0.1 / 2, sigma, "difference", "bound").max()
    horizon = int(6 * pulls) + 1000
    arms = [Arm(model, constant=c) for model, c in zip(own, constants, strict=True)]
    dcto = simulate(policies.DCTO_UCB(family, sigma, delta=0.1), Scenario(arms, Gaussian(sigma),
                    horizon), runs=40, seed=seed, checkpoints=1)  # fmt: skip
    # the bound holds with probability 1 - delta
    known = theory.dcto_ucb_regret_bound(own, constants, sigma, horizon, float(pulls))
    assert np.mean(dcto.final_regret > known) <= 0.1


@pytest.mark.parametrize("length", [0, 1, 3, 10])
@pytest.mark.parametrize(("a", "b"), [(0.1, 0.4), (0.3, 0.35), (0.45, 0.9), (0.0, 1.2), (0.5, 0.6)])
def test_det_never_rises_from_the_proved_point_on(a: float, b: float, length: int) -> None:
    """The lemmas, looked at for 30,000 pulls: from n = 2, or from nine plateaus on."""
    pair = (
        [models.Plateau(theta, length=length) for theta in (a, b)]
        if length
        else [models.Polynomial(theta) for theta in (a, b)]
    )
    n = np.arange(9 * length if length else 2, 30_000)
    values = theory.det(pair[0], pair[1], 1.0, n)
    assert np.all(np.diff(values) <= 1e-12 * values[:-1])


def det_of(a: float, b: float, mu: Callable[[int, float], float]) -> Callable[[int], float]:
    return lambda n: naive_theory.det(n, a, b, mu, 0.5)


def test_det_star() -> None:
    for name in ("polynomial", "plateau"):
        family = FAMILIES[name]
        mu = mu_of(family)
        first, second = family.members[:2]
        a, b = family.thetas[:2]
        for level in (0.5, 0.05, 0.02):
            theirs = naive_theory.star_down(det_of(a, b, mu), level, 900)
            ours = float(theory.det_star(first, second, 0.5, level))
            assert ours == theirs if theirs is not None else ours > 900


def test_bal_and_where_models_fall() -> None:
    """bal for n^-0.25 and n^-0.5: alpha^-0.25 <= n^-0.5 at alpha = n^2; beyond any table, too."""
    family = models.Polynomial().over([0.25, 0.5])
    assert theory.bal(family, 10) == 100
    assert theory.bal(family, 10**7) == pytest.approx(1e14, rel=1e-9)
    assert math.isinf(theory.bal(family, math.inf))
    for name, known in FAMILIES.items():
        if name == "exponential":
            continue
        mu = mu_of(known)
        for n in (1, 2, 9, 30):
            theirs = naive_theory.bal(n, list(known.thetas), mu, 900)
            if theirs is not None:
                assert theory.bal(known, n) == theirs
    assert theory.mean_star(models.Step(50, 1.0, 0.2), 0.5) == 51
    assert math.isinf(theory.mean_star(models.Constant(0.5), 0.4))
    assert theory.mean_star(models.Polynomial(0.5), 2.0) == 1


@pytest.mark.parametrize("name", list(FAMILIES))
def test_likelihood_rule(name: str) -> None:
    family = FAMILIES[name]
    mu = mu_of(family)
    first, second = family.members[:2]
    a, b = family.thetas[:2]
    for n in (2, 10, 41, 300):
        for profiled, twin in (
            (False, naive_theory.likelihood_misdetection),
            (True, naive_theory.likelihood_misdetection_profiled),
        ):
            ours = float(theory.likelihood_misdetection(first, second, n, 0.5, profiled))
            assert ours == pytest.approx(twin(n, a, b, mu, 0.5), abs=1e-6)


def test_the_likelihood_needs_fewer_pulls() -> None:
    """Two plateau models, p = 0.01: against 264 pulls by the sum, 95,468 by the halves."""
    first, second = PAIR.members
    plain = theory.m_star_likelihood(first, second, 0.01, SIGMA)
    profiled = theory.m_star_likelihood(first, second, 0.01, SIGMA, profiled=True)
    assert plain <= 264
    assert plain < profiled < 95_468
    for n, option in ((plain, False), (profiled, True)):
        here = theory.likelihood_misdetection(first, second, int(n), SIGMA, option)
        before = theory.likelihood_misdetection(first, second, int(n) - 1, SIGMA, option)
        assert float(here) <= 0.01 < float(before)


def test_t_sim_and_ctos_bound() -> None:
    """The optimisation bound of two arms is 240,630, and there CTO's regret is zero."""
    assert theory.t_sim([0.1, 0.4], PAIR, SIGMA) == 240_630
    assert theory.cto_regret_bound([0.1, 0.4], PAIR, SIGMA, 240_630) == 1.0
    assert theory.cto_regret_bound([0.1, 0.4], PAIR, SIGMA, 240_629) == 240_629.0
    arms = [Arm(models.Plateau(theta, length=100)) for theta in (0.1, 0.4)]
    scenario = Scenario(arms, Gaussian(SIGMA), 240_630)
    result = simulate(policies.CTO(PAIR), scenario, runs=20, checkpoints=1)
    assert np.all(np.abs(result.final_regret) < 1e-6)
    with pytest.raises(ValueError, match="arms must have their theta in Theta"):
        theory.t_sim([0.2], PAIR, SIGMA)


@pytest.mark.parametrize(
    ("length", "arms", "sigma"),
    [(3, [0.3, 0.5], 0.05), (5, [0.2, 0.4], 0.05), (5, [0.4, 0.4], 0.1)],
)
def test_t_sim_against_its_twin(length: int, arms: list[float], sigma: float) -> None:
    family = models.Plateau(length=length).over(
        [0.2, 0.3, 0.4, 0.5] if arms[0] == 0.3 else [0.2, 0.4]
    )
    thetas = list(family.thetas)
    limit = 500

    def m_star_of_p(p: float, theta: float) -> int:
        return int(theory.m_star(family, p, sigma, limit=2000)[thetas.index(theta)])

    def mu(n: int, theta: float) -> float:
        return naive.plateau(n, theta, length)

    theirs = naive_theory.t_sim(arms, thetas, mu, sigma, m_star_of_p, limit)
    assert theirs is not None
    assert theory.t_sim(arms, family, sigma, farthest=limit) == theirs


def test_dcto_ucb_bound() -> None:
    """No epsilon does better than ours; a tie with the best constant is infinite."""
    thetas, constants = [0.3, 0.45, 0.3], [0.5, 0.1, 0.0]
    arms = [models.Polynomial(theta) for theta in thetas]
    ours = theory.dcto_ucb_regret_bound(arms, constants, 0.3, 10_000, detection=50)

    def mu(n: int, theta: float) -> float:
        return naive.polynomial(n, theta)

    def bound(epsilon: float, other: float) -> float:
        return naive_theory.dcto_ucb_bound(
            thetas, constants, mu, 0.3, 10_000, 50, [0.0, epsilon, other], 800
        )

    # the arms' terms add up, and the best epsilon is a value of mu: one arm after the other
    values = [[mu(n, theta) for n in range(2, 700, 2) if mu(n, theta) < gap]
              for theta, gap in ((0.45, 0.4), (0.3, 0.5))]  # fmt: skip
    one = min(values[0], key=lambda epsilon: bound(epsilon, 0.3))
    two = min(values[1], key=lambda epsilon: bound(one, epsilon))
    best = bound(one, two)
    assert ours <= best + 1e-9
    assert ours > 0.99 * best  # every second pull was tried
    tied = theory.dcto_ucb_regret_bound(arms, [0.5, 0.5, 0.0], 0.3, 10_000, detection=50)
    assert math.isinf(tied)
    assert math.isinf(theory.dcto_ucb_regret_bound(arms, constants, 0.3, 10_000, math.inf))


def test_bad_arguments() -> None:
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: theory.m_star(PAIR, 0.0, 1.0), "p must be a number > 0 and < 1, got 0"),
        (lambda: theory.m_star(PAIR, 0.1, 0.0), "sigma must be a number > 0"),
        (lambda: theory.m_star(PAIR, 0.1, 1.0, rule="product"), "rule must be one of"),
        (lambda: theory.m_star(PAIR, 0.1, 1.0, method="guess"), "method must be one of"),
        (lambda: theory.swa_regret_bound(0, 1, 1.0, 1.0, 1.0), "arms must be an integer >= 1"),
        (lambda: theory.best_alpha(-1.0), "max_mean must be a number > 0"),
    ]
    for work, words in wrong:
        with pytest.raises(ValueError, match=words):
            work()
