"""What happens to an experiment, as it is stored: a kind, an id, a time and a small body.

Arms and keys are numbers here. Arms are counted in the order in which they were added, and none is
ever taken away. A key's number is its surrogate: one table of the store says whose it is, and when
that row is erased nobody knows any more.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec


class Kind(enum.IntEnum):
    """What happened. The numbers are stored: they never change, and new ones are added."""

    CREATED = 1
    DECIDED = 2
    SHOWN = 3
    REWARDED = 4
    TIMED_OUT = 5  # the reward window ended without a reward
    EXPIRED = 6  # never shown
    LATE = 7  # a reward after its window
    ARM_ADDED = 8
    ARM_RETIRED = 9
    ARM_RESTORED = 10
    POLICY_CHANGED = 11
    UPGRADED = 12  # the code that plays the policy is another one
    HISTORY = 13
    ERASED = 14
    CORRECTED = 15  # another arm was shown than was decided


class Event(NamedTuple):
    """One row of the log. Numbers in `seq` are dense, in the order of commits."""

    seq: int
    experiment: int
    kind: int
    id: str | None  # of a decision, a batch of history; None for the others
    at: float  # seconds since 1970
    body: bytes  # JSON
    chain: int | None = None  # the running checksum; None before it is committed, and of old rows


class Created(msgspec.Struct, omit_defaults=True):
    """An experiment begins."""

    asked: dict[str, Any]  # as in the request
    policy: Any  # as plain data
    version: str
    seed: int
    by: str = ""


class Decided(msgspec.Struct, omit_defaults=True):
    """An arm was chosen."""

    arm: int
    policy: int  # the event that set the policy and its version
    rests: int  # the experiment's event before it, on which it rested
    pull: int = 0  # which pull of the arm it is (of the key's own), zero before it is shown
    key: int = 0  # surrogate, zero without an audience
    among: list[int] | None = None
    p: float = 1.0  # the propensity
    control: bool = False
    weight: float = 0.0  # in the comparison with equal shares
    elsewhere: bool = False  # the client chose it by itself, while it had no answer


class Corrected(msgspec.Struct, omit_defaults=True):
    """The client had shown another arm, its fallback, before it had the answer."""

    arm: int
    pull: int


class Shown(msgspec.Struct, omit_defaults=True):
    """What was decided came into view: its pull was counted."""

    pull: int


class Rewarded(msgspec.Struct, omit_defaults=True):
    """A reward, in time or late."""

    reward: float
    id: str | None = None  # the client's own id of the reward


class TimedOut(msgspec.Struct, omit_defaults=True):
    """No reward came: the default is taken, if there is one."""

    reward: float | None = None


class Expired(msgspec.Struct, omit_defaults=True):
    """It was never shown."""


class Arm(msgspec.Struct, omit_defaults=True):
    """An arm was added, retired or restored."""

    label: str
    by: str = ""


class PolicyChanged(msgspec.Struct, omit_defaults=True):
    """Another policy from here on, which has learnt what came before."""

    policy: Any
    version: str
    horizon: int | None = None
    by: str = ""


class Upgraded(msgspec.Struct, omit_defaults=True):
    """The same policy played by other code; a snapshot goes with it."""

    version: str
    before: str


class History(msgspec.Struct, omit_defaults=True):
    """Pulls that were made elsewhere, with their rewards."""

    arms: list[int]
    rewards: list[float]
    keys: list[int] | None = None
    by: str = ""


class Erased(msgspec.Struct, omit_defaults=True):
    """A key is forgotten."""

    key: int
    by: str = ""


BODIES: dict[int, type[msgspec.Struct]] = {
    Kind.CREATED: Created,
    Kind.DECIDED: Decided,
    Kind.SHOWN: Shown,
    Kind.REWARDED: Rewarded,
    Kind.TIMED_OUT: TimedOut,
    Kind.EXPIRED: Expired,
    Kind.LATE: Rewarded,
    Kind.ARM_ADDED: Arm,
    Kind.ARM_RETIRED: Arm,
    Kind.ARM_RESTORED: Arm,
    Kind.POLICY_CHANGED: PolicyChanged,
    Kind.UPGRADED: Upgraded,
    Kind.HISTORY: History,
    Kind.ERASED: Erased,
    Kind.CORRECTED: Corrected,
}
encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode
_DECODE: dict[int, Callable[[bytes], Any]] = {
    kind: msgspec.json.Decoder(body).decode for kind, body in BODIES.items()
}


def decode(event: Event) -> Any:
    """The body of an event."""
    try:
        return _DECODE[event.kind](event.body)
    except (KeyError, msgspec.MsgspecError) as error:
        raise ValueError(f"event {event.seq} cannot be read: {error}") from None
