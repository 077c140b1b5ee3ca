"""The base class of policies, and the registry of all of them.

A policy's algorithm is a few plain functions, its verbs (`rotting.kernel.verbs`). They are compiled
as they are, so they use plain loops, `math`, array indexing and functions marked
`rotting.kernel.compilable.shared`; only `init` allocates. A state's integers are counts, places and
rounds, which a GPU keeps in 32 bits; 64-bit words go into arrays of `uint64`.

What a user writes is a small immutable `Policy` with the paper's Input line, for instance
`WSWA(alpha=0.2, sigma=0.5)`; `prepare` turns it into the params.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rotting import _plain
from rotting.kernel.verbs import KINDS, Verbs
from rotting.models import Family
from rotting.models._tables import rows_of
from rotting.parameters import Checked
from rotting.policies.parts.arms import Arms, count_pull, set_open_untried
from rotting.policies.parts.inspection import ranked, scored
from rotting.policies.parts.ranking import Ranking

if TYPE_CHECKING:
    from rotting._online.audience import AudiencePlayer
    from rotting._online.player import Player
    from rotting.bandits import HalfLife, Scenario, Window

POLICIES: dict[str, type[Policy]] = {}
"""All policies by their key, their name on the command line."""
_plain.register_kind("policy", POLICIES)


class Policy(Checked):
    """The base of all policies: a rule that says which arm to pull next, with its parameters.

    A policy is an immutable value that has learnt nothing. `online` and `audience` make players of
    it, which learn; `rotting.simulate` plays it on a scenario.

    A subclass is a frozen dataclass whose fields are the parameters. It sets `verbs` and defines
    `prepare`. The rules in its fields' types (`rotting.parameters`) are checked when an object is
    made, then its method `check` is called. Defining the class registers it in `POLICIES`.

    Attributes:
        verbs: The functions that play the policy (`rotting.kernel.verbs`).
        key: Its name on the command line and in saved states; by default the class name in lower
            case.
        title: Its name in labels, tables and figures; by default the class name.
        needs_horizon: Whether a player needs to be given the horizon.
        tables: Whether the params depend on `reach`, the highest pull number.
        grows: Whether the state needs more memory the more is decided.
        counts_by_key: Whether it counts pulls by key in an audience. Otherwise it plays pooled: it
            ignores keys. By default True for a policy with the verb `score` and a part `arms:
            Arms`.
        no_audience: Why it cannot play an audience; empty if it can.
        no_rest: Why its counts by key cannot fade; empty if they can.
        asks: Optional parameters that are filled in from the scenario when the policy is made by
            name.

    Raises:
        ValueError: A parameter is outside its range; the message names it, its value and the range.
            Or, when a subclass is defined, its key or its type of params belongs to another policy.

    >>> from rotting import policies
    >>> policies.UCB1(c=0.5)
    UCB1(c=0.5)
    >>> policies.UCB1(c=-1)
    Traceback (most recent call last):
    ValueError: c must be a number > 0, got -1
    """

    verbs: ClassVar[Verbs]
    key: ClassVar[str] = ""
    title: ClassVar[str] = ""
    needs_horizon: ClassVar[bool] = False
    tables: ClassVar[bool] = True
    grows: ClassVar[bool] = True
    counts_by_key: ClassVar[bool] = False
    no_audience: ClassVar[str] = ""
    no_rest: ClassVar[str] = ""
    asks: ClassVar[tuple[str, ...]] = ()

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
        if cls.verbs.pulled is None:
            cls.verbs = cls.verbs._replace(pulled=count_pull)
        counted = _part(cls.verbs.state, "arms") is Arms
        if cls.verbs.set_open is None and counted:
            cls.verbs = cls.verbs._replace(set_open=set_open_untried)
        if cls.verbs.inspect is None and counted:
            if cls.verbs.score is not None:
                cls.verbs = cls.verbs._replace(inspect=scored)
            elif _part(cls.verbs.state, "ranking") is Ranking:
                cls.verbs = cls.verbs._replace(inspect=ranked)
        if "counts_by_key" not in cls.__dict__:
            by_key = counted and cls.verbs.score is not None
            cls.counts_by_key = by_key and not cls.no_audience
        # compiled code finds the verbs by the type of the params and keeps them
        known_verbs = KINDS.get(cls.verbs.params)
        if known_verbs is not None and known_verbs != cls.verbs:
            raise ValueError(
                f"params of {cls.__name__} must be a type of its own, but {cls.verbs.params!r} "
                "belongs to a policy defined before; define it again together with the policy"
            )
        POLICIES[cls.key] = cls
        KINDS[cls.verbs.params] = cls.verbs

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Any:
        """The params for playing with `arms` arms; every subclass defines it.

        Args:
            arms: The number of arms.
            horizon: The number of decisions there will be; None if unknown.
            reach: The highest pull number that tables must hold. A player calls `prepare` again,
                with a larger one, before pull numbers exceed it.

        Returns:
            A NamedTuple of the type `verbs.params`.

        Raises:
            ValueError: The policy cannot play so; the message says why.
        """
        raise TypeError(f"{type(self).__name__} does not define prepare")

    def ahead(self, reach: int) -> bool:
        """Do a small part of the work of `prepare`, so that no decision has to wait for all of it.

        A player calls this between decisions, before it calls `prepare` with a larger `reach`.

        Args:
            reach: The highest pull number that the new tables must hold.

        Returns:
            Whether the work is done.
        """
        family = getattr(self, "family", None)
        family = getattr(family, "family", family)  # that of an interval's nodes
        return not isinstance(family, Family) or rows_of(family).step(reach + 1)

    def prepare_for(self, scenario: Scenario) -> Any:
        """The params for simulating a scenario, with K the number of arms open in round 1.

        Args:
            scenario: The scenario.

        Returns:
            As `prepare`.
        """
        return self.prepare(scenario.first_arms, scenario.horizon, scenario.horizon)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """A few settings to test this policy with: the generic test suite plays them all.

        Returns:
            Policies of this class; by default one with default parameters.
        """
        return [cls()]

    def online(
        self,
        arms: Iterable[Any],
        *,
        seed: int = 0,
        horizon: int | None = None,
        compiled: bool | None = None,
        reward_window: int | None = None,
        reward_time: Any = None,
        default_reward: float | None = None,
        explore: float = 0.0,
    ) -> Player:
        """A player that decides one request at a time with this policy.

        Args:
            arms: Labels: words, numbers, dates, anything hashable.
            seed: Fixes all random numbers: the same seed and rewards give the same decisions.
            horizon: The number of decisions there will be; few policies need it.
            compiled: True compiles the policy when the player is made (seconds, the first time on a
                machine), False plays in plain Python. By default the player decides in plain Python
                at once and changes to compiled verbs when another process has compiled them;
                decisions are the same to the bit.
            reward_window: Decisions after which a decision without a reward expires.
            reward_time: The same as a time: a number in your own unit, or a timedelta;
                `select(at=...)` then gives the time.
            default_reward: The reward of an expired decision, zero for clicks; without it nothing
                is learnt from it. It needs a window or a time.
            explore: Share of the decisions that are a control group: the arm is drawn uniformly
                from those allowed, and `player.lift()` compares the policy with equal shares.

        Returns:
            A `Player`.

        Raises:
            ValueError: An argument is outside its range, labels repeat, or the policy needs a
                horizon.

        >>> from rotting import policies
        >>> player = policies.UCB1().online(["red", "blue"], compiled=False)
        >>> decision = player.select()
        >>> player.update(decision, 1.0)
        """
        from rotting._online.player import Player

        return Player(
            self,
            arms,
            seed=seed,
            horizon=horizon,
            compiled=compiled,
            reward_window=reward_window,
            reward_time=reward_time,
            default_reward=default_reward,
            explore=explore,
        )

    def audience(
        self,
        arms: Iterable[Any],
        *,
        seed: int = 0,
        horizon: int | None = None,
        compiled: bool | None = None,
        reward_window: int | None = None,
        reward_time: Any = None,
        default_reward: float | None = None,
        explore: float = 0.0,
        rest: HalfLife | Window | None = None,
    ) -> AudiencePlayer:
        """A player for an audience, in which arms wear out for each key (a user, say) separately.

        A policy that counts by key (`counts_by_key`) learns from all keys how arms wear out. Any
        other plays pooled, keys ignored, and says so in its tables.

        Args:
            arms, seed, horizon, compiled, reward_window, reward_time, default_reward, explore: As
                for `online`.
            rest: How the policy's counts fade: `HalfLife` or `Window` ("three a day").

        Returns:
            An `AudiencePlayer`.

        Raises:
            ValueError: As for `online`; or the policy cannot play an audience, or its counts cannot
                fade.

        >>> from rotting import policies
        >>> player = policies.recommended(rewards="bernoulli", audience=True).audience(
        ...     ["red", "blue"], compiled=False
        ... )
        >>> showing = player.select("ann")
        >>> showing.key, showing.pull
        ('ann', 1)
        >>> player.update(showing, 1.0)
        """
        from rotting._online.audience import AudiencePlayer

        return AudiencePlayer(
            self,
            arms,
            seed=seed,
            horizon=horizon,
            compiled=compiled,
            reward_window=reward_window,
            reward_time=reward_time,
            default_reward=default_reward,
            explore=explore,
            rest=rest,
        )

    @property
    def label(self) -> str:
        """The title with the parameters that differ from their defaults.

        >>> from rotting import policies
        >>> policies.SWUCB(tau=4000).label
        'SWUCB(tau=4000)'
        """
        shown = [
            f"{field.name}={_long(getattr(self, field.name))}"
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if field.default is dataclasses.MISSING or getattr(self, field.name) != field.default
        ]
        return f"{self.title}({', '.join(shown)})" if shown else self.title

    @property
    def short_label(self) -> str:
        """The label for tables and figures: rounded numbers, without families, arms and rests.

        >>> from rotting import policies
        >>> policies.WSWA(alpha=0.2, sigma=0.2 ** 0.5).short_label
        'wSWA(alpha=0.2, sigma=0.4472)'
        """
        shown = [
            f"{field.name}={_short(getattr(self, field.name))}"
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if isinstance(getattr(self, field.name), (bool, int, float, str, Policy))
            and getattr(self, field.name) != field.default
        ]
        return f"{self.title}({', '.join(shown)})" if shown else self.title


def check_held(holder: str, inner: Any) -> None:
    """Refuse an `inner` that another policy cannot hold."""
    if isinstance(inner, type) and issubclass(inner, Policy):
        raise ValueError(
            f"inner of {holder} must be an instance, as {inner.__name__}(...), got the class"
        )
    if not isinstance(inner, Policy):
        raise ValueError(f"inner of {holder} must be a rotting Policy, got {inner!r}")
    if inner.verbs.set_open is None:
        raise ValueError(
            f"inner of {holder} must have the verb set_open, but {inner.title} has not; "
            "a policy whose state has a part `arms: Arms` has it by default"
        )


def take_after(holder: Any, inner: Policy) -> None:
    """Give a policy that holds another the needs of that one."""
    for name in ("needs_horizon", "tables", "grows"):
        object.__setattr__(holder, name, getattr(inner, name))


def _part(state: type, name: str) -> Any:
    """The type of a part of a type of states, or None where its annotations cannot be resolved."""
    try:
        return typing.get_type_hints(state).get(name)
    except (NameError, TypeError, AttributeError):  # names from a scope out of reach
        return None


def _long(value: Any) -> str:
    """A parameter in a label. The label of a held policy leaves out its defaults, as always."""
    return value.label if isinstance(value, Policy) else repr(value)


def _short(value: Any) -> str:
    if isinstance(value, Policy):
        return value.short_label
    return f"{value:.4g}" if isinstance(value, float) else str(value)
