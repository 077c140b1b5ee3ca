"""The verbs of a policy, and how they are found: by the type of its params.

A policy is a few plain functions on two NamedTuples, its *params* (numbers and read-only arrays)
and its *state* (arrays, perhaps in parts that are NamedTuples themselves):

    init(params, arms, capacity)              -> state   everything at its start
    choose(params, state, draw)               -> arm     decide; counts nothing
    pulled(params, state, arm)                           the arm is pulled: counts pull and round
    update(params, state, arm, pull, reward)             learn from the reward of that pull

    judge(params, state, arm, pull)           -> float   what that pull of the arm is worth; pure
    rejudge(params, state, arm)                          judge the arm's next pull again
    reveal(params, state, models, constants)             for policies that are told the true bandit
    reopen(params, state, flags)                         the arms with a flag are open from now on
    chosen(params, state, arm, pull, chance)             that pull was chosen with this probability
    look(params, state, arm)                  -> Opinion what the policy makes of the arm now
    believe(params, state, arm, pull)         -> Belief  what that pull is worth, with a band

The last seven are optional. `choose` may keep what it has worked out (a cache, an epoch begun), but
called twice it decides the same, as far as chance allows, and a pull that nobody chose can be
recorded with `pulled` alone. `judge` leaves out what depends on the round, the padding of a bound
for instance. A policy that keeps the judgement of each arm's next pull has `rejudge`: after a pull
whose reward does not come before the next decision, the player calls it. `reopen` is called where
arms come and go: `choose` then looks at open arms only (`rotting.policies.parts.openings`); the
policy's own copy of what depends on who is open is made anew. `chosen` is for policies that learn
by propensities, and is called where somebody else chose: history, a control group. `look` is for
people who watch a player, `believe` for those who look at the curve of an arm over its pulls. They
are never compiled, and see a copy of the state.

The functions below are what loops and players call, and what a policy calls that holds another
policy: `choose(params.inner, state.inner, draw)`. Plain Python looks the verbs up at each call;
`rotting.engines.compiled.overloads` lets compiled code find them when it is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from rotting.compilable import Body, Dispatched, Table, declared, dispatched


class Opinion(NamedTuple):
    """What a policy makes of an arm. None where it has nothing to say, of an untried arm say.

    `rule` is how it decides: by the "highest" index; "mostly" so, but it tries neglected arms as
    well; by the highest of the means that it was "told"; by the highest of numbers "sampled" from
    posteriors of mean `estimate` and standard deviation `padding`; by "chance", the index being the
    probability; "uniform"; by "turn"; or by a filter that arms pass or not ("filtered"). An arm of
    which nothing is said, not even an estimate, is one that ramps up, unless the rule needs no
    estimates.
    """

    estimate: float | None = None  # of the next reward
    padding: float | None = None  # what is added for not being sure of that; a standard deviation
    index: float | None = None  # type: ignore[assignment]  # what `choose` compares
    rule: Literal[
        "highest", "mostly", "told", "sampled", "chance", "uniform", "turn", "filtered"
    ] = "highest"


class Belief(NamedTuple):
    """What a policy believes of one pull of an arm."""

    estimate: float  # of its mean reward
    low: float | None = None  # 95 % of what it holds possible lies between low
    high: float | None = None  # and high; None where it keeps no such band


class Verbs(NamedTuple):
    """The functions of a policy, described above, with the types they work on."""

    params: type  # type of the params
    state: type  # type of the state
    init: Callable[..., Any]
    choose: Callable[..., Any]
    update: Callable[..., Any]
    pulled: Callable[..., Any] | None = None  # by default that of the state's part `arms`
    judge: Callable[..., Any] | None = None
    rejudge: Callable[..., Any] | None = None
    reveal: Callable[..., Any] | None = None
    reopen: Callable[..., Any] | None = None  # by default that for a state with a part `arms`
    chosen: Callable[..., Any] | None = None
    look: Callable[..., Any] | None = None  # by default by the state's part `ranking`, or `judge`
    believe: Callable[..., Any] | None = None  # by default by `judge`

    @property
    def compiled(self) -> list[Callable[..., Any]]:
        """The functions that are compiled, all but `init`, `look` and `believe`."""
        optional = (self.judge, self.rejudge, self.reveal, self.reopen, self.chosen)
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
def judge(params: Any, state: Any, arm: Any, pull: Any) -> Any:
    """What pull number `pull` of an arm is worth."""
    raise _missing("judge", params)


@verb()
def rejudge(params: Any, state: Any, arm: Any) -> Any:
    """Judge the next pull of an arm again, if the policy keeps such judgements."""


@verb()
def reveal(params: Any, state: Any, models: Any, constants: Any) -> Any:
    """Tell the policy the true bandit, if it is one that may know."""


def _nobody_reopens(params: Any, state: Any, flags: Any) -> Any:
    return None


# compiled loops have the call wherever arms might close; who makes one checks the policy before
@verb(compiled=_nobody_reopens)
def reopen(params: Any, state: Any, flags: Any) -> Any:
    """The arms with a flag are open from now on, and no others."""
    raise _missing("reopen", params)


@verb()
def chosen(params: Any, state: Any, arm: Any, pull: Any, chance: Any) -> Any:
    """Tell the probability with which a pull was chosen, if the policy learns by it."""


def _missing(verb: str, params: Any) -> ValueError:
    return ValueError(f"policy must have {verb}, but that of {type(params)!r} has not")


def look(params: Any, state: Any, arm: Any) -> Opinion | None:
    """What the policy makes of an arm now, if it says so; plain Python only."""
    verb = verbs_of(params).look
    found: Opinion | None = None if verb is None else verb(params, state, arm)
    return found


def believe(params: Any, state: Any, arm: int, pull: int) -> Belief | None:
    """What the policy believes of that pull, if it says so; plain Python only."""
    verbs = verbs_of(params)
    if verbs.believe is not None:
        found: Belief = verbs.believe(params, state, arm, pull)
        return found
    worth = -math.inf if verbs.judge is None else float(verbs.judge(params, state, arm, pull))
    return None if worth == -math.inf else Belief(worth)
