"""A player's table of arms: as data, in a terminal and in a notebook."""

from __future__ import annotations

import builtins
import html
import math
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from helpers.own_policy import make_mine
from rotting import Player, policies
from rotting._live import ledger as at
from rotting.policies import POLICIES, Policy, Verbs
from rotting.policies.parts.arms import Arms, no_pulls, rewarded
from rotting.policies.parts.ranking import Ranking, best, rank, unranked


def small() -> Player:
    """Three arms, two rewards late, one arm retired."""
    player = policies.UCB1().online(["red", "blue", "green"], compiled=False)
    for reward in (1.0, 0.5, 0.0, 0.8):
        player.update(player.select(), reward)
    player.select()
    player.select()
    player.retire("green")
    return player


def test_rows() -> None:
    player = small()
    table = player.table()
    assert len(table) == 3
    assert [row.arm for row in table] == ["red", "blue", "green"]
    assert table.rows[1] is table["blue"]
    red, green = table["red"], table["green"]
    assert {row.arm: row.pulls for row in table} == player.pulls
    assert sum(row.waiting for row in table) == len(player.outstanding) == 2
    assert all(row.observed + row.waiting == row.pulls for row in table)
    assert red.observed == 2
    assert red.mean == pytest.approx(0.9)
    assert red.estimate is not None
    assert red.estimate == red.mean
    assert red.padding is not None
    assert red.padding == pytest.approx(math.sqrt(2.0 * math.log(7) / 2))
    assert red.index == pytest.approx(red.estimate + red.padding)
    assert (red.open, green.open) == (True, False)
    assert max(row.chosen for row in table) == 6
    assert type(red.mean) is type(red.index) is float
    with pytest.raises(KeyError):
        table["yellow"]


def test_nothing_is_known_of_a_new_arm() -> None:
    player = small()
    player.add("yellow")
    row = player.table()["yellow"]
    assert row[1:] == (0, 0, None, None, None, None, True, 0, 0)


def test_a_mean_that_an_old_file_did_not_keep() -> None:
    player = small()
    player.core.ledger.total[0] = math.nan
    table = player.table()
    assert table["red"].mean is None
    assert table["red"].index is not None
    assert "nan" not in str(table) + table._repr_html_()


def test_looking_changes_nothing() -> None:
    player = small()
    before = player.to_json()
    player.table()
    player.explain()
    assert player.to_json() == before


def test_a_compiled_player_says_the_same() -> None:
    shown = []
    for compiled in (True, False):
        player = policies.UCB1().online(["red", "blue"], compiled=compiled)
        for reward in (1.0, 0.5, 0.2, 0.8):
            player.update(player.select(), reward)
        shown.append(player.table().rows)
    assert shown[0] == shown[1]


class Params(NamedTuple):
    """Nothing."""


class State(NamedTuple):
    """A ranking."""

    arms: Arms
    ranking: Ranking


def _init(params: Any, arms: int, capacity: int) -> State:
    return State(no_pulls(arms), unranked(arms))


def _choose(params: Any, state: State, draw: Any) -> int:
    untried = int(np.argmin(state.arms.pulls))
    return (
        untried
        if state.arms.pulls[untried] == 0
        else int(best(state.ranking, state.arms.opening, draw))
    )


def _update(params: Any, state: State, arm: int, pull: int, reward: float) -> None:
    rewarded(state.arms, arm, 1)
    rank(state.ranking, arm, reward)


def test_policies_of_ones_own() -> None:
    mine = make_mine(1)().online(["a", "b"], compiled=False)
    mine.update(mine.select(), 0.5)
    assert mine.table()["b"][3:7] == (0.5, None, None, None)
    verbs_ = Verbs(Params, State, _init, _choose, _update)

    @dataclass(frozen=True)
    class OwnRanking(Policy):
        """Keeps a ranking and says nothing."""

        verbs: ClassVar[Verbs] = verbs_

        def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
            return Params()

    try:
        player = OwnRanking().online(["a", "b"], compiled=False)
        player.update(player.select(), 0.25)
        assert player.table()["a"][3:7] == (0.25, 0.25, None, 0.25)
        assert player.table()["b"].index is None
    finally:
        del POLICIES["ownranking"]


def test_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    frame = small().table().to_frame()
    assert list(frame.columns[:4]) == ["arm", "pulls", "observed", "mean"]
    assert frame["index"].dtype == np.float64
    assert frame.set_index("arm").loc["red", "mean"] == pytest.approx(0.9)
    assert pandas.isna(
        policies.Uniform().online([1], compiled=False).table().to_frame()["index"][0]
    )
    with pytest.raises(ValueError, match="library must be one of"):
        small().table().to_frame("arrow")
    usual = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name in ("pandas", "polars"):
            raise ImportError(name)
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr("importlib.import_module", without)
    for library in ("pandas", "polars"):
        with pytest.raises(ImportError, match=f"needs {library}: pip install"):
            small().table().to_frame(library)


def test_polars() -> None:
    polars = pytest.importorskip("polars")
    frame = small().table().to_frame("polars")
    assert frame["index"].dtype == polars.Float64
    assert frame.height == 3


@pytest.mark.parametrize("width", [60, 80, 120])
def test_in_a_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    arms = ["a label that is longer than most of them are", "\x1b[31mred", 7, "[b]x[/b]", "日本"]
    player = policies.UCB1().online(arms, compiled=False)
    for _ in range(7):
        player.update(player.select(), 0.3)
    lines = str(player.table()).splitlines()
    assert lines[0] == "UCB1: 5 arms, 7 decisions"
    assert max(map(len, lines)) <= width
    for word in (r"\x1b[31mred", "[b]x[/b]", "日本", "index"):
        assert any(word in line for line in lines)
    assert not any("\x1b" in line for line in lines)
    headings = next(line for line in lines if "index" in line)
    assert ("last chosen" in headings) == (width == 120)
    rows = [line for line in lines if "[b]x" in line]
    assert len(rows) == {60: 3, 80: 2, 120: 1}[width]  # further columns in a table below
    assert sum("waiting" in line for line in lines) == 1
    # numbers end below the end of their heading
    end = headings.index("index") + len("index")
    assert any(re.search(r" \d\.\d{3}$", row[:end]) for row in rows)


def test_probabilities_add_up() -> None:
    player = policies.EXP3S().online(range(4), compiled=False)
    for reward in (1.0, 0.0, 1.0, 1.0):
        player.update(player.select(), reward)
    player.retire(2)
    table = player.table()
    assert table[2].index is None
    assert sum(row.index or 0.0 for row in table) == pytest.approx(1.0)
    assert all(row.estimate is None for row in table)


def test_many_arms_show_some() -> None:
    player = policies.UCB1().online(range(3000), compiled=False)
    player.learn([5, 2999, 2999], [0.1, 0.2, 0.3])
    for text in (str(player.table()), player._repr_html_()):
        assert "40 of 3,000 arms, those pulled most; to_frame() has them all." in text
        assert "2999" in text
        assert text.count("\n") < 60


class Reader(HTMLParser):
    """Cells of a table, row by row; complains of tags that do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_in_a_notebook() -> None:
    evil = '<script>alert(1)</script> & "x"'
    player = policies.UCB1().online([evil, "b"], compiled=False)
    player.update(player.select(), 0.3)
    text = player._repr_html_()
    assert "<script" not in text
    assert html.escape(evil) in text
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert [row[0] for row in reader.rows] == ["arm", evil, "b"]
    assert {len(row) for row in reader.rows} == {10}
    assert reader.rows[2][3:7] == ["-"] * 4
    player.retire("b")
    assert "retired" in player._repr_html_()
    assert player.table()._repr_html_() == player._repr_html_()


def test_the_decision_that_a_desk_does_not_know() -> None:
    player = small()
    player.core.ledger.clock[at.LAST_ARM] = at.NOBODY
    assert "is not known" in player.explain()
