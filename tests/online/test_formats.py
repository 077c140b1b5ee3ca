"""Files of players that earlier versions of the library wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mutants import forged
from rotting import Player

FILES = Path(__file__).parents[1] / "files"


def test_format_1_is_refused_with_what_to_do() -> None:
    text = (FILES / "player-format-1.json").read_text()
    with pytest.raises(ValueError, match=r"^saved state has format 1, .*play its log again"):
        Player.from_json(text)


# the arms that the players of these files chose after their outstanding rewards had come, by
# number, in the library that wrote them
CONTINUED = {
    "player-format-2": "201210210120102021210201210210102021120201120012012021120210",
    "player-format-3": "200000000000000000000000000000000000001201201201201201201221",
    "player-format-3-fewa": "000000000000010100110100101100011010000011010000101100011000",
}
WAITING = {"player-format-2": 6, "player-format-3": 5, "player-format-3-fewa": 5}


def a_reward(name: str, arm: Any, pull: int) -> Any:
    """As it was when the files were written."""
    if name == "player-format-2":
        return 0.9 ** (pull // 10) - 0.05 * (pull % 3)
    return 0.9 ** (pull // 10) - 0.3 * (pull % 3) + 0.2 * (arm == "red")


@pytest.mark.parametrize("name", CONTINUED)
def test_earlier_formats_are_read_and_go_on_as_they_did(name: str) -> None:
    """Players of CTO, wSWA and FEWA with rewards that came late, or were dropped."""
    player = Player.from_json((FILES / f"{name}.json").read_text())
    assert player.arms[:2] == ("red", "blue")
    assert len(player.outstanding) == WAITING[name]
    again = Player.from_json(player.to_json())  # in this format
    for one in (player, again):
        for decision in one.outstanding:
            one.update(decision, 0.25)
        chosen = ""
        for _ in CONTINUED[name]:
            arm, pull = decision = one.select()
            chosen += str(one.arms.index(arm))
            one.update(decision, a_reward(name, arm, pull))
        assert chosen == CONTINUED[name]
        assert one.outstanding == []
    player.retire("blue")
    player.add("green")
    made = player.select_many(20)
    assert "blue" not in made.labels
    assert "green" in made.labels


@pytest.mark.parametrize(
    "name",
    ["player-format-2-steady", "player-format-2-guarded", "player-format-3-steady"],
)
def test_a_steadyucb_that_remembered_every_reward_is_refused_with_what_to_do(name: str) -> None:
    """Alone and in Guarded: what it keeps now cannot be made of what it kept."""
    with pytest.raises(ValueError, match=r"SteadyUCB remembered every reward; play its log again"):
        Player.from_json((FILES / f"{name}.json").read_text())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("outstanding", [[10**12, 1]]), ("outstanding", [[-1, 1]]), ("outstanding", [[0, "x"]])],
        *[
            ("outstanding", 7),
            ("outstanding", [[0, 21], [0, 21]]),
            ("counts", [20, 20]),
            ("turn", 3),
        ],
        *[("counts", [20, 20, "x"]), ("counts", []), ("seed", None), ("seed", -1)],
        *[
            ("decided", 59),
            ("decided", "x"),
            ("decided", 2**70),
            ("state", {}),
            ("state", 7),
            ("arms", ["a"]),
        ],
    ],
    ids=str,
)
def test_forged_files_of_earlier_formats_are_refused(field: str, value: Any) -> None:
    content = json.loads((FILES / "player-format-2.json").read_text())
    del content["checksum"]
    assert Player.from_json(forged(content)).pulls["red"] == 20
    content[field] = value
    with pytest.raises(ValueError, match=r"saved state|labels"):
        Player.from_json(forged(content))
