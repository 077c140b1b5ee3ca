"""A policy played by its verbs for the keys of an audience, in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rotting._live import keys as attending
from rotting.bandits._audience import Rest
from rotting.kernel.random import new_draw
from rotting.kernel.verbs import choose, pulled, update
from rotting.policies import Policy
from rotting.policies.parts.exposures import with_key_counts
from rotting.policies.parts.openings import closable

REACH = 2000


class AudienceScratch:
    """A policy's state, and the counts of pulls."""

    def __init__(self, policy: Policy, keys: int, arms: int = 3, closes: bool = False) -> None:
        self.params = policy.prepare(arms, None, REACH)
        state = policy.verbs.init(self.params, arms, REACH)
        rest: Rest | None = getattr(policy, "rest", None)
        state = closable(state) if closes else state
        self.state: Any = with_key_counts(state, keys, rest) if policy.counts_by_key else state
        self.draw = new_draw(5)
        self.pulls = [0] * arms
        self.time = 0

    def decide(self, key: int) -> int:
        """The key's next arm; the pull is not counted."""
        attending.set_key(self.params, self.state, key, self.time + 1)
        return int(choose(self.params, self.state, self.draw))

    def pull(self, arm: int) -> int:
        """Count a pull of the present key; returns its number, as passed to the policy."""
        number = int(attending.pull_for_policy(self.state, self.pulls, arm))
        pulled(self.params, self.state, arm)
        self.pulls[arm] += 1
        self.time += 1
        return number

    def learn(self, key: int, arm: int, pull: int, reward: float) -> None:
        """A reward, perhaps a late one."""
        attending.set_key_for_reward(self.state, key)
        update(self.params, self.state, arm, pull, reward)

    def play(self, key: int, reward: Callable[[int], float]) -> int:
        """A decision and its reward at once."""
        arm = self.decide(key)
        self.learn(key, arm, self.pull(arm), reward(arm))
        return arm
