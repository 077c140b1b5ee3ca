"""Space is made before the decision that needs it."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.cases import examples, name_of, player_of
from rotting import models, policies
from rotting._live import ledger as at
from rotting._online.core import Core
from rotting._online.space import FIRST, UNLIMITED
from rotting.kernel.state import leaves
from rotting.policies import Policy

FAMILY = models.Plateau(length=100).over([0.1, 0.2])


@pytest.mark.parametrize("policy", [policies.RAWUCB(0.4), policies.DCTO(FAMILY, sigma=0.4)])
def test_larger_arrays_are_made_some_decisions_ahead(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[int, int]] = []
    fresh = Core.fresh

    def noted(self: Core, params: Any, arms: int, capacity: int) -> Any:
        if hasattr(self, "ledger"):
            made.append((capacity, int(self.ledger.clock[at.DECIDED])))
        return fresh(self, params, arms, capacity)

    monkeypatch.setattr(Core, "fresh", noted)
    player = player_of(policy, compiled=False)
    for _ in range(1100):
        player.update(player.select(), 0.3)
    for capacity in (512, 1024, 2048):
        first = min(decided for size, decided in made if size == capacity)
        assert first == capacity // 4 - 16
        assert all(decided != capacity // 4 for size, decided in made if size == capacity)


@pytest.mark.parametrize("policy", [p for p in examples() if not p.grows], ids=name_of)
def test_states_that_never_grow_are_of_one_size(policy: Policy) -> None:
    """And those of policies without tables can be prepared for any number of pulls."""
    params = policy.prepare(3, 1000, FIRST)
    sizes = [
        [leaf.value.shape for leaf in leaves(policy.verbs.init(params, 3, capacity))]
        for capacity in (1 << 20, UNLIMITED)
    ]
    assert sizes[0] == sizes[1]
    longer = policy.verbs.init(policy.prepare(3, 1000, 4 * FIRST), 3, UNLIMITED)
    assert sizes[0] == [leaf.value.shape for leaf in leaves(longer)]
