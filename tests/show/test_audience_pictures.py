"""Pictures of an audience: what is drawn where, with and without bands."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rotting._experiments.final import Curve, Learnt
from rotting._experiments.results import Result
from rotting._experiments.shares import Standing
from rotting._show import plots
from rotting._show.audience import (
    as_data,
    cap_line,
    curve_table,
    curve_title,
    difference,
    share_table,
)
from rotting._show.audience_plots import curve_panel, share_dots
from rotting.theory._caps import Cap


def result(rewards: list[float], keys: str = "counted") -> Result:
    collected = np.array(rewards)
    regret = np.stack([5.0 - collected / 2.0, 10.0 - collected], axis=1)
    nothing = np.full(len(rewards), math.nan)
    pulls = np.full((len(rewards), 2), 3)
    return Result(np.array([3, 7]), regret, pulls, collected, nothing, {"keys": keys})


def standing(runs: int = 3) -> Standing:
    results = {
        "ours": result([9.0, 8.0, 9.5][:runs]),
        "Capped(cap=2)": result([8.5, 7.0, 9.0][:runs]),
        "Thompson": result([8.0, 6.5, 8.5][:runs], "ignored"),
    }
    return Standing("here", results, "ours", ["Capped(cap=2)", "Thompson"])


@pytest.mark.parametrize("runs", [1, 3])
def test_shares_are_dots_and_hollow_where_keys_are_ignored(runs: int, tmp_path: Path) -> None:
    found = standing(runs)
    axes = share_dots(found, tmp_path / "x.svg")
    assert (tmp_path / "x.svg").exists()
    assert [label.get_text() for label in axes.get_yticklabels()] == list(found.results)
    containers: list[Any] = axes.containers
    dots = [bar.lines[0] for bar in containers]
    for place, (dot, each) in enumerate(zip(dots, found.shares.values(), strict=True)):
        assert np.asarray(dot.get_xdata()).tolist() == [each.share]
        assert np.asarray(dot.get_ydata()).tolist() == [place]
    assert [dot.get_markerfacecolor() == "white" for dot in dots] == [False, False, True]
    _, (left, right) = plots.new_figure(8.0, 4.0, panels=2)
    assert share_dots(found, axes=right) is right
    assert not left.lines


def test_rows_and_the_best_cap() -> None:
    found = standing()
    table = share_table(found)
    rows = table.cells()
    assert table.headings[-1] == "keys"
    assert [row[0] for row in rows] == ["ours", "Capped(cap=2)", "Thompson"]
    assert [row[-1] for row in rows] == ["", "", "ignored"]
    assert rows[0][4] == ""
    each = found.shares["Thompson"]
    assert difference(each) == f"-0.1167 +- {each.high - each.difference:.4f}"
    assert cap_line(found) == (
        "The best cap, chosen in hindsight, is Capped(cap=2): 0.8167 of pi_max. "
        "ours collects 8.2 % more."
    )
    one = standing(runs=1)
    assert share_table(one).cells()[1][2:5] == ["-", "8", "-0.0500"]
    assert cap_line(Standing("here", found.results, "Thompson", ["Thompson"])).endswith("pi_max.")
    assert cap_line(Standing("here", found.results, "Thompson", [])) == ""


def test_a_curve_with_its_band_and_cap() -> None:
    truth = np.array([0.9, 0.5, 0.2])
    whole = Curve(4, truth, truth + 0.01, truth - 0.1, truth + 0.1, Cap(2, 0.3))
    axes = curve_panel(whole, top=1.2, title="arm 4")
    true, believed, rival, cap = axes.lines
    assert np.asarray(true.get_ydata()).tolist() == truth.tolist()
    assert np.asarray(believed.get_ydata()).tolist() == (truth + 0.01).tolist()
    assert set(np.asarray(rival.get_ydata())) == {0.3}
    assert set(np.asarray(cap.get_xdata())) == {2.5}
    assert len(axes.collections) == 1
    assert axes.get_ylim()[1] == 1.2
    plain = curve_panel(whole._replace(low=None, high=None, cap=Cap(0)))
    assert len(plain.lines) == 2
    assert not plain.collections
    assert len(curve_panel(Curve(0, truth, None, None, None, None)).lines) == 1


def test_learnt_curves_as_rows_and_as_data() -> None:
    first = np.linspace(0.2, 0.8, 13)
    curves = [
        Curve(arm, np.full(9, top), np.full(9, top / 3.0), None, None, Cap(arm or None))
        for arm, top in enumerate(first.tolist())
    ]
    curves[3] = Curve(3, np.full(9, 0.9), None, None, None, None)  # the highest, never shown
    learnt = Learnt("ours", curves)
    table = curve_table(learnt)
    rows = table.cells()
    assert table.headings == ["arm", "cap", "#1", "#2", "#3", "#5", "#8"]
    assert [row[0] for row in rows] == ["3", *map(str, [12, 11, 10, 9, 8, 7, 6, 5, 4, 2, 1])]
    assert rows[0] == ["3", *["-"] * 6]
    assert rows[1] == ["12", "12", *["0.2667"] * 5]
    assert "the 12 of 13 arms" in curve_title(learnt)
    assert "as ours believes" in curve_title(learnt)
    found = as_data(standing(), learnt)
    assert found["policies"].keys() == standing().results.keys()
    assert found["curves"]["arms"][0] == {"arm": 3, "cap": None, "worth": None}
    assert found["curves"]["arms"][1]["worth"]["8"] == pytest.approx(0.8 / 3.0)
    few = Learnt("ours", curves[:2])
    assert curve_table(few).cells()[1][:2] == ["0", "-"]
    assert "12" not in curve_title(few)
    assert as_data(standing(), Learnt("ours", curves[3:4]))["curves"] is None
