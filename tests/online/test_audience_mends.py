"""Faults of players of audiences that were found by reading, each with what showed it."""

from __future__ import annotations

import json
import re
import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest

from helpers.cases import examples
from helpers.damaged_files import forged
from rotting import Arm, AudiencePlayer, Curves, HalfLife, Window, models
from rotting._online import keys as module
from rotting._online.curves import keeps_curves
from rotting.policies import (
    LCTO,
    UCB1,
    Capped,
    CellUCB,
    Fatigue,
    Mixture,
    Oracle,
    PerKey,
    Policy,
    SteadyUCB,
)

THINKING = CellUCB(0.5)  # counts by key, and needs no tables


class Interrupt:
    """Ctrl-C as CPython has it: raised when the n-th call in `keys` begins or returns."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if frame.f_code.co_filename == module.__file__:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt


def interrupted(n: int, player: AudiencePlayer, name: str, *args: Any) -> bool:
    """Call a method; whether it was interrupted."""
    before = sys.getprofile()
    sys.setprofile(Interrupt(n))
    try:
        getattr(player, name)(*args)
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(before)
    return False


@pytest.mark.parametrize(
    "call",
    [("select", "new"), ("select_many", ["new", "newer", "newest"]), ("forget", "b")],
    ids=lambda call: call[0],
)
def test_an_interrupt_never_gives_two_keys_one_place(call: tuple[Any, ...]) -> None:
    """Nor is a place lost: saved keys are numbered by what is there."""
    for n in range(1, 1000):
        player = UCB1().audience(["x", "y"], compiled=False)
        player.select_many(["a", "b", "c", "d"])
        player.forget("a")
        player.forget("c")
        hit = interrupted(n, player, *call)
        player.select_many(["e", "f", "g"])
        keys: Any = player.core.keys
        places = [*keys.numbers.values(), *keys.spare]
        assert sorted(places) == list(range(len(places))), (n, keys.numbers, keys.spare)
        again = AudiencePlayer.from_json(player.to_json())
        assert {k: again.shown(k) for k in player.keys} == {k: player.shown(k) for k in player.keys}
        if not hit:
            break
    assert 5 < n < 999


@pytest.mark.parametrize("rest", [Window(3), HalfLife(2)])
def test_policies_of_single_keys_do_not_rest(rest: Any) -> None:
    """They count their own pulls: a number that fades is none of theirs."""
    words = r"rest must be None for PerKey, of which each key's policy .*, got (Window|HalfLife)"
    with pytest.raises(ValueError, match=words):
        PerKey(SteadyUCB(None)).audience(["a", "b"], rest=rest, compiled=False)


def test_a_saved_policy_of_single_keys_does_not_rest() -> None:
    saved = json.loads(PerKey(UCB1()).audience(["a", "b"], compiled=False).to_json())
    resting = json.loads(THINKING.audience(["a"], rest=Window(3), compiled=False).to_json())
    saved["audience"]["rest"] = resting["audience"]["rest"]
    del saved["checksum"]
    with pytest.raises(ValueError, match="damaged: it has a rest for PerKey, of which each key's"):
        AudiencePlayer.from_json(forged(saved))


@pytest.mark.parametrize(("key", "times"), [("u", 1), ("never seen", 0)])
def test_shown_takes_arms_and_counts_at_one_moment(
    key: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread adds an arm just before the player is free."""
    player = UCB1().audience(["a", "b"], compiled=False)
    player.select("u")
    alone = AudiencePlayer._alone

    def after_adding(self: Any, work: Any) -> Any:
        monkeypatch.undo()
        self.add("c")
        return alone(self, work)

    monkeypatch.setattr(AudiencePlayer, "_alone", after_adding)
    assert player.shown(key) == {"a": times, "b": 0, "c": 0}


def test_a_late_reward_of_a_forgotten_key() -> None:
    """It is refused, but for the one case that `forget` warns of."""
    player = UCB1().audience(["a", "b"], compiled=False)
    old = player.select("u")
    player.forget("u")
    with pytest.raises(ValueError, match="decision must be of a key that was seen"):
        player.update(old, 1.0)
    assert player.select("u", among=["b"]) != old
    with pytest.raises(ValueError, match="pull must be one of the 0 pulls made of arm 'a' for"):
        player.update(old, 1.0)
    assert player.select("u", among=["a"]) == old
    player.update(old, 1.0)  # nothing tells it from the new one
    assert old not in player.outstanding


def test_a_saved_shelf_has_the_open_arms_of_the_desk() -> None:
    player = PerKey(UCB1()).audience(["a", "b", "c"], compiled=False)
    player.select_many(["u", "v"])
    player.retire("a")
    player.forget("v")
    assert AudiencePlayer.from_json(player.to_json()).retired == ["a"]
    player.core.state.per_key.flags[:] = [1, 1, 0]
    with pytest.raises(ValueError, match=r"damaged: per_key.flags must be .*0, 1, 1"):
        AudiencePlayer.from_json(player.to_json())


@pytest.mark.parametrize(
    "policy",
    [PerKey(UCB1()), Capped(UCB1(), 2), Oracle([Arm(models.Constant(0.5))] * 2)],
    ids=lambda policy: policy.title,
)
def test_who_believes_nothing_has_no_curves(policy: Policy) -> None:
    player = policy.audience(["a", "b"], compiled=False)
    player.update(player.select("u"), 0.5)
    with pytest.raises(ValueError, match=f"to have curves, but {policy.title} does not"):
        player.curves()


def test_an_arm_of_which_nothing_is_known_has_no_cap_and_no_place_in_a_plan() -> None:
    """What is known of the others may end before the showings do."""
    player = THINKING.audience(["new", "b", "c"], compiled=False)
    assert player.curves().cap == {"new": None, "b": None, "c": None}
    with pytest.raises(ValueError, match="nothing is known of any"):
        player.curves().plan(3)
    player.update(player.select("u", among=["b"]), 0.5)
    player.update(player.select("u", among=["c"]), 0.25)
    curves = player.curves(4)
    assert np.isnan(curves.estimate).tolist() == [[True] * 4, *[[False, True, True, True]] * 2]
    assert curves.plan(5) == {"new": 0, "b": 5, "c": 0}
    assert curves.cap == {"new": None, "b": None, "c": 0}


@pytest.mark.parametrize(
    "policy", [policy for policy in examples() if keeps_curves(policy)], ids=lambda p: p.short_label
)
def test_nothing_is_believed_of_an_arm_without_rewards(policy: Policy) -> None:
    """Fatigue and Mixture gave the prior's mean, 0.5 for clicks, with caps and a plan from it."""
    player = policy.audience(["a", "b"], compiled=False)
    for _ in range(5):  # whoever ramps up has then seen both
        player.update(player.select("u", among=["a"]), 0.4)
        player.update(player.select("u", among=["b"]), 0.2)
    player.add("new")
    late = player.select("u", among=["new"])  # shown, but not rewarded yet
    curves = player.curves(3)
    assert np.isnan(curves.estimate[:, 0]).tolist() == [False, False, True]
    for band in (curves.estimate, curves.low, curves.high):
        assert np.isnan(band[2]).all()
    assert curves.cap["new"] is None
    assert curves.plan(9)["new"] == 0
    fresh = policy.audience(["a", "b"], compiled=False).curves()
    assert np.isnan(fresh.estimate).all()
    with pytest.raises(ValueError, match="nothing is known of any"):
        fresh.plan(3)
    for _ in range(5):
        player.update(late, 0.3)
        late = player.select("v", among=["new"])
    assert np.isfinite(player.curves(3).estimate[2, 0])


@pytest.mark.parametrize(
    "policy", [Fatigue(rest=Window(10)), Mixture(Window(10)), Capped(UCB1(), 3, rest=Window(10))]
)
def test_one_rest_is_enough(policy: Any) -> None:
    said = f"rest must be None or that of {policy.title} itself, {Window(10)!r}, got {Window(5)!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        policy.audience(["a", "b"], rest=Window(5), compiled=False)
    for rest in (None, Window(10)):
        assert policy.audience(["a", "b"], rest=rest, compiled=False).rest == Window(10)


def test_showings_before_the_first_that_is_known() -> None:
    nan = np.nan
    estimate = np.array([[nan, 0.6, nan, 0.1], [0.5, nan, 0.3, nan]])
    curves = Curves("P", ["a", "b"], estimate, estimate, estimate)
    assert curves.plan(4) == {"a": 3, "b": 1}
    assert curves.cap == {"a": 3, "b": None}


def test_curves_reach_as_far_as_tables_if_there_are_any() -> None:
    far = THINKING.audience(["a", "b"], compiled=False)
    assert far.curves(300).most == 300
    with pytest.raises(ValueError, match="most must be an integer from 1 to 1000000"):
        far.curves(10**6 + 1)
    near = LCTO(models.Polynomial().over([0.1, 0.5])).audience(["a", "b"], compiled=False)
    with pytest.raises(ValueError, match="most must be an integer from 1 to 256"):
        near.curves(300)
