"""Files of players that other versions of the library wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest

from helpers.damaged_files import forged
from rotting import Player, policies


@pytest.mark.parametrize("number", [1, 4, 7, None, "6", 6.0])
def test_another_format_is_refused_with_what_to_do(number: Any) -> None:
    player = policies.UCB1().online(["red", "blue"], compiled=False)
    content = json.loads(player.to_json())
    del content["checksum"]
    content |= {"format": number, "rotting": "0.1.0"}
    with pytest.raises(ValueError, match=r"written by rotting 0\.1\.0; this reads 6: replay its"):
        Player.from_json(forged(content))
