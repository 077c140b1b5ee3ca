"""Decisions without a reward: windows, times, defaults, and the warning for clicks only."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.cases import player_of
from helpers.happenings import check_same_players
from rotting import Decision, Player, policies

LATE = "pull 1 of arm 'a' was rewarded before, perhaps by the default"
DAY = datetime.timedelta(days=1)
NOON = datetime.datetime(2024, 5, 1, 12)


def ucb(**settings: Any) -> Player:
    return player_of(policies.UCB1(), compiled=False, **settings)


def test_a_window_of_decisions() -> None:
    """A reward may come until the window's number of further decisions is reached."""
    player = ucb(reward_window=3)
    first = player.select()
    for _ in range(3):
        player.select()
    assert first in player.outstanding
    fourth = player.select()
    assert first not in player.outstanding
    assert len(player.outstanding) == 4
    with pytest.raises(ValueError, match="pull 1 of arm 'a' was rewarded or dropped before"):
        player.update(first, 1.0)
    player.update(fourth, 1.0)
    assert player.core.ledger.rewarded.sum() == 1


def test_a_reward_that_comes_in_time_is_the_only_one() -> None:
    player = ucb(reward_window=3, default_reward=0.0)
    first = player.select()
    player.select_many(3)
    player.update(first, 1.0)
    player.select_many(9)
    assert player.core.ledger.total.sum() == 1.0
    assert player.core.ledger.rewarded.sum() == 9
    assert len(player.outstanding) == 4


def test_the_default_is_learnt_in_the_order_of_decisions_before_the_next_one() -> None:
    """As if the user had sent those zeros just before each decision."""
    silent, told = ucb(reward_window=2, default_reward=0.25), ucb()
    made: list[Decision] = []
    for k in range(40):
        if len(made) > 2 and (k - 3) % 5:
            told.update(made[k - 3], 0.25)
        decision = silent.select()
        assert told.select() == decision
        made.append(decision)
        if k % 5 == 0:
            for player in (silent, told):
                player.update(decision, 1.0)
    assert silent.outstanding == told.outstanding
    assert silent.core.ledger.total.tolist() == told.core.ledger.total.tolist()
    assert silent.core.state.mean.tolist() == told.core.state.mean.tolist()


def test_a_reward_after_the_default_is_refused_with_a_sentence() -> None:
    player = ucb(reward_window=1, default_reward=0.0)
    first = player.select()
    player.select_many(2)
    before = player.to_json()
    with pytest.raises(ValueError, match=LATE):
        player.update(first, 1.0)
    with pytest.raises(ValueError, match=LATE):
        player.update_many([first], [1.0])
    with pytest.raises(ValueError, match="decision must be one that waits"):
        player.drop(first)
    assert player.to_json() == before


def test_expire_gives_up_what_is_over() -> None:
    player = ucb(reward_window=5, default_reward=0.0)
    player.select_many(8)
    assert player.core.ledger.rewarded.sum() == 2  # by the seventh decision and the eighth
    assert player.expire() == 1  # which the ninth would do
    assert len(player.outstanding) == 5
    assert player.expire() == 0
    assert player.core.ledger.rewarded.sum() == 3
    assert ucb().expire() == 0  # no window ever ends


@pytest.mark.parametrize(
    ("span", "start", "more"),
    [
        (10, 0, 1.0),
        (10.0, -5.5, 1),
        (10 * DAY, NOON, DAY),
        (10 * DAY, NOON.replace(tzinfo=datetime.UTC), DAY),
    ],
)
def test_a_window_of_time(span: Any, start: Any, more: Any) -> None:
    player = ucb(reward_time=span, default_reward=0.0)
    first = player.select(at=start)
    second = player.select(at=start + more)
    assert player.expire(start + 10 * more) == 0  # it is over when more than that has passed
    assert player.expire(at=start + 10.5 * more) == 1
    assert player.outstanding == [second]
    with pytest.raises(ValueError, match=LATE):
        player.update(first, 1.0)
    player.update(second, 1.0)
    third = player.select(at=start + 11 * more)
    again = Player.from_json(player.to_json())
    check_same_players(player, again)
    for one in (player, again):
        assert one.select(at=start + 30 * more).pull >= 1
        assert third not in one.outstanding
    with pytest.raises(ValueError, match="at must not be before the time of earlier calls"):
        again.select(at=start)
    check_same_players(player, again)


def test_zones_are_the_same_time_everywhere() -> None:
    player = ucb(reward_time=datetime.timedelta(hours=2))
    player.select(at=NOON.replace(tzinfo=datetime.UTC))
    east = datetime.timezone(datetime.timedelta(hours=5))
    assert player.expire(NOON.replace(tzinfo=east) + datetime.timedelta(hours=6.5)) == 0
    assert player.expire(NOON.replace(tzinfo=east) + datetime.timedelta(hours=7.5)) == 1


def test_both_windows_and_batches() -> None:
    player = ucb(reward_window=50, reward_time=1.0, default_reward=0.5)
    player.select_many(10, at=0.0)
    player.select_many(10, at=2.0)
    assert len(player.outstanding) == 10
    player.select_many(60, at=2.5)
    assert len(player.outstanding) == 51
    assert player.expire(at=9.0) == 51
    assert player.core.ledger.total.sum() == 40.0
    assert player.core.ledger.rewarded.tolist() == player.core.ledger.pulls.tolist()


def test_times_that_cannot_be_are_refused_and_change_nothing() -> None:
    player, dated, untimed = ucb(reward_time=10), ucb(reward_time=DAY), ucb()
    player.select(at=5.0)
    dated.select(at=NOON)
    untimed.select(at=7)  # it may be given, though it has no effect
    wrong: list[tuple[Player, Callable[[Player], Any], str]] = [
        (player, lambda p: p.select(), "at must be given, as this player has a reward_time"),
        (player, lambda p: p.select_many(2), "at must be given, as this player has a reward_time"),
        (player, lambda p: p.expire(), "at must be given, as this player has a reward_time"),
        (player, lambda p: p.select(at=4.9), "at must not be before the time of earlier calls"),
        (player, lambda p: p.select_many(2, at=4), "at must not be before the time of earlier"),
        (player, lambda p: p.expire(4.9), "at must not be before the time of earlier calls"),
        (player, lambda p: p.select(at=NOON), "at must be a number, as the times before"),
        (player, lambda p: p.select(at=float("nan")), "at must be a finite number, got nan"),
        (player, lambda p: p.select(at=float("inf")), "at must be a finite number, got inf"),
        (player, lambda p: p.select(at="5"), "at must be a finite number, got '5'"),
        (player, lambda p: p.select(at=True), "at must be a finite number, got True"),
        (dated, lambda p: p.select(at=9.0), "at must be a datetime, as the times before"),
        (dated, lambda p: p.select(at=NOON.date()), "at must be a datetime, as the times before"),
        (dated, lambda p: p.expire(NOON - DAY), "at must not be before"),
        (untimed, lambda p: p.select(at=6), "at must not be before the time of earlier calls"),
    ]
    for one, do, words in wrong:
        before = one.to_json()
        with pytest.raises(ValueError, match=words):
            do(one)
        assert one.to_json() == before, words


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"reward_window": 0}, "reward_window must be an integer >= 1, got 0"),
        ({"reward_window": 1.5}, "reward_window must be an integer >= 1"),
        ({"reward_time": 0}, "reward_time must be a number > 0, got 0"),
        ({"reward_time": "1h"}, "reward_time must be a number > 0"),
        ({"reward_time": -DAY}, "reward_time must be a number > 0"),
        ({"default_reward": 0.0}, "default_reward must come with a reward_window"),
        (
            {"reward_window": 5, "default_reward": float("nan")},
            "default_reward must be a finite number",
        ),
        ({"reward_window": 5, "default_reward": "0"}, "default_reward must be a finite number"),
    ],
)
def test_windows_that_cannot_be(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ucb(**settings)


def only_clicks(player: Player, reward: float, every: int) -> None:
    for k in range(2200):
        decision = player.select()
        if k % every == 0:
            player.update(decision, reward)


def test_a_player_that_hears_of_clicks_only_warns() -> None:
    with pytest.warns(UserWarning, match=r"all rewards are 1: .*No click is a reward of 0") as told:
        only_clicks(ucb(), 1.0, 20)
    lines = Path(__file__).read_text().splitlines()
    assert told[0].filename == __file__
    assert "player.select()" in lines[told[0].lineno - 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        only_clicks(ucb(reward_window=10, default_reward=0.0), 1.0, 20)
        only_clicks(ucb(), 0.0, 20)  # zeros say something
        only_clicks(ucb(), 1.0, 1)  # all were answered


def test_a_warning_that_is_an_error_leaves_the_player_whole() -> None:
    player = ucb()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="only clicks"):
            only_clicks(player, 1.0, 20)
        waiting = player.outstanding
        assert sum(player.pulls.values()) >= 1000
        player.update(waiting[3], 1.0)
        player.drop(waiting[4])
        player.update_many(waiting[5:9], [0.0] * 4)
        assert len(player.outstanding) == len(waiting) - 6
        check_same_players(player, Player.from_json(player.to_json()))
        player.select()
