"""Players of format 4, from before players had audiences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mutants import forged
from rotting import AudiencePlayer, Player

PLAYERS = json.loads(
    (Path(__file__).parents[1] / "files" / "players-format-4.json").read_text()
)  # CTO, SteadyUCB with a control group, RAW-UCB with a reward window, Posterior


@pytest.mark.parametrize("found", PLAYERS, ids=lambda found: str(found["player"]["policy_name"]))
def test_it_goes_on_as_it_would_have(found: dict[str, Any]) -> None:
    """Saved with rewards still to come, after an arm was retired and restored."""
    player = Player.from_json(json.dumps(found["player"]))
    again = Player.from_json(player.to_json())  # in this format
    for one in (player, again):
        chosen = []
        for _ in found["then"]:
            decision = one.select()
            chosen.append(one.arms.index(decision.arm))
            one.update(decision, round(0.9 ** (decision.pull // 10), 6))
        assert chosen == found["then"]
        assert len(one.outstanding) == found["waiting"]


def test_it_has_no_audience() -> None:
    with pytest.raises(ValueError, match="must be that of an AudiencePlayer, got one of a Player"):
        AudiencePlayer.from_json(json.dumps(PLAYERS[0]["player"]))


@pytest.mark.parametrize("desk", [7, {}, {"clock": 3}], ids=str)
def test_a_forged_desk_is_refused(desk: Any) -> None:
    content = dict(PLAYERS[0]["player"])
    del content["checksum"]
    assert Player.from_json(forged(content)).arms == ("red", "blue", "green")
    content["desk"] = desk
    with pytest.raises(ValueError, match="saved state"):
        Player.from_json(forged(content))
