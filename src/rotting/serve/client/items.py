"""Decisions and rewards as the client sends and reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rotting import checks
from rotting.serve.client import sending
from rotting.serve.client.answers import Away, Choice
from rotting.serve.client.connection import as_object, field


def decision(id: str, key: str | None, among: list[str] | None) -> dict[str, Any]:
    """The body that asks for a decision."""
    item: dict[str, Any] = {"id": id}
    if key is not None:
        item["key"] = sending.text("key", key, sending.KEY)
    if among is not None:
        item["among"] = among
    return item


def choice(answer: Mapping[str, Any], item: Mapping[str, Any]) -> Choice:
    """The answer to the body that asked for a decision."""
    if answer.get("id") != item["id"]:
        raise Away("the answer is that of another decision")
    nothing = type(None)
    made = Choice(
        item["id"],
        field(answer, "arm", str),
        field(answer, "pull", int, nothing),
        field(answer, "key", str, nothing),
        field(answer, "seq", int),
    )
    if made.key != item.get("key"):
        raise Away("the answer is that for another key")
    if made.arm not in item.get("among", (made.arm,)):
        raise Away("the answer is an arm that is not allowed")
    return made


def id_of(choice_or_id: Choice | str) -> str:
    """The id of a decision."""
    if isinstance(choice_or_id, Choice):
        choice_or_id = choice_or_id.id
    return sending.text("choice_or_id", choice_or_id, sending.ID)


def reward(choice_or_id: Choice | str, value: float, id: str | None) -> dict[str, Any]:
    """The body that tells a reward."""
    item: dict[str, Any] = {"decision": id_of(choice_or_id), "reward": checks.reward(value)}
    if id is not None:
        item["id"] = sending.text("id", id, sending.ID)
    return item


def is_own(choice_or_id: Choice | str) -> bool:
    """Whether the client made this choice by itself."""
    return isinstance(choice_or_id, Choice) and choice_or_id.fallback


def shown(choice: Choice) -> dict[str, Any]:
    """The body that tells what the client showed of its own choice, when it was seen."""
    item = {"decision": choice.id, "arm": choice.arm, "key": choice.key}
    return {name: value for name, value in item.items() if value is not None}


def applied(answer: Any) -> bool:
    """What an answer says of a reward: whether it was applied now."""
    return bool(field(as_object(answer), "applied", bool))
