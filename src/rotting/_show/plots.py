"""Figures drawn from results; nothing is simulated here."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rotting._experiments.comparison import Comparison
from rotting._experiments.results import Result
from rotting._show.ink import BLUE, DASHES, GREEN, RED, inks
from rotting._show.line_names import End, name_ends, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rotting._experiments.tuning import Tuning

PICTURES = (".png", ".svg", ".pdf")  # the suffix says the format
BAND = 1.96  # standard errors either side of a mean: a 95 % interval
BAND_SAID = "  (bands: 95 % intervals of the mean)"
WIDTH, HEIGHT = 5.0, 3.4  # inches
_FRAME = "#888888"
# without a date and with fixed identifiers the same figure gives the same text
_SVG: Any = {"svg.hashsalt": "rotting", "svg.fonttype": "path"}
_LETTERS = 16  # of a parameter's value


def picture_file(name: str, path: str | os.PathLike[str]) -> Path:
    """The path, if a picture can be saved there; `name` is the argument that a refusal names.

    >>> picture_file("out", "regret.gif")
    Traceback (most recent call last):
    ValueError: out must end in .png, .svg or .pdf, got 'regret.gif'
    """
    target = Path(path)
    if target.suffix not in PICTURES:
        *others, last = PICTURES
        raise ValueError(f"{name} must end in {', '.join(others)} or {last}, got {str(target)!r}")
    if target.is_dir():
        raise ValueError(f"{name} must be a file, but {target} is a folder")
    return target


def new_figure(
    width: float = WIDTH, height: float = HEIGHT, panels: int = 1, rows: int = 1
) -> tuple[Figure, list[Axes]]:
    """A figure in the house's style, with panels side by side, without a screen or global state.

    At 5 inches of width letters can be read when it is shown 400 pixels wide. `rows` stacks the
    panels, for as many as would be too narrow side by side.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    for panel in figure.subplots(rows, panels // rows, squeeze=False).flat:
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(_FRAME)
        panel.tick_params(color=_FRAME, labelcolor="#333333", labelsize=9)
        panel.grid(axis="y", color="#E6E6E6", linewidth=0.6)
        panel.set_axisbelow(True)
    return figure, figure.axes


def draw_regret(axes: Axes, results: Mapping[str, Result], title: str = "") -> Axes:
    """Mean regret against t, with 95 % bands; every line is named at its end."""
    ends = []
    for name, ink in inks(results).items():
        result = results[name]
        mean, half = result.mean_regret, BAND * result.standard_error
        label = f"{name} ({result.note})" if result.note else name
        axes.plot(result.checkpoints, mean, label=label, **ink.line)
        axes.fill_between(
            result.checkpoints, mean - half, mean + half, color=ink.colour, alpha=0.2, linewidth=0
        )
        ends.append(End(float(mean[-1]), label, ink.colour))
    banded = any(np.isfinite(result.standard_error).any() for result in results.values())
    axes.set_xlabel(f"round t{BAND_SAID if banded else ''}")
    measures = {result.measure for result in results.values()}
    axes.set_ylabel(f"mean {measures.pop()}" if len(measures) == 1 else "mean regret")
    axes.set_title(title)
    axes.margins(x=0)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    few_ticks(axes)
    name_ends(axes, ends)
    return axes


def few_ticks(axes: Axes) -> None:
    """Four or five round numbers below the axes, with commas, so that they do not touch."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10], integer=True))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def legend_above(axes: Axes) -> None:
    """A legend over the axes, for points that have no end at which to name them."""
    axes.figure.canvas.figure.legend(
        *axes.get_legend_handles_labels(),
        frameon=False,
        fontsize=9,
        loc="outside upper center",
        ncols=3,
        columnspacing=1.0,
        handletextpad=0.3,
    )


def draw_grid(
    axes: Axes,
    rows: Sequence[Mapping[str, Any]],
    parameter: str,
    marks: Mapping[str, Any],
    title: str = "",
) -> Axes:
    """Mean regret against a parameter, with 95 % bars; marks are vertical lines at named values.

    Values stand at equal distances, in the grid's order.
    """
    values = [row[parameter] for row in rows]
    axes.errorbar(
        range(len(values)),
        [row["mean_regret"] for row in rows],
        yerr=[BAND * row["standard_error"] for row in rows],
        color=BLUE,
        marker="o",
        markersize=3,
        capsize=2,
    )
    for place, (name, value) in enumerate(marks.items()):
        if value in values:
            axes.axvline(
                values.index(value),
                color=(RED, GREEN)[place],
                linewidth=1.2,
                linestyle=DASHES[1 + place],
                label=f"{name}: {_shown(value)}",
            )
    step = max(1, len(values) // 6)
    places = list(range(0, len(values), step))
    named = [_shown(values[place]) for place in places]
    axes.set_xticks(places, named, fontsize=8, parse_math=False)
    axes.set_xlabel(f"{parameter}{BAND_SAID.replace('bands', 'bars')}")
    axes.set_ylabel("mean regret")
    axes.set_title(title)
    if marks:
        axes.legend(frameon=False, fontsize=9)
    return axes


def _shown(value: Any) -> str:
    """A parameter's value: numbers short, words as they are, if they are not very long."""
    if isinstance(value, (int, float)):
        return f"{value:g}"
    return shortened(str(value), _LETTERS)


def regret_curves(
    results: Comparison | Mapping[str, Result] | Result,
    path: str | os.PathLike[str] | None = None,
    title: str = "",
    *,
    axes: Axes | None = None,
) -> Axes:
    """Draw mean regret against t, with 95 % bands, and return the axes.

    results  a comparison, a result, or results by name
    path     where to save the figure, as a .png, .svg or .pdf file, if it is wanted as a file
    axes     draw into these, of a figure of your own, instead of a new one
    """
    if isinstance(results, Comparison):
        results = results.results
    elif isinstance(results, Result):
        results = {str(results.provenance.get("policy", "regret")): results}
    with drawing(path, axes, WIDTH, max(HEIGHT, 0.19 * len(results) + 1.0)) as panel:
        return draw_regret(panel, results, title)


def grid_curve(
    tuning: Tuning,
    path: str | os.PathLike[str] | None = None,
    title: str = "",
    *,
    axes: Axes | None = None,
) -> Axes:
    """Draw mean regret against the parameter that `tune` tried, the best marked; return the axes.

    `path` and `axes` are those of `regret_curves`. A grid over several parameters is refused.
    """
    if len(tuning.chosen) != 1:
        names = ", ".join(tuning.chosen)
        raise ValueError(f"tuning must have tried one parameter to be drawn, got {names}")
    ((parameter, value),) = tuning.chosen.items()
    with drawing(path, axes, 5.0, 3.8) as panel:
        draw_grid(panel, tuning.rows(), parameter, {"least": value}, title)
        panel.set_ylabel(f"mean {tuning.results[0].measure}")
        return panel


@contextlib.contextmanager
def drawing(
    path: str | os.PathLike[str] | None, axes: Axes | None, width: float, height: float
) -> Iterator[Axes]:
    """Axes to draw into, those given or new ones; at the end they are saved if a path is given.

    A path where no picture can be is refused before anything is drawn.
    """
    if path is not None:
        picture_file("path", path)
    panel = new_figure(width, height)[1][0] if axes is None else axes
    yield panel
    if path is not None:
        save_figure(panel.figure.canvas.figure, path)  # the whole, if it is a part of a figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure to a .png, .svg or .pdf file, atomically; the same figure, the same file."""
    import matplotlib

    target = picture_file("path", path)
    partial = target.with_name(f".{target.stem}.partial{target.suffix}")
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(target.suffix)
    try:
        with matplotlib.rc_context(_SVG):
            figure.savefig(partial, dpi=160, metadata=undated)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def svg_text(figure: Figure) -> str:
    """A figure as SVG, to be put inside a web page."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context(_SVG):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
