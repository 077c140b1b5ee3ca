"""What the service answers, as types: its description is made from them (`openapi`).

Answers are written as plain dicts, for speed; a test compares every one with its type here.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from rotting._serve.errors import DESCRIBED
from rotting._serve.events import Kind
from rotting._serve.requests import Id, Key, Label, Name

Count = Annotated[int, Meta(ge=0)]
First = Annotated[int, Meta(ge=1)]
Seq = Annotated[int, Meta(ge=0, description="The number of the event, among all of the service.")]
Time = Annotated[float, Meta(description="Seconds since 1970.")]
Code = Annotated[str, Meta(extra_json_schema={"enum": list(DESCRIBED)})]
What = Annotated[str, Meta(extra_json_schema={"enum": [kind.name.lower() for kind in Kind]})]
Why = Annotated[str, Meta(description="Why not.", extra_json_schema={"enum": ["late", "repeated"]})]


class Problem(msgspec.Struct, forbid_unknown_fields=True):
    """What is wrong, as a code and a sentence."""

    code: Code
    message: str
    field: Annotated[str | None, Meta(description="The field that it is about.")] = None


class Error(msgspec.Struct, forbid_unknown_fields=True):
    """A refusal."""

    error: Problem


class Decision(msgspec.Struct):
    """What to show."""

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
    """Whether a reward was learnt by this answer."""

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
    """The policy that decides, and since which event."""

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
    """How many rows of history there were, and whether they were learnt by this answer."""

    id: Id
    rows: Count
    applied: bool
    seq: Seq


class Erased(msgspec.Struct):
    """Whether the key was known."""

    erased: bool
    seq: Seq


class LastError(msgspec.Struct):
    """The latest request that was refused, or the latest time that nothing could be written."""

    at: Time
    message: str
    code: str


class Summary(msgspec.Struct):
    """An experiment in a line."""

    name: Name
    created: Time
    policy: PolicyInUse
    audience: bool
    arms: Annotated[int, Meta(ge=0, description="How many are open.")]
    decisions: Count
    rewards: Count
    observed: Count
    mean: float | None
    outstanding: Count
    late: Count
    missing: Count
    last_error: LastError | None


class Summaries(msgspec.Struct):
    """All experiments."""

    experiments: list[Summary]


class Point(msgspec.Struct):
    """What the n-th showing is worth, as the policy has learnt it."""

    n: First
    mean: float | None
    low: float | None
    high: float | None


class Cell(msgspec.Struct, rename={"from_": "from"}):
    """What was seen of some showings."""

    from_: First
    to: First
    n: Count
    mean: float | None
    low: float | None
    high: float | None


class Cap(msgspec.Struct):
    """After how many showings another arm is worth more."""

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
    """What the policy earns over equal shares."""

    policy: float | None
    equal: float | None
    lift: float | None
    low: float | None
    high: float | None
    level: Annotated[float, Meta(gt=0, lt=1)]
    decisions: Count
    control: Count
    sentence: str


Bucket = Annotated[list[float], Meta(min_length=2, max_length=2)]  # how many rewards, and their sum


class Series(msgspec.Struct):
    """Rewards and decisions over time."""

    start: Time
    width: Annotated[float, Meta(gt=0)]
    policy: list[Bucket]
    control: list[Bucket]
    shares: dict[str, list[Count]]


class Experiment(msgspec.Struct):
    """An experiment with everything."""

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
    keys: Annotated[int | None, Meta(description="How many are known; null without an audience.")]
    lift: Lift | None
    arms: list[Arm]
    series: Series


class Event(msgspec.Struct):
    """Something that happened; more fields say what, by its kind."""

    seq: Seq
    at: Time
    kind: What


class Events(msgspec.Struct):
    """A page of events, and the number to go on from."""

    events: list[Event]
    last: Seq


class Entry(msgspec.Struct):
    """A change, and who made it."""

    at: Time
    by: str
    what: str
    experiment: str
    details: str


class Audit(msgspec.Struct):
    """Who changed what, the latest first."""

    audit: list[Entry]


class Status(msgspec.Struct):
    """The service."""

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
