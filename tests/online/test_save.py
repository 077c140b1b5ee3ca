"""Saved players go on exactly."""

from __future__ import annotations

import json
import pickle
import random as python_random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import recorded
import rotting
from helpers.cases import examples, name_of, player_of
from rotting import Arm, Decision, Player, models, policies
from rotting._live.ledger import new_ledger
from rotting._online import save as saving
from rotting.kernel.arrays import IntArray
from rotting.kernel.state import leaves, silent
from rotting.policies import Oracle, Policy
from rotting.policies.parts.openings import closable

FILES = Path(__file__).parents[1] / "files"


@pytest.mark.parametrize("policy", examples(), ids=name_of)
@pytest.mark.parametrize("form", ["json", "bytes"])
def test_saving_continues_exactly(policy: Policy, form: str) -> None:
    player = player_of(policy, seed=9)
    rng = python_random.Random(4)
    kept = []
    for _ in range(700):
        decision = player.select()
        if rng.random() < 0.9:
            player.update(decision, rng.gauss(0.3, 0.5))
        else:
            kept.append(decision)
    if form == "json":
        text = player.to_json()
        json.loads(text)
        again = Player.from_json(text)
    else:
        again = Player.from_bytes(player.to_bytes())
    assert again.policy == policy
    assert again.outstanding == player.outstanding
    for decision in kept:
        again.update(decision, 0.2)
        player.update(decision, 0.2)
    for _ in range(700):
        decision = player.select()
        assert again.select() == decision
        reward = rng.gauss(0.3, 0.5)
        player.update(decision, reward)
        again.update(decision, reward)


def test_what_cannot_be_saved_is_asked_for() -> None:
    function = models.Function(lambda n: 1.0 / n)
    policy = Oracle([Arm(function), Arm(models.Constant(0.2))])
    labels = [("ad", 1), ("ad", 2)]
    player = policy.online(labels, compiled=False)
    first = [player.select().arm for _ in range(3)]
    assert first == [labels[0]] * 3
    data = player.to_bytes()
    with pytest.raises(ValueError, match="policy must be given"):
        Player.from_bytes(data)
    with pytest.raises(ValueError, match="policy must be the saved Oracle"):
        Player.from_bytes(data, policy=3)  # type: ignore[arg-type]
    again = Player.from_bytes(data, policy=policy, arms=labels[::-1])
    assert [again.select() for _ in range(20)] == [player.select() for _ in range(20)]


def test_a_saved_player_names_its_format_and_the_library() -> None:
    saved = json.loads(player_of(policies.UCB1(), compiled=False).to_json())
    assert saved["format"] == saving.FORMAT == 6
    assert saved["rotting"] == rotting.__version__
    assert {"arms.pulls", "arms.clock", "total", "mean", "width"} <= set(saved["state"])
    assert set(saved["ledger"]) == set(saving.LEDGER)


@dataclass(frozen=True)
class Silent(Policy):
    """A user's policy whose state does not declare its bounds."""

    verbs: ClassVar[policies.Verbs]

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Any:
        return SilentParams(arms)


class SilentParams(NamedTuple):
    arms: int


class SilentState(NamedTuple):
    time: IntArray


def test_a_state_that_says_nothing_must_be_trusted() -> None:
    def init(params: Any, arms: int, capacity: int) -> SilentState:
        return SilentState(np.zeros(1, dtype=np.int64))

    def choose(params: Any, state: Any, draw: Any) -> int:
        return int(state.time[0] % params.arms)

    def pulled(params: Any, state: Any, arm: int) -> None:
        state.time[0] += 1

    def update(params: Any, state: Any, arm: int, pull: int, reward: float) -> None:
        pass

    verbs = policies.Verbs(SilentParams, SilentState, init, choose, update, pulled)
    own = type("SilentOne", (Silent,), {"verbs": verbs, "key": "silent"})
    try:
        player = own().online(range(3), compiled=False)
        for _ in range(4):
            player.select()
        with pytest.raises(ValueError, match=r"^time in the state of .*trusted=True"):
            Player.from_json(player.to_json())
        before = player.to_json()
        arms: Any = ("retire", 0), ("add", 3), ("select", [0]), ("restore", 0)
        for verb, label in arms:  # nor does it say how arms close
            with pytest.raises(ValueError, match="policy must have the verb set_open"):
                getattr(player, verb)(label)
        assert player.to_json() == before
        for again in (
            Player.from_json(player.to_json(), trusted=True),
            Player.from_bytes(player.to_bytes(), trusted=True),
        ):
            assert again.select() == Decision(1, 2)
            for _ in range(150):  # though an arm never answers, which others are not shown then
                decision = again.select()
                if decision.arm != 1:
                    again.update(decision, 1.0)
            assert min(again.pulls.values()) > 45
    finally:
        del policies.POLICIES["silent"]


def test_every_state_of_this_library_speaks() -> None:
    for policy in recorded.examples().values():
        params = policy.prepare(3, 1000, 100)
        assert silent(policy.verbs.init(params, 3, 100)) == []


@pytest.mark.parametrize("form", ["json", "bytes", "pickle"])
def test_a_pull_that_waits_for_its_reward_is_judged_again_after_loading(form: str) -> None:
    """Saved between a decision and its reward, CTO must keep the pull in its counts."""
    family = models.Exponential().over([0.5, 0.01])
    for seed in range(5):
        player = policies.CTO(family).online(range(2), seed=seed, compiled=False)
        for _ in range(2):
            player.update(player.select(), 1.0)
        late = player.select()
        saved: Any
        if form == "json":
            saved = Player.from_json(player.to_json())
        elif form == "bytes":
            saved = Player.from_bytes(player.to_bytes())
        else:
            saved = pickle.loads(pickle.dumps(player))
        # both arms were equally good: the one pulled has fallen behind, though nothing came back
        following = saved.select()
        assert following.arm != late.arm
        assert following == player.select()


def test_what_a_saved_player_holds_is_tied_to_its_format() -> None:
    """Another field or type in any policy's state needs another format, and a reader for this one.

    Run this module to rewrite the file, together with a raised `FORMAT`.
    """
    assert json.loads(LAYOUT.read_text()) == layouts()


LAYOUT = FILES / f"states-format-{saving.FORMAT}.json"


def layouts() -> dict[str, dict[str, str]]:
    """The type and number of dimensions of every field of every policy's state, and the ledger."""
    ledger = new_ledger(3, seed=0)
    found = {
        "the ledger": {
            name: f"{getattr(ledger, name).dtype.name}:{getattr(ledger, name).shape}"
            for name in saving.LEDGER
        }
    }
    for name, policy in recorded.examples().items():
        params = policy.prepare(3, 1000, 100)
        state = closable(policy.verbs.init(params, 3, 100))
        found[name] = {
            leaf.path: f"{leaf.value.dtype.name}:{leaf.value.ndim}" for leaf in leaves(state)
        }
    return found


if __name__ == "__main__":
    LAYOUT.write_text(json.dumps(layouts(), indent=1) + "\n")
