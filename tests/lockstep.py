"""Drives a compiled and a plain player of every policy in lockstep, by the million.

    python tests/lockstep.py --steps 10000000 --seed 0        (make lockstep)

A step is a decision, a reward (prompt, late, out of order), a reward that is lost, a decision that
is dropped, something wrong (a duplicate reward, an unknown arm, a pull that was not made, a reward
that is no number), or saving, loading, copying or pickling both players and going on with what came
back. Both must decide the same and refuse the same in the same words, and now and then all that
would be saved of them must be equal to the bit.

All is a function of (policy, seed, episode), so a failure is played again by the command it names.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import pickle
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cases import examples, player_of
from rotting import Decision, Player
from rotting.policies import Policy

EPISODE = 2_000  # steps: late rewards and several growths, and then another beginning
LONG = 7  # every so many episodes, one that is ten times as long
COMPARED = 250  # the whole states, after so many steps


class Temper(NamedTuple):
    """How an episode goes: weights of what may happen, and how late rewards are."""

    select: float
    reward: float
    lost: float
    dropped: float
    wrong: float
    kept: float  # saved, loaded, copied, pickled
    newest: float  # chance that a reward is the latest decision's
    offset: float
    scale: float


TEMPERS = (
    Temper(48, 47, 0.5, 0.5, 3, 0.3, newest=1.0, offset=0.3, scale=0.5),  # prompt
    Temper(46, 42, 2, 3, 5, 0.3, newest=0.3, offset=0.0, scale=1.0),  # late and out of order
    Temper(70, 15, 5, 5, 5, 0.3, newest=0.0, offset=-5.0, scale=0.01),  # most never come
    Temper(40, 30, 1, 1, 25, 1.0, newest=0.5, offset=50.0, scale=20.0),  # much is wrong
)


class DivergedError(AssertionError):
    """The compiled and the plain player did not do the same."""


WAYS: dict[str, Callable[[Player], Player]] = {
    "JSON": lambda player: Player.from_json(player.to_json()),
    "bytes": lambda player: Player.from_bytes(player.to_bytes()),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda player: pickle.loads(pickle.dumps(player)),
}


class Lockstep:
    """One episode of one policy."""

    def __init__(self, policy: Policy, seed: int, episode: int) -> None:
        self.rng = random.Random(f"{policy.label} {seed} {episode}")
        start = self.rng.getrandbits(64)
        self.players = [player_of(policy, compiled, start) for compiled in (True, False)]
        self.waiting: list[Decision] = []
        self.over: list[Decision] = []  # rewarded or dropped
        self.temper = TEMPERS[episode % len(TEMPERS)]
        self.trend = self.rng.choice((0.0, 0.0, -0.01, 0.01))  # of rewards, by pull
        self.what = ""
        self.happened: Counter[str] = Counter()

    def run(self, steps: int) -> None:
        """So many steps, and a comparison of everything at the end."""
        verbs = (self.select, self.reward, self.lose, self.drop, self.err, self.keep)
        chosen = self.rng.choices(verbs, weights=self.temper[: len(verbs)], k=steps)
        for step, verb in enumerate(chosen, 1):
            try:
                verb()
                if step % COMPARED == 0 or step == steps:
                    self.compare()
            except Exception as error:
                raise DivergedError(f"at step {step} ({self.what}): {error}") from error

    def both(self, what: str, do: Callable[[Player], Any]) -> tuple[str, Any]:
        """Do it to both; what they return, or how they refuse, must be the same."""
        self.what = what
        fast, slow = (_outcome(do, player) for player in self.players)
        self.happened[f"{what.partition('(')[0]} {fast[0]}"] += 1
        if fast != slow:
            raise DivergedError(f"compiled {fast}, plain {slow}")
        return fast

    def fine(self, what: str, do: Callable[[Player], Any]) -> Any:
        """The same, and neither refuses."""
        how, value = self.both(what, do)
        if how != "returned":
            raise DivergedError(f"refused: {value}")
        return value

    def refused(self, what: str, do: Callable[[Player], Any]) -> None:
        """The same, and both refuse, by a ValueError."""
        how, value = self.both(what, do)
        if how != "ValueError":
            raise DivergedError(f"not refused, but {how}: {value!r}")

    def select(self) -> None:
        self.waiting.append(self.fine("select", Player.select))

    def a_decision(self) -> Decision | None:
        """One that waits, taken from the list."""
        if not self.waiting:
            return None
        newest = self.rng.random() < self.temper.newest
        return self.waiting.pop(-1 if newest else self.rng.randrange(len(self.waiting)))

    def reward(self) -> None:
        decision = self.a_decision()
        if decision is None:
            return self.select()
        mean = self.temper.offset + self.trend * decision.pull
        value: Any = self.rng.gauss(mean, self.temper.scale)
        kind = self.rng.random()
        if kind < 0.1:
            value = self.rng.choice((0, 1, 0.0, -0.0, np.float32(value), np.int64(2)))
        said: Any = decision if kind < 0.9 else (decision.arm, np.int64(decision.pull))
        self.over.append(decision)
        self.fine(f"update({said}, {value!r})", lambda player: player.update(said, value))
        return None

    def lose(self) -> None:
        """A reward that never comes; nobody is told."""
        if self.a_decision() is not None:
            self.happened["lost"] += 1

    def drop(self) -> None:
        decision = self.a_decision()
        if decision is not None:
            self.over.append(decision)
            self.fine(f"drop({decision})", lambda player: player.drop(decision))

    def err(self) -> None:
        """Something wrong; it must be refused, and change nothing (a comparison would see it)."""
        rng, pulls = self.rng, self.players[0].pulls
        arm = rng.choice(list(pulls))
        wrong: list[Any] = [("nobody", 1), ([], 1), arm, None, 7, (arm, 1, 2), ()]
        wrong += [(arm, pulls[arm] + rng.randint(1, 3)), (arm, 2**70), (arm, -(2**70))]
        odd: tuple[Any, ...] = (0, -1, 0.5, "1", None, [], float("nan"), float("inf"))
        wrong += [(arm, pull) for pull in odd]
        wrong += self.over[-1:] + rng.choices(self.over, k=9) if self.over else []
        decision = rng.choice(wrong)
        reward: Any = rng.gauss(0.0, 1.0)
        if rng.random() < 0.3:
            self.refused(f"drop({decision!r})", lambda player: player.drop(decision))
            return
        if self.waiting and rng.random() < 0.4:  # a decision that exists, and a reward that cannot
            decision = self.waiting[-1]
            reward = rng.choice(
                (float("nan"), -float("inf"), None, True, "0.5", 10**400, [1.0], 1j)
            )
        text = f"update({decision!r}, {str(reward)[:20]})"
        self.refused(text, lambda player: player.update(decision, reward))

    def keep(self) -> None:
        """Go on with what was saved and loaded, or copied."""
        for place in (0, 1):  # by different ways: all of them lead to the same player
            way = self.rng.choice(list(WAYS))
            self.what = f"{('compiled', 'plain')[place]} by {way}"
            self.happened[self.what] += 1
            again = WAYS[way](self.players[place])
            _compare(again, self.players[place])
            if again.compiled != self.players[place].compiled:
                raise DivergedError("came back otherwise compiled")
            self.players[place] = again

    def compare(self) -> None:
        """All that would be saved is equal, and what is outstanding is what was not settled."""
        self.what = "comparing"
        _compare(*self.players)
        for player in self.players:
            if not set(self.waiting) <= set(player.outstanding):
                raise DivergedError("a decision is no longer outstanding, and nobody settled it")
            if set(self.over) & set(player.outstanding):
                raise DivergedError("a decision is outstanding that was settled")


def _outcome(do: Callable[[Player], Any], player: Player) -> tuple[str, Any]:
    try:
        return "returned", do(player)
    except Exception as error:
        return type(error).__name__, str(error)


def _compare(one: Player, other: Player) -> None:
    a, b = one._saved(), other._saved()
    for name in a._fields:
        if name in ("state", "draw", "turn", "compiled"):
            continue
        if getattr(a, name) != getattr(b, name):
            raise DivergedError(f"{name}: {getattr(a, name)} and {getattr(b, name)}")
    arrays = {"draw": (a.draw, b.draw), "turn": (a.turn, b.turn)}
    arrays |= {path: (a.state[path], b.state[path]) for path in a.state}
    for path, (x, y) in arrays.items():
        if x.dtype != y.dtype or x.shape != y.shape or x.tobytes() != y.tobytes():
            raise DivergedError(f"{path}: {x} and {y}")


def episode(policy: Policy, seed: int, number: int, steps: int) -> None:
    """One episode; a failure says how to play it again."""
    try:
        Lockstep(policy, seed, number).run(steps)
    except DivergedError as error:
        place = next(k for k, known in enumerate(examples()) if known == policy)
        again = f"--policy {place} --seed {seed} --episode {number} --steps {steps}"
        raise DivergedError(
            f"{policy.label}, seed {seed}, episode {number}, {error}\n"
            f"again: python tests/lockstep.py {again}"
        ) from error


def drive(policies: list[Policy], steps: int, seed: int, report: Callable[[int], None]) -> None:
    """So many steps in all, in episodes, every policy in turn."""
    done = 0
    for number in itertools.count():
        for policy in policies:
            usual = EPISODE * 10 if number % LONG == LONG - 1 else EPISODE
            size = min(usual, -(-steps // len(policies)), steps - done)
            if size <= 0:
                return
            episode(policy, seed, number, size)
            done += size
            report(done)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compiled and plain players in lockstep.")
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--policy", type=int, help="only this one, by its place among the examples")
    parser.add_argument("--episode", type=int, help="only this one, as a failure names it")
    asked = parser.parse_args()
    known = examples()
    if asked.policy is not None and not 0 <= asked.policy < len(known):
        parser.error(f"--policy must be from 0 to {len(known) - 1}, got {asked.policy}")
    if asked.steps < 1:
        parser.error(f"--steps must be at least 1, got {asked.steps}")
    played = known if asked.policy is None else [known[asked.policy]]
    begin = told = time.monotonic()

    def report(done: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told > 10 or done == asked.steps:
            told = now
            print(f"{done:,} of {asked.steps:,} steps, {now - begin:.0f} s", flush=True)

    try:
        if asked.episode is None:
            drive(played, asked.steps, asked.seed, report)
        else:
            for policy in played:
                episode(policy, asked.seed, asked.episode, asked.steps)
    except DivergedError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(played)} policies: every decision, refusal and state the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
