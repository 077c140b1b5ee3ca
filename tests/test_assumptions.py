"""The assumptions decided, and the advice that follows from theory."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rotting import models, theory
from rotting.cli import app
from rotting.papers import levine2017

SIGMA = 0.2**0.5
EXAMPLE = models.Polynomial().over([0.01, 0.2, 0.49])  # Example 4.1


@pytest.mark.parametrize("family", [EXAMPLE, levine2017.FAMILY], ids=["example", "paper"])
def test_the_papers_families_meet_all_assumptions(family: models.Family) -> None:
    for verdict in theory.check_assumptions(family):
        assert verdict.holds is True
        assert verdict.why


def test_failures_have_a_witness() -> None:
    """Each worked by hand.

    theta = 0 does not fade; of 0.6 and 0.7 neither is below 1/2, so their sums differ by less
    than n^0.4 and det = n / that^2 grows; exponentials' sums are bounded; 0.3 - 0.5 is negative.
    """
    zero = models.Polynomial().over([0.0, 0.3])
    assert theory.check_rotting_models(zero).witness == 0.0
    assert theory.check_simultaneous(zero).holds is False
    assert theory.check_difference_detection(zero).holds is True  # a constant's halves vanish
    fast = models.Plateau(length=5).over([0.6, 0.2, 0.7])
    assert theory.check_simultaneous(fast).witness == (0.6, 0.7)
    assert theory.check_difference_detection(fast).witness == (0.6, 0.7)
    assert theory.check_simultaneous(models.Polynomial().over([0.5, 0.6])).witness == (0.5, 0.6)
    fading = models.Exponential().over([0.1, 0.2])
    assert theory.check_rotting_models(fading).holds is True
    assert theory.check_simultaneous(fading).holds is False
    assert theory.check_difference_detection(fading).holds is False
    assert theory.check_simultaneous(models.Exponential().over([0.1])).holds is True
    low = theory.check_rotting(models.Step(10, 0.3, 0.1), constant=-0.2)
    assert low.holds is False
    assert low.witness[1] == 11
    assert theory.check_rotting(models.Polynomial(0.5), constant=-0.1).witness[1] == 100
    assert theory.check_rotting(models.Constant(0.1), models.Table([0.5, 0.2])).holds is True


def test_what_is_not_known_is_not_decided() -> None:
    open_case = theory.check_rotting(models.Function(lambda n: 1.0 / np.log(n + 1.0)))
    assert open_case.holds is None
    assert open_case.examined == 1 << 16
    assert "not decided" in str(open_case)


def test_advice_for_the_papers_setups() -> None:
    """ANV: exploration would take a thousand times the horizon. NP: 9,615 and 30,603."""
    anv = theory.advise(arms=10, sigma=SIGMA, horizon=30_000, family=levine2017.FAMILY,
                        constants=True, max_mean=1.5)  # fmt: skip
    dcto = anv.guarantees[-1]
    assert dcto.vacuous
    assert dcto.detection == 3_366_844
    assert "cannot finish exploring" in dcto.note
    assert "1,122 times the horizon" in dcto.note
    assert "DCTO" in anv.use
    np_ = theory.advise(arms=2, sigma=SIGMA, horizon=30_000, max_mean=1.0, alpha=0.2)
    swa, wswa = np_.guarantees
    assert (round(swa.bound), swa.vacuous, round(wswa.bound), wswa.vacuous) == (
        9615, False, 30_603, True)  # fmt: skip
    for found, bound in ((swa, theory.swa_regret_bound), (wswa, theory.wswa_regret_bound)):
        t = int(found.useful_from)
        assert bound(2, t, SIGMA, 0.2, 1.0) < t <= bound(2, t - 1, SIGMA, 0.2, 1.0) + 1
    json.dumps(anv.data())
    assert "vacuous" in str(anv)


def test_advice_that_means_something() -> None:
    """Few models, long horizons: both parametric guarantees are worth having."""
    pair = models.Plateau(length=100).over([0.1, 0.4])
    cto = theory.advise(arms=2, sigma=SIGMA, horizon=10**6, family=pair, thetas=[0.1, 0.4])
    assert (cto.guarantees[-1].bound, cto.guarantees[-1].useful_from) == (1.0, 240_630)
    dcto = theory.advise(arms=2, sigma=SIGMA, horizon=10**7, family=pair, thetas=[0.1, 0.4],
                         constants=[0.5, 0.1])  # fmt: skip
    found = dcto.guarantees[-1]
    assert not found.vacuous
    assert found.bound < 10**7 * 1.5
    assert dcto.use == "D-CTO_UCB"
    tied = theory.advise(arms=2, sigma=SIGMA, horizon=10**7, family=pair, thetas=[0.1, 0.4],
                         constants=[0.1, 0.1])  # fmt: skip
    assert math.isinf(tied.guarantees[-1].bound)
    with pytest.raises(ValueError, match="max_mean must be given"):
        theory.advise(arms=2, sigma=1.0, horizon=10)


def test_t_sim_of_the_appendix() -> None:
    """U(1/(K sqrt(2K)))/sqrt(2K) is larger than the optimisation's bound; and it is what it says.

    K = 2: 1/(K sqrt(2K)) = 1/4, sqrt(2K) = 2.
    """
    pair = models.Plateau(length=100).over([0.1, 0.4])
    found = theory.t_sim_by_balance(2, pair, SIGMA)
    assert found > theory.t_sim(2, pair, SIGMA) > theory.t_sim([0.1, 0.4], pair, SIGMA)
    u = round(found * 2)

    def side(n: int) -> float:
        return theory.bal(pair, float(theory.hardest_star(pair, SIGMA, 1 / (16 * math.log(n)))))

    assert side(u) <= u / 4
    assert side(u - 1) > (u - 1) / 4


def test_likelihood_saves_pulls() -> None:
    """The paper's plateau pair: 219 against 264 by the sum; 350 against 95,468 by the halves."""
    first, second = models.Plateau(length=100).over([0.1, 0.4]).members
    saved = theory.likelihood_savings(first, second, 0.01, SIGMA)
    assert saved == {"sum": 264, "likelihood": 219, "difference": 95_468, "profiled": 350}
    with pytest.raises(ValueError, match="a theta each"):
        theory.likelihood_savings(models.Constant(0.1), models.Constant(0.2), 0.01, 1.0)


def test_no_guarantee_where_an_assumption_fails() -> None:
    """0.6 and 0.7 are never told apart for good, however little noise there is."""
    steep = models.Polynomial().over([0.6, 0.7])
    assert np.all(np.isinf(theory.m_star(steep, 0.01, 1e-6)))
    for constants in (False, True):
        found = theory.advise(arms=2, sigma=1e-6, horizon=10**6, family=steep, constants=constants)
        assert found.guarantees[-1].vacuous
        assert "fails" in found.guarantees[-1].note
    fading = models.Exponential().over([0.1, 0.2])
    assert np.all(np.isinf(theory.m_star(fading, 0.01, 1e-4)))


def test_m_star_looks_at_everything_before_its_proof_begins() -> None:
    """Plateaus of a million: proved from 9 million on, but told apart soon after the first."""
    long = models.Plateau(length=10**6).over([0.1, 0.4])
    assert theory.m_star(long, 0.01, 0.01).max() == 1_000_265


def test_functions_are_looked_at_one_by_one() -> None:
    rising = models.Function(lambda n: np.where(n < 10_000, 0.5, 1.0))
    assert theory.check_rotting(rising).witness[1] == 10_000
    dip = models.Function(lambda n: np.where(n > 5000, -1.0, 1.0))
    assert theory.check_rotting(dip).witness[1] == 5001


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"thetas": [0.1, 0.4], "arms": 5}, "thetas must be one for each of 5 arms"),
        ({"constants": [0.1, 0.2, 0.3]}, "constants must be one for each of 2 arms"),
        ({"constants": 0.5}, "constants must be True, False or a list"),
        ({"constants": [math.nan, 0.2]}, "constants must be a number"),
        ({"thetas": [0.1, 0.3]}, "thetas must be in the family's Theta, got 0.3"),
        ({"sigma": 1e200}, "sigma must be a number > 0 and <= 1e"),
        ({"delta": 5e-324}, "delta must be a number >= 1e-100"),
        ({"max_mean": 1e308}, "max_mean must be a number"),
        ({"family": models.Plateau(0.1)}, "family must be a Family"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_advice_refuses(wrong: dict[str, object], words: str) -> None:
    asked: dict[str, object] = {"arms": 2, "sigma": 0.4, "horizon": 1000,
                                "family": models.Plateau(length=100).over([0.1, 0.4])}  # fmt: skip
    with pytest.raises(ValueError, match=words):
        theory.advise(**(asked | wrong))  # type: ignore[arg-type]


def test_lower_bound_order() -> None:
    assert theory.lower_bound_order(arms=4, horizon=25, sigma=0.5) == pytest.approx(5.0)


def test_theory_on_the_command_line(tmp_path: Path) -> None:
    runner = CliRunner()
    found = runner.invoke(app, ["theory", "--scenario", "anv", "--json"])
    assert found.exit_code == 0
    assert json.loads(found.stdout)["guarantees"][2]["detection"] == 3_366_844
    picture = tmp_path / "bounds.png"
    args = ["theory", "--model", "polynomial", "--thetas", "0.1,0.4", "--arms", "3", "--sigma",
            "0.5", "--horizon", "2000", "--runs", "2", "--out", str(picture)]  # fmt: skip
    found = runner.invoke(app, args)
    assert found.exit_code == 0, found.stderr
    assert "CTO_SIM" in found.stdout
    assert "Measured: mean regret of CTO" in found.stdout
    assert picture.read_bytes()[:4] == b"\x89PNG"
    for wrong, words in (
        (["theory"], "arms must be given"),
        (["theory", "--model", "polynomial"], "model and thetas must be given together"),
        (["theory", "-s", "anv", "--delta", "2"], "delta must be a number >= 1e-100 and < 1"),
        (["theory", "-s", "anv", "--out", "x.txt"], "out must end in"),
        (["theory", "--model", "square", "--thetas", "1"], "unknown model 'square'"),
    ):
        refused = runner.invoke(app, wrong)
        assert refused.exit_code == 2
        assert words in refused.stderr
