"""Ctrl-C at any moment leaves a player whole: a call was made, or it was not.

What could end the interpreter runs in a child process, so that a crash is a failure. So is a
deadlock: faulthandler prints where, and ends it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from helpers.cases import player_of, run_script
from helpers.happenings import check_same_players
from rotting import Player, policies
from rotting._online.core import Core

INTERRUPTED = """
import faulthandler, json, random, signal
from rotting import Player, policies

faulthandler.dump_traceback_later(120, exit=True)
armed, rng = [False], random.Random(0)

def interrupt(*_):  # again after a while: one within a weak reference's callback is lost
    if armed[0]:
        raise KeyboardInterrupt

signal.signal(signal.SIGINT, interrupt)
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
policies.UCB1().online(range(5), compiled=COMPILED).select()  # compiled now
hits, player = 0, None
while hits < 300:
    if hits % 10 == 0:  # young, as growing is part of it
        player = policies.UCB1().online(range(5), compiled=COMPILED)
        player.update(player.select(), 0.5)
    try:
        armed[0] = True
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(5e-5, 4e-4), 0.1)
        while True:
            player.update(player.select(), 0.5)
    except KeyboardInterrupt:
        armed[0] = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        hits += 1
    arms, ledger = player.core.state.arms, player.core.ledger
    assert arms.pulls.tolist() == list(player.pulls.values()), hits
    assert arms.observed.tolist() == ledger.rewarded.tolist()
    assert arms.pulls.sum() == ledger.clock[0] == arms.observed.sum() + len(player.outstanding)
    assert Player.from_json(player.to_json()).pulls == player.pulls
print(json.dumps({"hits": hits}))
"""


# compiled when it is made; or in plain Python, for ever waiting for compiled code
HOW = {
    "compiled": "COMPILED = True\n",
    "not yet": """
from rotting._online import background
background._request, background.PLAIN_LIMIT, COMPILED = lambda core: None, 10**9, None
""",
}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals that come by a timer")
def test_an_interrupt_leaves_a_player_whole(tmp_path: Path, how: str) -> None:
    """Wherever Ctrl-C strikes: decided and counted, or neither; learnt, or still outstanding."""
    assert run_script(tmp_path, HOW[how] + INTERRUPTED)["hits"] == 300


def test_an_interrupt_while_learning_is_compiled_leaves_the_decision_outstanding() -> None:
    class Compiling:
        signatures: tuple[Any, ...] = ()

        def __call__(self, *_: Any) -> None:
            raise KeyboardInterrupt

    player = player_of(policies.UCB1())
    decision, learn = player.select(), player.core.learn
    player.core.learn = Compiling()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        player.update(decision, 1.0)
    assert player.outstanding == [decision]
    player.core.learn = learn
    player.update(decision, 1.0)
    assert player.outstanding == []


MIXED = """
import faulthandler, json, random, signal
from rotting import Player, policies

faulthandler.dump_traceback_later(120, exit=True)
armed, rng = [False], random.Random(0)

def interrupt(*_):  # again after a while: one within a weak reference's callback is lost
    if armed[0]:
        raise KeyboardInterrupt

def something(player):
    label = rng.choice(player.arms)
    at_work = rng.randrange(8)
    if at_work == 0:
        player.select_many(rng.choice((3, 40)))
    elif at_work == 1:
        some = player.outstanding[:30]
        player.update_many(some, [0.25] * len(some))
    elif at_work == 2 and len(player.arms) < 40:
        player.add(f"new {len(player.arms)}")
    elif at_work == 3 and label not in player.retired:
        if len(player.retired) < len(player.arms) - 1:
            player.retire(label)
    elif at_work == 4 and player.retired:
        player.restore(player.retired[0])
    elif at_work == 5:
        player.learn([label] * 20, [0.5] * 20)
    elif at_work == 6:
        player.expire()
    else:
        player.update(player.select(among=[a for a in player.arms if a not in player.retired]), 1.0)

signal.signal(signal.SIGINT, interrupt)
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
hits, player = 0, None
while hits < 200:
    if hits % 10 == 0:
        settings = {"reward_window": 200, "default_reward": 0.0, "compiled": COMPILED}
        player = policies.UCB1().online(range(5), **settings)
        for _ in range(60):
            player.update(player.select(), 0.5)
        player.learn([0], [0.5])  # compiled now
    try:
        armed[0] = True
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(5e-5, 2e-3), 0.1)
        while True:
            something(player)
    except KeyboardInterrupt:
        armed[0] = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        hits += 1
    arms, ledger = player.core.state.arms, player.core.ledger
    assert arms.pulls.tolist() == list(player.pulls.values()), hits
    assert arms.observed.tolist() == ledger.rewarded.tolist(), hits
    assert arms.opening.flags.tolist() == ledger.open.tolist() and ledger.clock[4] == 0, hits
    assert [a for a in player.arms if not ledger.open[player.arms.index(a)]] == player.retired
    assert arms.pulls.sum() == ledger.clock[0] == arms.observed.sum() + len(player.outstanding)
    again = Player.from_json(player.to_json())
    assert again.to_json() == player.to_json(), hits
    for one in (player, again):
        for decision in one.outstanding[:5]:
            one.update(decision, 0.25)
    assert [again.select() for _ in range(3)] == [player.select() for _ in range(3)], hits
print(json.dumps({"hits": hits}))
"""


@pytest.mark.parametrize("how", HOW)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals that come by a timer")
def test_an_interrupt_leaves_a_player_whole_whatever_it_does(tmp_path: Path, how: str) -> None:
    """Batches, history, arms that come and go, giving up: and what was saved goes on the same."""
    assert run_script(tmp_path, HOW[how] + MIXED)["hits"] == 200


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_an_interrupt_while_space_is_made_leaves_decisions_to_be_found(
    full: bool, before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of waiting decisions is rebuilt by the first call that needs it."""
    player = player_of(policies.UCB1(), compiled=False, reward_window=4000)
    made = player.select_many(8 if full else 112)
    player.update_many(made[5:], [0.5] * len(made[5:]))
    if full:
        player.select_many(3)
    other = Player.from_json(player.to_json())
    begin = Core.begin

    def interrupted(self: Any, *parts: Any) -> None:
        if not before:
            begin(self, *parts)
        raise KeyboardInterrupt

    monkeypatch.setattr(Core, "begin", interrupted)
    with pytest.raises(KeyboardInterrupt):
        for _ in iter(other.select, None):
            pass
    monkeypatch.undo()
    decided = sum(other.pulls.values())
    while sum(player.pulls.values()) < decided:
        player.select()
    again = Player.from_json(other.to_json())
    for one in (player, other, again):
        one.update(made[0], 0.25)
        one.drop(made[1])
        one.update_many(made[2:4], [1.0, 0.0])
        for settled in made[:4]:
            with pytest.raises(ValueError, match="was rewarded or dropped before"):
                one.update(settled, 1.0)
        assert one.expire() == 0
        assert made[4] in one.outstanding
    check_same_players(other, again)
    assert player.outstanding == other.outstanding
    assert [player.select() for _ in range(30)] == [other.select() for _ in range(30)]
    check_same_players(player, other)
