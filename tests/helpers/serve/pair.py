"""The service and the model side by side: every answer is compared, and the pages after it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from helpers.serve.caller import Caller
from helpers.serve.model import STATUS, Model, Reply

Open = Callable[[], tuple[Caller, Callable[[], None]]]  # a caller, and what closes it
COUNTS = ("decisions", "pulls", "rewards", "outstanding", "late", "missing", "unshown", "audience")


def close(a: float | None, b: float | None) -> bool:
    """Equal up to rounding."""
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


class Clock:
    """A time that stands still until it is moved."""

    def __init__(self, now: float = 1_790_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Pair:
    """A service at work, and the model of it."""

    def __init__(self, opening: Open, clock: Clock) -> None:
        self.opening, self.clock, self.model = opening, clock, Model()
        self.service, self.closing = opening()
        self.events: dict[str, list[dict[str, Any]]] = {}
        self.compared = 0  # the number of the last event that was compared

    def end(self) -> None:
        self.closing()

    def restart(self) -> None:
        """Stop the service, start it again, and compare everything."""
        self.closing()
        self.service, self.closing = self.opening()
        for name, events in self.events.items():
            found = self._events(name, 0)
            assert found[: len(events)] == events, f"events of {name} changed by a restart"
        self.events, self.compared = {name: [] for name in self.events}, 0
        self.compare()

    # ------------------------------------------------------------------------------- requests

    def create(self, body: Any) -> tuple[int, Any]:
        status, answer = self.service.post("/v1/experiments", body)
        self._same(self.model.create(body, self.clock()), status, answer, body)
        if status == 201:
            self.events[body["name"]] = []
        return status, answer

    def post(self, verb: str, name: str, body: Any) -> Any:
        """Send it, let the model choose as the service did, and compare."""
        status, answer = self.service.post(f"/v1/experiments/{name}/{verb}", body)
        answers = answer if isinstance(answer, list) else [answer]
        arms = {a["id"]: a["arm"] for a in answers if "arm" in a and "id" in a}

        def choose(decision: str, allowed: list[str]) -> str:
            assert decision in arms, f"{decision} in {body} was refused, but {allowed} are open"
            return str(arms[decision])

        reply = self.model.post(verb, name, body, self.clock(), choose)
        self._same(reply, status, answer, body)
        return answer

    def _same(self, reply: Reply, status: int, answer: Any, body: Any) -> None:
        where = f"asked {body!r:.500}, answered {status} {answer!r:.500}, expected {reply!r:.500}"
        if reply.codes:
            code = answer.get("error", {}).get("code") if isinstance(answer, dict) else None
            assert code in reply.codes, where
            assert status == STATUS.get(code, 413), where
            assert answer["error"]["message"], where
            return
        assert status == reply.status, where
        if not isinstance(reply.body, list):
            self._fields(reply.body, answer, where)
            return
        assert isinstance(answer, list), where
        assert len(answer) == len(reply.body), where
        for item, one in zip(reply.body, answer, strict=True):
            if item.codes:
                assert one.get("error", {}).get("code") in item.codes, f"{one}, {item}: {where}"
            else:
                self._fields(item.body, one, where)

    @staticmethod
    def _fields(wanted: dict[str, Any], answer: dict[str, Any], where: str) -> None:
        assert "error" not in answer, where
        for name, value in wanted.items():
            assert name in answer, f"{name} is missing: {where}"
            assert answer[name] == value, f"{name}: {where}"

    def wait(self, seconds: float) -> None:
        """Time goes by, and what was waiting for it happens in the service and in the model."""
        self.clock.now += seconds
        self.service.tick()
        self.model.wait(self.clock())

    # ------------------------------------------------------------------------------ comparing

    def compare(self) -> None:
        """The pages and the events of all experiments against the model."""
        last = self.compared
        found = []
        for name, known in self.events.items():
            self.compare_page(name)
            new = self._events(name, last)
            known += new
            found += new
        found.sort(key=lambda event: int(event["seq"]))
        wanted = self.model.events[last:]
        numbers = [event["seq"] for event in found]
        assert numbers == [event["seq"] for event in wanted], f"{numbers} after {last}"
        for event, expected in zip(found, wanted, strict=True):
            for field in (event.keys() & expected.keys()) - {"key"}:  # any number may stand for it
                assert event[field] == expected[field], (event, expected)
        self.compared = self.model.seq

    def compare_page(self, name: str) -> None:
        status, page = self.service.get(f"/v1/experiments/{name}")
        assert status == 200, page
        wanted = self.model.page(name)
        for field in COUNTS:
            assert page[field] == wanted[field], f"{name}.{field}: {page[field]}, {wanted[field]}"
        assert close(page["mean"], wanted["mean"]), f"{name}.mean: {page['mean']}, {wanted['mean']}"
        arms = {arm["arm"]: arm for arm in page["arms"]}
        assert list(arms) == list(wanted["arms"]), name
        for arm, fields in wanted["arms"].items():
            for field in ("open", "pulls", "observed"):
                where = f"{name}.{arm}.{field}: {arms[arm][field]}, expected {fields[field]}"
                assert arms[arm][field] == fields[field], where
            assert close(arms[arm]["mean"], fields["mean"]), (name, arm, arms[arm], fields)

    def _events(self, name: str, after: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            path = f"/v1/experiments/{name}/events?after={after}&limit=1000"
            status, page = self.service.get(path)
            assert status == 200, page
            if not page["events"]:
                return found
            found += page["events"]
            after = found[-1]["seq"]
