"""Saved players go on exactly; damaged ones are refused."""

from __future__ import annotations

import json
import pickle
import random as python_random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recorded
import rotting
from cases import examples, name_of, player_of
from rotting import Arm, Player, models, policies
from rotting.online import saving
from rotting.policies import Oracle, Policy
from rotting.state import leaves

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


def test_a_damaged_state_is_refused() -> None:
    player = player_of(policies.UCB1())
    player.update(player.select(), 0.5)
    data, text = player.to_bytes(), player.to_json()
    damaged: list[bytes | str] = [
        b"",
        b"nothing",
        data[:-5],
        data[:20] + b"\x00" + data[21:],
        text.replace('"decided": 1', '"decided": 2'),
        text[:-2],
        "[]",
        "{}",
        "3",
    ]
    for wrong in damaged:
        load: Any = Player.from_bytes if isinstance(wrong, bytes) else Player.from_json
        with pytest.raises(ValueError, match="saved state"):
            load(wrong)


def test_what_cannot_be_saved_is_asked_for() -> None:
    function = models.Function(lambda n: 1.0 / n)
    policy = Oracle([Arm(function), Arm(models.Constant(0.2))])
    labels = [frozenset({1}), frozenset({2})]
    player = policy.online(labels, compiled=False)
    first = [player.select().arm for _ in range(3)]
    assert first == [labels[0]] * 3
    data = player.to_bytes()
    with pytest.raises(ValueError, match="policy must be given"):
        Player.from_bytes(data)
    with pytest.raises(ValueError, match="policy must be the saved Oracle"):
        Player.from_bytes(data, policy=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="arms must be given"):
        Player.from_bytes(data, policy=policy)
    with pytest.raises(ValueError, match="arms must be 2 labels, got 1"):
        Player.from_bytes(data, policy=policy, arms=["a"])
    again = Player.from_bytes(data, policy=policy, arms=labels)
    assert [again.select() for _ in range(20)] == [player.select() for _ in range(20)]


def test_a_saved_player_names_its_format_and_the_library() -> None:
    saved = json.loads(player_of(policies.UCB1(), compiled=False).to_json())
    assert saved["format"] == saving.FORMAT == 2
    assert saved["rotting"] == rotting.__version__
    assert {"arms.pulls", "arms.clock", "total", "mean", "width"} <= set(saved["state"])


def test_format_1_is_refused_with_what_to_do() -> None:
    text = (FILES / "player-format-1.json").read_text()
    with pytest.raises(ValueError, match=r"^saved state has format 1, .*play its log again"):
        Player.from_json(text)


# the arms that the player of the file chose after its outstanding rewards had come, by number
CONTINUED = "201210210120102021210201210210102021120201120012012021120210"


def test_format_2_is_read() -> None:
    """A player of CTO with rewards that came late; what it decided next is on record."""
    player = Player.from_json((FILES / "player-format-2.json").read_text())
    assert player.arms == ("red", "blue", ("shop", 3))
    assert player.pulls == {"red": 20, "blue": 20, ("shop", 3): 20}
    assert len(player.outstanding) == 6
    assert player._state.sums.gaps.tolist() == [1, 1, 1]
    for decision in player.outstanding:
        player.update(decision, 0.25)
    chosen = ""
    for _ in CONTINUED:
        arm, pull = decision = player.select()
        chosen += str(player.arms.index(arm))
        player.update(decision, 0.9 ** (pull // 10) - 0.05 * (pull % 3))
    assert chosen == CONTINUED


def forged(change: Callable[[dict[str, Any]], object]) -> str:
    """The file of format 2 with something changed, and a checksum that fits."""
    content = json.loads((FILES / "player-format-2.json").read_text())
    del content["checksum"]
    change(content)
    return json.dumps({"checksum": saving._checksum(content), **content})


def put(path: str, values: Any) -> Callable[[dict[str, Any]], object]:
    """A change that puts another array into the state."""
    return lambda content: content["state"].update({path: saving._pack(np.array(values))})


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (
            r"format 3, written by rotting 9\.9; this reads 2",
            lambda content: content.update(format=3, rotting="9.9"),
        ),
        ("does not fit this version of CTO", lambda content: content["state"].pop("ranking.tree")),
        ("does not fit this version of CTO", put("more", [1])),
        (r"arms\.pulls of the state must be int64 of shape \(3,\)", put("arms.pulls", [1, 2])),
        (r"arms\.pulls of the state must be int64", put("arms.pulls", [1.0, 2.0, 3.0])),
        (r"arms\.pulls must be \[20, 20, 20\]", put("arms.pulls", [1, 2, -3])),
        (r"ranking\.leader of the state must lie between 0 and 2", put("ranking.leader", [3])),
        (r"sums\.closest of the state must lie between 0 and 2", put("sums.closest", [0, 0, 9**9])),
        (r"arms\.pulls must be \[20, 20, 20\]", put("arms.pulls", [20, 20, 9**9])),
        (r"pulls \[20, 20, 21\] of 60", lambda content: content.update(counts=[20, 20, 21])),
        (
            "its turn must be of 3 arms",
            lambda content: content.update(turn=saving._pack(np.array([4, 0]))),
        ),
        (
            "nobody can wait for arm 1000000000",
            lambda content: content.update(turn=saving._pack(np.array([3, 10**9]))),
        ),
        (
            "random stream must be three 64-bit words",
            lambda content: content.update(draw=saving._pack(np.zeros(2, dtype=np.uint64))),
        ),
        (
            r"arms\.observed of the state must be counts of at most pulls",
            put("arms.observed", [0, 0, 21]),
        ),
        ("pull 21 of arm 0 was not made", lambda content: content.update(outstanding=[[0, 21]])),
        (r"sums\.total of the state must be finite", put("sums.total", [0.0, np.inf, 0.0])),
    ],
)
def test_a_state_that_no_play_leads_to_is_refused(
    words: str, change: Callable[[dict[str, Any]], object]
) -> None:
    with pytest.raises(ValueError, match=words):
        Player.from_json(forged(change))


def test_a_forgery_that_changes_nothing_is_read() -> None:
    """The refusals above are for what was changed, not for how."""
    assert Player.from_json(forged(lambda content: None)).pulls["red"] == 20


@pytest.mark.parametrize("form", ["json", "bytes", "pickle"])
def test_a_pull_that_waits_for_its_reward_is_judged_again_after_loading(form: str) -> None:
    """Saved between a decision and its reward, CTO must still know that the arm has worn."""
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

    Run this module to write the file anew, together with a raised `FORMAT`.
    """
    assert json.loads(LAYOUT.read_text()) == layouts()


LAYOUT = FILES / f"states-format-{saving.FORMAT}.json"


def layouts() -> dict[str, dict[str, str]]:
    """The type and number of dimensions of every field of every policy's state."""
    found = {}
    for name, policy in recorded.examples().items():
        params = policy.prepare(3, 1000, 100)
        state = policy.verbs.init(params, 3, 100)
        found[name] = {
            leaf.path: f"{leaf.value.dtype.name}:{leaf.value.ndim}" for leaf in leaves(state)
        }
    return found


if __name__ == "__main__":
    LAYOUT.write_text(json.dumps(layouts(), indent=1) + "\n")
