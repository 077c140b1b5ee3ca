"""Requests become events here: each is checked, applied, and put into the group to be committed.

Nothing in here waits: `journal` commits the group, and only then is anybody answered. An answer
names the sequence number that must be on the disk before it may go out.
"""

from __future__ import annotations

from typing import Any

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
            raise _other_settings(asked.name, known.asked["request"], wanted)
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


def _other_settings(name: str, known: dict[str, Any], wanted: dict[str, Any]) -> Refusal:
    """Which settings differ, and what changes those that can be changed."""
    other = [field for field, value in wanted.items() if known.get(field) != value]
    ways = {"arms": "arms are added and retired", "policy": "another policy is set"}
    hints = [
        f"; {ways[field]} by POST /v1/experiments/{name}/{field}"
        for field in other
        if field in ways
    ]
    text = f"experiment {name} exists, with another {' and another '.join(other)}{''.join(hints)}"
    return Refusal("conflict", text, other[0] if other else "name")
