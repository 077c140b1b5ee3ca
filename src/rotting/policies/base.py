"""What a policy is, and the registry of all of them.

A policy is three plain functions, its *verbs*, on two NamedTuples:

    init(params, arms, capacity)              -> state   everything at its start
    select(params, state, draw)               -> arm     decide; time and pull counts move on
    update(params, state, arm, pull, reward)             learn from the reward of that pull

`params` holds numbers and read-only arrays, `state` arrays only. Its integers are counts, places
and rounds, which a GPU keeps in 32 bits; 64-bit words go into arrays of `uint64`. The functions are
compiled as they are, so they use plain loops, `math`, array indexing and functions marked `shared`;
they allocate nothing but in `init`. `capacity` is the number of decisions the state must have room
for. A state that needs more room later has a fourth verb, `grow(params, state, arms, capacity) ->
state`, called between decisions. `reveal(params, state, models, constants)` is for policies that
are told the true bandit (the oracle). `room` names fields of the state in which nothing is read
before it was written: a new run need not clear them, which saves time where they are large.

What a user writes is a small immutable `Policy` with the paper's Input line, for instance
`WSWA(alpha=0.2, sigma=0.5)`; `prepare` turns it into the params.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rotting import plain

if TYPE_CHECKING:
    from rotting.bandits import Scenario
    from rotting.online.player import Player

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Verbs(NamedTuple):
    """The functions of a policy, with the types they work on."""

    params: type
    state: type
    init: Callable[..., Any]
    select: Callable[..., Any]
    update: Callable[..., Any]
    grow: Callable[..., Any] | None = None
    reveal: Callable[..., Any] | None = None
    room: tuple[str, ...] = ()


POLICIES: dict[str, type[Policy]] = {}  # by key, as on the command line
plain.register_kind("policy", POLICIES)
KINDS: dict[type, Verbs] = {}  # by type of params: how engines find the verbs


class Policy:
    """Base of all policies. A subclass is a frozen dataclass that sets `verbs` and `prepare`.

    Defining the subclass registers it. `key` names it on the command line and in saved states,
    `title` is its name in tables and figures; both default to the class name.
    """

    verbs: ClassVar[Verbs]
    key: ClassVar[str] = ""
    title: ClassVar[str] = ""
    needs_horizon: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "verbs" not in cls.__dict__:
            return
        if "key" not in cls.__dict__:
            cls.key = cls.__name__.lower()
        if "title" not in cls.__dict__:
            cls.title = cls.__name__
        known = POLICIES.get(cls.key)
        if known is not None and (known.__module__, known.__qualname__) != (
            cls.__module__,
            cls.__qualname__,
        ):
            raise ValueError(
                f"key of {cls.__name__} must be new, but {cls.key!r} is {known.__module__}."
                f"{known.__qualname__}"
            )
        # compiled code finds the verbs by the type of the params and remembers them
        known_verbs = KINDS.get(cls.verbs.params)
        if known_verbs is not None and known_verbs != cls.verbs:
            raise ValueError(
                f"params of {cls.__name__} must be a type of its own, but {cls.verbs.params!r} "
                "belongs to a policy defined before; define it again together with the policy"
            )
        POLICIES[cls.key] = cls
        KINDS[cls.verbs.params] = cls.verbs

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Any:
        """The params for `arms` arms, with tables for pull numbers up to `reach`.

        `horizon` is the number of decisions there will be, if that is known.
        """
        raise TypeError(f"{type(self).__name__} does not define prepare")

    def prepare_for(self, scenario: Scenario) -> Any:
        """The params for simulating a scenario."""
        return self.prepare(scenario.arm_count, scenario.horizon, scenario.horizon)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """A few settings to test this policy with: the generic test suite plays them all."""
        return [cls()]

    def online(
        self,
        arms: Iterable[Any],
        *,
        seed: int = 0,
        horizon: int | None = None,
        compiled: bool = True,
    ) -> Player:
        """An online object that plays this policy one decision at a time.

        `arms` are labels of any hashable kind. `horizon` is needed by few policies. `compiled`
        chooses between compiled verbs (fast; the first use of a policy on a machine compiles
        it) and plain Python (starts at once).
        """
        from rotting.online.player import Player

        return Player(self, arms, seed=seed, horizon=horizon, compiled=compiled)

    @property
    def label(self) -> str:
        """The title with the parameters that differ from their defaults.

        >>> from rotting import policies
        >>> policies.SWUCB(tau=4000).label
        'SWUCB(tau=4000)'
        """
        shown = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if field.default is dataclasses.MISSING or getattr(self, field.name) != field.default
        ]
        return f"{self.title}({', '.join(shown)})" if shown else self.title

    @property
    def short_label(self) -> str:
        """The label for tables and figures: rounded numbers, nothing that takes long to say.

        >>> from rotting import policies
        >>> policies.WSWA(alpha=0.2, sigma=0.2 ** 0.5).short_label
        'wSWA(alpha=0.2, sigma=0.4472)'
        """
        shown = [
            f"{field.name}={_short(getattr(self, field.name))}"
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if isinstance(getattr(self, field.name), (bool, int, float, str))
            and getattr(self, field.name) != field.default
        ]
        return f"{self.title}({', '.join(shown)})" if shown else self.title


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def verbs_of(params: Any) -> Verbs:
    """The verbs that belong to a params tuple."""
    try:
        return KINDS[type(params)]
    except KeyError:
        raise ValueError(f"no policy is registered for params of {type(params)!r}") from None
