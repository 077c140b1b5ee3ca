"""The page of an audience: shares of pi_max, regret over time, and the curves of one run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rotting._experiments.final import Curve, Learnt
from rotting._experiments.shares import Share, Standing
from rotting._show import pages as html
from rotting._show import plots
from rotting._show.audience_plots import curve_panel, share_dots
from rotting._show.data import json_text
from rotting._table import Column, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CURVES = 12  # arms whose curves are shown: those with the highest rates
_SHOWN = (1, 2, 3, 5, 8, 13)  # showings whose worth is printed
_LINES = 6  # policies whose regret over time is drawn: more cannot be told apart


def share_table(standing: Standing, title: str = "") -> Table:
    """One row a policy: share, reward, and the difference to the reference's share."""
    reference = standing.reference
    columns = [
        Column("policy", "text"),
        Column("share", "figure"),
        Column("standard error", "figure"),
        Column("reward", "count"),
        Column("difference (95 %)"),
        Column("keys", "text"),
    ]
    rows = [
        [
            name,
            each.share,
            each.standard_error,
            each.reward,
            "" if name == reference else difference(each),
            each.keys if each.keys == "ignored" else "",
        ]
        for name, each in standing.shares.items()
    ]
    return Table(columns, rows, title=title)


def difference(each: Share) -> str:
    """A difference of shares, with half the width of its interval."""
    half = "" if math.isnan(each.low) else f" +- {(each.high - each.low) / 2.0:.4f}"
    return f"{each.difference:+.4f}{half}"


def about_shares(standing: Standing) -> str:
    """What the columns of `share_table` are, in a sentence."""
    return (
        f"Shares of pi_max's reward; differences to the share of {standing.reference}, with 95 % "
        "intervals, paired by run."
    )


def cap_line(standing: Standing) -> str:
    """What the best cap is, chosen in hindsight, and how far the reference is from it."""
    best, reference, shares = standing.best_cap, standing.reference, standing.shares
    if best is None:
        return ""
    line = f"The best cap, chosen in hindsight, is {best}: {shares[best].share:.4f} of pi_max."
    if best == reference:
        return line
    more = 100.0 * (shares[reference].reward / shares[best].reward - 1.0)
    word = "more" if more >= 0.0 else "less"
    return f"{line} {reference} collects {abs(more):.1f} % {word}."


def curve_table(learnt: Learnt) -> Table:
    """One row an arm: its learnt cap, and its estimated reward at some showings to one user."""
    shown = _highest(learnt.curves)
    numbers = [n for n in _SHOWN if n <= shown[0].truth.size]
    rows = [
        [
            str(curve.arm),
            _cap(curve),
            *(None if curve.estimate is None else float(curve.estimate[n - 1]) for n in numbers),
        ]
        for curve in shown
    ]
    worth = (Column(f"#{n}", "figure") for n in numbers)
    columns = [Column("arm", "text"), Column("cap"), *worth]
    return Table(columns, rows, title=curve_title(learnt))


def curve_title(learnt: Learnt) -> str:
    """What the rows of `curve_table` are: which policy's curves, of which run, of which arms."""
    arms = len(learnt.curves)
    fewer = "" if arms <= _CURVES else f", the {_CURVES} of {arms} arms with the highest rates"
    return (
        f"Learnt curves: worth of the n-th showing to one user, as {learnt.policy} believes at the "
        f"end of the first run{fewer}"
    )


def about_caps() -> str:
    """What the learnt cap is, in a sentence."""
    return (
        "The cap is the number of showings to one user after which another arm is believed to be "
        "worth more; an arm with none (-) is not left, or nothing is known of it, and one with 0 "
        "never has its turn."
    )


def curve_data(learnt: Learnt) -> dict[str, Any]:
    """The rows of `curve_table` as plain data; the worth is None of an arm without rewards."""
    arms = []
    for curve in _highest(learnt.curves):
        numbers = [n for n in _SHOWN if n <= curve.truth.size]
        worth = None
        if curve.estimate is not None:
            worth = {str(n): float(curve.estimate[n - 1]) for n in numbers}
        arms.append({"arm": curve.arm, "cap": _cap(curve), "worth": worth})
    return {"policy": learnt.policy, "run": 0, "arms": arms}


def as_data(standing: Standing, learnt: Learnt) -> dict[str, Any]:
    """Everything as plain data; the curves are None where the policy keeps none."""
    return {**standing.as_data(), "curves": curve_data(learnt) if learnt.kept else None}


def write(folder: Path, standing: Standing, *, about: str, learnt: Learnt, command: str) -> None:
    """Write audience.json and a page, audience.html, into a folder."""
    data = json_text(as_data(standing, learnt))
    (folder / "audience.json").write_text(data + "\n", encoding="utf-8")
    title = f"An audience: {standing.scenario}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="lead">{escape(about)}.</p>',
        share_table(standing).html(),
        f"<p>{escape(cap_line(standing))}</p>",
        f'<p class="note">{escape(about_shares(standing))} pi_max knows every curve and shows each '
        "user the best next arm. A policy that ignores keys takes all users for one.</p>",
        html.figures(
            [
                (_svg(share_dots(standing)), "Share of pi_max by policy"),
                (_svg(_regret(standing)), "Mean regret over time"),
            ]
        ),
        *_curve_section(learnt),
        f"<p><code>{escape(command)}</code></p>",
    ]
    (folder / "audience.html").write_text(html.page(title, body), encoding="utf-8")


def _svg(axes: Axes) -> str:
    return plots.svg_text(axes.figure.canvas.figure)


def _regret(standing: Standing) -> Axes:
    """The regret over time of the reference and of the best of the others."""
    first, shares = standing.reference, standing.shares
    others = sorted((n for n in shares if n != first), key=lambda name: -shares[name].share)
    shown = [first, *others[: _LINES - 1]]
    axes = plots.new_figure(5.4, 3.8)[1][0]  # small: letters are then large enough on a phone
    return plots.regret_curves({name: standing.results[name] for name in shown}, axes=axes)


def _highest(curves: Sequence[Curve]) -> list[Curve]:
    """The arms that are shown, the one with the highest rate first."""
    return sorted(curves, key=lambda curve: -float(curve.truth[0]))[:_CURVES]


def _cap(curve: Curve) -> int | None:
    return None if curve.cap is None else curve.cap.showings


def _curve_section(learnt: Learnt) -> list[str]:
    believer, curves = learnt
    fewer = "" if len(curves) <= _CURVES else f" of the {_CURVES} arms with the highest rates"
    words = f"{believer} keeps no curves: only the true ones are shown."
    if learnt.kept:
        words = (
            f"The dashed line is what {believer} believes when the run is over, and the band holds "
            "95 % of what it thinks possible, if it says so. The learnt cap is the number of "
            "showings to one user after which another arm is believed to be worth more (the dotted "
            "line), if each user is shown the best next arm from the beginning; an arm with none "
            "is not left, one with 0 never has its turn, as far as these curves go."
        )
    return [
        f"<h2>The curves{fewer} in the first run</h2>",
        html.figures(_curve_figures(curves), small=True),
        f'<p class="note">{escape(words)}</p>',
    ]


def _curve_title(curve: Curve) -> str:
    if curve.cap is None:
        return f"arm {curve.arm}"
    showings = curve.cap.showings
    return f"arm {curve.arm}, learnt cap: {'none' if showings is None else showings}"


def _curve_figures(curves: Sequence[Curve]) -> list[tuple[str, str]]:
    shown = _highest(curves)
    lines = [line for c in shown for line in (c.truth, c.estimate) if line is not None]
    # estimates beyond the data may be anything, and are cut off
    top = 1.25 * max(float(line[0]) for line in lines)
    return [
        (
            _svg(curve_panel(curve, top=top, title=_curve_title(curve))),
            f"arm {curve.arm}: its curve, what is believed of it, and the learnt cap",
        )
        for curve in shown
    ]
