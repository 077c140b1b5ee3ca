"""Bodies of requests, and their limits."""

from __future__ import annotations

import operator
import re
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from rotting._checks import HUGE
from rotting._serve.errors import Refusal, bad

MOST_ITEMS = 1000  # in a batch
MOST_ROWS = 10_000  # in a request with history
MOST_ARMS = 1000
MOST_EVENTS = 10_000  # on a page

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$(?!\n)"  # in Python $ is also before a last newline
# JSON schemas of what msgspec does not check, but this module and `settings` do: texts without
# control characters, ids without hidden characters, rewards of at most 1e100.
_CONTROLS = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
# bidirectional controls and invisible characters: a name with one can look like another name
_HIDDEN = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_HALVES = r"\ud800-\udfff"  # lone surrogates, which JSON schemas cannot express
_CONTROL = re.compile(f"[{_CONTROLS}{_HALVES}]")
_DECEIVING = re.compile(f"[{_CONTROLS}{_HALVES}{_HIDDEN}]")
_FINE: dict[str, Any] = {"pattern": f"^[^{_CONTROLS}]*$"}
_FINE_ID: dict[str, Any] = {"pattern": f"^[^{_CONTROLS}{_HIDDEN}]*$"}
_REWARD: dict[str, Any] = {"minimum": -HUGE, "maximum": HUGE}
_DIFFERENT: dict[str, Any] = {"uniqueItems": True}
_POLICY: dict[str, Any] = {
    "properties": {"policy": {"type": "string", "minLength": 1}},
    "required": ["policy"],  # and the policy's own parameters
}
_UNIT: dict[str, Any] = {"unit": {"enum": ["decisions", "rounds"]}}
_HALF_LIFE: dict[str, Any] = {"half_life": {"type": "number", "minimum": 1 / HUGE, "maximum": HUGE}}
_WINDOW: dict[str, Any] = {"window": {"type": "integer", "minimum": 1}}
_REST: dict[str, Any] = {
    "properties": {
        "rest": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {**length, **_UNIT},
                    "required": list(length),
                    "additionalProperties": False,
                }
                for length in (_HALF_LIFE, _WINDOW)
            ]
        }
    },
    "additionalProperties": False,
}

Id = Annotated[str, Meta(min_length=1, max_length=200, extra_json_schema=_FINE_ID)]
Label = Annotated[str, Meta(min_length=1, max_length=200, extra_json_schema=_FINE)]
Key = Annotated[str, Meta(min_length=1, max_length=500, extra_json_schema=_FINE)]
Name = Annotated[str, Meta(pattern=NAME)]
Rewarded = Annotated[float, Meta(extra_json_schema=_REWARD)]
Policy = (
    Annotated[str, Meta(description="A name, or a file that `rotting fit` wrote.")]
    | Annotated[dict[str, Any], Meta(extra_json_schema=_POLICY)]
    | None
)
Seconds = Annotated[float, Meta(gt=0, le=1e9)]
Horizon = Annotated[int, Meta(ge=1, le=2**53)]


class NewExperiment(msgspec.Struct, forbid_unknown_fields=True):
    """An experiment to create."""

    name: Name
    arms: Annotated[
        list[Label], Meta(min_length=1, max_length=MOST_ARMS, extra_json_schema=_DIFFERENT)
    ]
    policy: Policy = None
    audience: bool | Annotated[dict[str, Any], Meta(extra_json_schema=_REST)] = False
    control: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    reward_window: Seconds | None = None
    default_reward: Rewarded | None = None
    require_shown: bool = False
    shown_window: Seconds | None = None
    fallback: Label | None = None
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    horizon: Horizon | None = None


class NewDecision(msgspec.Struct, forbid_unknown_fields=True):
    """A decision to make."""

    id: Id
    key: Key | None = None
    among: Annotated[list[Label], Meta(min_length=1, max_length=MOST_ARMS)] | None = None


class NewShown(msgspec.Struct, forbid_unknown_fields=True):
    """The showing of a decision, or of the arm that the client showed instead.

    `arm` is the arm that was shown instead, `key` its audience key. With `confirmed` false it was
    handed out, and it is not known whether it was seen.
    """

    decision: Id
    arm: Label | None = None
    key: Key | None = None
    confirmed: bool | None = None


class NewReward(msgspec.Struct, forbid_unknown_fields=True):
    """The reward of a decision."""

    decision: Id
    reward: Rewarded
    id: Id | None = None


class ArmChange(msgspec.Struct, forbid_unknown_fields=True):
    """A change of an arm: one of the three fields."""

    add: Label | None = None
    retire: Label | None = None
    restore: Label | None = None


class NewPolicy(msgspec.Struct, forbid_unknown_fields=True):
    """A policy to change to."""

    policy: Policy
    horizon: Horizon | None = None


class Pull(msgspec.Struct, forbid_unknown_fields=True):
    """A pull that was made elsewhere."""

    arm: Label
    reward: Rewarded
    key: Key | None = None


class NewHistory(msgspec.Struct, forbid_unknown_fields=True):
    """Pulls that were made elsewhere, in order."""

    id: Id
    rows: Annotated[list[Pull], Meta(min_length=1, max_length=MOST_ROWS)]


class Erasure(msgspec.Struct, forbid_unknown_fields=True):
    """A key to erase."""

    key: Key


class OneOrMany:
    """The body of an endpoint: one item, or a list of them."""

    __slots__ = ("_fields", "_needed", "decode", "one")

    def __init__(self, one: Any) -> None:
        self.one = one
        self.decode = msgspec.json.Decoder(one | list[one]).decode
        self._fields = operator.attrgetter(*one.__struct_fields__, "__class__")
        self._needed = len(one.__struct_fields__) - len(one.__struct_defaults__)

    def may_repeat(self, data: bytes, found: Any) -> bool:
        """Whether an object may have a name twice: whether there are more colons than values.

        Each name has a colon, so with as many colons as values there is no repeated name. A text
        with a colon, or a null, also gives True, and the body is then checked exactly.
        """
        colons = data.count(b":")
        if self.one is NewHistory:
            parts = found if isinstance(found, list) else [found]
            given = 2 * len(parts) + sum(
                2 + (row.key is not None) for part in parts for row in part.rows
            )
        elif isinstance(found, list):
            if colons == self._needed * len(found):
                return False
            every = map(self._fields, found)
            given = sum([len(values) - 1 - values.count(None) for values in every])
        else:
            values = self._fields(found)
            given = len(values) - 1 - values.count(None)
        return colons != given


DECIDE, SHOW, REWARD = OneOrMany(NewDecision), OneOrMany(NewShown), OneOrMany(NewReward)
ARM_CHANGE, PAST, ERASE = OneOrMany(ArmChange), OneOrMany(NewHistory), OneOrMany(Erasure)


def parse(kind: type[msgspec.Struct], data: Any) -> Any:
    """Decoded JSON as a body, or a refusal that names the field."""
    if isinstance(data, kind):
        return data
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise _refusal(error) from None


def _refusal(error: msgspec.MsgspecError) -> Refusal:
    """The refusal for msgspec's error; its path `$.rows[3].arm` is the field rows[3].arm."""
    text, _, path = str(error).partition(" - at `")
    field = path.rstrip("`").removeprefix("$").removeprefix(".")
    if "unknown field" in text or "missing required field" in text:
        named = re.search(r"`([^`]*)`", text)
        field = named[1] if named else field
    return Refusal("bad_request", text, field or None)


def is_fine(text: str) -> bool:
    """Whether a text has no control characters, which could forge lines of a log."""
    return _CONTROL.search(text) is None


def fine_text(field: str, text: str) -> str:
    """The text, or a refusal if it has control characters."""
    if not is_fine(text):
        # keys are personal data, which must not be in messages
        got = "" if field == "key" else f", got {text[:50]!r}"
        raise bad(field, f"{field} must have no control characters{got}")
    return text


def is_fine_id(text: str) -> bool:
    """Whether an id or a name has no control, bidirectional or invisible characters."""
    return _DECEIVING.search(text) is None


def fine_id(text: str) -> str:
    """The id, or a refusal if it has control or bidirectional characters."""
    fine_text("id", text)
    if not is_fine_id(text):
        raise bad("id", f"id must have no bidirectional characters, got {text[:50]!a}")
    return text
