"""The advice that follows from theory."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from rotting import models, policies, theory
from rotting._numbers import count
from rotting.papers import levine2017
from rotting.theory import _advice as advice_module
from rotting.theory._advice import HEADER
from rotting.theory._assumptions import Verdict, check_rotting
from rotting.theory._choice import CHOICES

SIGMA = 0.2**0.5
PAIR = models.Plateau(length=100).over([0.1, 0.4])


def test_advice_for_the_papers_setups() -> None:
    """ANV: exploration would take a thousand times the horizon. NP: 9,615 and 30,603."""
    anv = theory.advise(
        arms=10, sigma=SIGMA, horizon=30_000, family=levine2017.FAMILY, constants=True, max_mean=1.5
    )
    dcto = anv.guarantees[-1]
    assert dcto.vacuous
    assert dcto.detection == 3_366_844
    assert "cannot finish exploring" in dcto.note
    assert "1,122 times the horizon" in dcto.note
    assert "exact for Gaussian noise" in dcto.note
    assert "bound, which the policy explores by, is 4,249,800" in dcto.note
    assert anv.use.startswith("Guarded, ")
    np_ = theory.advise(arms=2, sigma=SIGMA, horizon=30_000, max_mean=1.0, alpha=0.2)
    swa, wswa = np_.guarantees
    assert (round(swa.bound), swa.vacuous) == (9615, False)
    assert (round(wswa.bound), wswa.vacuous) == (30_603, True)
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
    dcto = theory.advise(
        arms=2, sigma=SIGMA, horizon=10**7, family=pair, thetas=[0.1, 0.4], constants=[0.5, 0.1]
    )
    found = dcto.guarantees[-1]
    assert not found.vacuous
    assert found.bound < 10**7 * 1.5
    assert f"With a proof: D-CTO_UCB, regret at most {found.bound:,.0f}." in dcto.use
    tied = theory.advise(
        arms=2, sigma=SIGMA, horizon=10**7, family=pair, thetas=[0.1, 0.4], constants=[0.1, 0.1]
    )
    assert math.isinf(tied.guarantees[-1].bound)
    with pytest.raises(ValueError, match="max_mean must be given"):
        theory.advise(arms=2, sigma=1.0, horizon=10)


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("family", [None, levine2017.FAMILY], ids=["no family", "family"])
def test_theory_and_recommended_say_the_same(family: models.Family | None, constants: bool) -> None:
    """They had CTO and Guarded for the same question."""
    recommended = policies.recommended(sigma=SIGMA, family=family, constants=constants)
    for horizon in (100, 30_000, 10**8):
        advice = theory.advise(
            arms=10,
            sigma=SIGMA,
            horizon=horizon,
            family=family,
            max_mean=1.5,
            constants=constants and family is not None,
        )
        assert advice.policy == type(recommended).__name__
        assert advice.use.startswith(f"{advice.policy}, ")


def test_no_guarantee_where_an_assumption_fails() -> None:
    """0.6 and 0.7 are never distinguished for good, however small the noise."""
    steep = models.Polynomial().over([0.6, 0.7])
    assert np.all(np.isinf(theory.m_star(steep, 0.01, 1e-6)))
    for constants in (False, True):
        found = theory.advise(arms=2, sigma=1e-6, horizon=10**6, family=steep, constants=constants)
        assert found.guarantees[-1].vacuous
        assert "fails" in found.guarantees[-1].note
    fading = models.Exponential().over([0.1, 0.2])
    assert np.all(np.isinf(theory.m_star(fading, 0.01, 1e-4)))


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
    asked: dict[str, object] = {
        "arms": 2,
        "sigma": 0.4,
        "horizon": 1000,
        "family": models.Plateau(length=100).over([0.1, 0.4]),
    }
    with pytest.raises(ValueError, match=words):
        theory.advise(**(asked | wrong))  # type: ignore[arg-type]


def test_figures_for_people() -> None:
    found = [count(x) for x in (math.inf, 1234567.4, -5000.0, 1e12 - 1, 1e12, 2.5e40)]
    assert found == ["none", "1,234,567", "-5,000", "999,999,999,999", "1.00e+12", "2.50e+40"]


def test_what_a_guarantee_is_worth_in_a_word() -> None:
    for bound, vacuous, word in (
        (10.0, True, "vacuous"),
        (10.0, False, "meaningful"),
        (math.inf, False, "no figure"),
        (math.inf, True, "vacuous"),
    ):
        assert theory.Guarantee("A", "B", bound, vacuous, 5, None, "").state == word


def test_the_table_and_the_text_say_what_the_data_say() -> None:
    advice = theory.advise(arms=2, sigma=SIGMA, horizon=10**6, family=PAIR, thetas=[0.1, 0.4])
    rows = advice.rows()
    assert [len(row) for row in rows] == [len(HEADER)] * 3
    assert [row[0] for row in rows] == ["SWA", "wSWA", "CTO_SIM"]
    detection = advice.guarantees[2].detection
    assert detection is not None
    assert rows[2][2:6] == ["1", "meaningful", "240,630", count(detection)]
    assert rows[0][5] == ""
    assert detection == theory.m_star(PAIR, 0.5e-12, SIGMA).max()
    assert "for the given theta*" in rows[2][6]
    text = str(advice).splitlines()
    assert text[0] == "K = 2, sigma = 0.4472, T = 1,000,000, delta = 0.1, largest mean 1"
    assert text[1].startswith("Trivial bound: 1,000,000. ")
    assert f"regret (later work, constant unknown): {count(SIGMA * 2**0.5 * 1000)}." in text[1]
    assert text[-1] == f"Use: {advice.use}"
    assert len(text) == 2 + 3 + len(advice.assumptions) + 1
    assert advice.data()["assumptions"][0]["assumption"] == "2.1"


def test_from_where_on_a_guarantee_means_something() -> None:
    """CTO's holds from T*_SIM on; D-CTO_UCB's cannot before it has explored."""
    start = theory.t_sim(2, PAIR, SIGMA)
    for horizon, vacuous in ((int(start), False), (int(start) - 1, True)):
        found = theory.advise(arms=2, sigma=SIGMA, horizon=horizon, family=PAIR).guarantees[-1]
        assert (found.vacuous, found.useful_from) == (vacuous, start)
        assert found.bound == (horizon if vacuous else 1.0)
        assert "for any theta*" in found.note
    pulls = theory.m_star(PAIR, 0.05, SIGMA, "difference", even=True).max()
    for horizon, vacuous in ((2 * int(pulls), False), (2 * int(pulls) - 1, True)):
        found = theory.advise(
            arms=2, sigma=SIGMA, horizon=horizon, family=PAIR, constants=True
        ).guarantees[-1]
        assert (found.vacuous, found.detection) == (vacuous, pulls)
        assert found.note.startswith("cannot finish" if vacuous else "explores for")
        assert found.useful_from == 2 * pulls


# --- what follows is quick: guarantees that take seconds are stood in for


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Guarantees that return their arguments."""
    asked: dict[str, Any] = {}

    def guarantee(name: str, bound: float) -> Any:
        def found(*question: Any) -> theory.Guarantee:
            asked[name] = question
            return theory.Guarantee(name, "Theorem", bound, False, 7.0, 3.0, "note")

        return found

    monkeypatch.setattr(advice_module, "of_cto", guarantee("CTO_SIM", 5.0))
    monkeypatch.setattr(advice_module, "of_dcto_ucb", guarantee("D-CTO_UCB", math.inf))
    monkeypatch.setattr(advice_module, "check_assumptions", lambda family: list(asked_of(family)))
    return asked


STEEP = models.Polynomial().over([0.6, 0.7])


def asked_of(family: models.Family) -> tuple[Verdict, ...]:
    """All hold, but for the family of 0.6 and 0.7."""
    fine = family != STEEP
    return tuple(Verdict(name, fine, "") for name in ("2.1", "4.1", "4.2", "4.3"))


def asking(**more: Any) -> theory.Advice:
    return theory.advise(**{"arms": 2, "sigma": 0.4, "horizon": 1000, "family": PAIR, **more})


@pytest.mark.usefixtures("quick")
def test_what_is_accepted_and_refused() -> None:
    for change in (
        {"arms": 1},
        {"horizon": 1},
        {"sigma": 1e100},
        {"delta": 1e-100},
        {"delta": 0.999},
        {"max_mean": 1e100},
        {"alpha": 1e-9},
        {"constants": (1e100, -1e100), "max_mean": 1.0},
    ):
        assert asking(**change).arms in (1, 2)
    round_figures = asking(arms=2.0, horizon=1e3, sigma=1, delta=np.float32(0.25))
    kinds = [type(getattr(round_figures, name)) for name in ("arms", "horizon", "sigma", "delta")]
    assert kinds == [int, int, float, float]
    for name, values in {
        "arms": (0, 1.5),
        "horizon": (0, 2.5),
        "sigma": (0.0, 1.1e100),
        "delta": (0.9e-100, 1.0),
        "max_mean": (0.0, 1.1e100),
        "alpha": (0.0, math.inf),
        "constants": ([1.1e100, 0.0], [0.0, -1.1e100], "ab", 1, [0.1], [0.1, 0.2, 0.3]),
        "thetas": ([0.1], 0.1, [0.1, 0.2], [0.1, 0.4, 0.4], [0.1, math.nan]),
    }.items():
        for value in values:
            with pytest.raises(ValueError, match=f"{name} must be"):
                asking(**{name: value})
    with pytest.raises(ValueError, match="thetas must be in the family's Theta"):
        asking(family=None, max_mean=1.0, thetas=[0.1, 0.4])


def test_whose_guarantee_is_asked_for(quick: dict[str, Any]) -> None:
    first = asking()
    assert [g.algorithm for g in first.guarantees] == ["SWA", "wSWA", "CTO_SIM"]
    assert quick["CTO_SIM"] == (2, 0.4, 1000, PAIR, None, 1.0)
    assert first.delta == 0.1
    asking(thetas=[0.1, 0.4], max_mean=3.0)
    assert quick["CTO_SIM"] == (2, 0.4, 1000, PAIR, [0.1, 0.4], 3.0)
    second = asking(constants=True, delta=0.2)
    assert [g.algorithm for g in second.guarantees] == ["SWA", "wSWA", "D-CTO_UCB"]
    assert quick["D-CTO_UCB"] == (2, 0.4, 1000, PAIR, True, None, 0.2, 1.0)
    asking(constants=[0.5, 0.25], thetas=[0.1, 0.4])
    assert quick["D-CTO_UCB"] == (2, 0.4, 1000, PAIR, [0.5, 0.25], [0.1, 0.4], 0.1, 1.5)
    asking(constants=[-0.5, -0.25])
    assert quick["D-CTO_UCB"][-1] == 1.0
    halved = models.MixedFamily((models.Scaled(models.Polynomial(0.3), 0.5), models.Constant(0.8)))
    assert asking(family=halved).max_mean == 0.8
    assert asking(family=models.Polynomial().over([0.1, 0.4])).max_mean == 1.0  # of the first pull
    best = asking(family=None, max_mean=3.0).guarantees[0]
    assert best.note == f"alpha = {theory.best_alpha(3.0):.3g}"
    assert asking(family=None, max_mean=3.0, alpha=0.7).guarantees[0].note == "alpha = 0.7"
    known = asking(family=None, max_mean=2.0)
    assert [g.algorithm for g in known.guarantees] == ["SWA", "wSWA"]
    assert known.assumptions == ()
    assert (known.trivial, known.lower_order) == (2000.0, 0.4 * math.sqrt(2000))
    assert (known.max_mean, known.sigma, known.horizon) == (2.0, 0.4, 1000)


@pytest.mark.usefixtures("quick")
def test_the_lowest_constant_decides_whether_arms_stay_positive() -> None:
    """It replaces the family's own verdict on rotting; the others stay."""
    for constants, holds in (([0.5, 0.25], True), ([0.5, -2.0], False), ([-2.0, 0.5], False)):
        found = asking(constants=constants).assumptions
        assert [v.assumption for v in found] == ["2.1", "4.1", "4.2", "4.3"]
        assert found[0] == check_rotting(*PAIR.members, constant=min(constants))
        assert found[0].holds is holds
        assert found[1:] == asked_of(PAIR)[1:]
    assert asking(constants=True).assumptions == asked_of(PAIR)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("constants", "name", "failed"),
    [(False, "CTO_SIM", "4.1 and 4.2"), (True, "D-CTO_UCB", "4.1 and 4.3")],
)
def test_which_assumptions_a_guarantee_needs(constants: bool, name: str, failed: str) -> None:
    found = asking(family=STEEP, constants=constants).guarantees[-1]
    assert found.algorithm == name
    assert found.note == f"no guarantee: Assumption {failed} fails"


def test_only_what_fails_is_named() -> None:
    names = [("2.1", False), ("4.1", True), ("4.2", False), ("4.3", None)]
    verdicts = [Verdict(name, holds, "") for name, holds in names]
    assert advice_module._failed(verdicts, "4.1", "4.2") == ["4.2"]
    assert advice_module._failed(verdicts, "4.1", "4.3") == []


@pytest.mark.usefixtures("quick")
def test_the_policy_is_that_of_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in CHOICES:
        monkeypatch.setitem(CHOICES, name, name)
    assert asking().policy == "family"
    assert asking(constants=True).policy == "family_and_constants"
    assert asking(constants=[0.1, 0.2]).policy == "family_and_constants"
    assert asking(family=None, max_mean=1.0).policy == "nothing_known"


def test_the_least_bound_that_means_something_is_named() -> None:
    def guarantee(name: str, bound: float, vacuous: bool) -> theory.Guarantee:
        return theory.Guarantee(name, "", bound, vacuous, 1, None, "")

    none = [guarantee("A", 5.0, True), guarantee("B", math.inf, False)]
    words = advice_module._in_words("P", none)
    assert words.startswith("P, for little regret")
    assert words.endswith("No algorithm of the paper has a guarantee that says anything here.")
    some = [*none, guarantee("C", 70.0, False), guarantee("D", 60.0, False)]
    assert advice_module._in_words("P", some).endswith("With a proof: D, regret at most 60.")


@pytest.mark.usefixtures("quick")
def test_advice_as_data_table_and_text() -> None:
    advice = asking()
    data = advice.data()
    assert data["assumptions"][1] == {"assumption": "4.1", "holds": True, "why": ""}
    assert data["guarantees"][2]["algorithm"] == "CTO_SIM"
    assert (data["arms"], data["policy"], data["use"]) == (2, advice.policy, advice.use)
    rows = advice.rows()
    assert rows[2] == ["CTO_SIM", "Theorem", "5", "meaningful", "7", "3", "note"]
    assert rows[0][5] == ""
    assert len(HEADER) == len(rows[0])
    text = str(advice).splitlines()
    assert text[4] == (
        "CTO_SIM (Theorem): bound 5, meaningful at this horizon, meaningful from T = 7. note"
    )
    assert text[5:9] == [str(verdict) for verdict in advice.assumptions]
    assert text[9] == f"Use: {advice.use}"
