"""Columns are recognised by their common names, or named; two for one role are refused."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from typing import Any

import pytest

from rotting._log_columns import ColumnOptions
from rotting.logs import Columns, diagnose, read
from rotting.logs._read.columns import ROLES, assign, names_of

OPEN_BANDIT = ["timestamp", "item_id", "position", "click", "propensity_score", "user_feature_0"]
COBA = ["context", "action", "reward", "probability"]
BANDIT_DB = ["arm_id", "predicted_at", "rewarded_at", "propensity", "reward"]


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (
            OPEN_BANDIT,
            {
                "arm": "item_id",
                "time": "timestamp",
                "reward": "click",
                "propensity": "propensity_score",
            },
        ),
        (COBA, {"arm": "action", "reward": "reward", "propensity": "probability"}),
        (
            BANDIT_DB,
            {
                "arm": "arm_id",
                "time": "predicted_at",
                "reward": "reward",
                "propensity": "propensity",
            },
        ),
        (
            ["User-ID", "Creative", "Shown At", "Clicked", "n"],
            {"key": "User-ID", "arm": "Creative", "time": "Shown At", "reward": "Clicked"},
        ),
        (["uid", "y", "pull"], {"key": "uid", "reward": "y", "exposure": "pull"}),
    ],
)
def test_common_names_are_recognised(columns: list[str], found: dict[str, str]) -> None:
    assert assign(columns, {}).columns == found


def test_no_name_is_common_for_two_roles() -> None:
    names = [name for role in ROLES for name in names_of(role)]
    assert len(names) == len(set(names))


def test_what_was_taken_is_said() -> None:
    found = assign(["who", "ad", "clicked"], {"key": "who"})
    assert found.sentences == (
        "key: column 'who' (as named)",
        "arm: column 'ad' (by its name)",
        "no column for the time: rows are taken in the order of the table",
        "reward: column 'clicked' (by its name)",
        "no column for the exposure: showings are counted, per key and arm",
        "no column for the propensity",
    )
    keyless = assign(["ad", "clicked"], {}).sentences[0]
    assert keyless == "no column for the key: the arm itself is used up, as in the paper"


@pytest.mark.parametrize("none", [False, "none", "None"])
def test_a_role_can_be_left_empty(none: Any) -> None:
    found = assign(["user", "ad", "time", "y", "pull"], dict.fromkeys(["key", "time"], none))
    assert found.columns == {"arm": "ad", "reward": "y", "exposure": "pull"}


def test_a_column_called_none_can_be_named() -> None:
    assert assign(["none", "ad", "y"], {"key": "none"}).columns["key"] == "none"


def test_a_named_column_is_not_recognised_for_another_role() -> None:
    found = assign(["user", "ad", "y"], {"key": "ad", "arm": "user"})
    assert found.columns == {"key": "ad", "arm": "user", "reward": "y"}


def test_two_columns_of_exposures_are_none() -> None:
    found = assign(["user", "y", "pull", "exposure"], {})
    assert "exposure" not in found.columns
    assert (
        "columns 'pull' and 'exposure' could be the exposure: none is taken" in found.sentences[4]
    )


@pytest.mark.parametrize(
    ("columns", "given", "refusal"),
    [
        (
            ["user", "customer_id", "ad", "y"],
            {},
            "columns 'user' and 'customer_id' could both be the key: name one with key "
            "(--key user)",
        ),
        (
            ["user", "ad", "y"],
            {"key": "usr"},
            "key: unknown column 'usr'; did you mean 'user'? the columns are user, ad, y",
        ),
        (
            ["user", "ad", "y"],
            {"reward": "money"},
            "reward: unknown column 'money'; the columns are user, ad, y",
        ),
        (
            ["user", "ad", "y"],
            {"key": "ad", "arm": "ad"},
            "key and arm must be different columns, got 'ad' for both",
        ),
        (
            ["user", "ad", "y"],
            {"time": "y", "reward": "y"},
            "time and reward must be different columns, got 'y' for both",
        ),
        (
            ["user", "ad"],
            {},
            "no column for the reward: name it with reward (--reward); the columns are user, ad",
        ),
        (
            ["y", "when"],
            {},
            "no column for the key and none for the arm: name at least one of them with key or "
            "arm (--key, --arm); the columns are y, when",
        ),
        (["user", "y"], {"key": 3}, "key must be the name of a column, False or None, got 3"),
        (["user", "y"], {"reward": False}, "reward must be the name of a column, got False"),
    ],
)
def test_refusals(columns: list[str], given: dict[str, Any], refusal: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(refusal)}$"):
        assign(columns, given)


NAMES = [each.name for each in fields(Columns)]
TABLE = {"who": ["a", "a", "b"], "user": ["c", "d", "d"], "ad": ["x"] * 3, "click": [1, 0, 1]}


def test_the_options_are_the_fields_everywhere() -> None:
    assert NAMES[:6] == list(ROLES)
    assert list(ColumnOptions.__annotations__) == NAMES
    for function in (read, diagnose):
        shown = inspect.signature(function).parameters
        assert list(shown)[:11] == ["source", "columns", *NAMES]
        defaults = {each.name: each.default for each in fields(Columns)}
        assert {name: shown[name].default for name in NAMES} == defaults
    assert Columns.__doc__ is not None
    assert "Attributes:\n    key: Column of the key" in Columns.__doc__


def test_columns_whole_and_keyword_arguments_say_the_same() -> None:
    columns = Columns(key="who", history_complete=False)
    whole = read(TABLE, columns)
    named = read(TABLE, key="who", history_complete=False)
    assert whole.notes == named.notes
    assert whole.exposure.tolist() == named.exposure.tolist() == [1, 2, 1]
    assert not whole.history_complete
    other = read(TABLE, columns, key="user")
    assert (other.columns["key"], other.history_complete) == ("user", False)


def test_what_columns_refuse() -> None:
    with pytest.raises(ValueError, match=r"^columns must be a rotting\.logs\.Columns, got 'who'$"):
        read(TABLE, "who")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="kye"):
        read(TABLE, kye="who")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"^rows must be one of 'all', 'last', got 'first'$"):
        Columns(rows="first")
    with pytest.raises(ValueError, match=r"^window must be a time such as 7d"):
        Columns(window="soon")
