"""The verbs of a policy: plain functions, found by the type of its params.

A policy has two NamedTuples, its *params* (numbers and read-only arrays) and its *state* (arrays,
perhaps in parts that are NamedTuples themselves), and functions on them:

    init(params, arms, capacity)              -> state   a state at its start
    choose(params, state, draw)               -> arm     decide; counts nothing
    pulled(params, state, arm)                           count a pull of the arm, and the round
    update(params, state, arm, pull, reward)             learn from the reward of that pull

    score(params, state, arm, pull)           -> float   the value of that pull; changes nothing
    refresh_score(params, state, arm)                    score the arm's next pull again
    set_truth(params, state, models, constants)          for policies that play by the true bandit
    set_open(params, state, flags)                       from now on the arms with a flag are open
    set_propensity(params, state, arm, pull, chance)     the probability of a pull chosen elsewhere
    inspect(params, state, arm)               -> Inspection   the policy's view of the arm now
    curve(params, state, arm, pull)           -> CurvePoint   the value of that pull, with a band

The last seven are optional.

- `choose` may cache what it computes, but called twice it decides the same, up to chance. So a
  pull from a log can be recorded with `pulled` alone.
- `score` leaves out what depends on the round, such as the padding of a bound. A policy that keeps
  the score of each arm's next pull has `refresh_score`: the player calls it when a decision comes
  before the reward of the last pull.
- `set_open` is called where arms come and go (`rotting.policies.parts.openings`). `choose` then
  returns open arms only, and whatever the policy keeps about open arms is computed again.
- `set_propensity` is for policies that learn by propensities. It is called for pulls that another
  rule chose: history, and the control group.
- `inspect` serves `player.table()` and `player.explain()`, `curve` serves `player.curves()`. Both
  are never compiled and get a copy of the state.

Loops and players call the functions below, and so does a policy that holds another policy:
`choose(params.inner, state.inner, draw)`. Plain Python looks a verb up at each call;
`rotting._engines.compiled.numba_hooks` lets the compiler find it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from rotting.kernel.compilable import Body, Dispatched, Table, declared, dispatched

__all__ = [
    "CurvePoint",
    "Inspection",
    "Verbs",
    "choose",
    "curve",
    "inspect",
    "pulled",
    "refresh_score",
    "score",
    "set_open",
    "set_propensity",
    "set_truth",
    "update",
    "verbs_of",
]


class Inspection(NamedTuple):
    """A policy's view of an arm: what `inspect` returns.

    A field is None where there is no value, as for an untried arm. An arm without an estimate is in
    its ramp-up, unless the rule needs no estimates.

    Attributes:
        estimate: The estimated mean of the arm's next reward.
        padding: What is added to it for uncertainty; for "sampled", the posterior's standard
            deviation.
        index: The number that `choose` compares; for "chance", the arm's probability.
        rule: How the policy decides: by the "highest" index; "mostly" so, but it also tries
            neglected arms; by the highest of the true means, which it was given ("told"); by the
            highest of numbers "sampled" from posteriors; by "chance"; "uniform"; by "turn"; or by a
            filter that arms pass or not ("filtered").

    >>> Inspection(estimate=0.5, padding=0.1, index=0.6)
    Inspection(estimate=0.5, padding=0.1, index=0.6, rule='highest')
    """

    estimate: float | None = None
    padding: float | None = None
    index: float | None = None  # type: ignore[assignment]
    rule: Literal[
        "highest", "mostly", "told", "sampled", "chance", "uniform", "turn", "filtered"
    ] = "highest"


class CurvePoint(NamedTuple):
    """A policy's estimate of the mean reward of one pull: what `curve` returns.

    Attributes:
        estimate: The mean reward.
        low: The lower end of the 95 % band; None for a policy without one.
        high: The upper end.

    >>> CurvePoint(0.3, 0.2, 0.4).estimate
    0.3
    """

    estimate: float
    low: float | None = None
    high: float | None = None


class Verbs(NamedTuple):
    """The functions of a policy, and the types of its params and state.

    A `Policy` subclass has one as its class attribute `verbs`. The module's docstring describes
    each function. All but `init`, `inspect` and `curve` are compiled.

    Attributes:
        params: The type of the params, a NamedTuple that no other policy has.
        state: The type of the state, a NamedTuple.
        init: Makes a state at its start.
        choose: Decides.
        update: Learns from a reward.
        pulled: Counts a pull; by default `rotting.policies.parts.arms.count_pull`.
        score: The value of a pull.
        refresh_score: Scores the arm's next pull again.
        set_truth: Takes the true bandit.
        set_open: Opens and closes arms; by default, for a state with a part `arms: Arms`,
            `rotting.policies.parts.arms.set_open_untried`.
        set_propensity: Takes the probability of a pull.
        inspect: The policy's view of an arm; by default from `score` or the state's part `ranking`.
        curve: The estimate for one pull; by default from `score`.
    """

    params: type
    state: type
    init: Callable[..., Any]
    choose: Callable[..., Any]
    update: Callable[..., Any]
    pulled: Callable[..., Any] | None = None
    score: Callable[..., Any] | None = None
    refresh_score: Callable[..., Any] | None = None
    set_truth: Callable[..., Any] | None = None
    set_open: Callable[..., Any] | None = None
    set_propensity: Callable[..., Any] | None = None
    inspect: Callable[..., Any] | None = None
    curve: Callable[..., Any] | None = None

    @property
    def compiled(self) -> list[Callable[..., Any]]:
        """The functions that are compiled: all but `init`, `inspect` and `curve`."""
        optional = (
            self.score,
            self.refresh_score,
            self.set_truth,
            self.set_open,
            self.set_propensity,
        )
        verbs = (self.choose, self.pulled, self.update, *optional)
        return [verb for verb in verbs if verb is not None]


KINDS: dict[type, Verbs] = {}  # by type of params


def verbs_of(params: Any) -> Verbs:
    """The verbs that belong to a params tuple.

    For a policy that holds another: its `init` calls `verbs_of(params.inner).init(...)`.

    Args:
        params: What a policy's `prepare` returned.

    Returns:
        The `Verbs` of that policy.

    Raises:
        ValueError: No policy has params of this type.

    >>> from rotting import policies
    >>> params = policies.UCB1().prepare(arms=2, horizon=None, reach=10)
    >>> verbs_of(params) == policies.UCB1.verbs
    True
    """
    try:
        return KINDS[type(params)]
    except KeyError:
        raise ValueError(f"no policy is registered for params of {type(params)!r}") from None


class _OfPolicies(Table):
    """The bodies of a verb: those of the policies, by the type of their params."""

    def find(self, kind: Any, default: Any) -> Any:
        try:
            verbs = KINDS[kind]
        except KeyError:
            raise ValueError(f"no policy is registered for params of {kind!r}") from None
        return getattr(verbs, self.default.__name__) or default


def verb(*, compiled: Body | None = None) -> Callable[[Body], Dispatched[..., Any]]:
    """Declare a verb; what it decorates is for policies that have none of this name."""
    return lambda default: declared(dispatched(_OfPolicies(default, "params", compiled)))


@verb()
def choose(params: Any, state: Any, draw: Any) -> Any:
    """Decide: the arm to pull next. Counts nothing.

    Args:
        params: The policy's params.
        state: Its state; it may cache what it computes.
        draw: The random numbers of this decision (`rotting.kernel.random`).

    Returns:
        The number of an open arm.

    >>> from rotting import policies
    >>> from rotting.kernel.random import new_draw
    >>> params = policies.UCB1().prepare(arms=2, horizon=None, reach=10)
    >>> state = verbs_of(params).init(params, 2, 10)
    >>> for reward in (0.0, 1.0):
    ...     arm = choose(params, state, new_draw(seed=0))
    ...     pulled(params, state, arm)
    ...     update(params, state, arm, 1, reward)
    >>> int(choose(params, state, new_draw(seed=0)))
    1
    """
    raise _missing("choose", params)


@verb()
def pulled(params: Any, state: Any, arm: Any) -> Any:
    """Count a pull of an arm, and the round.

    Args:
        params: The policy's params.
        state: Its state, which changes.
        arm: The arm, whether `choose` returned it or not.
    """
    raise _missing("pulled", params)


@verb()
def update(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> Any:
    """Learn from the reward of one pull.

    Args:
        params: The policy's params.
        state: Its state, which changes.
        arm: The arm.
        pull: The number of that pull, 1 for the arm's first; in an audience, the key's own. Rewards
            may come late, in any order, or never.
        reward: A finite number.
    """
    raise _missing("update", params)


@verb()
def score(params: Any, state: Any, arm: Any, pull: Any) -> Any:
    """The value of pull number `pull` of an arm, without what depends on the round.

    Args:
        params: The policy's params.
        state: Its state, which stays as it is.
        arm: The arm.
        pull: The number of the pull, 1 for the arm's first.

    Returns:
        A float; minus infinity where the policy has no estimate yet.

    Raises:
        ValueError: The policy has no `score`.
    """
    raise _missing("score", params)


@verb()
def refresh_score(params: Any, state: Any, arm: Any) -> Any:
    """Score the arm's next pull again; does nothing for a policy that keeps no scores.

    Args:
        params: The policy's params.
        state: Its state, which changes.
        arm: The arm.
    """


@verb()
def set_truth(params: Any, state: Any, models: Any, constants: Any) -> Any:
    """Give the true bandit to a policy that plays by it; does nothing for any other.

    Args:
        params: The policy's params.
        state: Its state, which changes.
        models: Each arm's row in the table of means.
        constants: Each arm's constant.
    """


def _never_closes(params: Any, state: Any, flags: Any) -> Any:
    return None


# Compiled loops contain the call wherever arms might close; the engine checks the policy before.
@verb(compiled=_never_closes)
def set_open(params: Any, state: Any, flags: Any) -> Any:
    """Open the arms with a flag, and close all others.

    Args:
        params: The policy's params.
        state: Its state, which changes.
        flags: 1 for each arm that is open, 0 for the others.

    Raises:
        ValueError: The policy has no `set_open` (plain Python only).
    """
    raise _missing("set_open", params)


@verb()
def set_propensity(params: Any, state: Any, arm: Any, pull: Any, chance: Any) -> Any:
    """Record the probability of a pull; does nothing for a policy that does not learn by it.

    Args:
        params: The policy's params.
        state: Its state, which changes.
        arm: The arm.
        pull: The number of the pull.
        chance: The probability with which it was chosen.
    """


def _missing(verb: str, params: Any) -> ValueError:
    return ValueError(f"policy must have {verb}, but that of {type(params)!r} has not")


def inspect(params: Any, state: Any, arm: Any) -> Inspection | None:
    """The policy's view of an arm now; plain Python only.

    Args:
        params: The policy's params.
        state: A copy of its state, which may change.
        arm: The arm.

    Returns:
        An `Inspection`, or None for a policy without this verb.

    >>> from rotting import policies
    >>> params = policies.UCB1().prepare(arms=2, horizon=None, reach=10)
    >>> inspect(params, verbs_of(params).init(params, 2, 10), 0).estimate is None
    True
    """
    verb = verbs_of(params).inspect
    found: Inspection | None = None if verb is None else verb(params, state, arm)
    return found


def curve(params: Any, state: Any, arm: int, pull: int) -> CurvePoint | None:
    """The policy's estimate for one pull of an arm; plain Python only.

    Args:
        params: The policy's params.
        state: A copy of its state, which may change.
        arm: The arm.
        pull: The number of the pull.

    Returns:
        A `CurvePoint`; from `score`, without a band, for a policy without this verb; None where it
        has no estimate.
    """
    verbs = verbs_of(params)
    if verbs.curve is not None:
        found: CurvePoint = verbs.curve(params, state, arm, pull)
        return found
    worth = -math.inf if verbs.score is None else float(verbs.score(params, state, arm, pull))
    return None if worth == -math.inf else CurvePoint(worth)
