"""Web pages escape every text."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from rotting import Arm, Gaussian, Scenario, compare, models, policies
from rotting._show import pages, plots
from rotting._table import Cell, Table
from rotting.league import _regret
from rotting.league._entry import Entry
from rotting.league._play import League

NASTY = [
    "<td><script>alert(1)</script></td>",
    '<td class="x">',
    "</td></tr></table><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "<!-- -->&lt;",
]


class Seen(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("text", NASTY)
def test_nothing_slips_through(text: str) -> None:
    table = Table([text, text], [[text, Cell(text, beside=text, mark=text)]], title=text)
    page = pages.page(text, [table.html(), pages.figures([("", text)])])
    seen = Seen(page)
    assert "script" not in seen.tags
    assert seen.tags.count("td") == 2
    assert "onmouseover" not in seen.attributes
    assert seen.texts.count(f"({text})") == 1
    assert sum(each.strip() == text for each in seen.texts) == 5  # title, headings, cells


def test_cells_that_are_more_than_text() -> None:
    drawn = Table(["a"], [[Cell("5", "6", mark="yes")], [Cell("")], ["x"]]).html()
    assert '<td class="yes" style="text-align: left">5 <small>(6)</small></td>' in drawn
    assert '<td style="text-align: left"></td>' in drawn
    assert '<td style="text-align: left">x</td>' in drawn


def test_a_league_with_nasty_names() -> None:
    """Names of policies and scenarios, also those inside the picture."""
    name = "<script>alert(1)</script>--><td>"
    scenario = Scenario([Arm(models.Constant(0.5))], Gaussian(1.0), 10, name=name)
    figures = {"mean": 1.0, "standard_error": 0.1, "p95": 1.0, "max": 1.0, "nanoseconds": 1.0}
    cells = {name: {"RAWUCB": dict(figures), name: dict(figures)}}
    league = League(cells, {name: Entry(name, scenario)}, 2, 0, 1.0)
    body = [
        *_regret.sections(league),
        pages.figures([(plots.svg_text(_regret.figure(league)), name)]),
    ]
    seen = Seen(pages.page(name, body))
    assert "script" not in seen.tags


def test_a_picture_with_nasty_names() -> None:
    scenario = Scenario([Arm(models.Constant(0.5))], Gaussian(1.0), 10)
    found = compare(
        {"<script>--><td>": policies.RoundRobin()}, scenario, runs=2, engine="reference"
    )
    figure, (axes,) = plots.new_figure(3.0, 2.0)
    plots.draw_regret(axes, found.results, title="<script>--><td>")
    seen = Seen(plots.svg_text(figure))
    assert not {"script", "td"} & set(seen.tags)
