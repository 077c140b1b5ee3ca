"""The events of experiments as they are stored: a kind, an id, a time and a small body.

Arms and keys are numbers here. Arms are numbered in the order in which they were added, and never
removed. A key's number is its surrogate. One table of the store maps surrogates to keys; once its
row is erased, the events can no longer be assigned to a person.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec


class Kind(enum.IntEnum):
    """The kind of an event. The numbers are stored and never change."""

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
    UPGRADED = 12  # another version of the code plays the policy
    HISTORY = 13
    ERASED = 14
    CORRECTED = 15  # another arm was shown than was decided


class Event(NamedTuple):
    """One row of the log. Sequence numbers are dense and in the order of commits."""

    seq: int
    experiment: int
    kind: int
    id: str | None  # of a decision, a batch of history; None for the others
    at: float  # seconds since 1970
    body: bytes  # JSON
    chain: int | None = None  # the running checksum; None before it is committed, and of old rows


class Created(msgspec.Struct, omit_defaults=True):
    """An experiment begins."""

    asked: dict[str, Any]  # the request, and the settings that follow from it
    policy: Any  # as plain data
    version: str
    seed: int
    by: str = ""


class Decided(msgspec.Struct, omit_defaults=True):
    """An arm was chosen."""

    arm: int
    policy: int  # the event that set the policy and its version
    rests: int  # the experiment's event before it, on which it rests
    pull: int = 0  # the arm's pull number (with keys: among the key's own); 0 before it is shown
    key: int = 0  # surrogate, zero without an audience
    among: list[int] | None = None
    p: float = 1.0  # the propensity
    control: bool = False
    weight: float = 0.0  # in the comparison with equal shares
    elsewhere: bool = False  # the client's fallback: it had no answer


class Corrected(msgspec.Struct, omit_defaults=True):
    """The client showed another arm, its fallback, because it had no answer in time."""

    arm: int
    pull: int


class Shown(msgspec.Struct, omit_defaults=True):
    """A decision was shown, and its pull counted."""

    pull: int


class Rewarded(msgspec.Struct, omit_defaults=True):
    """A reward, in time or late."""

    reward: float
    id: str | None = None  # the client's own id of the reward


class TimedOut(msgspec.Struct, omit_defaults=True):
    """The reward window ended; the default reward is taken, if there is one."""

    reward: float | None = None


class Expired(msgspec.Struct, omit_defaults=True):
    """A decision was not shown in time."""


class Arm(msgspec.Struct, omit_defaults=True):
    """An arm was added, retired or restored."""

    label: str
    by: str = ""


class PolicyChanged(msgspec.Struct, omit_defaults=True):
    """Another policy from here on, which has learnt all earlier events."""

    policy: Any
    version: str
    horizon: int | None = None
    by: str = ""


class Upgraded(msgspec.Struct, omit_defaults=True):
    """The same policy, played by another version of the code; a snapshot goes with it."""

    version: str
    before: str


class History(msgspec.Struct, omit_defaults=True):
    """Pulls that were made elsewhere, with their rewards."""

    arms: list[int]
    rewards: list[float]
    keys: list[int] | None = None
    by: str = ""


class Erased(msgspec.Struct, omit_defaults=True):
    """A key is erased."""

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
