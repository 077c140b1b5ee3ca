"""Players through random events, with keys and without: a digest of their answers.

Decisions one at a time and in batches, among some arms, with a control group and rest; rewards
late, missing and of the wrong decision; arms that come and go; keys that are forgotten; history.
"""

from __future__ import annotations

import functools
import hashlib
import random
from typing import Any

from records import Plays
from rotting import HalfLife, Window, models, policies
from rotting.policies import Policy

STEPS = 400
KEYS = 9
FAMILY = models.Polynomial().over([0.1, 0.3, 0.6])

ALONE: dict[str, Policy] = {
    "ucb1": policies.UCB1(),
    "steadyucb": policies.SteadyUCB(sigma=None),
    "rawucb": policies.RAWUCB(sigma=0.5),
    "wswa": policies.WSWA(alpha=0.2, sigma=0.5),
    "dcto": policies.DCTO(FAMILY, sigma=0.5),
    "dts": policies.DTS(gamma=0.95, sigma=0.5),
    "guarded": policies.Guarded(FAMILY, sigma=0.5),
}
AUDIENCES: dict[str, Policy] = {
    "fatigue": policies.Fatigue(),
    "fatigue gaussian": policies.Fatigue(rewards="gaussian"),
    "mixture": policies.Mixture(),
    "cellucb": policies.CellUCB(sigma=0.5),
    "thompson": policies.Thompson(),
    "perkey": policies.PerKey(policies.UCB1()),
    "capped": policies.Capped(policies.UCB1(), cap=3),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "control": {"explore": 0.25},
    "window": {"reward_window": 25, "default_reward": 0.0},
}
RESTS: dict[str, Any] = {
    "half-life in decisions": HalfLife(20, unit="decisions"),
    "half-life in rounds": HalfLife(60, unit="rounds"),
    "window in rounds": Window(90, unit="rounds"),
}


class Story:
    """A player, and what happens to it, by a seed."""

    def __init__(self, player: Any, keyed: bool, seed: int) -> None:
        self.player, self.keyed, self.random = player, keyed, random.Random(seed)
        self.labels = ["A", "B", "C", "D"]
        self.waiting: list[Any] = []
        self.said: list[Any] = []

    def key(self) -> str:
        return f"k{min(self.random.randrange(KEYS), self.random.randrange(KEYS))}"

    def among(self) -> list[str] | None:
        open_ones = [label for label in self.labels if label not in self.player.retired]
        if self.random.random() < 0.7:
            return None
        return self.random.sample(open_ones, self.random.randint(1, len(open_ones)))

    def reward(self, decision: Any) -> float:
        rate = {"A": 0.6, "B": 0.4, "C": 0.3}.get(decision.arm, 0.5)
        return float(self.random.random() < rate * decision.pull**-0.3)

    def select(self) -> None:
        whose = (self.key(),) if self.keyed else ()
        made = self.player.select(*whose, among=self.among())
        self.waiting.append(made)
        self.said.append(tuple(made))

    def select_many(self) -> None:
        count = self.random.randint(1, 12)
        what: Any = [self.key() for _ in range(count)] if self.keyed else count
        made = list(self.player.select_many(what, among=self.among()))
        self.waiting += made
        self.said += [tuple(each) for each in made]

    def update(self) -> None:
        if self.waiting:
            late = self.waiting.pop(self.random.randrange(len(self.waiting)))
            self.heard(lambda: self.player.update(late, self.reward(late)))

    def update_many(self) -> None:
        count = min(len(self.waiting), self.random.randint(1, 8))
        late, self.waiting = self.waiting[:count], self.waiting[count:]
        if late:
            rewards = [self.reward(each) for each in late]
            self.heard(lambda: self.player.update_many(late, rewards))

    def drop(self) -> None:
        if self.waiting:
            lost = self.waiting.pop(0)
            if self.random.random() < 0.5:
                self.heard(lambda: self.player.drop(lost))

    def heard(self, act: Any) -> None:
        """A refusal is an answer, too: a reward may come after its window."""
        try:
            self.said.append(act())
        except ValueError as error:
            self.said.append(str(error))

    def arms(self) -> None:
        chance, retired = self.random.random(), sorted(self.player.retired)
        if chance < 0.3 and len(self.labels) < 7:
            self.labels.append(f"arm {len(self.labels)}")
            self.player.add(self.labels[-1])
        elif chance < 0.7 and retired:
            self.player.restore(self.random.choice(retired))
        elif len(self.labels) - len(retired) > 2:
            self.player.retire(
                self.random.choice([one for one in self.labels if one not in retired])
            )
        self.said.append(sorted(self.player.retired))

    def learn(self) -> None:
        some = [self.random.choice(self.labels) for _ in range(5)]
        rewards = [float(self.random.random() < 0.4) for _ in some]
        more = {"keys": [self.key() for _ in some]} if self.keyed else {}
        self.heard(lambda: self.player.learn(some, rewards, **more))

    def forget(self) -> None:
        if self.keyed:
            key = self.key()
            self.heard(lambda: self.player.forget(key))

    def play(self) -> None:
        verbs = [self.select, self.update, self.select_many, self.update_many]
        verbs += [self.drop, self.arms, self.learn, self.forget]
        for _ in range(STEPS):
            (verb,) = self.random.choices(verbs, [40, 30, 6, 6, 4, 1.5, 0.5, 0.5])
            verb()


def digest(value: Any) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


def played(policy: Policy, keyed: bool, **settings: Any) -> dict[str, Any]:
    """What a player answered, as a digest, and where it stands at the end."""
    start = policy.audience if keyed else policy.online
    made: Any = start
    player = made(["A", "B", "C", "D"], seed=5, compiled=False, **settings)
    story = Story(player, keyed, seed=8)
    story.play()
    table = player.table(key="k0") if keyed else player.table()
    rows = [
        [row.arm, row.pulls, row.observed, *map(_rounded, (row.mean, row.estimate))]
        for row in table
    ]
    return {
        "answers": len(story.said),
        "digest": digest(story.said),
        "pulls": {str(arm): int(count) for arm, count in player.pulls.items()},
        "outstanding": len(player.outstanding),
        "table": rows,
    }


def _rounded(value: Any) -> Any:
    return None if value is None else float(value)


def plays() -> Plays:
    found: Plays = {}
    for name, policy in ALONE.items():
        for what, settings in SETTINGS.items():
            found[f"{name}, {what}"] = functools.partial(played, policy, False, **settings)
    for name, policy in AUDIENCES.items():
        for what, settings in SETTINGS.items():
            found[f"audience of {name}, {what}"] = functools.partial(
                played, policy, True, **settings
            )
    for name in ("fatigue", "cellucb"):
        for what, rest in RESTS.items():
            found[f"audience of {name}, {what}"] = functools.partial(
                played, AUDIENCES[name], True, rest=rest
            )
    return found
