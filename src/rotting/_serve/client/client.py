"""The client of `rotting serve`: decisions over HTTP, and a fallback while there are none."""

from __future__ import annotations

import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from rotting import _checks
from rotting._serve.client import bodies
from rotting._serve.client.answers import (
    Away,
    Choice,
    PartlyRefused,
    Refused,
    applied,
    as_object,
    choice,
    each_or_refused,
    field,
    refusal,
    whole_or_refused,
)
from rotting._serve.client.fallbacks import Fallbacks, Report, Reports
from rotting._serve.client.transport import AGAIN_CODES, Breaker, Caller, Deadline, Later

if TYPE_CHECKING:
    import httpx

    from rotting.logs._log import Log
    from rotting.policies import Policy

__all__ = ["Away", "Choice", "Client", "PartlyRefused", "Refused"]

T = TypeVar("T")
_LOG = logging.getLogger("rotting.client")
_NOT_LET_IN = (401, 403)
_LONG = 256 << 20  # bytes of an answer to a question for many things, as events
_PATIENCE = 60  # times `timeout`, for what may have to compile a policy or replay an experiment
_PAGE = 1000  # events
_FORMATS = ("csv", "parquet")


class Client:
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
        self._url = bodies.address(url)
        self._timeout = _checks.number("timeout", timeout, above=0, most=3600)
        most = _checks.integer("retries", retries, least=0, most=100)
        self._caller = Caller(self._url, bodies.secret(key), most, transport)
        self._fallbacks = Fallbacks(fallback)
        self._breaker = Breaker()
        self._reports = Reports()
        self._reporting = threading.Lock()
        self._said: set[str] = set()

    def close(self) -> None:
        """Report what is left, in the time of one call, and close the connections."""
        if self._reports:
            self.report()
        self._caller.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    # ------------------------------------------------------------------------ decisions and rewards

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
        made = uuid.uuid4().hex if id is None else bodies.text("id", id, bodies.ID)
        allowed = None if among is None else bodies.labels("among", among)
        item = bodies.decision(made, key, allowed)
        bodies.experiment_name(experiment)

        def call(deadline: Deadline) -> Choice:
            found = choice(self._post(experiment, "decisions", item, deadline), item)
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
        bodies.experiment_name(experiment)
        allowed = None if among is None else bodies.labels("among", among)
        if isinstance(keys_or_count, str):
            raise ValueError(f"keys must be a list of keys or a number, got {keys_or_count!r}")
        keys: Iterable[str | None]
        if isinstance(keys_or_count, Iterable):
            keys = keys_or_count
        else:
            keys = [None] * _checks.integer("count", keys_or_count, least=0, most=10**7)
        asked = [bodies.decision(uuid.uuid4().hex, key, allowed) for key in keys]
        found: list[Any] = []
        away: Away | Refused | None = None
        for batch in bodies.packed(asked):
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
            each if isinstance(each, Refused) else choice(each, item)
            for each, item in zip(answers, batch, strict=True)
        ]

    def shown(self, experiment: str, choice_or_id: Choice | str) -> int | None:
        """Confirm that a decision was shown; the number of the pull.

        Of a fallback that is still to be reported this goes along: None.
        """
        item: Mapping[str, Any] = {"decision": bodies.id_of(choice_or_id)}
        if isinstance(choice_or_id, Choice) and choice_or_id.fallback:
            item = bodies.shown(choice_or_id)
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
        item = bodies.reward(choice_or_id, value, id)
        bodies.experiment_name(experiment)
        if bodies.is_own(choice_or_id) and self._kept(experiment, item):
            return False
        return applied(self._post(experiment, "rewards", item, self._soon()))

    def reward_many(
        self, experiment: str, pairs: Iterable[tuple[Choice | str, float]]
    ) -> list[bool]:
        """Send rewards as pairs (choice or id, reward), in batches of up to 1,000; as `reward`.

        All pairs are checked before any is sent. If the service refuses some, `PartlyRefused` is
        raised after all were sent, with all answers. If it is away, `Away` is raised; sending all
        of them again is safe.
        """
        bodies.experiment_name(experiment)
        told: list[dict[str, Any] | None] = []
        for choice_or_id, value in list(pairs):
            item = bodies.reward(choice_or_id, value, None)
            kept = bodies.is_own(choice_or_id) and self._kept(experiment, item)
            told.append(None if kept else item)
        found: list[Any] = []
        for batch in bodies.packed(item for item in told if item is not None):
            try:
                answers = self._post_batch(experiment, "rewards", batch, self._soon())
                found += each_or_refused(answers, applied)
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

    # ------------------------------------ experiments: calls that may take up to 60 times `timeout`

    def create(
        self,
        name: str,
        arms: Iterable[str],
        *,
        policy: Policy | Mapping[str, Any] | str | Path | None = None,
        audience: bool | Mapping[str, Any] = False,
        control: float = 0.0,
        reward_window: float | None = None,
        default_reward: float | None = None,
        require_shown: bool = False,
        shown_window: float | None = None,
        fallback: str | None = None,
        seed: int | None = None,
        horizon: int | None = None,
    ) -> dict[str, Any]:
        """Create an experiment, or find it as it is: the same call again changes nothing.

        A name that has another experiment is refused (`Refused`, code "conflict"). The policy is an
        object, as `policies.UCB1()`, its name, plain data, or the Path of a file that `rotting fit`
        wrote; without one the service chooses. Windows are in seconds.
        """
        found = bodies.labels("arms", arms)
        if not isinstance(audience, (bool, Mapping)):
            raise ValueError(f"audience must be True, False or a dict with rest, got {audience!r}")
        if default_reward is not None and reward_window is None:
            raise ValueError(f"default_reward must come with reward_window, got {default_reward!r}")
        if fallback is not None and fallback not in found:
            raise ValueError(f"fallback must be one of arms, got {fallback!r}")
        data = {
            "name": bodies.experiment_name(name),
            "arms": found,
            "policy": bodies.policy_data(policy),
            "audience": dict(audience) if isinstance(audience, Mapping) else audience or None,
            "control": _checks.number("control", control, least=0, below=1) or None,
            "reward_window": _seconds("reward_window", reward_window),
            "default_reward": None
            if default_reward is None
            else _checks.reward(default_reward, "default_reward"),
            "require_shown": _checks.flag("require_shown", require_shown) or None,
            "shown_window": _seconds("shown_window", shown_window),
            "fallback": fallback,
            "seed": None if seed is None else _checks.integer("seed", seed, least=0),
            "horizon": None if horizon is None else _checks.integer("horizon", horizon, least=1),
        }
        given = {word: value for word, value in data.items() if value is not None}
        answer = self._caller.ask("POST", "/v1/experiments", self._patient(), bodies.body(given))
        return self._remember(name, answer)

    def experiments(self) -> list[dict[str, Any]]:
        """All experiments, a few figures of each."""
        answer = self._get("/v1/experiments", self._patient())
        found: list[dict[str, Any]] = field(answer, "experiments", list)
        return found

    def experiment(self, name: str) -> dict[str, Any]:
        """Everything the service tells about an experiment."""
        return self._described(name, self._patient())

    def _described(self, name: str, deadline: Deadline) -> dict[str, Any]:
        return self._remember(
            name, self._get(f"/v1/experiments/{bodies.experiment_name(name)}", deadline)
        )

    def add(self, experiment: str, arm: str) -> bool:
        """Add an arm; whether it was new."""
        return self._arm(experiment, "add", arm)

    def retire(self, experiment: str, arm: str) -> bool:
        """Let an arm not be chosen any more; whether it was open. Late rewards are still taken."""
        return self._arm(experiment, "retire", arm)

    def restore(self, experiment: str, arm: str) -> bool:
        """Let a retired arm be chosen again, as worn as it was; whether it was retired."""
        return self._arm(experiment, "restore", arm)

    def _arm(self, experiment: str, verb: str, arm: str) -> bool:
        data = {verb: bodies.text("arm", arm, bodies.LABEL)}
        answer = self._post(experiment, "arms", data, self._patient())
        return bool(field(answer, "applied", bool))

    def change_policy(
        self,
        experiment: str,
        policy: Policy | Mapping[str, Any] | str | Path | None,
        *,
        horizon: int | None = None,
    ) -> dict[str, Any]:
        """Decide by another policy from now on; it has learnt all that happened before."""
        data = {"policy": bodies.policy_data(policy)}
        if horizon is not None:
            data["horizon"] = _checks.integer("horizon", horizon, least=1)
        return self._post(experiment, "policy", data, self._patient())

    def learn(
        self,
        experiment: str,
        rows: Iterable[tuple[Any, ...] | Mapping[str, Any]] | Log,
        *,
        id: str | None = None,
    ) -> int:
        """Tell the service of pulls made elsewhere, in their order; how many.

        Rows are tuples (arm, reward) or (arm, reward, key), dicts with these names, or a
        `rotting.logs.Log`, whose keys become new ones: people of a log are not recognised later.
        They go in chunks, each within 60 times `timeout`. If the service is away on the way,
        `Away` has the `id` to call this again with, with the same rows: what arrived is not learnt
        twice.
        """
        # room for the chunk's number
        whole = uuid.uuid4().hex if id is None else bodies.text("id", id, bodies.ID - 20)
        sent = 0
        for number, chunk in enumerate(bodies.packed(bodies.history(rows, whole))):
            data = {"id": f"{whole}-{number}", "rows": chunk}
            try:
                answer = self._post(experiment, "history", data, self._patient())
                sent += int(field(answer, "rows", int))
            except Away as error:
                raise Away(f"{error}; {sent} rows arrived before", id=whole) from None
            except Refused as error:
                error.add_note(f"{sent} rows were learnt before; id={whole!r} goes on from there")
                raise
        return sent

    def erase(self, experiment: str, key: str) -> bool:
        """Forget a key for good; whether it was known."""
        data = {"key": bodies.text("key", key, bodies.KEY)}
        return bool(field(self._post(experiment, "erase", data, self._patient()), "erased", bool))

    def events(self, experiment: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """All events after this number, in order, fetched by the page while they are read.

        Remember `event["seq"]` of the last to go on from there later.
        """
        path = f"/v1/experiments/{bodies.experiment_name(experiment)}/events"
        return self._pages(path, _checks.integer("after", after, least=0))

    def _pages(self, path: str, after: int) -> Iterator[dict[str, Any]]:
        while True:
            answer = self._get(path, self._patient(), after=after, limit=_PAGE)
            page = field(answer, "events", list)
            for event in page:
                if field(event, "seq", int) <= after:
                    raise Away(f"events must come in order, got {event['seq']} after {after}")
                after = event["seq"]
                yield event
            if not page:
                return

    def export(self, experiment: str, path: str | Path, format: str | None = None) -> Path:
        """Write all decisions to a file, one row each; whole or not at all.

        The format, "csv" or "parquet", is that of the file's name if it is not given. The answer
        must begin within 60 times `timeout`; then it may take as long as rows keep coming.
        """
        target = Path(path)
        kind = target.suffix.removeprefix(".").lower() if format is None else format
        _checks.choice("format" if format else "ending of path", kind, _FORMATS)
        if not target.absolute().parent.is_dir():
            raise ValueError(f"path must be in a folder that exists, got {str(path)!r}")
        address = f"/v1/experiments/{bodies.experiment_name(experiment)}/export"
        part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
        deadline = self._patient()

        def once() -> None:
            with (
                self._caller.sent("GET", address, deadline, query={"format": kind}) as response,
                part.open("wb") as file,
            ):
                for piece in response.iter_bytes():
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())

        try:
            self._caller.again(once, deadline)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        return target

    def status(self) -> dict[str, Any]:
        """The service's version, whether it is ready, and how many experiments it has."""
        return self._get("/v1/status", self._soon())

    def ready(self) -> bool:
        """Whether the service answers and is ready; asked once."""
        try:
            answer = self._caller.ask("GET", "/ready", self._soon(), retries=0)
        except (Away, Refused):
            return False
        return isinstance(answer, dict) and answer.get("ready") is True

    # ------------------------------------------------------------------------------------- requests

    def _soon(self) -> Deadline:
        return self._caller.deadline(self._timeout)

    def _patient(self) -> Deadline:
        return self._caller.deadline(_PATIENCE * self._timeout)

    def _post(
        self, experiment: str, what: str, data: Mapping[str, Any], deadline: Deadline
    ) -> dict[str, Any]:
        """The answer to one body, an object."""
        path = f"/v1/experiments/{bodies.experiment_name(experiment)}/{what}"
        return as_object(self._caller.ask("POST", path, deadline, bodies.body(data)))

    def _get(self, path: str, deadline: Deadline, **query: str | int) -> dict[str, Any]:
        ask = self._caller.ask
        return as_object(ask("GET", path, deadline, query=query or None, most=_LONG))

    def _post_batch(
        self,
        experiment: str,
        what: str,
        items: Sequence[Mapping[str, Any]],
        deadline: Deadline,
        retries: int | None = None,
    ) -> list[dict[str, Any] | Refused]:
        """The answers to a batch, sent again as a whole if items could not be done now."""
        path = f"/v1/experiments/{bodies.experiment_name(experiment)}/{what}"

        def check(answers: Any) -> None:
            if not isinstance(answers, list) or len(answers) != len(items):
                raise Away(f"{len(items)} items were sent, but the answer is not a list of so many")
            for each in answers:
                error = each.get("error") if isinstance(each, dict) else None
                if isinstance(error, dict) and error.get("code") in AGAIN_CODES:
                    raise Later(f"part of the batch: {error['code']}")

        body = bodies.body(list(items))
        answers = self._caller.ask("POST", path, deadline, body, check=check, retries=retries)
        return [refusal(as_object(each).get("error"), 200) or each for each in answers]

    def _remember(self, name: str, answer: Any) -> dict[str, Any]:
        found = as_object(answer)
        self._fallbacks.remember(name, found)
        return found


def _seconds(name: str, value: float | None) -> float | None:
    return None if value is None else _checks.number(name, value, above=0)
