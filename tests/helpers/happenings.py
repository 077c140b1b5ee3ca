"""Events in a player's life, applied to a compiled and a plain player and to their naive twin.

The two must return the same, or refuse in the same words; the twin (`twins.ledger`) must agree on
what is refused, counted and waited for. `tests/lockstep.py` lets things happen at random.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from helpers.cases import player_of
from rotting import Player
from rotting._online import save as saving
from rotting.policies import Oracle, Policy
from twins.ledger import Ledger, RefusedError

MANY = 7  # arms, which are then enough


class DivergedError(AssertionError):
    """The compiled and the plain player, or they and the twin, did not do the same."""


class Temper(NamedTuple):
    """How an episode goes: weights of what may happen, and how late rewards are."""

    select: float
    reward: float
    lost: float
    dropped: float
    wrong: float
    kept: float  # saved, loaded, copied, pickled
    batch: float  # decisions, or rewards, at once
    arms: float  # added, retired, restored
    history: float  # learnt
    expired: float
    newest: float  # chance that a reward is the latest decision's
    offset: float
    scale: float


TEMPERS = (
    Temper(48, 47, 0.5, 0.5, 3, 0.3, 0, 0, 0, 0, newest=1.0, offset=0.3, scale=0.5),  # prompt
    Temper(46, 42, 2, 3, 5, 0.3, 2, 1, 1, 1, newest=0.3, offset=0.0, scale=1.0),  # late, unordered
    Temper(70, 15, 5, 5, 5, 0.3, 1, 1, 0.5, 1, newest=0.0, offset=-5.0, scale=0.01),  # mostly lost
    Temper(40, 30, 1, 1, 25, 1.0, 3, 3, 1, 1, newest=0.5, offset=50.0, scale=20.0),  # much is wrong
)
WAYS: dict[str, Callable[[Player], Player]] = {
    "JSON": lambda player: Player.from_json(player.to_json()),
    "bytes": lambda player: Player.from_bytes(player.to_bytes()),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda player: pickle.loads(pickle.dumps(player)),
}


def settings_of(rng: random.Random) -> dict[str, Any]:
    """Options of a player at construction; often none."""
    found: dict[str, Any] = {}
    kind = rng.random()
    if kind < 0.3:
        found["reward_window"] = rng.choice((1, 5, 40))
    if 0.2 < kind < 0.5:
        found["reward_time"] = rng.choice((0.5, 10.0))
    if found and rng.random() < 0.6:
        found["default_reward"] = rng.choice((0.0, 0.25))
    if rng.random() < 0.25:
        found["explore"] = rng.choice((0.05, 0.9))
    return found


class Happenings:
    """Two players and their twin, and what may happen to them."""

    def __init__(self, policy: Policy, name: str, temper: Temper) -> None:
        self.rng, self.temper = random.Random(name), temper
        start, settings = self.rng.getrandbits(64), settings_of(self.rng)
        self.players = [player_of(policy, how, start, **settings) for how in (True, False)]
        window, lifetime = settings.get("reward_window"), settings.get("reward_time")
        self.twin = Ledger("abc", window, lifetime, settings.get("default_reward"))
        self.explore, self.timed = settings.get("explore", 0.0), lifetime is not None
        self.may_add = not isinstance(policy, Oracle)  # which has its arms, and no others
        self.closable = policy.verbs.set_open is not None
        self.lost: set[Any] = set()
        self.trend = self.rng.choice((0.0, 0.0, -0.01, 0.01))  # of rewards, by pull
        self.what = ""
        self.happened: Counter[str] = Counter()

    def both(self, what: str, do: Callable[[Player], Any]) -> tuple[str, Any]:
        """Do it to both; what they return, or how they refuse, must be the same."""
        self.what = what
        fast, slow = (_outcome(do, player) for player in self.players)
        self.happened[f"{what.partition('(')[0]} {fast[0]}"] += 1
        if fast != slow:
            raise DivergedError(f"compiled {fast}, plain {slow}")
        return fast

    def three(self, what: str, do: Callable[[Player], Any], twin: Callable[[], Any]) -> Any:
        """Do it to all three: the twin must refuse what the players refuse, and return the same."""
        how, value = self.both(what, do)
        try:
            wanted = twin()
        except RefusedError as error:
            if how != "ValueError":
                raise DivergedError(f"not refused, but {how}: {value!r} ({error})") from None
            return None
        if how != "returned" or value != wanted:
            raise DivergedError(f"{how}: {value}, and the twin {wanted}")
        return value

    def select(self) -> None:
        """One decision, often among some arms; sometimes there is none to choose from."""
        among, at = self.some_arms(), self.a_time()
        self.decide(f"select({among}, {at})", 1, among, at)

    def decide(self, what: str, count: int, among: Any, at: Any) -> None:
        """Decisions, in a batch if more than one."""

        def do(player: Player) -> list[Any]:
            if count == 1:
                return [player.select(among, at)]
            return list(player.select_many(count, among=among, at=at))

        how, value = self.both(what, do)
        try:
            allowed = self.twin.about_to_select(among, at)
        except RefusedError as error:
            if how != "ValueError":
                raise DivergedError(f"not refused, but {how}: {value!r} ({error})") from None
            return
        if how != "returned":
            raise DivergedError(f"refused: {value}")
        for decision in value:
            self.twin.give_up()
            if decision.arm not in allowed or decision[:2] != self.twin.selected(decision.arm):
                raise DivergedError(f"{decision}, but {allowed} are open")
            if self.explore:
                least = self.explore / len(allowed)
                chances = {least + (1 - self.explore)} | ({least} if decision.control else set())
                if not any(abs(decision.propensity - chance) < 1e-12 for chance in chances):
                    raise DivergedError(f"{decision}: the propensity must be one of {chances}")

    def some_arms(self) -> list[Any] | None:
        if not self.closable or self.rng.random() < 0.8:
            return None
        return self.rng.choices(self.twin.arms, k=self.rng.randint(1, 5))

    def a_time(self) -> float | None:
        """The time now, if the player needs one; sometimes an invalid one."""
        if not self.timed or self.rng.random() < 0.01:
            return None
        now = self.twin.now or 0.0
        return now + self.rng.choice((0.0, 0.1, 0.3, self.rng.expovariate(1.0), -0.1))

    def batch(self) -> None:
        """Many decisions, or the rewards of some; now and then one of them cannot be."""
        rng = self.rng
        if rng.random() < 0.5:
            among, at = self.some_arms(), self.a_time()
            self.decide(f"select_many({among}, {at})", rng.randint(2, 60), among, at)
            return
        pairs = rng.sample(self.candidates(), k=min(len(self.candidates()), rng.randint(0, 30)))
        if rng.random() < 0.2:
            pairs += rng.choices([*self.twin.settled[-9:], *pairs, ("a", 10**9)], k=1)
            rng.shuffle(pairs)
        rewards = [self.a_reward(pull) for _, pull in pairs]
        if rng.random() < 0.1:
            rewards.append(0.0)
        self.three(
            f"update_many({pairs}, {rewards})",
            lambda player: player.update_many(pairs, rewards),
            lambda: self.twin.update_many(pairs, rewards),
        )

    def arms(self) -> None:
        """Arms come and go, or cannot: known labels, retired ones, too many."""
        if not self.closable:
            return
        rng, twin = self.rng, self.twin
        verb = rng.choice(("add", "retire", "restore", "restore"))
        if verb == "add" and (len(twin.arms) >= MANY or not self.may_add):
            verb = "retire"
        label: Any = rng.choice([*twin.arms, ("new", len(twin.arms))])
        if verb == "add" and rng.random() < 0.7:
            label = "new", len(twin.arms)
        self.three(
            f"{verb}({label})",
            lambda player: getattr(player, verb)(label),
            lambda: getattr(twin, verb)(label),
        )

    def history(self) -> None:
        """Pulls made elsewhere, in order or by their numbers, with gaps; some of them wrong."""
        rng, twin = self.rng, self.twin
        arms = rng.choices(twin.arms, k=rng.randint(0, 12))
        rewards = [self.a_reward(1) for _ in arms]
        pulls: Any = None
        if rng.random() < 0.5:
            highest = {arm: twin.pulls(arm) for arm in arms}
            pulls = []
            for arm in arms:
                highest[arm] += rng.choice((1, 1, 1, 2, 5))
                pulls.append(highest[arm])
            order = rng.sample(range(len(arms)), len(arms))
            arms, pulls = [arms[k] for k in order], [pulls[k] for k in order]
            if pulls and rng.random() < 0.1:
                pulls[0] = rng.choice((pulls[-1], 1))
        if rng.random() < 0.05:
            arms.append("nobody")
            rewards.append(0.0)
            pulls = None
        chances = [0.5] * len(arms)  # which some policies need
        self.three(
            f"learn({arms}, {rewards}, {pulls})",
            lambda player: player.learn(arms, rewards, pulls=pulls, propensities=chances),
            lambda: twin.learn(arms, rewards, pulls),
        )

    def expire(self) -> None:
        at = self.a_time()
        self.three(f"expire({at})", lambda player: player.expire(at), lambda: self.twin.expire(at))

    def candidates(self) -> list[Any]:
        """The decisions that wait and whose rewards are not lost."""
        return [pair for pair in self.twin.waiting if pair not in self.lost]

    def a_decision(self) -> Any:
        """One of those, or None."""
        found = self.candidates()
        newest = self.rng.random() < self.temper.newest
        return (found[-1] if newest else self.rng.choice(found)) if found else None

    def a_reward(self, pull: int) -> Any:
        mean = self.temper.offset + self.trend * pull
        value = self.rng.gauss(mean, self.temper.scale)
        odd = (0, 1, 0.0, -0.0, np.float32(value), np.int64(2), True, np.bool_(False))
        return self.rng.choice(odd) if self.rng.random() < 0.1 else value


def _outcome(do: Callable[[Player], Any], player: Player) -> tuple[str, Any]:
    try:
        return "returned", do(player)
    except Exception as error:
        return type(error).__name__, str(error)


def check_same_players(one: Player, other: Player) -> None:
    """All that would be saved of the two is equal to the bit, except whether they are compiled."""
    a, b = (saving.saved_of(player.core.snapshot()) for player in (one, other))
    arrays = {"draw": (a.draw, b.draw)}
    for name in a._fields:
        if name in ("state", "ledger"):
            x, y = getattr(a, name), getattr(b, name)
            arrays |= {f"{name} {path}": (x[path], y[path]) for path in x}
        elif name not in ("draw", "compiled") and getattr(a, name) != getattr(b, name):
            raise DivergedError(f"{name}: {getattr(a, name)} and {getattr(b, name)}")
    for path, (x, y) in arrays.items():
        if x.dtype != y.dtype or x.shape != y.shape or x.tobytes() != y.tobytes():
            raise DivergedError(f"{path}: {x} and {y}")
