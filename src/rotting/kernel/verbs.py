"""The verbs of a policy: plain functions, found by the type of its params.

A policy has two NamedTuples, its *params* (numbers and read-only arrays) and its *state* (arrays,
perhaps in parts that are NamedTuples themselves), and functions on them:

    init(params, arms, capacity)              -> state   a state at its start
    choose(params, state, draw)               -> arm     decide; counts nothing
    pulled(params, state, arm)                           count a pull of the arm, and the round
    update(params, state, arm, pull, reward)             learn from the reward of that pull

    score(params, state, arm, pull)           -> float   the worth of that pull; changes nothing
    refresh_score(params, state, arm)                    score the arm's next pull again
    set_truth(params, state, models, constants)          for policies that play by the true bandit
    set_open(params, state, flags)                       from now on the arms with a flag are open
    set_propensity(params, state, arm, pull, chance)     the probability of a pull that was chosen
    inspect(params, state, arm)               -> Inspection   the policy's view of the arm now
    curve(params, state, arm, pull)           -> CurvePoint   the worth of that pull, with a band

The last seven are optional.

- `choose` may cache what it computes, but called twice it decides the same, as far as chance
  allows. So a pull from a log can be recorded with `pulled` alone.
- `score` leaves out what depends on the round, such as the padding of a bound. A policy that keeps
  the score of each arm's next pull has `refresh_score`: the player calls it when a decision comes
  before the reward of the last pull.
- `set_open` is called where arms come and go (`rotting.policies.parts.openings`). `choose` then
  returns open arms only, and whatever the policy keeps about open arms is computed again.
- `set_propensity` is for policies that learn by propensities. It is called where somebody else
  chose: for history, and for the control group.
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


class Inspection(NamedTuple):
    """A policy's view of an arm. Fields are None where there is no value, as of an untried arm.

    `rule` is how it decides: by the "highest" index; "mostly" so, but it tries neglected arms as
    well; by the highest of the true means ("told"); by the highest of numbers "sampled" from
    posteriors of mean `estimate` and standard deviation `padding`; by "chance", the index being the
    probability; "uniform"; by "turn"; or by a filter that arms pass or not ("filtered"). An arm
    without an estimate ramps up, unless the rule needs no estimates.
    """

    estimate: float | None = None  # of the next reward
    padding: float | None = None  # added for uncertainty; of a posterior the standard deviation
    index: float | None = None  # type: ignore[assignment]  # what `choose` compares
    rule: Literal[
        "highest", "mostly", "told", "sampled", "chance", "uniform", "turn", "filtered"
    ] = "highest"


class CurvePoint(NamedTuple):
    """A policy's estimate of the mean reward of one pull of an arm."""

    estimate: float
    low: float | None = None  # of the 95 % band; None for a policy without one
    high: float | None = None


class Verbs(NamedTuple):
    """The functions of a policy, described above, with the types they work on."""

    params: type  # type of the params
    state: type  # type of the state
    init: Callable[..., Any]
    choose: Callable[..., Any]
    update: Callable[..., Any]
    pulled: Callable[..., Any] | None = None  # by default that of the state's part `arms`
    score: Callable[..., Any] | None = None
    refresh_score: Callable[..., Any] | None = None
    set_truth: Callable[..., Any] | None = None
    set_open: Callable[..., Any] | None = None  # by default that for a state with a part `arms`
    set_propensity: Callable[..., Any] | None = None
    inspect: Callable[..., Any] | None = (
        None  # by default by the state's part `ranking`, or `score`
    )
    curve: Callable[..., Any] | None = None  # by default by `score`

    @property
    def compiled(self) -> list[Callable[..., Any]]:
        """The functions that are compiled, all but `init`, `inspect` and `curve`."""
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
    """The verbs that belong to a params tuple."""
    try:
        return KINDS[type(params)]
    except KeyError:
        raise ValueError(f"no policy is registered for params of {type(params)!r}") from None


class _OfPolicies(Table):
    """The bodies of a verb: those of the policies, by the type of their params."""

    def find(self, kind: Any, default: Any) -> Any:
        """What the policy has of this name."""
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
    """Decide: the arm to pull next."""
    raise _missing("choose", params)


@verb()
def pulled(params: Any, state: Any, arm: Any) -> Any:
    """Count a pull of an arm, and the round."""
    raise _missing("pulled", params)


@verb()
def update(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> Any:
    """Learn from the reward of one pull."""
    raise _missing("update", params)


@verb()
def score(params: Any, state: Any, arm: Any, pull: Any) -> Any:
    """The worth of pull number `pull` of an arm."""
    raise _missing("score", params)


@verb()
def refresh_score(params: Any, state: Any, arm: Any) -> Any:
    """Score the arm's next pull again, if the policy keeps such scores."""


@verb()
def set_truth(params: Any, state: Any, models: Any, constants: Any) -> Any:
    """Give the true bandit to a policy that plays by it."""


def _never_closes(params: Any, state: Any, flags: Any) -> Any:
    return None


# compiled loops have the call wherever arms might close; who makes one checks the policy before
@verb(compiled=_never_closes)
def set_open(params: Any, state: Any, flags: Any) -> Any:
    """The arms with a flag are open from now on, and no others."""
    raise _missing("set_open", params)


@verb()
def set_propensity(params: Any, state: Any, arm: Any, pull: Any, chance: Any) -> Any:
    """Record the probability with which a pull was chosen, if the policy learns by it."""


def _missing(verb: str, params: Any) -> ValueError:
    return ValueError(f"policy must have {verb}, but that of {type(params)!r} has not")


def inspect(params: Any, state: Any, arm: Any) -> Inspection | None:
    """The policy's view of an arm now, if it has one; plain Python only."""
    verb = verbs_of(params).inspect
    found: Inspection | None = None if verb is None else verb(params, state, arm)
    return found


def curve(params: Any, state: Any, arm: int, pull: int) -> CurvePoint | None:
    """The policy's estimate for that pull, if it has one; plain Python only."""
    verbs = verbs_of(params)
    if verbs.curve is not None:
        found: CurvePoint = verbs.curve(params, state, arm, pull)
        return found
    worth = -math.inf if verbs.score is None else float(verbs.score(params, state, arm, pull))
    return None if worth == -math.inf else CurvePoint(worth)
