"""Loading players: damaged and forged files, and other formats, are refused with the reason."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers import damaged_files
from helpers.cases import FAMILY, player_of
from rotting import Player, policies
from rotting._live import ledger as at
from rotting._online import save as saving

Change = Callable[[dict[str, Any]], object]


def test_a_damaged_state_is_refused() -> None:
    player = player_of(policies.UCB1())
    player.update(player.select(), 0.5)
    data, text = player.to_bytes(), player.to_json()
    damaged: list[bytes | str] = [
        b"",
        b"nothing",
        data[:-5],
        data[:20] + b"\x00" + data[21:],
        text.replace('"start": 3', '"start": 2'),
        text[:-2],
        "[]",
        "{}",
        "3",
    ]
    for wrong in damaged:
        load: Any = Player.from_bytes if isinstance(wrong, bytes) else Player.from_json
        with pytest.raises(ValueError, match="saved state"):
            load(wrong)


def forged(change: Change) -> str:
    """A player of CTO after sixty decisions with something changed, and a checksum that fits."""
    content = damaged_files.played(policies.CTO(FAMILY), 3, 60)
    change(content)
    return damaged_files.forged(content)


def put(path: str, values: Any) -> Change:
    """A change that puts another array into the state."""
    return lambda content: content["state"].update({path: saving._pack(np.array(values))})


def on_ledger(name: str, place: int, value: Any) -> Change:
    """A change of a number on the ledger."""

    def change(content: dict[str, Any]) -> None:
        array = damaged_files.unpacked(content["ledger"][name])
        array[place] = value
        content["ledger"][name] = saving._pack(array)

    return change


def waits(rows: Any) -> Change:
    return lambda content: content.update(waiting=rows)


def test_a_forgery_that_changes_nothing_is_read() -> None:
    """The refusals below are for what was changed, not for how."""
    assert sum(Player.from_json(forged(lambda content: None)).pulls.values()) == 60


PULLS = r"arms\.pulls must be \[\d+, \d+, \d+\]"


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (
            r"format 7, written by rotting 9\.9; this reads 6",
            lambda content: content.update(format=7, rotting="9.9"),
        ),
        ("does not fit this version of CTO", lambda content: content["state"].pop("ranking.tree")),
        ("does not fit this version of CTO", put("more", [1])),
        (r"arms\.pulls of the state must be int64 of shape \(3,\)", put("arms.pulls", [1, 2])),
        (r"arms\.pulls of the state must be int64", put("arms.pulls", [1.0, 2.0, 3.0])),
        (PULLS, put("arms.pulls", [1, 2, -3])),
        (PULLS, put("arms.pulls", [20, 20, 9**9])),
        (r"arms\.opening\.flags must be \[1, 1, 1\]", put("arms.opening.flags", [1, 0, 1])),
        (r"arms\.opening\.count must be the 3 open arms", put("arms.opening.count", [2])),
        (r"ranking\.leader of the state must lie between 0 and 2", put("ranking.leader", [3])),
        (r"sums\.closest of the state must lie between 0 and 2", put("sums.closest", [0, 0, 9**9])),
        (r"arms\.observed of the state must be counts of at", put("arms.observed", [0, 0, 61])),
        (r"sums\.total of the state must be finite", put("sums.total", [0.0, np.inf, 0.0])),
        (
            r"draw of the state must be uint64 of shape \(3,\), got uint64 of shape \(2,\)",
            lambda content: content.update(draw=saving._pack(np.zeros(2, dtype=np.uint64))),
        ),
        ("it counts 61 decisions", on_ledger("clock", at.DECIDED, 61)),
        ("it counts 60 decisions, but its arms", on_ledger("pulls", 0, 61)),
        ("it counts 60 decisions, but its arms", on_ledger("pulls", 0, 2**61)),
        ("pulls of the state must lie between 0 and", on_ledger("pulls", 0, -1)),
        ("rewarded of the state must be counts of at most pulls", on_ledger("rewarded", 0, 61)),
        ("an arm was chosen after the last decision", on_ledger("last_chosen", 1, 61)),
        ("2 arms are open", on_ledger("open", 1, 0)),
        ("open of the state must lie between 0 and 1", on_ledger("open", 1, 2)),
        ("there is no arm 3", on_ledger("clock", at.LATE, 3)),
        ("there is no arm 1000000000", on_ledger("clock", at.LAST_ARM, 10**9)),
        ("its clock counts below zero", on_ledger("clock", at.WINDOW, -1)),
        ("clock of the state must", on_ledger("clock", at.LEARNT, -2)),
        ("its share, lifetime or default cannot be", on_ledger("numbers", at.EXPLORE, 1.0)),
        ("its share, lifetime or default cannot be", on_ledger("numbers", at.EXPLORE, np.nan)),
        ("its share, lifetime or default cannot be", on_ledger("numbers", at.LIFETIME, 0.0)),
        ("its share, lifetime or default cannot be", on_ledger("numbers", at.DEFAULT, 1e200)),
        ("its time is infinite", on_ledger("numbers", at.NOW, np.inf)),
        ("pull 99 of arm 0 was not made", waits([[0, 99, 1, None, 0.0, 0.0]])),
        ("pull 1 of arm 3 was not made", waits([[3, 1, 1, None, 0.0, 0.0]])),
        ("in the order of decisions", waits([[0, 1, 61, None, 0.0, 0.0]])),
        ("in the order of decisions", waits([[0, 1, n, None, 0.0, 0.0] for n in (2, 1)])),
        ("waits twice", waits([[0, 1, n, None, 0.0, 0.0] for n in (1, 2)])),
        ("notes of a pull must be finite", waits([[0, 1, 1, None, np.inf, 0.0]])),
        ("notes of a pull must be finite", waits([[0, 1, 1, np.inf, 0.0, 0.0]])),
        ("is not a waiting pull", waits([[0, 1]])),
        ("is not a waiting pull", waits([[0, True, 1, None, 0.0, 0.0]])),
        ("is not a waiting pull", waits([[0, 1, 1, "x", 0.0, 0.0]])),
        ("is not a waiting pull", waits([7])),
        ("that was rewarded waits", waits([[0, n, n, None, 0.0, 0.0] for n in range(1, 15)])),
    ],
)
def test_a_state_that_no_play_leads_to_is_refused(words: str, change: Change) -> None:
    with pytest.raises(ValueError, match=words):
        Player.from_json(forged(change))


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("it has no ledger", lambda content: content.pop("ledger")),
        ("ledger cannot be abc", lambda content: content.update(ledger="abc")),
        ("it has no ledger of 3 arms", lambda content: content["ledger"].pop("open")),
        ("it has no ledger of 3 arms", lambda content: content["ledger"].update(more=3)),
        ("it has no ledger of 3 arms", lambda content: content["ledger"].update(pulls=3)),
        ("clock must be an array", lambda content: content["ledger"].update(clock=3)),
        ("state cannot be 3", lambda content: content.update(state=3)),
        ("policy cannot be 3", lambda content: content.update(policy=3)),
        ("is not registered", lambda content: content.update(policy={"policy": [1]})),
        ("is not registered", lambda content: content.update(policy={"type": "Plateau"})),
        (
            "Family: .*missing 2",
            lambda content: content["policy"].update(family={"type": "Family"}),
        ),
        ("family of CTO must be a Family", lambda content: content["policy"].update(family=3)),
        ("compiled cannot be 1", lambda content: content.update(compiled=1)),
        ("dated cannot be 1", lambda content: content.update(dated=1)),
        ("seed cannot be x", lambda content: content.update(seed="x")),
        ("seed cannot be -1", lambda content: content.update(seed=-1)),
        ("horizon must be an integer >= 1", lambda content: content.update(horizon=-1)),
        ("format True", lambda content: content.update(format=True)),
        ("3 labels for 1000000000000 arms", lambda content: content.update(arm_count=10**12)),
        ("3 labels for 0 arms", lambda content: content.update(arm_count=0)),
        ("start must be 1 to 3 arms, got 4", lambda content: content.update(start=4)),
        ("start must be 1 to 3 arms, got 0", lambda content: content.update(start=0)),
        (r"capacity must be \d+ after 60", lambda content: content.update(capacity=10**12)),
        ("reach must be 256 after", lambda content: content.update(reach=10**12)),
        (r"sums\.total cannot be decoded", lambda c: c["state"]["sums.total"].update(data="A")),
        ("cannot be decompressed", lambda c: c["state"]["sums.total"].update(data="AAAA")),
        (
            r"sums\.total of the state must be float64 of shape \(3,\)",
            lambda content: content["state"]["sums.total"].update(shape=[3.0]),
        ),
        (
            r"sums\.total of the state must be float64",
            lambda content: content["state"]["sums.total"].update(dtype="nothing"),
        ),
        (r"sums\.total of the state must be", lambda c: c["state"].update({"sums.total": 3})),
    ],
)
def test_a_document_of_a_wrong_kind_is_refused(words: str, change: Change) -> None:
    with pytest.raises(ValueError, match=words):
        Player.from_json(forged(change))


def test_nothing_expands_beyond_what_the_state_needs() -> None:
    bomb = saving._pack(np.zeros(1 << 22))["data"]
    with pytest.raises(ValueError, match="expands to more than 24 bytes"):
        Player.from_json(forged(lambda c: c["state"]["sums.total"].update(data=bomb)))
    text = b" " * (20 << 20)
    data = saving._MAGIC + zlib.compress(text)
    with pytest.raises(ValueError, match="expands to more than"):
        Player.from_bytes(data)
    with pytest.raises(ValueError, match="is not a saved player"):
        Player.from_json("[" * 100_000)
    player = policies.RoundRobin().online(range(3), compiled=False)
    for tail in (b"", b"more"):
        text = saving._MAGIC + zlib.compress(player.to_json().encode())
        with pytest.raises(ValueError, match="cannot be decompressed"):
            Player.from_bytes(text[:-3] + tail)


def test_bytes_that_would_expand_too_much_are_written_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    player = policies.RoundRobin().online(range(3), compiled=False)
    monkeypatch.setattr(saving, "_longest", len)
    data = player.to_bytes()
    assert len(data) > len(player.to_json())
    assert Player.from_bytes(data).select() == player.select()


@pytest.mark.parametrize("number", [1, 4, 7, None, "6", 6.0])
def test_another_format_is_refused_with_what_to_do(number: Any) -> None:
    player = policies.UCB1().online(["red", "blue"], compiled=False)
    content = json.loads(player.to_json())
    del content["checksum"]
    content |= {"format": number, "rotting": "0.1.0"}
    with pytest.raises(ValueError, match=r"written by rotting 0\.1\.0; this reads 6: replay its"):
        Player.from_json(damaged_files.forged(content))
