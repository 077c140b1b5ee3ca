"""Pictures are drawn into axes; one rule for where they may be saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers.cases import scenarios
from rotting import compare, models, policies, tune
from rotting._cli import app
from rotting._show import plots
from rotting._show.bounds import draw_bounds
from rotting.theory import advise

COMMANDS = (["demo"], ["theory", "--scenario", "av"])


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("name", "refusal"),
    [("x.gif", "out must end in .png, .svg or .pdf, got"), ("x.png", "out must be a file, but")],
)
def test_commands_refuse_before_any_work(
    words: list[str], name: str, refusal: str, tmp_path: Path
) -> None:
    (tmp_path / "x.png").mkdir()
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / name)])
    assert done.exit_code == 2
    assert refusal in done.output


def test_every_format_is_saved_atomically(tmp_path: Path) -> None:
    figure, _ = plots.new_figure(1.0, 1.0)
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert set(starts) == set(plots.PICTURES)
    for suffix, start in starts.items():
        path = plots.save_figure(figure, tmp_path / f"x{suffix}")
        assert path.read_bytes().startswith(start)
    (tmp_path / "folder.png").mkdir()
    for wrong in ("x.gif", "x", "folder.png"):
        with pytest.raises(ValueError, match=r"path must (end in|be a file)"):
            plots.save_figure(figure, tmp_path / wrong)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["folder.png", "x.pdf", "x.png", "x.svg"]


def test_drawn_into_axes_of_ones_own_or_new_ones(tmp_path: Path) -> None:
    """What is drawn comes back, whether or not it is saved; a path is wanted by no one."""
    played: dict[str, Any] = {"runs": 2, "engine": "reference"}
    scenario = scenarios()["constants"]
    found = compare([policies.UCB1(), policies.Uniform()], scenario, **played)
    grid = tune(policies.UCB1(), {"c": [0.1, 2.0]}, scenario, **played)
    words = tune(policies.WSWA(0.2, 0.5), {"restart": ["keep", "forget"]}, scenario, **played)
    advice = advise(arms=3, sigma=0.5, horizon=300, max_mean=1.0)
    ways: list[Callable[..., Any]] = [
        lambda **where: plots.regret_curves(found, **where),
        lambda **where: plots.regret_curves(found.results, **where),
        lambda **where: plots.regret_curves(found["UCB1"], **where),
        lambda **where: plots.grid_curve(grid, **where),
        lambda **where: plots.grid_curve(words, **where),
        lambda **where: draw_bounds(advice, found.results, **where),
    ]
    for draw in ways:
        drawn = draw()
        assert drawn.lines
        assert not list(tmp_path.iterdir())
        _, (left, right) = plots.new_figure(9.0, 4.0, panels=2)
        assert draw(axes=right) is right
        assert len(right.lines) == len(drawn.lines)
        assert not left.lines
        with pytest.raises(ValueError, match="path must end in"):
            draw(axes=left, path=tmp_path / "x.gif")
        assert not left.lines
    both = tune(policies.WSWA(0.2, 0.5), {"alpha": [1], "restart": ["keep"]}, scenario, **played)
    with pytest.raises(ValueError, match="one parameter to be drawn, got alpha, restart"):
        plots.grid_curve(both)
    figure: Any = plots.new_figure(6.0, 6.0)[0]
    part = figure.subfigures(1, 1).subplots()
    plots.regret_curves(found, tmp_path / "part.svg", axes=part)
    plots.grid_curve(grid, tmp_path / "grid.svg")
    draw_bounds(advice, {}, tmp_path / "bounds.svg")
    assert {path.name for path in tmp_path.iterdir()} == {"part.svg", "grid.svg", "bounds.svg"}


def test_the_picture_of_bounds_says_what_was_measured() -> None:
    """Bounds are of a horizon; what was measured is of a round, of runs made for one horizon."""
    scenario = scenarios()["constants"]
    family = models.Plateau(length=100).over([0.1, 0.4])
    advice = advise(arms=3, sigma=0.5, horizon=1000, family=family, constants=True, max_mean=1.5)
    known: dict[str, policies.Policy] = {
        "wSWA": policies.WSWA(0.48125, 0.5),
        "D-CTO": policies.DCTO(family, 0.5),
    }
    found = compare(known, scenario, runs=2, engine="reference")
    said = draw_bounds(advice, found.results).get_xlabel()
    assert said.splitlines()[:4] == [
        "bounds: horizon T; measured: round t",
        f"of runs made for T = {scenario.horizon:,}",
        "wSWA measured with alpha = 0.481",
        "D-CTO, measured, is not D-CTO_UCB, which has the theorem",
    ]
    assert draw_bounds(advice, {}).get_xlabel().startswith("horizon T")


def test_one_run_is_drawn_without_a_band() -> None:
    found = compare([policies.UCB1()], scenarios()["constants"], runs=1, engine="reference")
    (line,) = plots.regret_curves(found).lines
    assert list(np.asarray(line.get_ydata())) == list(found["UCB1"].mean_regret)
