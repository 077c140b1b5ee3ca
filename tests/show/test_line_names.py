"""Names at the ends of lines: no overlaps, each at its end, whatever is drawn later."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text

from rotting._show import plots
from rotting._show.line_names import End, name_ends

RED = "#D55E00"


def boxes(figure: Any) -> list[Any]:
    """Where the names are, in pixels, without the lines to them, from the lowest to the highest."""
    figure.draw_without_rendering()
    return sorted(
        (Text.get_window_extent(text) for axes in figure.axes for text in axes.texts),
        key=lambda box: float(box.y0),
    )


@pytest.mark.parametrize("seed", range(8))
def test_names_never_overlap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    figure, (axes,) = plots.new_figure(height=float(rng.uniform(2.4, 5.0)))
    count = int(rng.integers(2, 9))
    heights = 10.0 ** rng.uniform(0.0, float(rng.uniform(0.1, 4.0)), count)
    names = ["one" if k % 3 else "two\nlines" for k in range(count)]
    ends = [End(float(height), name, RED) for height, name in zip(heights, names, strict=True)]
    for height in heights:
        axes.plot([1, 2], [1.0, height])
    name_ends(axes, ends, at=None if seed % 2 else 2.0)
    # afterwards, all that changes the room for names
    axes.set(yscale="log" if seed % 3 else "linear", xlabel="two\nlines", title="a title")
    found = boxes(figure)
    assert len(found) == count
    for below, above in pairwise(found):
        assert below.y1 <= above.y0 + 0.5
    assert all(box.x1 <= figure.bbox.x1 for box in found)  # there is room for them
    assert found[-1].y1 <= figure.bbox.y1


def test_a_name_stands_beside_its_end_if_it_can() -> None:
    figure, (axes,) = plots.new_figure()
    axes.plot([0, 5], [0.0, 100.0])
    name_ends(axes, [End(20.0, "low", RED), End(80.0, "high", RED), End(np.nan, "none", RED)])
    axes.set(ylim=(0, 200), xlim=(0, 10))
    low, high = boxes(figure)
    for box, height in ((low, 20.0), (high, 80.0)):
        end = axes.transData.transform((10.0, height))
        assert (box.y0 + box.y1) / 2 == pytest.approx(end[1], abs=2.0)
        assert 0 < box.x0 - end[0] < 20
    name_ends(axes, [End(500.0, "outside", RED)], at=5.0)  # at the border
    outside = boxes(figure)[-1]
    assert outside.y0 < axes.bbox.y1 < outside.y1
    assert 0 < outside.x0 - axes.transData.transform((5.0, 0.0))[0] < 20


def test_many_names_long_names_and_none() -> None:
    figure, (axes,) = plots.new_figure()
    name_ends(axes, [])
    assert not axes.texts
    name_ends(axes, [End(0.5, f"{k} costs $x$ {'m' * 99}", RED) for k in range(24)])
    found = boxes(figure)
    assert all(below.y1 <= above.y0 + 0.5 for below, above in pairwise(found))
    assert all(len(text.get_text()) <= 32 for text in axes.texts)
    assert axes.texts[0].get_text().endswith("...")
    assert boxes(pickle.loads(pickle.dumps(figure)))


def test_the_same_figure_gives_the_same_file(tmp_path: Any) -> None:
    for suffix in plots.PICTURES:
        files = []
        for name in ("one", "other"):
            figure, (axes,) = plots.new_figure(2.0, 2.0)
            axes.plot([1, 2, 3])
            axes.fill_between([0, 1], [0, 1], [1, 2])
            files.append(plots.save_figure(figure, tmp_path / f"{name}{suffix}").read_bytes())
        assert files[0] == files[1]


def test_ticks_are_few_and_have_commas() -> None:
    figure, (axes,) = plots.new_figure()
    axes.plot([0, 30_000], [0, 1])
    axes.margins(x=0)
    plots.few_ticks(axes)
    figure.draw_without_rendering()
    shown = [label.get_text() for label in axes.get_xticklabels()]
    assert shown == ["0", "10,000", "20,000", "30,000"]
