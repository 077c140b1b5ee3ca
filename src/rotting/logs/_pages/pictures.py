"""Pictures of a diagnosis, one for each question, drawn from its data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from rotting._show.ink import BLUE, GREEN, GREY, RED
from rotting._show.line_names import End, name_ends
from rotting.logs._pages.axes import (
    HEIGHT,
    WIDTH,
    Picture,
    evidence,
    figure_text,
    has_keys,
    new_axes,
    per_cent,
    picture,
    reward_axis,
    showing_groups,
    whole_numbers,
)

if TYPE_CHECKING:
    from rotting.logs._diagnosis.diagnosis import Diagnosis

_SMALL = (3.2, 2.4)
_SEEN, _FOUND, _LOST = GREY, BLUE, RED
_FEW = 20  # rows of a showing, or of a period, below which its mean is not drawn
_LETTERS, _SMALL_LETTERS = 34, 20  # of the names of groups of showings, for which there is room


def pictures(diagnosis: Diagnosis) -> dict[str, list[Picture]]:
    """The pictures of each part, by its name; none where there is nothing to draw."""
    data = diagnosis.as_data()
    found = {name: list(draw(data)) for name, draw in _DRAWN.items()}
    return {name: drawn for name, drawn in found.items() if drawn}


def first_pictures(diagnosis: Diagnosis, parts: Iterable[str], most: int) -> list[Picture]:
    """The first `most` pictures of these parts; others are not drawn."""
    data = diagnosis.as_data()
    return list(islice((each for name in parts for each in islice(_DRAWN[name](data), 1)), most))


def _contents(data: Mapping[str, Any]) -> list[Picture]:
    seen = evidence(data, "exposure")
    if len(seen.get("showings", ())) < 2 or not has_keys(data):
        return []
    axes = new_axes(height=2.5)
    axes.bar(seen["showings"], seen["rows"], color=_SEEN, width=0.8)
    axes.set_xlabel("showing to the same key")
    axes.set_ylabel("rows")
    axes.set_xlim(0.4, seen["showings"][-1] + 0.6)
    whole_numbers(axes.xaxis)
    return picture(
        axes,
        "Bars: how many rows of the log are first, second, third showings and so on",
        "How many rows are a first showing, a second, and so on. Where bars are low little is "
        "known.",
    )


def _overall(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The curve over all arms, if it has more than one point and a level."""
    curves = evidence(data, "shape").get("curves", ())
    if not curves or len(curves[0]["numbers"]) < 2 or not curves[0]["level"]:
        return None
    found: Mapping[str, Any] = curves[0]
    return found


def _exposure(data: Mapping[str, Any]) -> list[Picture]:
    curve = _overall(data)
    if curve is None:
        return _as_seen(data)
    axes = new_axes()
    level = curve["level"]
    places = range(len(curve["numbers"]))
    raw, worth, low, high = (
        [level * value for value in curve[name]] for name in ("raw", "worth", "low", "high")
    )
    axes.fill_between(places, low, high, color=_FOUND, alpha=0.18, linewidth=0)
    axes.plot(places, worth, color=_FOUND, linewidth=2)
    axes.plot(places, raw, "o", color=_SEEN, markersize=5)
    showing_groups(axes, curve["numbers"], _LETTERS)
    reward_axis(axes, data)
    who = ", corrected for keys that left" if has_keys(data) else ", with a level for each arm"
    return picture(
        axes,
        "Mean reward by showing: dots as it stands in the log, a line with leaving accounted for",
        f"Grey dots: the mean as it stands in the log. Blue line: what is found{who}. The band "
        "holds the true line with 95 % confidence at each showing.",
    )


def _as_seen(data: Mapping[str, Any]) -> list[Picture]:
    seen = evidence(data, "exposure")
    points = [
        (n, mean)
        for n, mean, rows in zip(
            seen.get("showings", ()), seen.get("means", ()), seen.get("rows", ()), strict=True
        )
        if rows >= _FEW
    ]
    if len(points) < 2:
        return []
    axes = new_axes()
    axes.plot(*zip(*points, strict=True), "o-", color=_SEEN, markersize=5, linewidth=1)
    axes.set_xlabel("showing")
    whole_numbers(axes.xaxis)
    reward_axis(axes, data)
    return picture(
        axes,
        "Mean reward by showing, as it stands in the log",
        "The mean as it stands in the log. It may fall because arms wear out, or because those who "
        f"answer leave. Showings with fewer than {_FEW} rows are left out.",
    )


def _selection(data: Mapping[str, Any]) -> list[Picture]:
    found = evidence(data, "selection")
    band = data["exposure"]["interval"]
    seen = found.get("fall_as_seen")
    if seen is None or band is None or not has_keys(data):
        return []
    axes = new_axes(height=1.9)
    ends = [[-found["fall_corrected"] + band[1]], [-band[0] + found["fall_corrected"]]]
    axes.plot(-seen, 1, "o", color=_SEEN, markersize=8)
    axes.errorbar(
        -found["fall_corrected"], 0, xerr=ends, fmt="o", color=_FOUND, markersize=8, capsize=4
    )
    axes.axvline(0.0, color="#888888", linewidth=0.8)
    axes.set_yticks([1, 0], ["as it stands\nin the log", "those who left\naccounted for"])
    axes.set_ylim(-0.6, 1.6)
    per_cent(axes.xaxis)
    axes.set_xlabel("change against first showings")
    return picture(
        axes,
        "The change with exposure as it stands in the log, and with leaving accounted for",
        "What looks like wearing out in the log (grey), and what is left of it when those who left "
        "are accounted for (blue, with its 95 % interval).",
    )


def _calendar(data: Mapping[str, Any]) -> list[Picture]:
    over = evidence(data, "calendar").get("over_time")
    if over is None or len(over["day"]) < 2:
        return []
    axes = new_axes()
    ends = []
    for name, colour in (("first", _FOUND), ("later", _LOST)):
        points = [
            (day, mean)
            for day, mean, rows in zip(over["day"], over[name], over[f"{name}_rows"], strict=True)
            if mean is not None and rows >= _FEW
        ]
        if points:
            axes.plot(*zip(*points, strict=True), "o-", color=colour, markersize=4, linewidth=1.6)
            ends.append(End(points[-1][1], f"{name} showings", colour))
    axes.set_xlabel("day of the log")
    reward_axis(axes, data)
    name_ends(axes, ends)
    return picture(
        axes,
        "Mean reward of first showings and of later ones, over time",
        "First showings cannot have worn out: if their line moves, it is the calendar, or other "
        "people who arrive. If later showings stay below first ones of the same day, it is use (or "
        f"selection). Points with fewer than {_FEW} rows are left out.",
    )


def _recovery(data: Mapping[str, Any]) -> list[Picture]:
    half = evidence(data, "recovery").get("half_life_days")
    if data.get("recovery", {}).get("code") != "yes" or not half:
        return []
    axes = new_axes(height=2.5)
    days = [half * step / 10.0 for step in range(51)]
    axes.plot(days, [0.5 ** (day / half) for day in days], color=_FOUND, linewidth=2)
    axes.plot([0.0, half, half], [0.5, 0.5, 0.0], ":", color="#666666")
    axes.annotate(f"half after {half:.2g} days", (half, 0.5), (6, 4), textcoords="offset points")
    per_cent(axes.yaxis)
    axes.set_ylim(0.0, 1.05)
    axes.set_xlim(0.0, days[-1])
    axes.set_xlabel("days since a showing")
    axes.set_ylabel("still remembered")
    return picture(
        axes,
        f"What is remembered of a showing: half after {half:.2g} days",
        "How much of a showing still counts after some days of rest.",
    )


def _shapes(data: Mapping[str, Any]) -> Iterator[Picture]:
    curves = [
        curve for curve in evidence(data, "shape").get("curves", ()) if len(curve["numbers"]) > 1
    ]
    if not curves:
        return
    top = max(1.0, *(min(1.5, value) for curve in curves for value in curve["high"]))
    several = len(curves) > 1
    for place, curve in enumerate(curves):
        axes = new_axes(*(_SMALL if several else (WIDTH, HEIGHT)))
        places = range(len(curve["numbers"]))
        colour = _FOUND if place == 0 else GREEN
        axes.fill_between(places, curve["low"], curve["high"], color=colour, alpha=0.2, linewidth=0)
        axes.plot(places, curve["worth"], "o-", color=colour, markersize=3.5, linewidth=1.8)
        axes.set_ylim(0.0, 1.08 * top)
        per_cent(axes.yaxis)
        showing_groups(axes, curve["numbers"], _SMALL_LETTERS if several else _LETTERS)
        axes.set_ylabel("of the first")
        axes.grid(axis="y", color="#e4e4e4", linewidth=0.6)
        yield from picture(
            axes, f"What each showing is worth of the first: {curve['name']}", "", curve["name"]
        )


def _cost(data: Mapping[str, Any]) -> list[Picture]:
    part, found = data["cost"], evidence(data, "cost")
    if part["code"] != "yes" or part["interval"] is None or found["paid"] <= 0.0:
        return []
    paid, lost, (low, high) = found["paid"], found["lost"], part["interval"]
    axes = new_axes(height=1.7)
    axes.barh(0, paid, color=_FOUND, height=0.5)
    axes.barh(
        0, lost, left=paid, color=_LOST, height=0.5, alpha=0.55, hatch="//", edgecolor="white"
    )
    axes.errorbar(
        paid + lost, 0, xerr=[[lost - low], [high - lost]], color="black", capsize=5, linewidth=1.2
    )
    axes.text(0, 0.36, f"paid {figure_text(paid)}", color=_FOUND)
    # below the bar, so that short bars have room for both
    below = f"lost {figure_text(lost)}"
    axes.text(paid + lost, -0.36, below, ha="right", va="top", color=_LOST)
    axes.set_ylim(-0.75, 0.75)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("reward in the whole log")
    return picture(
        axes,
        f"Paid {figure_text(paid)}; lost against first showings {figure_text(lost)}",
        "Blue: what was paid. Hatched: what first showings would have paid on top of it; the black "
        "line is its 95 % interval.",
    )


_DRAWN: dict[str, Callable[[Mapping[str, Any]], Iterable[Picture]]] = {
    "contents": _contents,
    "exposure": _exposure,
    "selection": _selection,
    "calendar": _calendar,
    "recovery": _recovery,
    "shape": _shapes,
    "cost": _cost,
}
