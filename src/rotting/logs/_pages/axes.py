"""Axes for pictures of a log: labels, groups of showings, numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from rotting._show.plots import new_figure, svg_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 4.6, 3.1  # inches: letters are then large enough on a phone


class Picture(NamedTuple):
    """A picture as SVG, with a text for screen readers and a caption.

    Attributes:
        title: A name above it, from the log: not to be trusted as HTML.
    """

    svg: str
    about: str
    caption: str
    title: str = ""


def evidence(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The data of a part; empty if it has none."""
    found: Mapping[str, Any] = data.get(name, {}).get("evidence", {})
    return found


def new_axes(width: float = WIDTH, height: float = HEIGHT) -> Axes:
    """Axes of a new figure; sizes are in inches."""
    return new_figure(width, height)[1][0]


def picture(axes: Axes, about: str, caption: str, title: str = "") -> list[Picture]:
    """The one picture of these axes."""
    return [Picture(svg_text(axes.figure.canvas.figure), about, caption, title)]


def reward_axis(axes: Axes, data: Mapping[str, Any]) -> None:
    """The vertical axis: clicks in per cent, other rewards as they are."""
    axes.set_ylabel("mean reward")
    if evidence(data, "contents").get("rewards") == "zeros and ones":
        per_cent(axes.yaxis)
        axes.set_ylabel("rate")
    bottom, top = axes.get_ylim()
    axes.set_ylim(min(0.0, bottom), top + 0.08 * (top - bottom))
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)


def per_cent(axis: Any) -> None:
    """Shares as per cent."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(lambda part, place: f"{100.0 * part:.4g} %"))


def whole_numbers(axis: Any) -> None:
    """Ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))


def has_keys(data: Mapping[str, Any]) -> bool:
    return evidence(data, "contents").get("keys") is not None


def showing_groups(axes: Axes, numbers: Sequence[int], letters: int) -> None:
    """The horizontal axis: groups of showings at equal distances, the last one open.

    Only `letters` letters have room: with more, a group is named by its first showing.
    """
    names = [str(n) if after == n + 1 else f"{n}-{after - 1}" for n, after in pairwise(numbers)]
    names.append(f"{numbers[-1]}+")
    if len(" ".join(names)) > letters:
        names = [*map(str, numbers[:-1]), names[-1]]
    step = 1 + (len(" ".join(names)) - 1) // letters
    places = list(range(0, len(names), step))
    axes.set_xticks(places, [names[place] for place in places])
    axes.set_xlabel("showing")


def figure_text(value: float) -> str:
    """A number, short and without powers of ten.

    >>> figure_text(1478.3), figure_text(0.01234)
    ('1,478', '0.0123')
    """
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.3g}"
