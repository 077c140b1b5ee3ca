"""Figures drawn from results; nothing is simulated here."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rotting.experiments.comparison import Comparison
from rotting.experiments.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rotting.experiments.tuning import Tuning

# Okabe & Ito's colours, told apart by the colour-blind; dashes tell them apart in print
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#999999")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2, 1, 2)))
PICTURES = (".png", ".svg", ".pdf")  # the suffix says the format
BAND = 1.96  # standard errors either side of a mean: a 95 % interval


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


def new_figure(width: float, height: float, panels: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side, drawn without a screen or global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
    return figure, list(axes)


def draw_regret(axes: Axes, results: Mapping[str, Result], title: str = "") -> Axes:
    """Mean regret against t, with 95 % bands."""
    for place, (name, result) in enumerate(results.items()):
        mean, half = result.mean_regret, BAND * result.standard_error
        colour = COLOURS[place % len(COLOURS)]
        dashes = _DASHES[place % len(_DASHES)]
        label = f"{name} ({result.note})" if result.note else name
        axes.plot(result.checkpoints, mean, color=colour, linestyle=dashes, label=label)
        axes.fill_between(
            result.checkpoints, mean - half, mean + half, color=colour, alpha=0.2, linewidth=0
        )
    axes.set_xlabel("round t")
    measures = {result.measure for result in results.values()}
    axes.set_ylabel(f"mean {measures.pop()}" if len(measures) == 1 else "mean regret")
    axes.set_title(title)
    axes.margins(x=0)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.legend(frameon=False)
    return axes


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
        color=COLOURS[0],
        marker="o",
        markersize=3,
        capsize=2,
    )
    for place, (name, value) in enumerate(marks.items()):
        if value in values:
            axes.axvline(
                values.index(value),
                color=COLOURS[3 - 2 * place],
                linewidth=1.2,
                linestyle=_DASHES[1 + place],
                label=f"{name}: {_shown(value)}",
            )
    step = max(1, len(values) // 6)
    places = list(range(0, len(values), step))
    axes.set_xticks(places, [_shown(values[place]) for place in places], fontsize=8)
    axes.set_xlabel(parameter)
    axes.set_ylabel("mean regret")
    axes.set_title(title)
    if marks:
        axes.legend(frameon=False, fontsize=8)
    return axes


def _shown(value: Any) -> str:
    """A parameter's value: numbers short, words as they are."""
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


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
    with drawing(path, axes, 7.5, 4.5) as panel:
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
    """Write a figure to a .png, .svg or .pdf file, atomically."""
    target = picture_file("path", path)
    partial = target.with_name(f".{target.stem}.partial{target.suffix}")
    try:
        figure.savefig(partial, dpi=160)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def svg_text(figure: Figure) -> str:
    """A figure as SVG, to be put inside a web page."""
    import matplotlib

    buffer = io.StringIO()
    # without a date and with fixed identifiers the same figure gives the same text
    with matplotlib.rc_context({"svg.hashsalt": "rotting", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
