"""Saved players go on exactly; damaged ones are refused."""

from __future__ import annotations

import json
import random as python_random
from typing import Any

import pytest

from cases import examples, name_of, player_of
from rotting import Arm, Player, models, policies
from rotting.policies import Oracle, Policy


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
        b"", b"nothing", data[:-5], data[:20] + b"\x00" + data[21:],
        text.replace('"decided": 1', '"decided": 2'), text[:-2], "[]", "{}", "3",
    ]  # fmt: skip
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
