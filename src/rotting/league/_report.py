"""The files of a league: league.json, a page and a picture, whatever it is measured by."""

from __future__ import annotations

from html import escape
from pathlib import Path

from rotting._show import pages, plots
from rotting._show.data import json_text
from rotting._table import Column, Table
from rotting.league import _regret, _share
from rotting.league._play import REGRET, League

TITLE = "The league of rotting bandits"
_LEADS = {
    REGRET: "no parameter is tuned per scenario, and policies have only what a user would know.",
    "share": "curves are drawn for each run; all see the same rewards, and no parameter is tuned "
    "per scenario but the cap, which is the best in hindsight.",
}


def standing_table(league: League) -> Table:
    """The table that says who is best."""
    if league.measure == REGRET:
        return _regret.standing_table(league)
    return _share.standing_table(league.as_data())


def write(league: League, folder: Path, command: str) -> None:
    """Write league.json, league.html, and the picture as PNG and SVG, into a folder."""
    data = league.as_data(command)
    (folder / "league.json").write_text(json_text(data) + "\n", encoding="utf-8")
    if league.measure == REGRET:
        drawn, about, sections = _regret.figure(league), _regret.PICTURE, _regret.sections(league)
    else:
        drawn = _share.figure(data).figure.canvas.figure
        about, sections = _share.PICTURE, _share.sections(data)
    for ending in ("png", "svg"):
        plots.save_figure(drawn, folder / f"league.{ending}")
    body = [
        f"<h1>{TITLE}</h1>",
        f'<p class="lead">{league.runs} runs of every policy on every scenario; '
        f"{_LEADS[league.measure]}</p>",
        pages.figures([(plots.svg_text(drawn), about)]),
        *sections,
        "<h2>The scenarios</h2>",
        _scenarios(league).html(),
        f"<p><code>{escape(command)}</code>, {league.seconds:.0f} s.</p>",
    ]
    (folder / "league.html").write_text(pages.page(TITLE, body), encoding="utf-8")


def _scenarios(league: League) -> Table:
    names = [Column("scenario", "text"), Column("what", "prose")]
    columns = [*names, Column("arms"), Column("horizon")]
    rows = [
        [name, entry.about, str(entry.scenario.arm_count), f"{entry.scenario.horizon:,}"]
        for name, entry in league.entries.items()
    ]
    return Table(columns, rows)
