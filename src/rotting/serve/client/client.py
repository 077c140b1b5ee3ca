"""The client of `rotting serve`: decisions over HTTP, and a fallback while there are none."""

from __future__ import annotations

import logging
import threading
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
from rotting.serve.client.reports import Report, Reports

if TYPE_CHECKING:
    import httpx

    from rotting.serve.client.retrying import Deadline

__all__ = ["Away", "Choice", "Client", "PartlyRefused", "Refused"]

T = TypeVar("T")
_LOG = logging.getLogger("rotting.client")
_NOT_LET_IN = (401, 403)


class Client(Managing):
    """A client of the decision service.

    url        where the service listens
    key        an API key, where it wants one; never shown
    timeout    seconds for a whole call of `decide`, `shown`, `reward` and `status`, with all its
               tries and the pauses between them; a batch has as much each. A try may take half of
               what is left to connect, and half to wait. Other calls have 60 times as much.
    retries    how often a call is tried again, within its time, after connection errors, time-outs
               and the statuses 429 and 503, whose Retry-After is kept; never after others
    fallback   what `decide` answers when the service is away, or does not let this key in: an arm,
               or arms by experiment; without one, what the experiment itself has as fallback
    transport  an httpx transport, for tests, proxies or certificates of your own; the environment's
               proxies are not used

    Threads may share a client; processes may not: make it after a fork. Retries are safe: a try
    that did arrive is known by its id. What cannot be delivered raises `Away`, and is not kept.
    Only fallbacks are: the service may have stored another arm, so what was shown, and its reward,
    are reported behind the next decision that is answered, by `report`, or when the client is
    closed; the latest 10,000 of them.
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
        self._reports = Reports()
        self._reporting = threading.Lock()
        self._said: set[str] = set()

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
        is back. A key that is not let in gets fallbacks too, which is logged once.
        """
        made = uuid.uuid4().hex if id is None else sending.text("id", id, sending.ID)
        allowed = None if among is None else sending.labels("among", among)
        item = items.decision(made, key, allowed)
        sending.experiment_name(experiment)

        def call(deadline: Deadline) -> Choice:
            found = items.choice(self._post(experiment, "decisions", item, deadline), item)
            self._reports.forget(experiment, made)
            return found

        try:
            return self._guarded(experiment, call)
        except (Away, Refused) as error:
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
        away: Away | Refused | None = None
        for batch in sending.packed(asked):
            if away is None:
                try:
                    call = partial(self._choices, experiment, batch)
                    found += self._guarded(experiment, call)
                    continue
                except (Away, Refused) as error:
                    away = error
            if isinstance(away, Away):
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

        Of a fallback that is still to be reported this goes along: None.
        """
        item: Mapping[str, Any] = {"decision": items.id_of(choice_or_id)}
        if isinstance(choice_or_id, Choice) and choice_or_id.fallback:
            item = items.shown(choice_or_id)
            with self._reporting:
                if self._reports.confirm(experiment, choice_or_id.id):
                    return None
        answer = self._post(experiment, "shown", item, self._soon())
        pull: int | None = field(answer, "pull", int, type(None))
        return pull

    def reward(
        self, experiment: str, choice_or_id: Choice | str, value: float, id: str | None = None
    ) -> bool:
        """Send the reward of a decision; whether it was applied now.

        False: it was known before, perhaps by a first try whose answer was lost, or came too late.
        Another reward for the same decision is refused. If it cannot be delivered, `Away` is
        raised: nothing is kept here, and sending it again is safe. The reward of a fallback that is
        still to be reported goes along: False.
        """
        item = items.reward(choice_or_id, value, id)
        sending.experiment_name(experiment)
        if items.is_own(choice_or_id) and self._kept(experiment, item):
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
        told: list[dict[str, Any] | None] = []
        for choice_or_id, value in list(pairs):
            item = items.reward(choice_or_id, value, None)
            kept = items.is_own(choice_or_id) and self._kept(experiment, item)
            told.append(None if kept else item)
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
        if self._reports:
            self._report(deadline, retries=0)
        return found

    def _fallback(self, experiment: str, item: Mapping[str, Any], error: Away | Refused) -> Choice:
        arm = self._fallbacks.arm(experiment, item.get("among"))
        if isinstance(error, Refused):
            if arm is None or error.status not in _NOT_LET_IN:
                raise error
            self._say_once(f"fallbacks are shown: the service refused the key ({error})")
        elif arm is None:
            raise Away(f"{error}; and no fallback is known", item["id"], error.answers) from None
        self._reports.add(experiment, item["id"], arm, item.get("key"))
        return Choice(item["id"], arm, None, item.get("key"), None, True)

    def _say_once(self, words: str) -> None:
        if words not in self._said:
            self._said.add(words)
            _LOG.warning("%s", words)

    # ------------------------------------------------------------------ what was shown meanwhile

    def report(self) -> int:
        """Report the fallbacks that the service does not know of; how many are left.

        It is called by itself behind decisions, and by `close`.
        """
        deadline = self._soon()
        while self._reports and self._report(deadline):
            pass
        return len(self._reports)

    def _report(self, deadline: Deadline, retries: int | None = None) -> bool:
        """Report a batch, unless another thread is about it; whether it arrived."""
        if not self._reporting.acquire(blocking=False):
            return False
        batch = self._reports.take()
        try:
            self._send_reports(batch, deadline, retries)
        except Away:
            self._reports.put_back(batch)
            return False
        except Refused as error:  # there is no such experiment, or this key may not report
            self._say_once(f"{len(batch)} fallbacks could not be reported: {error}")
        except BaseException:
            self._reports.put_back(batch)
            raise
        finally:
            self._reporting.release()
        return bool(batch)

    def _send_reports(self, batch: list[Report], deadline: Deadline, retries: int | None) -> None:
        """What was shown, and then the rewards of what the service took."""
        if not batch:
            return
        experiment = batch[0].experiment
        bodies = [report.shown for report in batch]
        answers = self._post_batch(experiment, "shown", bodies, deadline, retries)
        rewards = [
            report.reward
            for report, answer in zip(batch, answers, strict=True)
            if report.reward is not None and not isinstance(answer, Refused)
        ]
        if rewards:
            self._post_batch(experiment, "rewards", rewards, deadline, retries)

    def _kept(self, experiment: str, reward: dict[str, Any]) -> bool:
        """Let a reward wait for the report of its fallback, if that is not sent yet."""
        with self._reporting:
            return self._reports.reward(experiment, reward)

    def close(self) -> None:
        """Report what is left, in the time of one call, and close the connections."""
        if self._reports:
            self.report()
        super().close()

    def _remember(self, name: str, answer: Any) -> dict[str, Any]:
        found = as_object(answer)
        self._fallbacks.remember(name, found)
        return found
