"""The searches behind star-downs, m* and T*_SIM, on conditions whose answers are known."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rotting import models, theory
from rotting.models import Family
from rotting.theory import _far, _parametric, _samples, _star_down
from rotting.theory._balance import FARTHEST
from rotting.theory._detection import wrong_nearest
from rotting.theory._star_down import StarDown


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_star_down, "_BLOCK", 4)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("limit", [0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 24])
def test_blocks_have_every_number_once(limit: int, step: int) -> None:
    blocks = [block.tolist() for block in _star_down.blocks_down(limit, step)]
    assert all(len(block) == 4 for block in blocks[:-1])
    assert all(0 < len(block) <= 4 for block in blocks)
    assert [n for block in reversed(blocks) for n in block] == list(range(step, limit + 1, step))
    if step == 1:
        assert [block.tolist() for block in _star_down.blocks_down(limit)] == blocks


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("seed", range(8))
def test_the_last_above_a_level(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, 31).astype(float)
    for level in (-1.0, 0.0, 1.0, 2.0, 3.0):
        for limit in (1, 3, 4, 5, 17, 30):
            for step in (1, 2):
                above = [n for n in range(step, limit + 1, step) if values[n] > level]
                found = _star_down.last_above(lambda n: values[n], level, limit, step)
                assert found == max(above, default=0)
            whole = [n for n in range(1, limit + 1) if values[n] > level]
            answer = max(whole, default=0) + 1
            expected = math.inf if answer > limit else answer
            down = _star_down.star_down(lambda n: values[n], level, limit)
            assert down == StarDown(expected, expected, limit)
            slow = _star_down.star_down(lambda n: values[n], level, limit, vectorised=False)
            assert slow == down


def test_star_downs_are_refused() -> None:
    with pytest.raises(ValueError, match="limit must be an integer >= 1, got 0"):
        _star_down.star_down(lambda n: n, 1.0, limit=0)
    with pytest.raises(ValueError, match="level must be a finite number"):
        _star_down.star_down(lambda n: n, math.nan)
    a, b = models.Polynomial(0.1), models.Polynomial(0.4)
    for wrong in (0.0, -1.0):
        with pytest.raises(ValueError, match="level must be a number > 0"):
            theory.det_star(a, b, 1.0, wrong)
        with pytest.raises(ValueError, match="sigma must be a number > 0"):
            theory.ddet_star(a, b, wrong, 1.0)
    with pytest.raises(ValueError, match=r"sigma must be a number > 0 and <= 1e\+100"):
        theory.det_star(a, b, 1.1e100, 1.0)
    assert theory.det_star(a, b, 1e100, 1e199).exact


def test_a_level_that_is_met_is_not_exceeded() -> None:
    """det falls; its value at 50 is a level that holds from 50 on. The proof begins at 90."""
    a, b = models.Plateau(0.1, 10), models.Plateau(0.4, 10)
    level = float(theory.det(a, b, 1.0, 50))
    assert theory.det_star(a, b, 1.0, level) == StarDown(50, 50)
    assert theory.det_star(a, b, 1.0, 0.999999 * level).low == 51


def test_exact_is_one_proved_number() -> None:
    assert StarDown(7, 7).exact
    assert StarDown(math.inf, math.inf).exact
    assert not StarDown(7, 8).exact
    assert not StarDown(7, 7, 1000).exact
    assert float(StarDown(7, 8)) == 8.0


def no_search(n: Any) -> Any:
    raise AssertionError(f"nothing is to be searched, but {n} was")


@pytest.mark.parametrize("start", [1, 2, 9])
@pytest.mark.parametrize("border", [10, 11, 30, 31])
def test_a_condition_that_begins_to_hold_after_the_start(start: int, border: int) -> None:
    if border > start:
        found = _star_down.last_failing(lambda n: n >= border, start, "sum", no_search)
        assert found == (border, border)


@pytest.mark.parametrize("start", [4, 5])
@pytest.mark.parametrize("even", [2, 4, 6, 8, 20])
@pytest.mark.parametrize("odd", [3, 5, 7, 19])
def test_even_and_odd_numbers_apart(start: int, even: int, odd: int) -> None:
    """The last that fails, of both; before the start everything is searched."""

    def holds(n: int) -> bool:
        return n >= (even if n % 2 == 0 else odd)

    def fails(n: Any) -> Any:
        return np.array([not holds(int(k)) for k in n])

    last = max(n for n in range(1, 40) if not holds(n))
    assert _star_down.last_failing(holds, start, "difference", fails) == (last + 1, last + 1)


def test_what_holds_at_the_start_is_searched_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as LIMIT; if the start is further, the answer is an interval."""
    for last in (0, 3, 7):
        found = _star_down.last_failing(
            lambda n: True, 8, "sum", functools.partial(operator.eq, last)
        )
        assert found == (last + 1, last + 1)
    monkeypatch.setattr(_star_down, "LIMIT", 6)
    assert _star_down.last_failing(lambda n: True, 7, "sum", lambda n: n == 6) == (7, 7)
    assert _star_down.last_failing(lambda n: True, 7, "sum", lambda n: n == 3) == (4, 4)
    assert _star_down.last_failing(lambda n: True, 5, "sum", lambda n: n == 5) == (1, 1)
    assert _star_down.last_failing(lambda n: True, 8, "sum", lambda n: n == 6) == (7, 8)
    assert _star_down.last_failing(lambda n: True, 8, "sum", lambda n: n == 7) == (1, 8)


def test_very_far_and_never() -> None:
    never: tuple[float, float] = (FARTHEST, math.inf)
    assert _star_down.last_failing(lambda n: False, 5, "sum", no_search) == never
    assert _star_down.last_failing(lambda n: n % 2 == 0, 5, "difference", no_search) == never
    late = _star_down.last_failing(lambda n: n % 2 == 0 and n >= 20, 5, "difference", no_search)
    assert late == never
    near = 10**40 - 1
    assert _star_down.last_failing(lambda n: n >= near, 5, "sum", no_search) == (near, near)
    low, high = _star_down.last_failing(lambda n: n >= 10**40, 5, "sum", no_search)
    assert low < 10**40 < high
    assert low == pytest.approx(1e40, rel=2e-12)
    assert high == pytest.approx(1e40, rel=2e-12)


def test_the_hardest_pair() -> None:
    """The largest of all pairs; searched as far as the least of what was searched."""
    family = models.Polynomial().over([0.1, 0.2, 0.4])
    pairs = [(0.1, 0.2), (0.1, 0.4), (0.2, 0.4)]
    for rule, one in (("sum", theory.det_star), ("difference", theory.ddet_star)):
        found = theory.hardest_star(family, 0.3, 0.05, rule)
        stars = [one(models.Polynomial(a), models.Polynomial(b), 0.3, 0.05) for a, b in pairs]
        assert found == max(stars, key=float)
        assert found.exact
    assert theory.hardest_star(family, 1e-6, 1e9) == StarDown(2, 2)  # all begin with 1
    one_model = models.Polynomial().over([0.3])
    assert theory.hardest_star(one_model, 1.0, 1.0) == StarDown(1, 1)


def test_of_unknown_tails_the_answer_says_how_far_it_was_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[int] = []

    def fake(first: Any, second: Any, sigma: float, level: float, rule: str) -> StarDown:
        looked.append(len(looked))
        return [StarDown(5, 5), StarDown(3, 9, 70), StarDown(4, 4, 60)][len(looked) - 1]

    monkeypatch.setattr(_star_down, "_star", fake)
    found = _star_down.hardest_star(models.Polynomial().over([0.1, 0.2, 0.4]), 1.0, 1.0)
    assert found == StarDown(5, 9, 60)


# --- m*


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_the_last_that_is_misdetected_too_often(seed: int, step: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 5, (3, 31)) / 4
    for p in (0.0, 0.25, 0.75, 1.0):
        for limit in (1, 4, 5, 30):
            for wanted in ([True] * 3, [False, True, False], [False] * 3):
                found = _samples._last_above(lambda n: table[:, n], p, limit, step, wanted)
                expected = [
                    max((n for n in range(step, limit + 1, step) if table[k, n] > p), default=0)
                    for k in range(3)
                ]
                assert found == [n * asked for n, asked in zip(expected, wanted, strict=True)]


def test_no_block_is_worked_out_once_all_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_star_down, "_BLOCK", 4)
    asked: list[int] = []

    def wrong(n: Any) -> Any:
        asked.append(int(n[0]))
        return np.ones((2, n.size))

    assert _samples._last_above(wrong, 0.5, 12, 1, [True, True]) == [12, 12]
    assert asked == [9]


@pytest.mark.parametrize("start", [2, 3, 10])
def test_the_last_of_a_chain(start: int) -> None:
    for border in range(start - 2, start + 30):
        failing = [n for n in range(start, border, 2) if n < border]
        found = _samples._last_of_chain(functools.partial(operator.le, border), start)
        assert found == max(failing, default=0)
    assert _samples._last_of_chain(lambda n: n >= 10**99, start) > 10**98
    assert _samples._last_of_chain(lambda n: n >= 3 * 10**100, start) == math.inf
    assert _samples._last_of_chain(lambda n: False, start) == math.inf


@pytest.mark.parametrize("rule", ["sum", "difference"])
@pytest.mark.parametrize("method", ["exact", "bound"])
def test_far_out_it_is_the_same_as_near(
    rule: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """60-digit sums against floats, at a p just below and just above the probability."""
    family = models.Polynomial().over([0.3, 0.1, 0.45])
    for n in (40, 41):
        exact = theory.misdetection(family, n, 0.3, rule, method, 0.2)[:, 0]
        for near in (0, 1 << 30):
            monkeypatch.setattr(_samples, "_NEAR", near)
            for k in range(3):
                for p, expected in ((1.0001 * exact[k], True), (0.9999 * exact[k], False)):
                    sure = _samples._far_wrong(family, k, p, 0.3, rule, method, 0.2)
                    assert bool(sure(n)) is expected


@pytest.mark.parametrize("near", [0, 1 << 30])
def test_a_probability_of_exactly_p_is_safe(near: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_samples, "_NEAR", near)
    family = models.Polynomial().over([0.3, 0.1, 0.45])
    p = float(theory.misdetection(family, 40, 0.3)[1, 0])
    if near == 0:
        own = _far.statistic(family.members[1], 40, "sum")
        gaps = [[float(_far.statistic(m, 40, "sum") - own)] for m in family.members]
        spread = np.array([0.3 * math.sqrt(40)])
        p = float(wrong_nearest(np.array(gaps), spread, np.zeros(1), "exact")[1, 0])
    assert _samples._far_wrong(family, 1, p, 0.3, "sum", "exact", 0.0)(40)


def test_numbers_that_no_table_holds() -> None:
    family = models.Polynomial().over([0.1, 0.4])
    sure = _samples._far_wrong(family, 0, 1e-9, 1.0, "difference", "exact", 0.0)
    assert sure(10**20)
    assert sure(10**20 + 1)


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("limit", [2, 3, 50, 51])
def test_families_of_which_nothing_is_proved(even: bool, limit: int) -> None:
    """Every n up to the limit is looked at; infinite if the last of them is not safe."""
    family = Family.of([models.Step(5, 1.0, 0.2), models.Constant(0.8), models.Step(20, 0.9, 0.1)])
    step = 2 if even else 1
    for p in (0.3, 0.02, 0.9):
        found = theory.m_star(family, p, 0.7, even=even, limit=limit)
        n = np.arange(step, limit + 1, step)
        wrong = theory.misdetection(family, n, 0.7)
        for k in range(3):
            above = n[wrong[k] > p]
            last = int(above[-1]) if above.size else 0
            assert found[k] == (math.inf if last == n[-1] else last + step)


def test_models_that_are_never_told_apart() -> None:
    """0.6 and 0.7 come to a halt; 0.1 differs from both. With p of a half nothing is proved."""
    family = models.Polynomial().over([0.6, 0.1, 0.7])
    found = theory.m_star(family, 0.01, 0.1, limit=2000)
    assert math.isinf(found[0])
    assert math.isinf(found[2])
    assert found[1] == theory.m_star(family, 0.01, 0.1, limit=2001)[1] < 2000
    easy = theory.m_star(family, 0.6, 0.1, limit=2000)
    assert np.all(np.isfinite(easy))
    assert _samples._never_separated(family, "sum") == {0, 2}
    assert math.isinf(float(_samples.settled_from(family, "sum") or 0))
    half = theory.m_star(family, 0.5, 1e-9, limit=2000)
    assert np.all(np.isfinite(half))


def test_what_is_settled() -> None:
    assert _samples.settled_from(models.Polynomial().over([0.3]), "sum") == 2
    mixed = Family.of([models.Polynomial(0.1), models.Step(5, 1.0, 0.2)])
    assert _samples.settled_from(mixed, "sum") is None
    also = Family.of([models.Polynomial(0.6), models.Polynomial(0.7), models.Step(5, 1.0, 0.2)])
    assert _samples.settled_from(also, "sum") == math.inf
    three = models.Plateau(length=4).over([0.1, 0.2, 0.4])
    starts = [
        _samples.settled_from(models.Plateau(length=4).over(list(pair)), "difference")
        for pair in ((0.1, 0.2), (0.1, 0.4), (0.2, 0.4))
    ]
    assert _samples.settled_from(three, "difference") == max(s for s in starts if s is not None)


def test_a_start_that_was_not_searched_up_to_is_an_upper_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before the proved start few n are searched; then the start itself is returned."""
    family = models.Plateau(length=100).over([0.1, 0.4])
    start = _samples.settled_from(family, "sum")
    assert start == 900
    assert theory.m_star(family, 0.01, 0.01).tolist() == [102, 102]
    assert _samples._FARTHEST_SEARCH == 2**26  # as the documentation of m_star says
    monkeypatch.setattr(_samples, "_FARTHEST_SEARCH", 600)
    assert theory.m_star(family, 0.01, 0.01, limit=500).tolist() == [900, 900]
    assert theory.m_star(family, 0.01, 0.01, limit=898).tolist() == [900, 900]
    assert theory.m_star(family, 0.01, 0.01, limit=899).tolist() == [102, 102]


def test_no_number_beyond_the_limit_is_looked_at() -> None:
    """After four pulls the two have the same sum; the limit is three."""
    family = Family.of([models.Step(2, 1.0, 0.0), models.Constant(0.5)])
    assert theory.misdetection(family, 4, 0.01)[1, 0] == 1.0
    assert theory.m_star(family, 0.1, 0.01, even=True, limit=3).tolist() == [2, 2]
    assert math.isinf(theory.m_star(family, 0.1, 0.01, even=True, limit=4)[1])


def test_even_numbers_from_an_odd_start_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is proved of 4 where the proof begins at 5."""
    monkeypatch.setattr(_samples, "settled_from", lambda *_: 5)
    monkeypatch.setattr(_samples, "_far_wrong", lambda *_: lambda n: n == 4 or n >= 10)
    family = models.Polynomial().over([0.1, 0.4])
    assert theory.m_star(family, 0.01, 0.1, even=True).tolist() == [10, 10]
    assert theory.m_star(family, 0.01, 0.1).tolist() == [10, 10]
    monkeypatch.setattr(_samples, "_far_wrong", lambda *_: lambda n: n >= 9)
    assert theory.m_star(family, 0.01, 0.1, even=True).tolist() == [10, 10]
    assert theory.m_star(family, 0.01, 0.1).tolist() == [9, 9]


def test_all_numbers_and_no_constant_unless_asked_for() -> None:
    family = models.Polynomial().over([0.1, 0.4])
    plain = theory.m_star(family, 0.05, 0.05, "difference")
    assert (
        plain.tolist()
        == theory.m_star(
            family, 0.05, 0.05, "difference", "exact", even=False, constant=0.0
        ).tolist()
    )
    odd = theory.m_star(family, 0.01, 1.0)
    assert odd.tolist() == [109, 109]
    assert theory.m_star(family, 0.01, 1.0, even=True).tolist() == [110, 110]
    other = theory.m_star(family, 0.05, 0.05, "difference", constant=1.0)
    assert other.tolist() != plain.tolist()
    start = _samples.settled_from(family, "difference")
    assert start == _samples.settled_from(family, "difference", 0.0)
    assert start != _samples.settled_from(family, "difference", 1.0)


def test_m_star_refuses() -> None:
    family = models.Polynomial().over([0.1, 0.4])
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"p": 1.0}, "p must be a number > 0 and < 1"),
        ({"p": 0.0}, "p must be a number > 0 and < 1"),
        ({"sigma": 0.0}, "sigma must be a number > 0"),
        ({"sigma": 1.1e100}, r"sigma must be a number > 0 and <= 1e\+100"),
        ({"constant": 1.1e100}, r"constant must be a number >= -1e\+100 and <= 1e\+100"),
        ({"constant": -1.1e100}, r"constant must be a number >= -1e\+100 and <= 1e\+100"),
        ({"limit": 1}, "limit must be an integer >= 2, got 1"),
    ]
    for change, words in wrong:
        with pytest.raises(ValueError, match=words):
            theory.m_star(**({"family": family, "p": 0.1, "sigma": 1.0, **change}))
    assert theory.m_star(family, 0.1, 0.1, limit=2).size == 2


def test_m_star_in_any_unit() -> None:
    """Means, noise and constant three times as large need as many pulls."""
    family = models.Polynomial().over([0.1, 0.4])
    tripled = models.Scaled(models.Polynomial(), 3.0).over([0.1, 0.4])
    for options in ({}, {"rule": "difference", "constant": 0.2}):
        larger = options | ({"constant": 0.6} if options else {})
        one = theory.m_star(family, 0.05, 0.2, **options)  # type: ignore[arg-type]
        other = theory.m_star(tripled, 0.05, 0.6, **larger)  # type: ignore[arg-type]
        assert one.tolist() == other.tolist()


# --- T*_SIM


@pytest.mark.parametrize("farthest", [2, 3, 10, 50])
def test_the_least_horizon(farthest: int) -> None:
    """Of needs that never fall: from there to the farthest each horizon is enough."""
    rng = np.random.default_rng(farthest)
    for _ in range(30):
        steps = np.sort(rng.integers(1, rng.integers(2, 60), 60)).astype(float)
        asked = functools.partial(lambda s, t: float(s[t]), steps)
        enough = [asked(t) <= t for t in range(farthest + 1)]
        expected = math.inf
        for t in range(farthest, 1, -1):
            if not enough[t]:
                break
            expected = t
        assert _parametric._least_horizon(asked, farthest) == expected


def test_where_the_arms_models_are() -> None:
    family = models.Polynomial().over([0.1, 0.2, 0.4])
    assert _parametric._places(5, family) == (5, [0, 1, 2])
    assert _parametric._places(1, family) == (1, [0, 1, 2])
    assert _parametric._places([0.4, 0.1, 0.4], family) == (3, [2, 0, 2])
    with pytest.raises(ValueError, match="arms must be an integer >= 1, got 0"):
        _parametric._places(0, family)
    with pytest.raises(ValueError, match="arms must hold at least one theta"):
        _parametric._places([], family)
    with pytest.raises(ValueError, match="theta must be a finite number"):
        _parametric._places([math.nan], family)


def test_how_far_t_sim_may_look() -> None:
    family = models.Polynomial().over([0.1, 0.4])
    for wrong in (1, 10**140 + 1):
        with pytest.raises(ValueError, match="farthest must be an integer from 2 to"):
            theory.t_sim(2, family, 0.1, farthest=wrong)
    assert theory.t_sim(2, family, 0.1, farthest=2) == math.inf
    assert theory.t_sim(2, family, 0.1, farthest=10**140) == theory.t_sim(2, family, 0.1)


THREE = models.Polynomial().over([0.1, 0.2, 0.4])


def detected_after(*pulls: float) -> Callable[..., Any]:
    return lambda *_: np.array(pulls)


def test_t_sim_by_its_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where m* is 3, 9 and 5 whatever the horizon: each arm's pulls until mu is small enough."""
    monkeypatch.setattr(_parametric, "m_star", detected_after(3.0, 9.0, 5.0))
    # M = 5, and N^-0.1 <= 5^-0.4 at N = 625, one pull earlier by Theorem 4.1
    assert theory.t_sim([0.1, 0.4], THREE, 1.0) == 624 + 5
    assert theory.t_sim([0.4, 0.4], THREE, 1.0) == 5 + 5
    assert theory.t_sim([0.1], THREE, 1.0) == 3**4 - 1
    assert theory.t_sim([0.2, 0.2], THREE, 1.0) == 2 * (9**2 - 1)
    assert theory.t_sim(3, THREE, 1.0) == 3 * (9**4 - 1)  # the worst that three arms can have
    monkeypatch.setattr(_parametric, "m_star", detected_after(3.0, math.inf, 5.0))
    assert theory.t_sim([0.2], THREE, 1.0) == math.inf
    assert theory.t_sim([0.1], THREE, 1.0) == 3**4 - 1


def test_t_sim_asks_for_one_over_k_t_squared(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def m_star(family: Any, p: float, sigma: float) -> Any:
        asked.append(p)
        return np.array([3.0, 3.0, 3.0])

    monkeypatch.setattr(_parametric, "m_star", m_star)
    theory.t_sim([0.4, 0.4], THREE, 1.0, farthest=100)
    assert asked[0] == 1 / (2 * 100**2)
    theory.t_sim(5, THREE, 1.0)
    assert 1 / (5 * 1e60**2) in asked  # as far as it looks by default


def test_t_sim_in_any_unit() -> None:
    pair = models.Polynomial().over([0.1, 0.45])
    tripled = models.Scaled(models.Polynomial(), 3.0).over([0.1, 0.45])
    assert theory.t_sim(2, pair, 0.02) == theory.t_sim(2, tripled, 0.06)
    for found in (theory.t_sim, theory.t_sim_by_balance):
        with pytest.raises(ValueError, match="sigma must be a number > 0"):
            found(2, pair, 0.0)
    with pytest.raises(ValueError, match="arms must be an integer >= 1"):
        theory.t_sim_by_balance(0, pair, 1.0)


def test_t_sim_by_balance_by_its_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where bal is 10 whatever n is: 10 <= n / (K sqrt(2 K)), over sqrt(2 K)."""
    levels: list[float] = []
    sigmas: list[float] = []

    def hardest(family: Any, sigma: float, level: float) -> StarDown:
        levels.append(level)
        sigmas.append(sigma)
        return StarDown(7, 7)

    def bal(family: Any, n: float) -> float:
        return 10 if n == 7 else n

    monkeypatch.setattr(_parametric, "hardest_star", hardest)
    monkeypatch.setattr(_parametric, "bal", bal)
    tripled = models.Scaled(models.Polynomial(), 3.0).over([0.1, 0.45])
    for arms in (1, 2, 3):
        root = math.sqrt(2 * arms)
        expected = math.ceil(10 * arms * root) / root
        assert theory.t_sim_by_balance(arms, tripled, 0.6) == pytest.approx(expected)
    assert levels[0] == pytest.approx(1 / (16 * math.log(10**100)))
    assert sigmas[0] == pytest.approx(0.2)
    monkeypatch.setattr(_parametric, "hardest_star", lambda *_: StarDown(math.inf, math.inf))
    assert theory.t_sim_by_balance(2, tripled, 0.6) == math.inf


def test_ctos_bound_is_the_largest_first_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    mixed = Family.of([models.Polynomial(0.1), models.Constant(2.0), models.Constant(0.5)])
    monkeypatch.setattr(_parametric, "t_sim", lambda *_: 50)
    assert theory.cto_regret_bound(3, mixed, 1.0, 50) == 2.0
    assert theory.cto_regret_bound(3, mixed, 1.0, 49) == 98.0


def test_the_pulls_of_another_arm() -> None:
    """The least over all epsilon = mu(N) of max(N, 32 sigma^2 ln T / (gap - epsilon)^2)."""
    for model in (models.Polynomial(0.5), models.Plateau(0.4, 3), models.Exponential(0.2)):
        for gap, sigma, horizon in (
            (0.3, 0.1, 1000),
            (0.5, 0.02, 50),
            (1.5, 0.01, 9),
            (1.5, 0.073, 9),
        ):
            expected = min(
                max(n, 32 * sigma**2 * math.log(horizon) / (gap - float(model.mean(n))) ** 2)
                for n in range(1, 3000)
                if float(model.mean(n)) < gap
            )
            found = _parametric._pulls_of_other_arm(model, gap, sigma, horizon)
            assert found == pytest.approx(expected)
    never = _parametric._pulls_of_other_arm(models.Constant(0.5), 0.5, 0.1, 100)
    assert math.isinf(never)


def test_the_bound_of_dcto_ucb_term_by_term() -> None:
    """Of two arms: pulls and pi^2/3 + 1 of (gap + top), and what the arm pays until mu is small."""
    own, sigma, horizon = [models.Polynomial(0.4), models.Plateau(0.5, 2)], 0.05, 500
    constants = [0.3, 0.9]
    gap, top = 0.6, 1.0
    pulls = max(40.0, _parametric._pulls_of_other_arm(own[0], gap, sigma, horizon))
    last = next(n for n in range(1, 999) if n**-0.4 <= gap)
    early = sum(n**-0.4 + 0.3 for n in range(1, last + 1))
    expected = (pulls + math.pi**2 / 3 + 1) * (gap + top) + early
    found = theory.dcto_ucb_regret_bound(own, constants, sigma, horizon, 40.0)
    assert found == pytest.approx(expected)
    assert theory.dcto_ucb_regret_bound(own[:1], [0.3], sigma, horizon, 40.0) == 0.0
    flat = [models.Constant(0.5), models.Polynomial(0.4)]
    bound = theory.dcto_ucb_regret_bound(flat, [0.0, 0.4], sigma, horizon, 40.0)
    assert math.isinf(bound)  # never as small as the gap
    wrong: list[tuple[Callable[[], float], str]] = [
        (lambda: theory.dcto_ucb_regret_bound(own, [0.1], 1.0, 5, 1.0), "constants must be one"),
        (lambda: theory.dcto_ucb_regret_bound([], [], 1.0, 5, 1.0), "constants must be one"),
        (lambda: theory.dcto_ucb_regret_bound(own, constants, 0.0, 5, 1.0), "sigma must be"),
        (lambda: theory.dcto_ucb_regret_bound(own, constants, 1.1e100, 5, 1.0), "sigma must be"),
        (lambda: theory.dcto_ucb_regret_bound(own, constants, 1.0, 0, 1.0), "horizon must be"),
        (lambda: theory.dcto_ucb_regret_bound(own, [0.1, math.nan], 1.0, 5, 1.0), "constant must"),
    ]
    for work, words in wrong:
        with pytest.raises(ValueError, match=words):
            work()
    assert theory.dcto_ucb_regret_bound(own, constants, sigma, 1, 0.0) < found


def test_sums_of_first_means() -> None:
    assert _parametric.sum_at(models.Polynomial(0.5), 3) == pytest.approx(1 + 2**-0.5 + 3**-0.5)
    assert _parametric.sum_at(models.Step(2, 1.0, 0.25), 4) == 2.5
    assert _parametric.sum_at(models.Polynomial(0.5), 10**30) == pytest.approx(2e15)
