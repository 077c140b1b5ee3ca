"""Labels and rewards of users' own types."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import pickle
import uuid
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from helpers.cases import player_of
from helpers.happenings import check_same_players
from rotting import Player, policies
from rotting._online import save as saving
from rotting._online.labels import freeze, thaw


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Place(NamedTuple):
    shop: str
    shelf: int


NOON = datetime.datetime(2024, 5, 1, 12, 30, 15, 99)
EAST = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
SAVED: list[Any] = [
    *["a", "", "\x00\n\u2603", 7, -(2**70), 2.5, float("inf"), None],
    *[np.int64(9), np.int8(-3), np.float32(0.1), np.str_("np"), np.bool_(True), np.bytes_(b"np")],
    *[uuid.UUID(int=5), datetime.date(2024, 5, 1), NOON, NOON.replace(tzinfo=EAST)],
    *[NOON.replace(fold=1, tzinfo=datetime.UTC), b"", b"\xff\x00", (), ("shop", 3)],
    *[("deep", (np.int64(4), (datetime.date(2024, 5, 2), b"x"))), np.datetime64("2024-05-01", "s")],
]


def player_with(labels: Any) -> Player:
    player = policies.UCB1().online(labels, compiled=False)
    for k in range(3 * len(player.arms)):
        player.update(player.select(), 0.1 * (k % 7))
    player.select()
    return player


@pytest.mark.parametrize("label", SAVED, ids=repr)
def test_a_label_comes_back_as_it_was(label: Any) -> None:
    written = json.loads(json.dumps(freeze(label)))
    again = thaw(written)
    assert again == label
    assert hash(again) == hash(label)
    assert freeze(again) == freeze(label)
    if isinstance(label, datetime.datetime):
        assert (again.tzinfo, again.fold) == (label.tzinfo, label.fold)


def test_a_player_with_all_of_them_goes_on() -> None:
    player = player_with(SAVED)
    for again in (Player.from_json(player.to_json()), Player.from_bytes(player.to_bytes())):
        assert again.arms == tuple(SAVED)
        assert again.pulls == player.pulls
        decision = again.select()
        again.update((SAVED[again.arms.index(decision.arm)], decision.pull), 0.5)
        for label in SAVED:
            assert label in again.pulls


@pytest.mark.parametrize(
    "label",
    [
        *[frozenset({1}), Place("x", 1), 1j, decimal.Decimal("0.5"), Fraction(1, 2), object()],
        *[np.datetime64("2024-05-01", "ns"), np.datetime64("2024-05-01"), np.longdouble(0.1)],
        *[datetime.time(3), datetime.timedelta(1), ("a", (frozenset(),))],
    ],
    ids=lambda label: type(label).__name__,
)
def test_what_cannot_be_saved_is_refused_when_it_is_saved(label: Any) -> None:
    player = player_with(["a", label])
    for save in (player.to_json, player.to_bytes):
        with pytest.raises(ValueError, match=r"arms must be words, numbers, .* pickle keeps any"):
            save()
    if type(label) is not object:
        assert pickle.loads(pickle.dumps(player)).pulls == player.pulls
    player.update(player.select(), 1.0)


@pytest.mark.parametrize("form", ["json", "bytes"])
def test_given_arms_are_matched_by_label_in_any_order(form: str) -> None:
    labels = ["a", np.int64(7), ("shop", np.int64(3)), datetime.date(2024, 5, 1)]
    player = player_with(labels)

    def load(**given: Any) -> Player:
        if form == "json":
            return Player.from_json(player.to_json(), **given)
        return Player.from_bytes(player.to_bytes(), **given)

    for arms in (labels, labels[::-1], ["a", ("shop", 3), 7, datetime.date(2024, 5, 1)]):
        again = load(arms=arms)
        assert again.arms == tuple(labels)
        check_same_players(again, player)
    for wrong in (labels[:3], [*labels, "more"], ["b", *labels[1:]], ["a", "7", *labels[2:]]):
        with pytest.raises(ValueError, match="arms must be those that were saved"):
            load(arms=wrong)
    with pytest.raises(ValueError, match="arms must be different labels"):
        load(arms=["a", "a", *labels[2:]])


def test_members_of_an_enum_are_saved_by_name_and_have_to_be_given() -> None:
    arms = [Colour.RED, Colour.BLUE, (Size.LARGE, 1)]
    player = player_with(arms)
    text = player.to_json()
    with pytest.raises(ValueError, match=r"arms must be given: Colour\.RED is a member of an Enum"):
        Player.from_json(text)
    with pytest.raises(ValueError, match="arms must be those that were saved"):
        Player.from_json(text, arms=[Colour.RED, Colour.BLUE, (Size.SMALL, 1)])
    again = Player.from_json(text, arms=arms[::-1])
    assert again.arms == tuple(arms)
    assert again.pulls == player.pulls
    assert again.select() == player.select()
    only = player_with([Size.SMALL, Size.LARGE])  # by name, though they are numbers as well
    assert "Size.LARGE" in only.to_json()
    with pytest.raises(ValueError, match=r"arms must be given: Size\.SMALL"):
        Player.from_json(only.to_json())


@pytest.mark.parametrize(
    "label",
    [
        *[
            {"set": [1]},
            {},
            {"tuple": 3},
            {"tuple": "ab"},
            {"uuid": "xyz"},
            {"uuid": 7},
            {"bytes": "a"},
        ],
        *[{"bytes": 3}, {"date": "2024-13-01"}, {"date": 5}, {"datetime": "2024-05-01T00:00:00"}],
        *[{"datetime": "yesterday", "fold": 0}, {"datetime": NOON.isoformat(), "fold": 7}],
        *[{"tuple": [{"tuple": {"x": 1}}]}, {"uuid": "0" * 32, "date": "2024-05-01"}],
    ],
    ids=str,
)
def test_forged_labels_are_refused(label: Any) -> None:
    content = json.loads(player_with(["a", "b"]).to_json())
    del content["checksum"]
    content["arms"][1] = label
    text = json.dumps({"checksum": saving._checksum(content), **content})
    with pytest.raises(ValueError, match="saved state is damaged"):
        Player.from_json(text)


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "c"], ["a", "a"], [["a"], "b"], []], ids=str)
def test_labels_that_are_not_those_of_the_arms_are_refused(labels: Any) -> None:
    content = json.loads(player_with(["a", "b"]).to_json())
    del content["checksum"]
    content["arms"] = labels
    text = json.dumps({"checksum": saving._checksum(content), **content})
    with pytest.raises(ValueError, match=r"labels|at least one label"):
        Player.from_json(text)


def test_labels_are_found_by_what_equals_them() -> None:
    player = policies.UCB1().online(np.array([10, 20]), compiled=False)
    decision = player.select()
    player.update((int(decision.arm), 1), 1.0)
    player.retire(20)
    assert player.select(among=[10, np.int64(20)]).arm == 10
    assert player.learn(np.array([20, 10]), [0.5, 0.5]) == 2


@pytest.mark.parametrize(
    ("reward", "value"),
    [
        *[(True, 1.0), (False, 0.0), (np.bool_(True), 1.0), (np.array(0.5), 0.5), (3, 3.0)],
        *[(np.array(True), 1.0), (np.array(2), 2.0), (np.float32(0.5), 0.5), (np.uint8(200), 200)],
        *[(decimal.Decimal("0.1"), 0.1), (decimal.Decimal("-1e99"), -1e99), (1e100, 1e100)],
        *[(np.float16(0.5), 0.5), (-0.0, -0.0), (np.longdouble(0.5), 0.5)],
    ],
    ids=repr,
)
def test_rewards_as_people_have_them(reward: Any, value: float) -> None:
    one, other = (player_of(policies.UCB1(), compiled=False) for _ in range(2))
    one.update(one.select(), reward)
    other.update_many([other.select()], [reward])
    third = player_of(policies.UCB1(), compiled=False)
    third.update(third.select(), float(value))
    assert one.core.ledger.total[0] == value
    check_same_players(one, other)
    check_same_players(one, third)


@pytest.mark.parametrize(
    "reward",
    [
        *[decimal.Decimal("nan"), decimal.Decimal("sNaN"), decimal.Decimal("inf"), None, "1", b"1"],
        *[decimal.Decimal("1e101"), decimal.Decimal("1e999"), np.array([1.0]), np.array("x"), 1j],
        *[np.array(np.nan), np.float64("inf"), 10**400, 1.0000001e100, -1e300, [1.0], {}],
        *[
            np.datetime64("2024-05-01"),
            np.timedelta64(1, "s"),
            np.timedelta64(1, "ns"),
            datetime.timedelta(1),
            object(),
        ],
    ],
    ids=lambda reward: repr(reward).split(" at ")[0][:30],
)
def test_rewards_that_are_none(reward: Any) -> None:
    player = player_of(policies.UCB1(), compiled=False)
    decision = player.select()
    before = player.to_json()
    for do in (
        lambda: player.update(decision, reward),
        lambda: player.update_many([decision], [reward]),
        lambda: player.learn(["a"], [reward]),
    ):
        with pytest.raises(ValueError, match=r"rewards? must be"):
            do()
        assert player.to_json() == before
    player.update(decision, 1.0)
