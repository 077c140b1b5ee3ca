"""The tests of the contract of a policy, for policies of your own: `check_policy`.

They need no test framework. A policy plays in plain Python, by its verbs and in players, through
what users do: late and lost rewards, arms that come and go, pulls that somebody else chose, saving
and loading, an audience. With `compiled=True` compiled code must do the same.

The docstring of each function marked `_promise` is the promise it tests, as `PROMISES` has it.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import random as python_random
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rotting import _checks
from rotting._engines import plan
from rotting._engines.loop import reward_of
from rotting._experiments.simulation import check_scenario, simulate
from rotting._live.keys import pull_for_policy, set_key, set_key_for_reward
from rotting._online.audience import AudiencePlayer
from rotting._online.player import Player
from rotting._online.space import FIRST, UNLIMITED, capacity_of
from rotting.bandits import Arm, Gaussian, Scenario
from rotting.kernel import random, verbs
from rotting.kernel.state import check, grown, is_part, leaves, silent
from rotting.kernel.verbs import KINDS, CurvePoint, Inspection
from rotting.models import Constant, Polynomial, Step
from rotting.policies._base import Policy
from rotting.policies.parts.arms import TRIED, next_pull
from rotting.policies.parts.exposures import with_key_counts
from rotting.policies.parts.openings import closable

__all__ = ["PROMISES", "BrokenPromise", "Report", "check_policy"]

PROMISES: dict[str, str] = {}
"""Every promise that `check_policy` tests, in its order: name and meaning."""


class BrokenPromise(AssertionError):  # noqa: N818  # named after what happened
    """A policy breaks a promise of the contract; the message says which, and how.

    Attributes:
        policy: The policy.
        promise: The name of the promise, a key of `PROMISES`.
        found: What the policy did.
    """

    def __init__(self, policy: Policy, promise: str, found: str) -> None:
        super().__init__(policy, promise, found)
        self.policy, self.promise, self.found = policy, promise, found

    def __str__(self) -> str:
        return f"{self.policy.short_label} breaks {self.promise!r}: {self.found}"


@dataclass(frozen=True)
class Report:
    """The promises that a policy kept, and those that were not tested.

    Attributes:
        policy: The policy.
        kept: Names of the promises that it kept, in the order in which they were tested.
        skipped: Names of the others, with the reason.

    >>> from rotting import policies
    >>> print(check_policy(policies.Uniform(), compiled=False, promises=["choose", "curve"]))
    Uniform keeps 1 promise: choose
    not tested:
    - curve: the policy has no verb curve
    """

    policy: Policy
    kept: tuple[str, ...]
    skipped: Mapping[str, str]

    def __str__(self) -> str:
        noun = "promise" if len(self.kept) == 1 else "promises"
        text = f"{self.policy.short_label} keeps {len(self.kept)} {noun}: {', '.join(self.kept)}"
        if self.skipped:
            text += "\nnot tested:"
        return "\n".join([text, *(f"- {name}: {why}" for name, why in self.skipped.items())])


def check_policy(
    policy: Policy,
    *,
    scenario: Scenario | None = None,
    rounds: int = 200,
    seed: int = 0,
    compiled: bool = True,
    promises: Iterable[str] | None = None,
) -> Report:
    """Test whether a policy keeps the contract of a policy.

    A call with `compiled=False` takes about a second for a policy of a few arrays.

    Args:
        policy: The policy, one of your own or of this library.
        scenario: The arms, their rewards, and the horizon that a policy with `needs_horizon` gets.
            By default three arms of falling means, with Gaussian noise, for 1000 rounds. Take one
            with `Bernoulli` noise for a policy that needs rewards of 0 and 1.
        rounds: The number of decisions of each test, at most the scenario's horizon. A state that
            grows does so after 128 decisions.
        seed: Fixes all random numbers. Tests that pass with one seed may fail with another.
        compiled: Whether the policy is compiled as well, and must do the same. Compiling takes
            seconds.
        promises: The names of the promises to test, of `PROMISES`; all by default.

    Returns:
        A `Report` of the promises that were kept, and of those not tested, with the reason.

    Raises:
        BrokenPromise: The policy breaks a promise; an `AssertionError`.
        ValueError: An argument is outside its range.

    >>> from rotting import policies
    >>> report = check_policy(policies.UCB1(), compiled=False)
    >>> report.kept[:3]
    ('params', 'same seed', 'choose')
    >>> report.skipped["score"]
    'the policy has no verb score'
    """
    case = _case(policy, scenario, rounds, seed)
    kept, skipped = [], {}
    for name in _wanted(promises):
        if name in _COMPILED and not compiled:
            skipped[name] = "compiled=False"
            continue
        try:
            _CHECKS[name](case)
        except _SkippedError as why:
            skipped[name] = str(why)
        except _BrokenError as error:
            raise BrokenPromise(policy, error.promise or name, str(error)) from None
        except Exception as error:
            raise BrokenPromise(
                policy, _REFUSED.get(_start(error), name), _raised(error)
            ) from error
        else:
            kept.append(name)
    return Report(policy, tuple(kept), skipped)


def _wanted(promises: Iterable[str] | None) -> list[str]:
    if promises is None:
        return list(PROMISES)
    wanted = [promises] if isinstance(promises, str) else list(promises)
    for name in wanted:
        _checks.choice("promises", name, tuple(PROMISES))
    return wanted


def _case(policy: Policy, scenario: Scenario | None, rounds: int, seed: int) -> _Case:
    if not isinstance(policy, Policy):
        raise ValueError(f"policy must be a rotting Policy, an instance, got {policy!r}")
    if scenario is None:
        arms = [
            Arm(Constant(0.5)),
            Arm(Step(at=40, before=0.9, after=0.2)),
            Arm(Polynomial(0.3), constant=0.1),
        ]
        scenario = Scenario(arms, Gaussian(0.3), horizon=1000)
    check_scenario(scenario)
    if scenario.openings or scenario.audience is not None:
        raise ValueError("scenario must be one without openings and without an audience")
    rounds = _checks.integer("rounds", rounds, least=20, most=scenario.horizon)
    return _Case(policy, scenario, rounds, int(random.seed_word(seed)))


_REFUSED = {"choose must return an open": "open arms", "choose must return an arm": "choose"}


def _start(error: Exception) -> str:
    """The first words of a message: those of a player that refuses an arm are in `_REFUSED`."""
    return " ".join(str(error).split()[:5])


def _raised(error: Exception) -> str:
    """An exception of a verb, with the function that raised it."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.name} raised {type(error).__name__}: {error}"


# ------------------------------------------------------------------------------- how it is played


class _BrokenError(Exception):
    """What a policy did; `promise` is the one it breaks if that is not the one under test."""

    def __init__(self, found: str, promise: str = "") -> None:
        super().__init__(found)
        self.promise = promise


class _SkippedError(Exception):
    """Why a promise is not tested."""


@dataclass(frozen=True)
class _Case:
    """A policy, and the problem on which it is tested."""

    policy: Policy
    scenario: Scenario
    rounds: int
    seed: int

    @property
    def arms(self) -> int:
        return self.scenario.arm_count

    @property
    def horizon(self) -> int | None:
        return self.scenario.horizon if self.policy.needs_horizon else None

    @property
    def rng(self) -> python_random.Random:
        return python_random.Random(self.seed)

    @functools.cached_property
    def reward(self) -> Callable[[int, int], float]:
        """The rewards of the scenario's first run, by arm and pull; added arms are like others."""
        scenario, seed = self.scenario, self.seed
        bandits, world = scenario.bandits(seed, 0, 1), scenario.world()
        noise_key = random.fold(plan.stream_keys(seed, "common", "").noise, np.uint64(0))

        def reward(arm: int, pull: int) -> float:
            like, pull = arm % scenario.arm_count, min(pull, scenario.horizon)
            key = random.fold(noise_key, np.uint64(arm))
            mean = bandits.constants[0, like] + world.means[bandits.models[0, like], pull - 1]
            return float(reward_of(world, mean, key, random.step_of(key), pull))

        return reward

    def player(self, *, compiled: bool = False) -> Player:
        return self.policy.online(
            range(self.arms), seed=self.seed, horizon=self.horizon, compiled=compiled
        )

    def audience(self) -> AudiencePlayer:
        """A player for an audience; skips a policy that cannot play one."""
        policy = self.policy

        def make() -> AudiencePlayer:
            return policy.audience(
                range(self.arms), seed=self.seed, horizon=self.horizon, compiled=False
            )

        if not policy.no_audience:
            return make()
        try:
            make()
        except ValueError as error:
            if policy.no_audience in str(error):
                raise _SkippedError(f"no_audience says: {policy.no_audience}") from None
        raise _BrokenError("no_audience says why it cannot play an audience, but it is not refused")


class _Game:
    """A policy played by its verbs, in plain Python."""

    def __init__(
        self,
        case: _Case,
        *,
        closes: bool = True,
        space: int | None = None,
        reach: int | None = None,
    ) -> None:
        policy, count = case.policy, case.arms
        self.case = case
        self.capacity = 64 * case.rounds if space is None else space
        reach = 4 * case.rounds if reach is None else reach
        self.params = policy.prepare(count, case.horizon, reach)
        state = policy.verbs.init(self.params, count, self.capacity)
        self.state: Any = closable(state) if closes else state
        self.open = set(range(count))
        self.pulls = [0] * count
        self.draw = random.new_draw(case.seed)
        self.late = -1  # the arm pulled last, while its reward has not come

    @property
    def decision(self) -> int:
        """The number of the next decision."""
        return sum(self.pulls) + 1

    def fresh(self, arms: int) -> Any:
        return closable(self.case.policy.verbs.init(self.params, arms, self.capacity))

    def set_open(self, arms: set[int]) -> None:
        """These arms are open from now on."""
        self.open = set(arms)
        self._set_open(self.open)

    def _set_open(self, arms: set[int]) -> None:
        flags = np.array([arm in arms for arm in range(len(self.pulls))], dtype=np.int64)
        verbs.set_open(self.params, self.state, flags)

    def add(self) -> None:
        """One more arm, which is open."""
        self.state = grown(self.state, self.fresh(len(self.pulls) + 1))
        self.pulls.append(0)
        self.set_open(self.open | {len(self.pulls) - 1})

    def refresh(self) -> None:
        """Before a decision, if the last pull has no reward yet."""
        if self.late >= 0:
            verbs.refresh_score(self.params, self.state, self.late)

    def choose(self) -> int:
        return self.valid(verbs.choose(self.params, self.state, self.draw), self.open)

    def decide(self, among: set[int] | None = None) -> int:
        """A decision, restricted to some arms if they are given."""
        self.refresh()
        if among is None:
            return self.choose()
        self._set_open(among)
        arm = verbs.choose(self.params, self.state, self.draw)
        self._set_open(self.open)
        return self.valid(arm, among)

    def valid(self, arm: Any, allowed: set[int]) -> int:
        """The arm as a number, if it may be chosen."""
        last = len(self.pulls) - 1
        if not isinstance(arm, (int, np.integer)) or not 0 <= arm <= last:
            raise _BrokenError(
                f"choose must return an arm from 0 to {last}, got {arm!r} at decision "
                f"{self.decision}",
                "choose",
            )
        if int(arm) not in allowed:
            raise _BrokenError(
                f"choose returned arm {arm} at decision {self.decision}, when the open arms were "
                f"{sorted(allowed)}",
                "open arms",
            )
        return int(arm)

    def pull(self, arm: int) -> int:
        verbs.pulled(self.params, self.state, arm)
        self.pulls[arm] += 1
        self.late = arm
        return self.pulls[arm]

    def learn(self, arm: int, pull: int) -> None:
        reward = self.case.reward(arm, pull)
        try:
            verbs.update(self.params, self.state, arm, pull, reward)
        except Exception as error:
            if pull == self.pulls[arm]:
                raise
            raise _BrokenError(
                f"{_raised(error)}, for the reward of pull {pull} of arm {arm} when "
                f"{self.pulls[arm]} were made",
                "late rewards",
            ) from error
        if self.late == arm:
            self.late = -1

    def check(self, waiting: Iterable[tuple[int, int]] = ()) -> None:
        """Refuse a state that a saved player would be refused for."""
        fresh = self.fresh(len(self.pulls))
        try:
            check(self.state, fresh, self.params, list(waiting))
        except ValueError as error:
            raise _BrokenError(
                f"{error}; after {self.decision - 1} pulls a saved player would be refused",
                "fields",
            ) from None

    def counts(self) -> dict[str, Any]:
        """Pulls and rounds of every policy in the state; the cursor of the ramp-up aside."""
        found = {}
        for leaf in leaves(self.state):
            name = leaf.path.rpartition(".")[2]
            if name == "clock":
                found[leaf.path] = leaf.value[:TRIED].copy()
            elif name in ("pulls", "time"):
                found[leaf.path] = leaf.value.copy()
        return found


class _Mail:
    """Rewards that come late, in any order, or never."""

    def __init__(self, rng: python_random.Random, most: int = 10) -> None:
        self.rng, self.most = rng, most
        self.waiting: list[Any] = []

    def add(self, decision: Any) -> None:
        self.waiting.append(decision)

    def due(self) -> Iterator[Any]:
        """Some of those that wait, in any order; a fifth of the rewards never come."""
        rng, waiting = self.rng, self.waiting
        while len(waiting) > self.most or (waiting and rng.random() < 0.45):
            decision = waiting.pop(rng.randrange(len(waiting)))
            if rng.random() < 0.8:
                yield decision


def _together(games: list[_Game], *, closing: bool = False, rounds: int = 0) -> Iterator[int]:
    """The first game decides, and all get its pulls and late rewards; yields its decisions.

    With `closing` arms close and open, and some pulls are of any arm, closed ones too.
    """
    first = games[0]
    mail, rng = _Mail(first.case.rng), first.case.rng
    for _ in range(rounds or first.case.rounds):
        if closing and rng.random() < 0.2:
            arm = rng.randrange(first.case.arms)
            now = (first.open ^ {arm}) or {arm}
            for game in games:
                game.set_open(now)
        arm = first.decide()
        yield arm
        if closing and rng.random() < 0.15:
            arm = rng.randrange(first.case.arms)
        (pull,) = {game.pull(arm) for game in games}
        mail.add((arm, pull))
        for late in mail.due():
            for game in games:
                game.learn(*late)


def _agree(arm: int, game: _Game, what: str, draw: Any = None) -> None:
    """The game must decide for this arm, with the same random numbers."""
    decision, other = game.decision, game.decide()
    if other != arm:
        raise _BrokenError(f"{what} decides otherwise at decision {decision}: {other}, not {arm}")
    if draw is not None and not np.array_equal(draw, game.draw):
        raise _BrokenError(f"{what} draws other random numbers at decision {decision}")


def _differs(one: Any, other: Any) -> str | None:
    """The path of the first array in which two states or params differ, or None."""
    for a, b in zip(leaves(one), leaves(other), strict=True):
        x, y = np.asarray(a.value), np.asarray(b.value)
        if x.dtype.kind == "f" and y.dtype.kind == "f":
            same = np.array_equal(x, y, equal_nan=True)
        else:
            same = np.array_equal(x, y)
        if not same:
            return a.path
    return None


_CHECKS: dict[str, Callable[[_Case], None]] = {}
_COMPILED = ("compiled simulation", "compiled player")


def _promise(name: str) -> Callable[[Callable[[_Case], None]], Callable[[_Case], None]]:
    """Register the test of a promise; its docstring is the promise."""

    def register(test: Callable[[_Case], None]) -> Callable[[_Case], None]:
        _CHECKS[name] = test
        PROMISES[name] = " ".join((test.__doc__ or "").split())
        return test

    return register


def _needs(verb: str, case: _Case) -> None:
    if getattr(case.policy.verbs, verb) is None:
        raise _SkippedError(f"the policy has no verb {verb}")


# ------------------------------------------------------------------- params, decisions and pulls


@_promise("params")
def _params(case: _Case) -> None:
    """`prepare` gives params of the declared type, the same at each call, and no verb writes to
    them; `init` gives a state of the declared type, of arrays that it shares with nothing."""
    policy = case.policy
    one, other = _Game(case, closes=False), _Game(case, closes=False)
    for name, value, kind in (
        ("prepare", one.params, policy.verbs.params),
        ("init", one.state, policy.verbs.state),
    ):
        if type(value) is not kind:
            raise _BrokenError(f"{name} must return {kind.__name__}, got {type(value).__name__}")
    path = _differs(one.params, other.params)
    if path:
        raise _BrokenError(f"prepare must return the same at each call, but {path} differs")
    for leaf in leaves(one.state):
        array = leaf.value
        if not isinstance(array, np.ndarray) or array.ndim == 0 or array.dtype.kind not in "iuf":
            raise _BrokenError(f"{leaf.path} of the state must be an array of numbers")
        for holder, tree in (("params", one.params), ("another state", other.state)):
            if any(np.may_share_memory(array, np.asarray(x.value)) for x in leaves(tree)):
                raise _BrokenError(f"{leaf.path} of the state shares memory with {holder}")
    before = copy.deepcopy(one.params)
    for _ in _together([one]):
        pass
    path = _differs(before, one.params)
    if path:
        raise _BrokenError(f"params must never change, but a verb wrote to {path}")


@_promise("same seed")
def _same_seed(case: _Case) -> None:
    """The same seed and rewards give the same decisions, one by one or in batches: chance comes
    from `draw` alone, and memory is in the state alone."""
    single, many = case.player(), case.player()
    rng, made = case.rng, 0
    waiting: list[Any] = []
    while made < case.rounds:
        size = rng.choice((1, 2, 7, 40))
        decisions = [single.select() for _ in range(size)]
        for place, decision in enumerate(many.select_many(size)):
            if decision != decisions[place]:
                raise _BrokenError(
                    f"two players of one seed decide differently at decision {made + place + 1}: "
                    f"arms {decisions[place].arm} and {decision.arm}"
                )
        made += size
        waiting += decisions
        rng.shuffle(waiting)
        rewarded, waiting = waiting[len(waiting) // 3 :], waiting[: len(waiting) // 3]
        rewards = [case.reward(*decision) for decision in rewarded]
        many.update_many(rewarded, rewards)
        for decision, reward in zip(rewarded, rewards, strict=True):
            single.update(decision, reward)
    path = _differs(single.core.state, many.core.state)
    if path:
        raise _BrokenError(f"two players of one seed have another {path} in their states")


@_promise("choose")
def _choose(case: _Case) -> None:
    """`choose` returns an arm from 0 to K - 1 and counts nothing: called twice in the same state,
    with the same random numbers, it decides the same."""
    game, once = _Game(case), _Game(case)
    mail = _Mail(case.rng, most=5)
    for _ in range(case.rounds):
        game.refresh()
        decision, before, numbers = game.decision, game.counts(), game.draw.copy()
        arms, after = [], []
        for _again in range(3):
            game.draw[:] = numbers
            arms.append(game.choose())
            after.append(game.draw.copy())
        if len(set(arms)) > 1:
            raise _BrokenError(
                f"choose counts nothing, but calls in the same state gave arms {arms} at decision "
                f"{decision}"
            )
        for path, counts in game.counts().items():
            if not np.array_equal(counts, before[path]):
                raise _BrokenError(f"choose counts nothing, but changed {path} of the state")
        if not all(np.array_equal(after[0], other) for other in after):
            raise _BrokenError("choose must take as many random numbers when it is called again")
        _agree(arms[0], once, "choose counts nothing, but a policy whose choose was called once")
        for each in (game, once):
            pull = each.pull(arms[0])
        mail.add((arms[0], pull))
        for late in mail.due():
            for each in (game, once):
                each.learn(*late)


@_promise("pulled")
def _pulled(case: _Case) -> None:
    """`pulled` alone records a pull that somebody else chose: a policy to which a log of pulls and
    rewards is played back decides like the one that made them."""
    player, recorder = _Game(case), _Game(case)
    mail = _Mail(case.rng)
    for _ in range(case.rounds):
        arm = player.decide()
        recorder.refresh()
        mail.add((arm, player.pull(arm)))
        recorder.pull(arm)
        for late in mail.due():
            player.learn(*late)
            recorder.learn(*late)
    theirs = recorder.counts()
    for path, counts in player.counts().items():
        if not np.array_equal(counts, theirs[path]):
            raise _BrokenError(f"pulls that somebody else chose leave another {path}")
    recorder.draw[:] = player.draw
    for _ in range(case.rounds // 2):
        arm = player.decide()
        _agree(arm, recorder, "after pulls that somebody else chose the policy")
        for game in (player, recorder):
            game.learn(arm, game.pull(arm))


# ----------------------------------------------------------------------------------------- rewards


@_promise("late rewards")
def _late_rewards(case: _Case) -> None:
    """Rewards may come up to forty decisions late, in any order, or never: nothing becomes NaN or
    infinite, and every decision is one of the arms."""
    game, mail = _Game(case), _Mail(case.rng, most=40)
    for _ in range(case.rounds):
        arm = game.decide()
        mail.add((arm, game.pull(arm)))
        for late in mail.due():
            game.learn(*late)
        _check_finite(game)


def _check_finite(game: _Game) -> None:
    """Refuse NaN and infinity where a field does not allow them."""
    for leaf in leaves(game.state):
        if leaf.value.dtype.kind != "f" or leaf.uncleared:
            continue
        allowed = [x for mark in leaf.marks for x in getattr(mark, "exceptions", ())]
        for value in leaf.value[~np.isfinite(leaf.value)].tolist():
            if value != -math.inf and not any(value == x or value != value != x for x in allowed):
                raise _BrokenError(
                    f"{leaf.path} of the state holds {value} after {game.decision - 1} decisions "
                    "with late and lost rewards"
                )


@_promise("no rewards")
def _no_rewards(case: _Case) -> None:
    """Without any reward no arm is left out: each gets three fifths of its share of the decisions,
    or more."""
    if case.policy.verbs.set_truth is not None:
        raise _SkippedError("the policy plays by the true bandit")
    game = _Game(case)
    for _ in range(100 * case.arms):
        game.pull(game.decide())
    if min(game.pulls) < 60:
        raise _BrokenError(
            f"no reward came in {sum(game.pulls)} decisions, and the arms were pulled {game.pulls} "
            "times; next_untried (rotting.policies.parts.arms) takes turns"
        )


# -------------------------------------------------------------------------- states, saved and grown


@_promise("fields")
def _fields(case: _Case) -> None:
    """Every array of whole numbers in the state says what it may hold, and every array keeps to
    what it says, with late and lost rewards."""
    game = _Game(case)
    found = silent(game.state)
    if found:
        raise _BrokenError(
            f"{', '.join(found)} must have a type that says what it may hold, as Counts or Place "
            "(rotting.kernel.state); a saved player loads with trusted=True only"
        )
    mail = _Mail(case.rng)
    for t in range(case.rounds):
        arm = game.decide()
        mail.add((arm, game.pull(arm)))
        rewarded = list(mail.due())
        for late in rewarded:
            game.learn(*late)
        if t < 20 or t % 20 == 0:
            game.check(mail.waiting)


_SHORT = 16  # pulls that the tables reach of a policy whose decisions do not depend on them


@_promise("growth")
def _growth(case: _Case) -> None:
    """With more space (`capacity`, `reach`) arrays keep their contents at the front, and decisions
    are the same; with `grows = False` the state has one size, with `tables = False` decisions do
    not depend on `reach`."""
    policy, count = case.policy, case.arms

    def sizes(space: int) -> list[Any]:
        return [leaf.value.shape for leaf in leaves(_Game(case, space=space).state)]

    if not policy.grows and sizes(1 << 20) != sizes(UNLIMITED):
        raise _BrokenError("grows is False, but the size of the state depends on capacity")
    large = _Game(case, space=None if policy.grows else UNLIMITED)
    space, reach = capacity_of(count, 0) if policy.grows else UNLIMITED, FIRST
    small = _Game(case, space=space, reach=reach if policy.tables else _SHORT)
    for arm in _together([large, small]):
        made = small.decision
        if policy.grows and 2 * made >= small.capacity:
            small.capacity *= 2
            small.state = grown(small.state, small.fresh(count))
        if policy.tables and 2 * max(small.pulls) >= reach:
            reach *= 2
            small.params = policy.prepare(count, case.horizon, reach)
        if 2 * made == small.capacity // 2:
            small.check()
        _agree(arm, small, "with less space at first the policy")


def _kept(kind: Any, player: Any, trusted: bool, form: str) -> Any:
    """The player saved and loaded, or copied."""
    if form == "copied":
        return copy.copy(player)
    load, data = (
        (kind.from_json, player.to_json())
        if form == "saved as JSON and loaded"
        else (kind.from_bytes, player.to_bytes())
    )
    try:
        return load(data, trusted=trusted)
    except ValueError as error:
        if "policy must be given" not in str(error):
            raise
        return load(data, trusted=trusted, policy=player.policy)  # which holds a function


_Decide = Callable[[python_random.Random], Callable[[Any], Any]]
_FORMS = ("saved as JSON and loaded", "saved as bytes and loaded", "copied")


def _go_on(case: _Case, kind: Any, player: Any, decide: _Decide) -> None:
    """Play, and then each form of saving beside the player itself; both must decide the same.

    `decide` takes a random generator, and returns a decision of a player to be made now.
    """
    mail, rng = _Mail(case.rng), case.rng
    trusted, each = bool(silent(player.core.state)), case.rounds // (1 + len(_FORMS))
    for form in ("", *_FORMS):
        players = [player, *([_kept(kind, player, trusted, form)] if form else [])]
        if players[-1].policy != case.policy:
            raise _BrokenError(
                f"{form}, the policy is {players[-1].policy!r}, and no longer equal", "saving"
            )
        for n in range(1, each + 1):
            now = decide(rng)
            decision, *others = [now(one) for one in players]
            if others and others[0] != decision:
                raise _BrokenError(
                    f"a player that was {form} decides otherwise at decision {n} after that: arm "
                    f"{others[0].arm}, not {decision.arm}"
                )
            mail.add(decision)
            for late in mail.due():
                for one in players:
                    one.update(late, case.reward(late.arm, late.pull))
        player = players[-1]


@_promise("saving")
def _saving(case: _Case) -> None:
    """A player that is saved and loaded, or copied, decides on as if nothing had happened, though
    decisions wait for their rewards."""
    _go_on(case, Player, case.player(), lambda rng: lambda player: player.select())


# -------------------------------------------------------------------------------------------- arms


@_promise("open arms")
def _open_arms(case: _Case) -> None:
    """`choose` returns open arms only, while arms close, open and are added, and decisions are
    restricted to some of them."""
    _needs("set_open", case)
    game, mail, rng = _Game(case), _Mail(case.rng), case.rng
    for t in range(case.rounds):
        if t == 1 and case.arms > 1:
            game.set_open(set(range(case.arms - 1)))  # the last one before it was ever pulled
        elif t > 1 and rng.random() < 0.25:
            arm = rng.randrange(case.arms)
            game.set_open((game.open ^ {arm}) or {arm})
        among = set(rng.sample(sorted(game.open), rng.randint(1, len(game.open))))
        arm = game.decide(among if rng.random() < 0.2 else None)
        mail.add((arm, game.pull(arm)))
        for late in mail.due():
            game.learn(*late)
        if t % 10 == 0:
            game.check(mail.waiting)


@_promise("closed arms")
def _closed_arms(case: _Case) -> None:
    """A closed arm stays closed and whole when its late rewards come, and pulls that somebody else
    chose; when it opens it is chosen again."""
    _needs("set_open", case)
    game, rng = _Game(case), case.rng
    some = {0, case.arms - 1}
    for t in range(case.rounds // 2):
        if t in (5, 30):
            game.set_open(set())
        if t in (20, 50):
            game.set_open(some)
        arm = game.decide() if game.open else rng.randrange(case.arms)
        pull = game.pull(arm)
        _check_closed(game, f"pulled for arm {arm}")
        game.learn(arm, pull)
        _check_closed(game, f"update for arm {arm}")
        game.check()
    for arm in range(case.arms):
        game.set_open({arm})
        if game.decide() != arm:  # `valid` refuses others
            raise _BrokenError(f"arm {arm} was opened again and is not chosen")


def _check_closed(game: _Game, what: str) -> None:
    """Only `set_open` opens and closes arms."""
    for leaf in leaves(game.state):
        if leaf.path.endswith("opening.flags"):
            found = set(np.flatnonzero(leaf.value).tolist())
            if found != game.open:
                raise _BrokenError(
                    f"{what} must leave open arms alone: {sorted(game.open)} were open, then "
                    f"{sorted(found)}"
                )


@_promise("restriction")
def _restriction(case: _Case) -> None:
    """A decision restricted to all open arms is like one that is not, and a restricted decision
    that is not followed by its pull leaves no trace."""
    _needs("set_open", case)
    free, restricted = _Game(case), _Game(case)
    for t, arm in enumerate(_together([free, restricted], closing=True)):
        unused = restricted.draw.copy()
        restricted.decide(among={sorted(restricted.open)[t % len(restricted.open)]})
        restricted.draw[:] = unused
        other = restricted.decide(among=restricted.open)
        if other != arm or not np.array_equal(free.draw, restricted.draw):
            raise _BrokenError(
                f"restricted to all open arms it decides otherwise at decision {free.decision}: "
                f"arm {other}, not {arm}"
            )


@_promise("all open")
def _all_open(case: _Case) -> None:
    """Where arms can close but do not, decisions are those of a simulation in which none can."""
    _needs("set_open", case)
    closing, never = _Game(case), _Game(case, closes=False)
    for arm in _together([closing, never]):
        _agree(arm, never, "a policy whose arms cannot close", closing.draw)


@_promise("more arms")
def _more_arms(case: _Case) -> None:
    """`init` for more arms gives the old ones the same contents, in front; an added arm is open,
    and the rest of the state stays whole."""
    _needs("set_open", case)
    game, mail = _Game(case), _Mail(case.rng)
    _check_more(game)
    for t in range(case.rounds // 2):
        if t == case.rounds // 8:
            game.add()
            game.set_open(game.open - {0})
        if t == case.rounds // 4:
            game.set_open(game.open | {0})
        arm = game.decide()
        mail.add((arm, game.pull(arm)))
        for late in mail.due():
            game.learn(*late)
        game.check(mail.waiting)


def _check_more(game: _Game) -> None:
    """Compare the fresh states for K and K + 1 arms."""
    if game.case.policy.verbs.set_truth is not None:
        raise _SkippedError("the policy plays by the true bandit, and knows no further arms")
    larger = game.fresh(game.case.arms + 1)
    for one, other in zip(leaves(game.state), leaves(larger), strict=True):
        if one.value.shape == other.value.shape or any(hasattr(x, "grown") for x in one.around):
            continue  # kept as it is, or moved by the part itself
        front = other.value[tuple(slice(0, extent) for extent in one.value.shape)]
        if one.value.shape != front.shape or not (
            one.uncleared or np.array_equal(one.value, front, equal_nan=True)
        ):
            raise _BrokenError(
                f"init for more arms must give the old ones the same contents in front, but "
                f"{one.path} of the state differs for {game.case.arms} and {game.case.arms + 1}",
                "more arms",
            )


@_promise("unused arm")
def _unused_arm(case: _Case) -> None:
    """An arm that is added and closed before its first pull changes no decision."""
    _needs("set_open", case)
    before, after = _Game(case), _Game(case)
    _check_more(after)
    for t, arm in enumerate(_together([before, after], closing=True, rounds=case.rounds // 2)):
        if t % 9 == 2:
            now = after.open
            after.add()
            after.set_open(now)
        _agree(arm, after, "with further arms, closed and never pulled, the policy", before.draw)


# -------------------------------------------------------------------------------- optional verbs


@_promise("score")
def _score(case: _Case) -> None:
    """`score` changes nothing, is no NaN, leaves out the round, and is what the policy caches for
    an arm's next pull, in an audience for that of the present key."""
    _needs("score", case)
    game, refreshed = _Game(case), _Game(case)
    for t, arm in enumerate(_together([game, refreshed])):
        for each in range(case.arms):
            verbs.refresh_score(refreshed.params, refreshed.state, each)
        _agree(arm, refreshed, "with the scores of all arms refreshed the policy")
        if t % 7 == 0:
            _check_scores(game)
    if case.policy.counts_by_key:
        _check_scores_by_key(case)


def _check_scores(game: _Game) -> None:
    """The scores before a decision, in a copy of the state."""
    params, state = game.params, copy.deepcopy(game.state)
    if game.late >= 0:
        verbs.refresh_score(params, state, game.late)
    before = copy.deepcopy(state)
    for arm, pulls in enumerate(game.pulls):
        for pull in (1, pulls + 1, pulls + 2, pulls + 40):
            if math.isnan(verbs.score(params, state, arm, pull)):
                raise _BrokenError(f"score of pull {pull} of arm {arm} must be a number, got NaN")
        _check_kept(params, state, arm, pulls + 1)
    path = _differs(before, state)
    if path:
        raise _BrokenError(f"score must change nothing, but changed {path} of the state")


def _check_kept(params: Any, state: Any, arm: int, pull: int, whose: str = "") -> None:
    """The score that the policy keeps, and that of a policy it holds, is what `score` gives."""
    for inner_params, inner in _scored(params, state):
        if _kept_of(inner) is None or not _is_kept(inner_params, inner, arm):
            continue
        if not hasattr(inner, "ranking"):  # it may have no use for scores yet
            inner = copy.deepcopy(inner)
            verbs.refresh_score(inner_params, inner, arm)
        kept = float(_kept_of(inner)[arm])
        now = float(verbs.score(inner_params, inner, arm, pull))
        if kept != now:
            raise _BrokenError(
                f"score gives {now} for pull {pull} of arm {arm}, the next one{whose}, but the "
                f"policy keeps {kept}"
            )


def _kept_of(state: Any) -> Any:
    """The array in which a policy keeps scores, by the name of its field; None without one."""
    return state.ranking.value if hasattr(state, "ranking") else getattr(state, "value", None)


def _is_kept(params: Any, state: Any, arm: int) -> bool:
    """Whether the score of an arm is kept there: a policy that draws may have no use for it."""
    if KINDS[type(params)].refresh_score is None:
        return True
    probe = copy.deepcopy(state)
    _kept_of(probe)[arm] = math.nan
    verbs.refresh_score(params, probe, arm)
    return not math.isnan(_kept_of(probe)[arm])


def _scored(params: Any, state: Any) -> Iterator[tuple[Any, Any]]:
    """Params and state of the policy, and of those it holds, that have the verb `score`."""
    if type(params) in KINDS and KINDS[type(params)].score is not None:
        yield params, state
    for name in getattr(params, "_fields", ()):
        inner = getattr(params, name)
        if is_part(inner) and type(inner) in KINDS and hasattr(state, name):
            yield from _scored(inner, getattr(state, name))


def _check_scores_by_key(case: _Case) -> None:
    """The scores of the key that a decision is for."""
    game, rng, mail = _Game(case), case.rng, _Mail(case.rng)
    params, state = game.params, with_key_counts(game.state, 4, getattr(case.policy, "rest", None))
    for t in range(case.rounds // 2):
        key = rng.randrange(4)
        if game.late >= 0:
            verbs.refresh_score(params, state, game.late)
        set_key(params, state, key, t + 1)
        for arm in range(case.arms):
            _check_kept(params, state, arm, int(next_pull(state.arms, arm)), " of the present key")
        arm = game.valid(verbs.choose(params, state, game.draw), game.open)
        pull = int(pull_for_policy(state, game.pulls, arm))
        verbs.pulled(params, state, arm)
        game.pulls[arm] += 1
        game.late = arm
        mail.add((key, arm, pull))
        for whose, late, number in mail.due():
            set_key_for_reward(state, whose)
            verbs.update(params, state, late, number, case.reward(late, number))
            game.late = -1 if game.late == late else game.late


_COMPARING = ("highest", "mostly", "told")  # rules by which the highest index is chosen


@_promise("inspect")
def _inspect(case: _Case) -> None:
    """`inspect` returns an `Inspection` whose index is what `choose` compares, and the sum of
    estimate and padding; an arm that ramps up has no estimate."""
    _needs("inspect", case)
    game, mail = _Game(case), _Mail(case.rng, most=2)
    compared = exceptions = 0
    for _ in range(case.rounds):
        game.refresh()
        before = [_inspected(game, arm) for arm in range(case.arms)]
        arm = game.decide()
        own, indices = before[arm], [found.index for found in before if found.index is not None]
        if own.rule in _COMPARING and own.index is not None:
            compared += 1
            exceptions += own.index != max(indices)
            if own.rule != "mostly" and own.index != max(indices):
                raise _BrokenError(
                    f"choose took arm {arm} at decision {game.decision}, with index {own.index} by "
                    f"inspect, and not the highest, {max(indices)}"
                )
        elif own.rule in _COMPARING and own.estimate is not None:
            raise _BrokenError(f"inspect gives arm {arm} an estimate without an index")
        mail.add((arm, game.pull(arm)))
        for late in mail.due():
            game.learn(*late)
    if 2 * exceptions > compared:
        raise _BrokenError("inspect names the rule 'mostly', but most decisions follow another")


def _inspected(game: _Game, arm: int) -> Inspection:
    """The view of an arm, made from a copy of the state."""
    found = verbs.inspect(game.params, copy.deepcopy(game.state), arm)
    if not isinstance(found, Inspection):
        raise _BrokenError(f"inspect must return an Inspection, got {found!r}")
    parts = found.estimate, found.padding, found.index
    if any(part is not None and math.isnan(part) for part in parts):
        raise _BrokenError(f"inspect must give None where there is no value, got {found}")
    if found.estimate is not None and found.padding is not None and found.index is not None:
        total = found.estimate + found.padding
        if not math.isclose(found.index, total, rel_tol=1e-9, abs_tol=1e-9):
            raise _BrokenError(f"the index of inspect must be estimate and padding, got {found}")
    return found


@_promise("curve")
def _curve(case: _Case) -> None:
    """`curve` returns a `CurvePoint` with a finite estimate inside its band, or None; an arm
    without rewards has none."""
    _needs("curve", case)
    game = _Game(case)
    for t, _ in enumerate(_together([game])):
        if t and t % 20 and t < case.rounds - 1:
            continue
        for arm in range(case.arms):
            for pull in (1, 2, game.pulls[arm] + 1, game.pulls[arm] + 5):
                point = verbs.curve(game.params, copy.deepcopy(game.state), arm, pull)
                if point is not None:
                    _check_point(point, arm, pull)
                if point is not None and game.pulls[arm] == 0:
                    raise _BrokenError(f"curve must return None for arm {arm} without rewards")


def _check_point(point: Any, arm: int, pull: int) -> None:
    if not isinstance(point, CurvePoint):
        raise _BrokenError(f"curve must return a CurvePoint or None, got {point!r}")
    low = point.estimate if point.low is None else point.low
    high = point.estimate if point.high is None else point.high
    if not (math.isfinite(point.estimate) and low <= point.estimate <= high):
        raise _BrokenError(
            f"the estimate of curve must be finite and within low and high, got {point} for pull "
            f"{pull} of arm {arm}"
        )


# --------------------------------------------------------------------------------------- audiences


@_promise("one key")
def _one_key(case: _Case) -> None:
    """In an audience of one key the policy decides as without an audience; `no_audience` says why
    a policy cannot play one."""
    single, plain, mail, rng = case.audience(), case.player(), _Mail(case.rng), case.rng
    closes = case.policy.verbs.set_open is not None
    for n in range(1, case.rounds + 1):
        among = rng.sample(range(case.arms), max(1, case.arms - 1))
        allowed = among if closes and rng.random() < 0.2 else None
        decision, showing = plain.select(allowed), single.select("only", allowed)
        if showing[1:] != decision:
            raise _BrokenError(
                f"in an audience of one key it decides otherwise at decision {n}: arm "
                f"{showing.arm}, not {decision.arm}"
            )
        mail.add(decision)
        for late in mail.due():
            plain.update(late, case.reward(*late))
            single.update(("only", *late), case.reward(*late))


@_promise("many keys")
def _many_keys(case: _Case) -> None:
    """In an audience of several keys the policy plays with late rewards, and a player that is saved
    and loaded, or copied, decides on as if nothing had happened."""

    def decide(rng: python_random.Random) -> Callable[[Any], Any]:
        key = rng.randrange(6)
        return lambda player: player.select(key)

    _go_on(case, AudiencePlayer, case.audience(), decide)


# ------------------------------------------------------------------------------------- simulations


@_promise("simulation")
def _simulation(case: _Case) -> None:
    """A simulation and a player make the same decisions from the same rewards and random
    numbers."""
    if case.policy.verbs.set_truth is not None:
        raise _SkippedError("the policy plays by the true bandit, which a simulation gives it")
    scenario = _shorter(case)
    result = simulate(
        case.policy, scenario, runs=1, seed=case.seed, engine="reference", noise="common"
    )
    draws = random.fold(plan.stream_keys(case.seed, "common", case.policy.label).draw, np.uint64(0))
    player = case.policy.online(range(case.arms), horizon=scenario.horizon, compiled=False)
    player.core.draw[:2] = draws, random.step_of(draws)
    reward = _Case(case.policy, scenario, case.rounds, case.seed).reward
    for _ in range(scenario.horizon):
        decision = player.select()
        player.update(decision, reward(*decision))
    pulls, simulated = list(player.pulls.values()), result.pulls[0].tolist()
    if pulls != simulated:
        raise _BrokenError(f"a player made {pulls} pulls, a simulation {simulated}")


def _shorter(case: _Case) -> Scenario:
    """The scenario with as many rounds as are tested."""
    return dataclasses.replace(case.scenario, horizon=case.rounds)


@_promise("compiled simulation")
def _compiled_simulation(case: _Case) -> None:
    """Compiled simulations and those in plain Python agree to the bit."""
    if case.policy.verbs.set_truth is not None:
        raise _SkippedError("the policy plays by the true bandit, which a simulation gives it")
    play = functools.partial(
        simulate, case.policy, _shorter(case), runs=2, seed=case.seed, checkpoints=case.rounds
    )
    plain, fast = play(engine="reference"), play(engine="cpu")
    same = (plain.regret == fast.regret).all(axis=0)
    if not same.all():
        raise _BrokenError(
            f"compiled and plain simulations differ from decision {int(np.argmin(same)) + 1} on"
        )
    if not np.array_equal(plain.pulls, fast.pulls):
        raise _BrokenError(
            f"compiled and plain simulations made {fast.pulls.tolist()} and {plain.pulls.tolist()} "
            "pulls"
        )


@_promise("compiled player")
def _compiled_player(case: _Case) -> None:
    """A compiled player and one in plain Python decide the same, and have the same state to the
    bit, with late rewards and with arms that come and go."""
    fast, plain = case.player(compiled=True), case.player()
    mail, rng = _Mail(case.rng), case.rng
    closes = case.policy.verbs.set_open is not None
    for n in range(1, case.rounds + 1):
        if closes and case.arms > 1 and n % 25 == 0:
            for player in (fast, plain):
                player.restore(0) if player.retired else player.retire(0)
        some = rng.sample(range(case.arms), max(1, case.arms - 1))
        among = some if closes and rng.random() < 0.2 and set(some) - {0} else None
        decision, other = plain.select(among), fast.select(among)
        if decision != other:
            raise _BrokenError(
                f"compiled and plain players decide differently at decision {n}: arms {other.arm} "
                f"and {decision.arm}"
            )
        mail.add(decision)
        for late in mail.due():
            for player in (fast, plain):
                player.update(late, case.reward(*late))
    path = _differs(plain.core.state, fast.core.state)
    if path:
        raise _BrokenError(f"compiled and plain players have another {path} in their states")
