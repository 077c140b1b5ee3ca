"""Drives a compiled and a plain player of every policy, and a naive twin, in lockstep.

    python tests/lockstep.py --steps 10000000 --seed 0        (make lockstep)

A step is a decision, a reward (prompt, late, out of order), a reward that is lost, a decision that
is dropped, a batch of either, history, arms that come and go, giving up what has waited too long,
something wrong (a duplicate reward, an unknown arm, a pull that was not made, a reward
that is no number), or saving, loading, copying or pickling both players and going on with what came
back. Both must decide the same and refuse the same in the same words, and now and then all that
would be saved of them must be equal to the bit. The twin (tests/twins/ledger.py) says what is to be
counted, awaited and refused.

All is a function of (policy, seed, episode), so a failure is played again by the command it names.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from helpers.cases import examples
from helpers.happenings import TEMPERS, WAYS, DivergedError, Happenings, check_same_players
from rotting import Player
from rotting.policies import Policy

EPISODE = 2_000  # steps: late rewards and several growths, and then another beginning
LONG = 7  # one episode in this many is ten times as long
COMPARED = 250  # whole states are compared every so often, in steps


class Lockstep(Happenings):
    """One episode of one policy."""

    def __init__(self, policy: Policy, seed: int, episode: int, single: bool = False) -> None:
        """`single`: one decision or reward at a time; compiling the rest takes as long again."""
        temper = TEMPERS[episode % len(TEMPERS)]
        self.single = single
        if single:
            temper = temper._replace(batch=0.0, history=0.0, expired=0.0)
        super().__init__(policy, f"{policy.label} {seed} {episode}", temper)

    def run(self, steps: int) -> None:
        """Play the steps, and compare everything at the end."""
        verbs = (
            *(self.select, self.reward, self.lose, self.drop, self.err, self.keep),
            *(self.batch, self.arms, self.history, self.expire),
        )
        chosen = self.rng.choices(verbs, weights=self.temper[: len(verbs)], k=steps)
        for step, verb in enumerate(chosen, 1):
            try:
                verb()
                if step % COMPARED == 0 or step == steps:
                    self.compare()
            except Exception as error:
                raise DivergedError(f"at step {step} ({self.what}): {error}") from error

    def refused(self, what: str, do: Callable[[Player], Any]) -> None:
        """Both refuse, by a ValueError, whatever the twin would say."""
        how, value = self.both(what, do)
        if how != "ValueError":
            raise DivergedError(f"not refused, but {how}: {value!r}")

    def reward(self) -> None:
        pair = self.a_decision()
        if pair is None:
            self.select()
            return
        arm, pull = pair
        value = self.a_reward(pull)
        said: Any = pair if self.rng.random() < 0.9 else (arm, np.int64(pull))
        self.three(
            f"update({said}, {value!r})",
            lambda player: player.update(said, value),
            lambda: self.twin.update(pair, value),
        )

    def lose(self) -> None:
        """A reward that never comes; no call is made."""
        pair = self.a_decision()
        if pair is not None:
            self.lost.add(pair)
            self.happened["lost"] += 1

    def drop(self) -> None:
        pair = self.a_decision()
        if pair is not None:
            self.three(
                f"drop({pair})", lambda player: player.drop(pair), lambda: self.twin.drop(pair)
            )

    def err(self) -> None:
        """Something wrong; it must be refused, and change nothing (a comparison would see it)."""
        rng, pulls = self.rng, self.players[0].pulls
        arm = rng.choice(list(pulls))
        wrong: list[Any] = [("nobody", 1), ([], 1), arm, None, 7, (arm, 1, 2), ()]
        wrong += [(arm, pulls[arm] + rng.randint(1, 3)), (arm, 2**70), (arm, -(2**70))]
        odd: tuple[Any, ...] = (0, -1, 0.5, "1", None, [], float("nan"), float("inf"))
        odd += (np.timedelta64(1, "s"), np.timedelta64(1, "ns"), True)
        wrong += [(arm, pull) for pull in odd]
        over = self.twin.settled
        wrong += over[-1:] + rng.choices(over, k=9) if over else []
        decision = rng.choice(wrong)
        reward: Any = rng.gauss(0.0, 1.0)
        if rng.random() < 0.3:
            self.refused(f"drop({decision!r})", lambda player: player.drop(decision))
            return
        waiting = self.candidates()
        if waiting and rng.random() < 0.4:  # a decision that exists, and a reward that cannot
            decision = waiting[-1]
            reward = rng.choice(
                (float("nan"), -float("inf"), None, "0.5", 10**400, [1.0], 1j, np.zeros(1))
            )
        text = f"update({decision!r}, {str(reward)[:20]})"
        if rng.random() < 0.2 and not self.single:
            self.refused(
                f"update_many({text})", lambda player: player.update_many([decision], [reward])
            )
            return
        self.refused(text, lambda player: player.update(decision, reward))

    def keep(self) -> None:
        """Go on with what was saved and loaded, or copied."""
        for place in (0, 1):  # by different ways: all of them lead to the same player
            way = self.rng.choice(list(WAYS))
            self.what = f"{('compiled', 'plain')[place]} by {way}"
            self.happened[self.what] += 1
            again = WAYS[way](self.players[place])
            check_same_players(again, self.players[place])
            if again.compiled != self.players[place].compiled:
                raise DivergedError("came back otherwise compiled")
            self.players[place] = again

    def compare(self) -> None:
        """All that would be saved is equal, and what is counted is what the twin says."""
        self.what = "comparing"
        check_same_players(*self.players)
        twin, ledger = self.twin, self.players[1].core.ledger
        for player in self.players:
            if {tuple(pair) for pair in player.outstanding} != set(twin.waiting):
                raise DivergedError("not the same decisions are outstanding as the twin says")
            if player.pulls != {arm: twin.pulls(arm) for arm in twin.arms}:
                raise DivergedError(f"{player.pulls}, but the twin counts otherwise")
            if set(player.retired) != set(twin.retired):
                raise DivergedError(f"{player.retired} are retired, in the twin {twin.retired}")
        came: dict[Any, list[float]] = {arm: [] for arm in twin.arms}
        for arm, _, reward in twin.rewards:
            came[arm].append(reward)
        if ledger.rewarded.tolist() != [len(came[arm]) for arm in twin.arms]:
            raise DivergedError(f"{ledger.rewarded} rewards, but not in the twin")
        if ledger.total.tolist() != [_in_turn(came[arm]) for arm in twin.arms]:
            raise DivergedError(f"rewards of {ledger.total}, but not in the twin")


def _in_turn(rewards: list[float]) -> float:
    """Their sum as a player rounds it."""
    total = 0.0
    for reward in rewards:
        total += reward
    return total


def check_episode(policy: Policy, seed: int, number: int, steps: int, single: bool = False) -> None:
    """One episode; a failure says how to play it again."""
    try:
        Lockstep(policy, seed, number, single).run(steps)
    except DivergedError as error:
        place = next(k for k, known in enumerate(examples()) if known == policy)
        again = f"--policy {place} --seed {seed} --episode {number} --steps {steps}"
        again += " --single" if single else ""
        raise DivergedError(
            f"{policy.label}, seed {seed}, episode {number}, {error}\n"
            f"again: python tests/lockstep.py {again}"
        ) from error


def drive(policies: list[Policy], steps: int, seed: int, report: Callable[[int], None]) -> None:
    """Play this many steps in all, in episodes, every policy in turn."""
    done = 0
    for number in itertools.count():
        for policy in policies:
            usual = EPISODE * 10 if number % LONG == LONG - 1 else EPISODE
            size = min(usual, -(-steps // len(policies)), steps - done)
            if size <= 0:
                return
            check_episode(policy, seed, number, size)
            done += size
            report(done)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compiled and plain players in lockstep.")
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--policy", type=int, help="only this one, by its place among the examples")
    parser.add_argument("--episode", type=int, help="only this one, as a failure names it")
    parser.add_argument("--single", action="store_true", help="no batches; only with --episode")
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
                check_episode(policy, asked.seed, asked.episode, asked.steps, asked.single)
    except DivergedError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(played)} policies: every decision, refusal and state the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
