"""Requests become events here: each is checked, applied, and put into the group to be committed.

Nothing in here waits: `journal` commits the group, and only then is anybody answered. An answer
names the sequence number that must be on the disk before it may go out.
"""

from __future__ import annotations

import msgspec

from rotting.serve import bodies, events
from rotting.serve.deciding import Deciding
from rotting.serve.events import Kind
from rotting.serve.experiment import Experiment
from rotting.serve.ledger import Answer
from rotting.serve.managing import Managing
from rotting.serve.refusals import Refusal
from rotting.serve.settings import code_version, settled

__all__ = ["Answer", "Book"]


class Book(Deciding, Managing):
    """All experiments, and everything that can be done to them."""

    def create(self, asked: bodies.Creation, by: str = "") -> Answer:
        """A new experiment, or the one that is there if it was asked for in the same words."""
        wanted = msgspec.to_builtins(asked)
        known = self.experiments.get(asked.name)
        if known is not None:
            if known.asked["request"] == wanted:
                return Answer(known, known.since, 200)
            raise Refusal(
                "conflict", f"experiment {asked.name} exists, with other settings", "name"
            )
        settings = settled(asked)
        number = 1 + max((one.number for one in self.experiments.values()), default=0)
        kept = msgspec.to_builtins(settings)
        body = events.Created(
            asked={"request": wanted, "settled": kept},
            policy=kept.pop("policy"),
            version=code_version(),
            seed=kept.pop("seed"),
            by=by,
        )
        event = self.append(number, Kind.CREATED, "", self.now(), body)
        self.group.experiments.append((number, settings.name))
        made = Experiment(number, event)
        made.past = self.past_of(made)
        self.experiments[settings.name] = made
        self._audit(by, "created", settings.name)
        return Answer(made, event.seq, 201)
