"""Types of the service's answers, from which its OpenAPI description is made (`openapi`).

Answers are written as plain dicts, for speed. A test compares every one with its type.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from rotting._serve.errors import DESCRIBED
from rotting._serve.event_types import Kind
from rotting._serve.requests import Id, Key, Label, Name

Count = Annotated[int, Meta(ge=0)]
First = Annotated[int, Meta(ge=1)]
Seq = Annotated[int, Meta(ge=0, description="The number of the event, among all of the service.")]
Time = Annotated[float, Meta(description="Seconds since 1970.")]
Code = Annotated[str, Meta(extra_json_schema={"enum": list(DESCRIBED)})]
What = Annotated[str, Meta(extra_json_schema={"enum": [kind.name.lower() for kind in Kind]})]
Why = Annotated[str, Meta(description="Why not.", extra_json_schema={"enum": ["late", "repeated"]})]


class Problem(msgspec.Struct, forbid_unknown_fields=True):
    """An error as a code and a sentence."""

    code: Code
    message: str
    field: Annotated[str | None, Meta(description="The field that is wrong.")] = None


class Error(msgspec.Struct, forbid_unknown_fields=True):
    """A refusal."""

    error: Problem


class Decision(msgspec.Struct):
    """The arm to show."""

    id: Id
    arm: Label
    pull: First | None
    key: Key | None
    seq: Seq


class Shown(msgspec.Struct):
    """The number of a pull; null while its showing is not confirmed."""

    decision: Id
    pull: First | None
    seq: Seq


class Reward(msgspec.Struct):
    """Whether this request applied a reward."""

    decision: Id
    applied: bool
    seq: Seq
    why: Why | UnsetType = UNSET


class ArmState(msgspec.Struct):
    """An arm after a change."""

    arm: Label
    open: bool
    applied: bool
    seq: Seq


class PolicyInUse(msgspec.Struct):
    """The policy that decides, and the event since which it does."""

    name: str
    label: str
    version: str
    since: Seq
    compiled: bool


class PolicyChanged(msgspec.Struct):
    """The policy that decides from now on."""

    policy: PolicyInUse
    seq: Seq


class History(msgspec.Struct):
    """The number of rows of history, and whether this request applied them."""

    id: Id
    rows: Count
    applied: bool
    seq: Seq


class Erased(msgspec.Struct):
    """Whether there was such a key."""

    erased: bool
    seq: Seq


class LastError(msgspec.Struct):
    """The latest refused request, or the latest time that writing failed."""

    at: Time
    message: str
    code: str


class Summary(msgspec.Struct):
    """A summary of an experiment."""

    name: Name
    created: Time
    policy: PolicyInUse
    audience: bool
    arms: Annotated[int, Meta(ge=0, description="The number of open arms.")]
    decisions: Count
    rewards: Count
    observed: Count
    mean: float | None
    outstanding: Count
    late: Count
    missing: Count
    last_error: LastError | None


class Summaries(msgspec.Struct):
    """Summaries of all experiments."""

    experiments: list[Summary]


class Point(msgspec.Struct):
    """The mean reward of the n-th showing, as the policy has learnt it."""

    n: First
    mean: float | None
    low: float | None
    high: float | None


class Cell(msgspec.Struct, rename={"from_": "from"}):
    """The observed rewards of showings `from` to `to`."""

    from_: First
    to: First
    n: Count
    mean: float | None
    low: float | None
    high: float | None


class Cap(msgspec.Struct):
    """The number of showings after which another arm has a higher mean."""

    showings: First
    below: Label
    sentence: str


class Arm(msgspec.Struct):
    """An arm of an experiment."""

    arm: Label
    open: bool
    pulls: Count
    observed: Count
    mean: float | None
    estimate: float | None
    low: float | None
    high: float | None
    share: float
    recent_share: float
    curve: list[Point] | None
    cells: list[Cell]
    cap: Cap | None


class Lift(msgspec.Struct):
    """The policy's gain over equal shares of the arms."""

    policy: float | None
    equal: float | None
    lift: float | None
    low: float | None
    high: float | None
    level: Annotated[float, Meta(gt=0, lt=1)]
    decisions: Count
    control: Count
    sentence: str


Bucket = Annotated[list[float], Meta(min_length=2, max_length=2)]  # the number of rewards, the sum


class Series(msgspec.Struct):
    """Rewards and decisions over time, in buckets."""

    start: Time
    width: Annotated[float, Meta(gt=0)]
    policy: list[Bucket]
    control: list[Bucket]
    shares: dict[str, list[Count]]


class Experiment(msgspec.Struct):
    """The full description of an experiment."""

    name: Name
    created: Time
    seq: Seq
    now: Time
    policy: PolicyInUse
    audience: bool
    control: Annotated[float, Meta(ge=0, lt=1)]
    reward_window: float | None
    default_reward: float | None
    require_shown: bool
    shown_window: float | None
    fallback: Label | None
    seed: Count
    horizon: First | None
    decisions: Count
    rewards: Count
    observed: Count
    mean: float | None
    outstanding: Count
    late: Count
    missing: Count
    last_error: LastError | None
    pulls: Count
    unshown: Count
    history: Count
    keys: Annotated[int | None, Meta(description="The number of keys; null without an audience.")]
    lift: Lift | None
    arms: list[Arm]
    series: Series


class Event(msgspec.Struct):
    """An event; it has more fields, by kind."""

    seq: Seq
    at: Time
    kind: What


class Events(msgspec.Struct):
    """A page of events, and the number after which the next page begins."""

    events: list[Event]
    last: Seq


class Entry(msgspec.Struct):
    """A change in the audit trail."""

    at: Time
    by: str
    what: str
    experiment: str
    details: str


class Audit(msgspec.Struct):
    """The audit trail, the latest change first."""

    audit: list[Entry]


class Status(msgspec.Struct):
    """The state of the service."""

    version: str
    started: Time
    now: Time
    ready: bool
    reason: str | None
    clock_offset: Annotated[float, Meta(description="Service time ahead of the clock, in seconds.")]
    seq: Seq
    experiments: Count
    keys_required: bool


class Alive(msgspec.Struct):
    """The process answers."""

    alive: bool


class Ready(msgspec.Struct):
    """Events can be written."""

    ready: bool
    clock_offset: float | UnsetType = UNSET
