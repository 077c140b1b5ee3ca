"""compare and tune."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from helpers.cases import scenarios
from rotting import compare, policies, simulate, tune
from rotting._experiments.tuning import GRID_RUNS_START
from rotting.papers import levine2017

SCENARIO = scenarios()["constants"]


def test_compare_is_simulate_policy_by_policy() -> None:
    found = compare([policies.UCB1(), policies.Uniform()], SCENARIO, runs=12, seed=3)
    alone = simulate(policies.UCB1(), SCENARIO, runs=12, seed=3)
    np.testing.assert_array_equal(found["UCB1"].regret, alone.regret)
    a, b = found["UCB1"].final_regret, found["Uniform"].final_regret
    assert found.wins["UCB1"]["Uniform"] == np.sum(a < b)
    assert found.wins["UCB1"]["Uniform"] + found.wins["Uniform"]["UCB1"] == 12
    expected = scipy_stats.ttest_rel(a, b).pvalue
    assert found.p_values["UCB1"]["Uniform"] == pytest.approx(expected)
    assert found.p_values["Uniform"]["UCB1"] == found.p_values["UCB1"]["Uniform"]
    summary = found.summary()
    assert summary["policies"] == ["UCB1", "Uniform"]
    assert summary["interval_95"]["UCB1"][0] < summary["mean_regret"]["UCB1"]


def test_names() -> None:
    named = compare({"a": policies.UCB1(), "b": policies.UCB1()}, SCENARIO, runs=2)
    assert named.p_values["a"]["b"] == 1.0  # the same policy has the same noise
    for wrong, words in (
        (
            [policies.UCB1(), policies.UCB1()],
            "policies must differ or be given names, got UCB1 twice",
        ),
        ([], "at least one policy"),
        ([3], "policies must be Policy objects, got 3"),
    ):
        with pytest.raises(ValueError, match=words):
            compare(wrong, SCENARIO, runs=2)  # type: ignore[arg-type]


def test_against_one_policy() -> None:
    """Holm over K - 1 pairs, the others left out, and the difference with a paired interval."""
    played = [policies.UCB1(), policies.Uniform(), policies.RoundRobin()]
    found = compare(played, SCENARIO, runs=12, engine="reference", against="Uniform")
    everyone = compare(played, SCENARIO, runs=12, engine="reference")
    a, b = found["UCB1"].final_regret, found["Uniform"].final_regret
    interval = scipy_stats.ttest_rel(a, b).confidence_interval()
    assert found.differences["UCB1"] == pytest.approx((np.mean(a - b), *interval))
    assert set(found.differences) == {"UCB1", "RoundRobin"}
    assert set(found.p_values["UCB1"]) == {"Uniform"}
    p_values = {name: everyone.p_values[name]["Uniform"] for name in found.differences}
    least = min(p_values, key=p_values.__getitem__)
    assert found.p_values["Uniform"] == p_values
    assert found.holm[least]["Uniform"] == pytest.approx(min(1.0, 2 * p_values[least]))
    assert everyone.holm[least]["Uniform"] >= found.holm[least]["Uniform"]
    assert found.wins == everyone.wins
    summary = found.summary()
    assert summary["compared_with"] == "Uniform"
    assert summary["difference"]["UCB1"] == found.differences["UCB1"].mean
    assert not {"compared_with", "difference"} & everyone.summary().keys()
    rows = {row["policy"]: row for row in found.rows()}
    assert rows["UCB1"]["difference"] == found.differences["UCB1"].mean
    assert np.isnan(rows["Uniform"]["p_value_holm"])
    assert "difference" not in everyone.rows()[0]


def test_against_a_policy_that_does_not_play() -> None:
    with pytest.raises(ValueError, match="unknown policy to compare with 'UBC1'; did you mean"):
        compare([policies.UCB1(), policies.Uniform()], SCENARIO, runs=2, against="UBC1")
    with pytest.raises(ValueError, match="another policy to compare with UCB1, got none"):
        compare([policies.UCB1()], SCENARIO, runs=2, against="UCB1")


def test_a_scenario_without_its_brackets() -> None:
    told = r"scenario must be a Scenario, got <function av .*; did you mean av\(\)\?"
    forgotten: Any = levine2017.av
    for play in (
        lambda: compare([policies.UCB1()], forgotten, runs=2),
        lambda: simulate(policies.UCB1(), forgotten, runs=2),
        lambda: tune(policies.UCB1(), {"c": [1.0]}, forgotten, runs=2),
    ):
        with pytest.raises(ValueError, match=told):
            play()


def test_a_summary_says_what_was_played() -> None:
    class First:
        def select(self) -> int:
            return 0

        def update(self, arm: int, reward: float) -> None:
            pass

    played: Any = {"UCB1": policies.UCB1(), "mine": First()}
    found = compare(played, SCENARIO, runs=3, seed=4, noise="common")
    summary = found.summary()
    told = summary["provenance"]
    assert (told["seed"], told["noise"], told["horizon"]) == (4, "common", SCENARIO.horizon)
    assert told["engine"] == "cpu, reference"  # one's own object is not compiled
    assert {"scenario", "rotting", "python", "numpy"} <= told.keys()
    assert summary["worst_run"]["mine"] == found["mine"].final_regret.max()


def test_tune_keeps_the_least_regret_on_runs_of_its_own() -> None:
    found = tune(policies.UCB1(), {"c": [0.05, 0.5, 5.0]}, SCENARIO, runs=20, seed=1)
    means = [row["mean_regret"] for row in found.rows()]
    assert found.chosen["c"] == [0.05, 0.5, 5.0][means.index(min(means))]
    assert found.best == policies.UCB1(c=found.chosen["c"])
    apart = simulate(policies.UCB1(c=0.5), SCENARIO, runs=20, seed=1, first_run=GRID_RUNS_START)
    np.testing.assert_array_equal(found.results[1].regret, apart.regret)
    same = simulate(policies.UCB1(c=0.5), SCENARIO, runs=20, seed=1)
    assert np.all(same.final_regret != apart.final_regret)


def test_a_grid_is_a_product() -> None:
    grid: dict[str, list[Any]] = {"alpha": [0.1, 0.2], "restart": ["forget", "keep"]}
    found = tune(policies.WSWA(alpha=1, sigma=0.5), grid, SCENARIO, runs=2)
    assert len(found.rows()) == 4
    assert {p.restart for p in found.policies} == {"forget", "keep"}  # type: ignore[attr-defined]


def test_a_grid_may_be_any_ordered_values() -> None:
    for values in ((0.1, 2.0), (x for x in (0.1, 2.0)), np.array([0.1, 2.0])):
        found = tune(policies.UCB1(), {"c": values}, SCENARIO, runs=1, engine="reference")
        assert found.settings == [{"c": 0.1}, {"c": 2.0}]
        assert all(type(setting["c"]) is float for setting in found.settings)
        assert "nan" not in repr(found)


def test_a_comparison_as_a_frame() -> None:
    pytest.importorskip("pandas")
    found = compare([policies.UCB1(), policies.Uniform()], SCENARIO, runs=4, engine="reference")
    frame = found.to_frame()
    assert list(frame["policy"]) == ["UCB1", "Uniform"]
    summary = found.summary()
    for row in frame.to_dict("records"):
        name = row["policy"]
        assert row["runs"] == 4
        assert row["mean_regret"] == summary["mean_regret"][name]
        assert row["standard_error"] == summary["standard_error"][name]
        assert [row["low_95"], row["high_95"]] == summary["interval_95"][name]
        assert row["worst_run"] == found[name].final_regret.max()
        assert row["wins"] == sum(summary["wins"][name].values())
        assert row["mean_reward"] == found[name].total_reward.mean()
        assert row["parameters"] == summary["parameters"][name]
    curves = found.to_frame(curves=True)
    assert list(curves.columns) == ["policy", "run", "t", "regret"]
    last = curves[curves["t"] == SCENARIO.horizon]
    for name in found.results:
        np.testing.assert_array_equal(
            last[last["policy"] == name]["regret"], found[name].final_regret
        )
    grid = tune(policies.UCB1(), {"c": [0.1, 2.0]}, SCENARIO, runs=2, engine="reference")
    assert grid.to_frame().to_dict("records") == grid.rows()


def test_a_frame_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    found = compare([policies.UCB1()], SCENARIO, runs=1, engine="reference")
    monkeypatch.setitem(sys.modules, "pandas", None)
    for make in (found.to_frame, found["UCB1"].to_frame):
        with pytest.raises(ImportError, match=r"pip install 'rotting\[frames\]'"):
            make()


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: tune(policies.UCB1(), {"d": [1]}, SCENARIO), "unknown parameter of UCB1 'd'"),
    (lambda: tune(policies.UCB1(), {"c": []}, SCENARIO), "at least one value of c"),
    (lambda: tune(policies.UCB1(), {"c": 0.3}, SCENARIO), r"c a list of values, as {'c': \[0.3\]}"),  # type: ignore[dict-item]
    (lambda: tune(policies.UCB1(), {"c": "0.3"}, SCENARIO), r"as {'c': \['0.3'\]}, got '0.3'"),
    (lambda: tune(policies.UCB1(), {"c": {1: 2}}, SCENARIO), r"got {1: 2}"),
    (lambda: tune(policies.UCB1(), {"c": {1.5}}, SCENARIO), r"got {1.5}"),
    (lambda: tune(policies.UCB1(), {"c": np.array(0.3)}, SCENARIO), "a list of values"),
    (lambda: tune(policies.UCB1(), {"c": None}, SCENARIO), "a list of values"),  # type: ignore[dict-item]
    (lambda: tune(policies.UCB1(), [("c", [1])], SCENARIO), "must be a dict of lists"),  # type: ignore[arg-type]
    (lambda: tune(policies.UCB1(), {"c": [float("nan")]}, SCENARIO), "number > 0, got nan"),
    (
        lambda: tune(policies.WSWA(1.0, 0.5), {"alhpa": [0.3]}, SCENARIO),
        "unknown parameter of wSWA 'alhpa'; did you mean 'alpha'?",
    ),
    (lambda: tune(policies.UCB1(), {}, SCENARIO), "at least one parameter"),
    (lambda: tune(policies.UCB1(), {"c": [-1]}, SCENARIO), "c must be a number > 0, got -1"),
    (lambda: tune(3, {"c": [1]}, SCENARIO), "policy must be a Policy"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("work", "words"), WRONG, ids=[words for _, words in WRONG])
def test_bad_grids(work: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        work()
