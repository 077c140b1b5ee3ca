"""The client of `rotting serve`: decisions over HTTP, and a fallback while there are none."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from rotting import checks
from rotting.serve.client import items, sending
from rotting.serve.client.answers import Away, Choice, PartlyRefused, Refused
from rotting.serve.client.breaker import Breaker
from rotting.serve.client.connection import as_object, each_or_refused, field, whole_or_refused
from rotting.serve.client.fallbacks import Fallbacks
from rotting.serve.client.managing import Managing

if TYPE_CHECKING:
    import httpx

    from rotting.serve.client.retrying import Deadline

__all__ = ["Away", "Choice", "Client", "PartlyRefused", "Refused"]

T = TypeVar("T")


class Client(Managing):
    """A client of the decision service.

    url        where the service listens
    key        an API key, where it wants one; never shown
    timeout    seconds for a whole call of `decide`, `shown`, `reward` and `status`, with all its
               tries and the pauses between them; a batch has as much each. A try may take half of
               what is left to connect, and half to wait. Other calls have 60 times as much.
    retries    how often a call is tried again, within its time, after connection errors, time-outs
               and the statuses 429 and 503, whose Retry-After is kept; never after others
    fallback   what `decide` answers when the service is away: an arm, or arms by experiment;
               without one, what the experiment itself has as fallback
    transport  an httpx transport, for tests, proxies or certificates of your own; the environment's
               proxies are not used

    Threads may share a client; processes may not: make it after a fork. Retries are safe: a try
    that did arrive is known by its id. Nothing is queued: what cannot be delivered raises `Away`.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8100",
        key: str | None = None,
        *,
        timeout: float = 1.0,
        retries: int = 4,
        fallback: str | Mapping[str, str] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(url, key, timeout, retries, transport)
        self._fallbacks = Fallbacks(fallback)
        self._breaker = Breaker()

    def decide(
        self,
        experiment: str,
        key: str | None = None,
        *,
        among: Iterable[str] | None = None,
        id: str | None = None,
    ) -> Choice:
        """Decide which arm to show, to this key where there is an audience.

        `among` are the arms allowed this time. With the `id` of an earlier decision the answer is
        that decision; without one a new id is made. If the service does not answer in time, the
        fallback arm is returned as a choice with `fallback=True`, or the first of `among` if the
        fallback is not among them; without a fallback `Away` is raised. After five such failures in
        a row the fallback is returned at once, while one call at a time looks whether the service
        is back.
        """
        made = uuid.uuid4().hex if id is None else sending.text("id", id, sending.ID)
        allowed = None if among is None else sending.labels("among", among)
        item = items.decision(made, key, allowed)
        sending.experiment_name(experiment)

        def call(deadline: Deadline) -> Choice:
            return items.choice(self._post(experiment, "decisions", item, deadline), item)

        try:
            return self._guarded(experiment, call)
        except Away as error:
            return self._fallback(experiment, item, error)

    def decide_many(
        self,
        experiment: str,
        keys_or_count: Iterable[str] | int,
        among: Iterable[str] | None = None,
    ) -> list[Choice]:
        """Decide for these keys, or so many times; in batches of up to 1,000.

        When the service is away, this batch and the rest are fallbacks. If it refuses some,
        `PartlyRefused` is raised after all were asked for, with all answers.
        """
        sending.experiment_name(experiment)
        allowed = None if among is None else sending.labels("among", among)
        if isinstance(keys_or_count, str):
            raise ValueError(f"keys must be a list of keys or a number, got {keys_or_count!r}")
        keys: Iterable[str | None]
        if isinstance(keys_or_count, Iterable):
            keys = keys_or_count
        else:
            keys = [None] * checks.integer("count", keys_or_count, least=0, most=10**7)
        asked = [items.decision(uuid.uuid4().hex, key, allowed) for key in keys]
        found: list[Any] = []
        away: Away | None = None
        for batch in sending.packed(asked):
            if away is None:
                try:
                    call = partial(self._choices, experiment, batch)
                    found += self._guarded(experiment, call)
                    continue
                except Away as error:
                    away = error
            away.answers = found
            found = [*found, *(self._fallback(experiment, item, away) for item in batch)]
        return whole_or_refused(found)

    def _choices(
        self, experiment: str, batch: list[Mapping[str, Any]], deadline: Deadline
    ) -> list[Choice | Refused]:
        answers = self._post_batch(experiment, "decisions", batch, deadline)
        return [
            each if isinstance(each, Refused) else items.choice(each, item)
            for each, item in zip(answers, batch, strict=True)
        ]

    def shown(self, experiment: str, choice_or_id: Choice | str) -> int | None:
        """Confirm that a decision was shown; the number of the pull.

        Nothing is sent for a fallback: None.
        """
        id = items.id_of(choice_or_id)
        if id is None:
            return None
        answer = self._post(experiment, "shown", {"decision": id}, self._soon())
        pull: int | None = field(answer, "pull", int, type(None))
        return pull

    def reward(
        self, experiment: str, choice_or_id: Choice | str, value: float, id: str | None = None
    ) -> bool:
        """Send the reward of a decision; whether it was applied now.

        False: it was known before, perhaps by a first try whose answer was lost, or came too late.
        Another reward for the same decision is refused. If it cannot be delivered, `Away` is
        raised: nothing is kept here, and sending it again is safe. Nothing is sent for a fallback:
        False.
        """
        item = items.reward(choice_or_id, value, id)
        sending.experiment_name(experiment)
        if item is None:
            return False
        return items.applied(self._post(experiment, "rewards", item, self._soon()))

    def reward_many(
        self, experiment: str, pairs: Iterable[tuple[Choice | str, float]]
    ) -> list[bool]:
        """Send rewards as pairs (choice or id, reward), in batches of up to 1,000; as `reward`.

        All pairs are checked before any is sent. If the service refuses some, `PartlyRefused` is
        raised after all were sent, with all answers. If it is away, `Away` is raised; sending all
        of them again is safe.
        """
        sending.experiment_name(experiment)
        told = [items.reward(choice_or_id, value, None) for choice_or_id, value in pairs]
        found: list[Any] = []
        for batch in sending.packed(item for item in told if item is not None):
            try:
                answers = self._post_batch(experiment, "rewards", batch, self._soon())
                found += each_or_refused(answers, items.applied)
            except Away as error:
                raise Away(f"{error}; {len(found)} rewards arrived before") from None
        each = iter(found)
        return whole_or_refused([False if item is None else next(each) for item in told])

    # ----------------------------------------------------------------- when the service is away

    def _guarded(self, experiment: str, call: Callable[[Deadline], T]) -> T:
        """The call, if the breaker lets it through, and its result told to the breaker."""
        entered = self._breaker.enter()
        if entered == Breaker.STOP:
            raise Away("the service did not answer lately; it is not asked for a moment")
        ok: bool | None = None
        deadline = self._soon()
        try:
            found = call(deadline)
            ok = True
        except Refused:
            ok = True
            raise
        except Away:
            ok = False
            raise
        finally:
            self._breaker.leave(entered, ok)
        # in the time that is left, and once: it must not hold up the answer that is there
        ask, path = self._caller.ask, f"/v1/experiments/{experiment}"
        self._fallbacks.ask(
            experiment,
            self._caller.clock(),
            lambda: as_object(ask("GET", path, deadline, retries=0)),
        )
        return found

    def _fallback(self, experiment: str, item: Mapping[str, Any], error: Away) -> Choice:
        arm = self._fallbacks.arm(experiment, item.get("among"))
        if arm is None:
            raise Away(f"{error}; and no fallback is known", item["id"], error.answers) from None
        return Choice(item["id"], arm, None, item.get("key"), None, True)

    def _remember(self, name: str, answer: Any) -> dict[str, Any]:
        found = as_object(answer)
        self._fallbacks.remember(name, found)
        return found
