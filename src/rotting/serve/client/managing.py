"""The client's calls that set up, change and look at experiments."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rotting import checks
from rotting.serve.client import sending
from rotting.serve.client.answers import Away, Refused
from rotting.serve.client.connection import Connection, field

if TYPE_CHECKING:
    from rotting.logs.log import Log
    from rotting.policies import Policy
    from rotting.serve.client.retrying import Deadline

_PAGE = 1000  # events
_FORMATS = ("csv", "parquet")


class Managing(Connection):
    """Calls that are made now and then: they may take up to 60 times `timeout`."""

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
        found = sending.labels("arms", arms)
        if not isinstance(audience, (bool, Mapping)):
            raise ValueError(f"audience must be True, False or a dict with rest, got {audience!r}")
        if default_reward is not None and reward_window is None:
            raise ValueError(f"default_reward must come with reward_window, got {default_reward!r}")
        if fallback is not None and fallback not in found:
            raise ValueError(f"fallback must be one of arms, got {fallback!r}")
        data = {
            "name": sending.experiment_name(name),
            "arms": found,
            "policy": sending.policy_data(policy),
            "audience": dict(audience) if isinstance(audience, Mapping) else audience or None,
            "control": checks.number("control", control, least=0, below=1) or None,
            "reward_window": _seconds("reward_window", reward_window),
            "default_reward": None
            if default_reward is None
            else checks.reward(default_reward, "default_reward"),
            "require_shown": checks.flag("require_shown", require_shown) or None,
            "shown_window": _seconds("shown_window", shown_window),
            "fallback": fallback,
            "seed": None if seed is None else checks.integer("seed", seed, least=0),
            "horizon": None if horizon is None else checks.integer("horizon", horizon, least=1),
        }
        given = {word: value for word, value in data.items() if value is not None}
        answer = self._caller.ask("POST", "/v1/experiments", self._patient(), sending.body(given))
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
            name, self._get(f"/v1/experiments/{sending.experiment_name(name)}", deadline)
        )

    def _remember(self, name: str, answer: Any) -> dict[str, Any]:
        """Nothing here; the client keeps the fallback."""
        raise NotImplementedError

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
        data = {verb: sending.text("arm", arm, sending.LABEL)}
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
        data = {"policy": sending.policy_data(policy)}
        if horizon is not None:
            data["horizon"] = checks.integer("horizon", horizon, least=1)
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
        whole = uuid.uuid4().hex if id is None else sending.text("id", id, sending.ID - 20)
        sent = 0
        for number, chunk in enumerate(sending.packed(sending.history(rows, whole))):
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
        data = {"key": sending.text("key", key, sending.KEY)}
        return bool(field(self._post(experiment, "erase", data, self._patient()), "erased", bool))

    def events(self, experiment: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """All events after this number, in order, fetched by the page while they are read.

        Remember `event["seq"]` of the last to go on from there later.
        """
        path = f"/v1/experiments/{sending.experiment_name(experiment)}/events"
        return self._pages(path, checks.integer("after", after, least=0))

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
        checks.choice("format" if format else "ending of path", kind, _FORMATS)
        if not target.absolute().parent.is_dir():
            raise ValueError(f"path must be in a folder that exists, got {str(path)!r}")
        address = f"/v1/experiments/{sending.experiment_name(experiment)}/export"
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


def _seconds(name: str, value: float | None) -> float | None:
    return None if value is None else checks.number(name, value, above=0)
