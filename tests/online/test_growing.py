"""Space is made before the decision that needs it."""

from __future__ import annotations

from typing import Any

import pytest

from cases import player_of
from rotting import models, policies
from rotting.engines import desk as at
from rotting.online.keeping import Kept
from rotting.policies import Policy

FAMILY = models.Plateau(length=100).over([0.1, 0.2])


@pytest.mark.parametrize("policy", [policies.UCB1(), policies.Guarded(FAMILY, sigma=0.4)])
def test_larger_arrays_are_made_some_decisions_ahead(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[int, int]] = []
    fresh = Kept._fresh

    def noted(self: Kept, params: Any, arms: int, capacity: int) -> Any:
        if hasattr(self, "_desk"):
            made.append((capacity, int(self._desk.clock[at.DECIDED])))
        return fresh(self, params, arms, capacity)

    monkeypatch.setattr(Kept, "_fresh", noted)
    player = player_of(policy, compiled=False)
    for _ in range(1100):
        player.update(player.select(), 0.3)
    for capacity in (512, 1024, 2048):
        first = min(decided for size, decided in made if size == capacity)
        assert first == capacity // 4 - 16
        assert all(decided != capacity // 4 for size, decided in made if size == capacity)
