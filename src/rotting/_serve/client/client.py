"""The client of `rotting serve`: decisions over HTTP, and fallbacks while the service is away."""

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
_KEY_REFUSED = (401, 403)
_LONG = 256 << 20  # bytes of a long answer, such as a page of events
_LONG_CALL = 60  # times `timeout`: the service may have to compile a policy or replay an experiment
_PAGE = 1000  # events
_FORMATS = ("csv", "parquet")


class Client:
    """A client of the decision service, with a fallback for when it is away.

    Threads may share a client. Processes may not: make it after a fork. Close it at the end, or use
    it in a `with` statement.

    Retries are safe: the service recognises a repeated request by its id. A request that cannot be
    delivered raises `Away` and is not queued. Only fallbacks are kept, the latest 10,000 of them:
    the service may have stored another arm, so the arm that was shown and its reward are reported
    after the next answered decision, by `report` or by `close`.

    Args:
        url: The address of the service.
        key: An API key, if the service requires one. It is never shown.
        timeout: Seconds for a whole call of `decide`, `shown`, `reward`, `report` or `status`, with
            all its tries and the pauses between them; for `decide_many` and `reward_many` seconds
            for each batch. A try may take half of the time left to connect, and half to wait. Other
            calls may take 60 times as long.
        retries: The number of retries within that time, after connection errors, time-outs and the
            statuses 429 and 503, whose Retry-After is respected. Other errors are not retried.
        fallback: The arm that `decide` returns when the service is away or refuses the API key, or
            a dict of arms by experiment. Without it the experiment's own fallback is used.
        transport: An httpx transport, for tests, proxies or your own certificates. Proxies of the
            environment are not used.

    Raises:
        ValueError: An argument is out of its range.

    In the examples a stand-in, `httpx.MockTransport`, takes the place of a service. With a service
    that is away, `decide` returns the fallback:

    >>> import httpx
    >>> from rotting.client import Client
    >>> away = httpx.MockTransport(lambda request: httpx.Response(503))
    >>> client = Client(fallback="red", retries=0, transport=away)
    >>> client.decide("banner", "ann", id="visit 1")
    Choice(id='visit 1', arm='red', pull=None, key='ann', seq=None, fallback=True)
    >>> client.report()  # one fallback is still to be reported
    1
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
        self._logged: set[str] = set()

    def close(self) -> None:
        """Report the fallbacks that are left and close the connections.

        The report takes at most `timeout` seconds. What cannot be reported by then is lost.
        """
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
        """Decide which arm to show.

        If the service does not answer in time, the fallback arm is returned, or the first of
        `among` if the fallback is not in it. After five such failures in a row the fallback is
        returned at once, while one call at a time tries the service again. If the service refuses
        the API key, fallbacks are returned too, and the logger `rotting.client` says so once.

        Args:
            experiment: The name of the experiment.
            key: The person or thing to decide for, in an experiment with an audience.
            among: The arms allowed this time; all open ones if left out.
            id: The id of the decision; a new one if left out. With the id of an earlier decision
                the service returns that decision.

        Returns:
            The decision; `fallback` is True if it is the fallback.

        Raises:
            Refused: The service refused the request, for instance because no arm is open.
            Away: The service did not answer in time and no fallback is known.
            ValueError: An argument is malformed.

        >>> import httpx
        >>> from rotting.client import Client
        >>> answer = {"id": "visit 1", "arm": "blue", "pull": 3, "key": "ann", "seq": 7}
        >>> service = httpx.MockTransport(lambda request: httpx.Response(200, json=answer))
        >>> Client(transport=service).decide("banner", "ann", id="visit 1")
        Choice(id='visit 1', arm='blue', pull=3, key='ann', seq=7, fallback=False)
        """
        made = uuid.uuid4().hex if id is None else bodies.text("id", id, bodies.ID)
        allowed = None if among is None else bodies.labels("among", among)
        item = bodies.decision(made, key, allowed)
        bodies.experiment_name(experiment)

        def call(deadline: Deadline) -> Choice:
            found = choice(self._post(experiment, "decisions", item, deadline), item)
            self._reports.discard(experiment, made)
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
        """Make many decisions, in batches of up to 1,000.

        If the service does not answer a batch in time, that batch and all later ones are fallbacks.

        Args:
            experiment: The name of the experiment.
            keys_or_count: The keys to decide for; without an audience the number of decisions.
            among: The arms allowed this time; all open ones if left out.

        Returns:
            One decision for each key, in order.

        Raises:
            PartlyRefused: Some decisions were refused. All were requested; its `answers` has the
                others.
            Refused: The service refused a whole batch.
            Away: The service did not answer in time and no fallback is known. Its `answers` are
                those of earlier batches.
            ValueError: An argument is malformed.

        >>> import httpx
        >>> from rotting.client import Client
        >>> away = httpx.MockTransport(lambda request: httpx.Response(503))
        >>> client = Client(fallback="red", retries=0, transport=away)
        >>> [(choice.key, choice.arm) for choice in client.decide_many("banner", ["ann", "bob"])]
        [('ann', 'red'), ('bob', 'red')]
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
        items = [bodies.decision(uuid.uuid4().hex, key, allowed) for key in keys]
        found: list[Any] = []
        away: Away | Refused | None = None
        for batch in bodies.packed(items):
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
        """Confirm that a decision was shown.

        Needed in experiments with `require_shown`, where a decision counts as a pull only when it
        was shown.

        Args:
            experiment: The name of the experiment.
            choice_or_id: What `decide` returned, or its id.

        Returns:
            The pull number. None for a fallback that is still to be reported: the confirmation is
            sent with the report.

        Raises:
            Refused: The service refused it, for instance because there is no such decision.
            Away: The service did not answer in time. Sending it again is safe.

        >>> import httpx
        >>> from rotting.client import Client
        >>> answer = {"decision": "visit 1", "pull": 3, "seq": 8}
        >>> service = httpx.MockTransport(lambda request: httpx.Response(200, json=answer))
        >>> Client(transport=service).shown("banner", "visit 1")
        3
        """
        item: Mapping[str, Any] = {"decision": bodies.id_of(choice_or_id)}
        if isinstance(choice_or_id, Choice) and choice_or_id.fallback:
            item = bodies.shown(choice_or_id)
            with self._reporting:
                if self._reports.confirm(experiment, choice_or_id.id):
                    return None
        answer = self._post(experiment, "shown", item, self._deadline())
        pull: int | None = field(answer, "pull", int, type(None))
        return pull

    def reward(
        self, experiment: str, choice_or_id: Choice | str, value: float, id: str | None = None
    ) -> bool:
        """Send the reward of a decision.

        Args:
            experiment: The name of the experiment.
            choice_or_id: What `decide` returned, or its id.
            value: A finite number; True and False count as 1 and 0.
            id: An id of the reward. A second reward with this id counts as a repetition, whatever
                its value.

        Returns:
            Whether this call applied the reward. False if the service had it before, perhaps from a
            first try whose answer was lost; if it came too late; and for a fallback that is still
            to be reported, whose reward is sent with the report.

        Raises:
            Refused: The decision has another reward already, or does not exist.
            Away: The reward could not be delivered. It is not kept; sending it again is safe.
            ValueError: The reward is not a finite number.

        >>> import httpx
        >>> from rotting.client import Client
        >>> answer = {"decision": "visit 1", "applied": True, "seq": 9}
        >>> service = httpx.MockTransport(lambda request: httpx.Response(200, json=answer))
        >>> Client(transport=service).reward("banner", "visit 1", 1.0)
        True
        """
        item = bodies.reward(choice_or_id, value, id)
        bodies.experiment_name(experiment)
        if bodies.is_own(choice_or_id) and self._kept(experiment, item):
            return False
        return applied(self._post(experiment, "rewards", item, self._deadline()))

    def reward_many(
        self, experiment: str, pairs: Iterable[tuple[Choice | str, float]]
    ) -> list[bool]:
        """Send many rewards, in batches of up to 1,000. All are checked before any is sent.

        Args:
            experiment: The name of the experiment.
            pairs: Pairs of a decision or its id, and its reward.

        Returns:
            For each pair what `reward` returns: whether it was applied now.

        Raises:
            PartlyRefused: Some rewards were refused. All were sent; its `answers` has the results.
            Refused: The service refused a whole batch.
            Away: The service did not answer in time. Sending all of them again is safe.
            ValueError: A reward is not a finite number. Nothing is sent then.

        >>> import httpx
        >>> from rotting.client import Client
        >>> answers = [{"applied": True}, {"applied": False, "why": "repeated"}]
        >>> service = httpx.MockTransport(lambda request: httpx.Response(200, json=answers))
        >>> Client(transport=service).reward_many("banner", [("visit 2", 0.0), ("visit 1", 1.0)])
        [True, False]
        """
        bodies.experiment_name(experiment)
        items: list[dict[str, Any] | None] = []
        for choice_or_id, value in list(pairs):
            item = bodies.reward(choice_or_id, value, None)
            kept = bodies.is_own(choice_or_id) and self._kept(experiment, item)
            items.append(None if kept else item)
        found: list[Any] = []
        for batch in bodies.packed(item for item in items if item is not None):
            try:
                answers = self._post_batch(experiment, "rewards", batch, self._deadline())
                found += each_or_refused(answers, applied)
            except Away as error:
                raise Away(f"{error}; {len(found)} rewards arrived before") from None
        each = iter(found)
        return whole_or_refused([False if item is None else next(each) for item in items])

    # ----------------------------------------------------------------- when the service is away

    def _guarded(self, experiment: str, call: Callable[[Deadline], T]) -> T:
        """Make the call if the breaker admits it, and record its outcome there."""
        entered = self._breaker.enter()
        if entered == Breaker.STOP:
            raise Away("the service did not answer several times in a row; the next try is later")
        ok: bool | None = None
        deadline = self._deadline()
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
        # without retries and in the time left: the answer is there and has to wait for this
        request, path = self._caller.request, f"/v1/experiments/{experiment}"
        self._fallbacks.look_up(
            experiment,
            self._caller.clock(),
            lambda: as_object(request("GET", path, deadline, retries=0)),
        )
        if self._reports:
            self._report(deadline, retries=0)
        return found

    def _fallback(self, experiment: str, item: Mapping[str, Any], error: Away | Refused) -> Choice:
        arm = self._fallbacks.arm(experiment, item.get("among"))
        if isinstance(error, Refused):
            if arm is None or error.status not in _KEY_REFUSED:
                raise error
            self._log_once(f"fallbacks are shown: the service refused the key ({error})")
        elif arm is None:
            raise Away(f"{error}; and no fallback is known", item["id"], error.answers) from None
        self._reports.add(experiment, item["id"], arm, item.get("key"))
        return Choice(item["id"], arm, None, item.get("key"), None, True)

    def _log_once(self, words: str) -> None:
        if words not in self._logged:
            self._logged.add(words)
            _LOG.warning("%s", words)

    # -------------------------------------------------------------------- reports of fallbacks

    def report(self) -> int:
        """Report the fallbacks that were shown, with their rewards.

        Decisions that are answered and `close` do the same, so a call is needed only where neither
        comes for a long time.

        Returns:
            The number of fallbacks that are still to be reported.
        """
        deadline = self._deadline()
        while self._reports and self._report(deadline):
            pass
        return len(self._reports)

    def _report(self, deadline: Deadline, retries: int | None = None) -> bool:
        """Report a batch, unless another thread is doing so; whether one was delivered."""
        if not self._reporting.acquire(blocking=False):
            return False
        batch = self._reports.take()
        try:
            self._send_reports(batch, deadline, retries)
        except Away:
            self._reports.put_back(batch)
            return False
        except Refused as error:  # there is no such experiment, or the API key may not report
            self._log_once(f"{len(batch)} fallbacks could not be reported: {error}")
        except BaseException:
            self._reports.put_back(batch)
            raise
        finally:
            self._reporting.release()
        return bool(batch)

    def _send_reports(self, batch: list[Report], deadline: Deadline, retries: int | None) -> None:
        """Send what was shown, then the rewards of those that the service accepted."""
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
        """Keep a reward for the report of its fallback; False if that was sent already."""
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
        """Create an experiment. The same call again returns it and changes nothing.

        Args:
            name: 1 to 100 letters, digits, ".", "_" and "-", the first a letter or a digit.
            arms: The labels, 1 to 1,000, all different.
            policy: A policy such as `policies.UCB1()`, its name, plain data, or the `Path` of a
                file that `rotting fit` wrote; the recommended one for clicks if left out.
            audience: Whether arms wear out for each key on its own. If exposures are forgotten, a
                dict such as `{"rest": {"half_life": 20, "unit": "decisions"}}`.
            control: The share of decisions that are drawn uniformly, to measure the lift.
            reward_window: Seconds to wait for a reward; without it there is no end.
            default_reward: The reward of a decision whose window ended without one; needs
                `reward_window`. Clicks need both: without them the policy sees only clicks.
            require_shown: Whether a decision is a pull only after `shown`.
            shown_window: Seconds to wait for `shown`; needs `require_shown`. The service's default
                is 3600.
            fallback: The arm that clients show when the service is away.
            seed: The seed of all random numbers; drawn by the service if left out.
            horizon: The number of decisions there will be, for a policy that needs it (SWA).

        Returns:
            The description of the experiment, as `experiment` returns it.

        Raises:
            Refused: The name belongs to another experiment (code "conflict"), or the service does
                not accept a setting.
            Away: The service did not answer in time. The same call again is safe.
            ValueError: An argument is out of its range. Nothing is sent then.

        >>> import httpx
        >>> from rotting.client import Client
        >>> def service(request):  # returns what it was sent
        ...     return httpx.Response(201, content=request.content)
        >>> client = Client(transport=httpx.MockTransport(service))
        >>> client.create("banner", ["red", "blue"], reward_window=1800, default_reward=0.0)
        {'name': 'banner', 'arms': ['red', 'blue'], 'reward_window': 1800.0, 'default_reward': 0.0}
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
        body, deadline = bodies.body(given), self._long_deadline()
        return self._remember(name, self._caller.request("POST", "/v1/experiments", deadline, body))

    def experiments(self) -> list[dict[str, Any]]:
        """A summary of each experiment.

        Returns:
            One dict for each experiment, with its name and a few figures.

        Raises:
            Refused: The API key may not read.
            Away: The service did not answer in time.
        """
        answer = self._get("/v1/experiments", self._long_deadline())
        found: list[dict[str, Any]] = field(answer, "experiments", list)
        return found

    def experiment(self, name: str) -> dict[str, Any]:
        """The full description of an experiment: its settings, counts, lift and arms.

        Args:
            name: The name of the experiment.

        Returns:
            The answer of `GET /v1/experiments/{name}`. Unknown figures are None.

        Raises:
            Refused: There is no such experiment, or the API key may not read.
            Away: The service did not answer in time.
        """
        return self._described(name, self._long_deadline())

    def _described(self, name: str, deadline: Deadline) -> dict[str, Any]:
        return self._remember(
            name, self._get(f"/v1/experiments/{bodies.experiment_name(name)}", deadline)
        )

    def add(self, experiment: str, arm: str) -> bool:
        """Add an arm.

        Args:
            experiment: The name of the experiment.
            arm: The label, which no arm of the experiment ever had.

        Returns:
            Whether the arm was added; False if it was open already.

        Raises:
            Refused: The arm is retired, or the arms of the experiment's policy cannot change.
            Away: The service did not answer in time. The same call again is safe.
        """
        return self._arm(experiment, "add", arm)

    def retire(self, experiment: str, arm: str) -> bool:
        """Stop choosing an arm. Its late rewards still count.

        Args:
            experiment: The name of the experiment.
            arm: The label.

        Returns:
            Whether the arm was open.

        Raises:
            Refused: There is no such arm, or the arms of the experiment's policy cannot change.
            Away: The service did not answer in time. The same call again is safe.
        """
        return self._arm(experiment, "retire", arm)

    def restore(self, experiment: str, arm: str) -> bool:
        """Choose a retired arm again. It continues with its statistics, as worn as it was.

        Args:
            experiment: The name of the experiment.
            arm: The label.

        Returns:
            Whether the arm was retired.

        Raises:
            Refused: There is no such arm, or the arms of the experiment's policy cannot change.
            Away: The service did not answer in time. The same call again is safe.
        """
        return self._arm(experiment, "restore", arm)

    def _arm(self, experiment: str, verb: str, arm: str) -> bool:
        data = {verb: bodies.text("arm", arm, bodies.LABEL)}
        answer = self._post(experiment, "arms", data, self._long_deadline())
        return bool(field(answer, "applied", bool))

    def change_policy(
        self,
        experiment: str,
        policy: Policy | Mapping[str, Any] | str | Path | None,
        *,
        horizon: int | None = None,
    ) -> dict[str, Any]:
        """Change the policy of an experiment. The new policy has learnt all earlier events.

        Args:
            experiment: The name of the experiment.
            policy: The policy, as for `create`; None is the recommended one.
            horizon: The number of decisions there will be, for a policy that needs it.

        Returns:
            A dict with the new `policy` and the `seq` of the change.

        Raises:
            Refused: The service does not accept the policy.
            Away: The service did not answer in time.
        """
        data = {"policy": bodies.policy_data(policy)}
        if horizon is not None:
            data["horizon"] = _checks.integer("horizon", horizon, least=1)
        return self._post(experiment, "policy", data, self._long_deadline())

    def learn(
        self,
        experiment: str,
        rows: Iterable[tuple[Any, ...] | Mapping[str, Any]] | Log,
        *,
        id: str | None = None,
    ) -> int:
        """Learn from history: pulls that were made elsewhere, in their order.

        The rows are sent in chunks, each within 60 times `timeout`.

        Args:
            experiment: The name of the experiment.
            rows: Tuples (arm, reward) or (arm, reward, key), dicts with these names, or a
                `rotting.logs.Log`. The keys of a log become new keys: its people are not recognised
                later.
            id: The `id` of the `Away` that an earlier call raised, to continue it with the same
                rows. No row is learnt twice.

        Returns:
            The number of rows.

        Raises:
            Refused: The service refused a chunk; a note says how many rows were learnt before, and
                with which `id` to continue.
            Away: The service went away; its `id` continues the call.
            ValueError: A row is malformed, or has no finite reward. Nothing is sent then.

        >>> import httpx
        >>> from rotting.client import Client
        >>> answer = {"id": "may-0", "rows": 2, "applied": True, "seq": 10}
        >>> service = httpx.MockTransport(lambda request: httpx.Response(200, json=answer))
        >>> Client(transport=service).learn("letter", [("short", 0.0), ("long", 1.0)], id="may")
        2
        """
        # 20 characters are left for the chunk's number
        whole = uuid.uuid4().hex if id is None else bodies.text("id", id, bodies.ID - 20)
        sent = 0
        for number, chunk in enumerate(bodies.packed(bodies.history(rows, whole))):
            data = {"id": f"{whole}-{number}", "rows": chunk}
            try:
                answer = self._post(experiment, "history", data, self._long_deadline())
                sent += int(field(answer, "rows", int))
            except Away as error:
                raise Away(f"{error}; {sent} rows arrived before", id=whole) from None
            except Refused as error:
                error.add_note(f"{sent} rows were learnt before; id={whole!r} goes on from there")
                raise
        return sent

    def erase(self, experiment: str, key: str) -> bool:
        """Erase a key for good.

        What was learnt from its rewards stays in the sums over all keys.

        Args:
            experiment: The name of the experiment.
            key: The key.

        Returns:
            Whether there was such a key.

        Raises:
            Refused: The API key may not erase, or there is no such experiment.
            Away: The service did not answer in time. The same call again is safe.
        """
        data = {"key": bodies.text("key", key, bodies.KEY)}
        answer = self._post(experiment, "erase", data, self._long_deadline())
        return bool(field(answer, "erased", bool))

    def events(self, experiment: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """The events of an experiment, in order. Pages are fetched while you iterate.

        Args:
            experiment: The name of the experiment.
            after: The number of an event; those after it are returned. Keep the `seq` of the last
                event that you read to continue from there later.

        Returns:
            An iterator of events, each a dict with `seq`, `at` and `kind` and more by kind.

        Raises:
            Refused: There is no such experiment, or the API key may not read.
            Away: The service did not answer in time.

        >>> import httpx
        >>> from rotting.client import Client
        >>> log = [{"seq": 1, "kind": "created"}, {"seq": 2, "kind": "arm_retired"}]
        >>> def service(request):
        ...     after = int(request.url.params["after"])
        ...     return httpx.Response(200, json={"events": log[after:], "last": 2})
        >>> client = Client(transport=httpx.MockTransport(service))
        >>> [event["kind"] for event in client.events("banner", after=1)]
        ['arm_retired']
        """
        path = f"/v1/experiments/{bodies.experiment_name(experiment)}/events"
        return self._pages(path, _checks.integer("after", after, least=0))

    def _pages(self, path: str, after: int) -> Iterator[dict[str, Any]]:
        while True:
            answer = self._get(path, self._long_deadline(), after=after, limit=_PAGE)
            page = field(answer, "events", list)
            for event in page:
                if field(event, "seq", int) <= after:
                    raise Away(f"events must come in order, got {event['seq']} after {after}")
                after = event["seq"]
                yield event
            if not page:
                return

    def export(self, experiment: str, path: str | Path, format: str | None = None) -> Path:
        """Write the decisions of an experiment to a file, one row each.

        The file is complete or not there. The answer must begin within 60 times `timeout`; after
        that it may take as long as rows keep coming.

        Args:
            experiment: The name of the experiment.
            path: The file; one that exists is replaced.
            format: "csv" or "parquet"; that of the file's ending if left out.

        Returns:
            The path of the file.

        Raises:
            Refused: There is no such experiment, or the API key may not read.
            Away: The service did not answer, or broke off.
            ValueError: The format is neither, or the folder does not exist.
            OSError: The file cannot be written.
        """
        target = Path(path)
        kind = target.suffix.removeprefix(".").lower() if format is None else format
        _checks.choice("format" if format else "ending of path", kind, _FORMATS)
        if not target.absolute().parent.is_dir():
            raise ValueError(f"path must be in a folder that exists, got {str(path)!r}")
        address = f"/v1/experiments/{bodies.experiment_name(experiment)}/export"
        part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
        deadline = self._long_deadline()

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
            self._caller.retried(once, deadline)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        return target

    def status(self) -> dict[str, Any]:
        """The state of the service.

        Returns:
            A dict with the `version`, whether the service is `ready`, the number of `experiments`
            and more.

        Raises:
            Refused: The API key is not valid.
            Away: The service did not answer in time.
        """
        return self._get("/v1/status", self._deadline())

    def ready(self) -> bool:
        """Whether the service answers and is ready. Never raises, and does not retry.

        >>> import httpx
        >>> from rotting.client import Client
        >>> away = httpx.MockTransport(lambda request: httpx.Response(503))
        >>> Client(transport=away).ready()
        False
        """
        try:
            answer = self._caller.request("GET", "/ready", self._deadline(), retries=0)
        except (Away, Refused):
            return False
        return isinstance(answer, dict) and answer.get("ready") is True

    # ------------------------------------------------------------------------------------- requests

    def _deadline(self) -> Deadline:
        return self._caller.deadline(self._timeout)

    def _long_deadline(self) -> Deadline:
        return self._caller.deadline(_LONG_CALL * self._timeout)

    def _post(
        self, experiment: str, what: str, data: Mapping[str, Any], deadline: Deadline
    ) -> dict[str, Any]:
        path = f"/v1/experiments/{bodies.experiment_name(experiment)}/{what}"
        return as_object(self._caller.request("POST", path, deadline, bodies.body(data)))

    def _get(self, path: str, deadline: Deadline, **query: str | int) -> dict[str, Any]:
        request = self._caller.request
        return as_object(request("GET", path, deadline, query=query or None, most=_LONG))

    def _post_batch(
        self,
        experiment: str,
        what: str,
        items: Sequence[Mapping[str, Any]],
        deadline: Deadline,
        retries: int | None = None,
    ) -> list[dict[str, Any] | Refused]:
        """The answers to a batch; it is sent again as a whole if some items were unavailable."""
        path = f"/v1/experiments/{bodies.experiment_name(experiment)}/{what}"

        def check(answers: Any) -> None:
            if not isinstance(answers, list) or len(answers) != len(items):
                raise Away(
                    f"{len(items)} items were sent, but the answer is not a list of {len(items)}"
                )
            for each in answers:
                error = each.get("error") if isinstance(each, dict) else None
                if isinstance(error, dict) and error.get("code") in AGAIN_CODES:
                    raise Later(f"part of the batch: {error['code']}")

        body = bodies.body(list(items))
        answers = self._caller.request("POST", path, deadline, body, check=check, retries=retries)
        return [refusal(as_object(each).get("error"), 200) or each for each in answers]

    def _remember(self, name: str, answer: Any) -> dict[str, Any]:
        found = as_object(answer)
        self._fallbacks.remember(name, found)
        return found


def _seconds(name: str, value: float | None) -> float | None:
    return None if value is None else _checks.number(name, value, above=0)
