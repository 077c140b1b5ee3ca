"""Players of format 3, of policies whose states hold something more since arms come and go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rotting import Player

PLAYERS = json.loads(
    (Path(__file__).parents[1] / "files" / "players-format-3.json").read_text()
)  # uniform, round robin, SWA, wSWA (both restarts) and Exp3.S


@pytest.mark.parametrize("found", PLAYERS, ids=lambda found: str(found["player"]["policy_name"]))
def test_it_goes_on_as_it_would_have(found: dict[str, Any]) -> None:
    """Saved in the middle of a ramp-up, an epoch, a round; what it decided next is on record."""
    player = Player.from_json(json.dumps(found["player"]))
    assert len(player.outstanding) == 8
    chosen = []
    for _ in found["then"]:
        label, pull = decision = player.select()
        arm = player.arms.index(label)
        chosen.append(arm)
        player.update(decision, round((0.3 + 0.2 * arm) / pull**0.3, 6))
    assert chosen == found["then"]
