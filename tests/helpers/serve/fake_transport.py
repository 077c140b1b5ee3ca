"""A small fake of `rotting serve` behind an httpx transport, with its own clock and faults."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import httpx

from rotting._serve.client import Client

STATUSES = {"bad_request": 400, "not_found": 404, "conflict": 409, "forbidden": 403}


class Time:
    """A clock that moves only when the client sleeps or the service is slow."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Wrong(Exception):  # noqa: N818
    def __init__(self, code: str, message: str = "no", field: str | None = None) -> None:
        self.error = {"code": code, "message": message, "field": field}


class Fake:
    """Decides round robin. `lose` replies are lost after the work was done; `answers` are given
    first, in place of work; `away` refuses connections; `slow` seconds pass before an answer."""

    def __init__(self) -> None:
        self.time = Time()
        self.lock = threading.Lock()
        self.requests: list[httpx.Request] = []
        self.lose = 0
        self.answers: list[httpx.Response] = []
        self.away = False
        self.slow = 0.0
        self.experiments: dict[str, dict[str, Any]] = {}
        self.decisions: dict[str, tuple[Any, dict[str, Any]]] = {}
        self.rewards: dict[str, float] = {}
        self.history: dict[str, list[Any]] = {}
        self.reported: list[dict[str, Any]] = []  # arms that clients showed by their own choice
        self.seq = 0
        self.before: Callable[[str], None] = lambda path: None

    def client(self, key: str | None = None, *, jitter: float = 1.0, **settings: Any) -> Client:
        """A client of this service, in its time; it waits that share of the longest pause."""
        client = Client("http://fake", key, transport=httpx.MockTransport(self), **settings)
        client._caller.clock = client._breaker.clock = self.time.clock
        client._caller.sleep = self.time.sleep
        client._caller.uniform = lambda low, high: low + jitter * (high - low)
        return client

    def paths(self, end: str = "") -> list[str]:
        return [r.url.path for r in self.requests if r.url.path.endswith(end)]

    def bodies(self, end: str) -> list[Any]:
        return [json.loads(r.content) for r in self.requests if r.url.path.endswith(end)]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.before(request.url.path)
        with self.lock:
            return self._answer(request)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        patience = request.extensions["timeout"]
        if self.away:
            raise httpx.ConnectError("connection refused", request=request)
        if self.slow > patience["read"]:
            self.time.now += patience["read"]
            raise httpx.ReadTimeout("slow", request=request)
        self.time.now += self.slow
        if self.answers:
            return self.answers.pop(0)
        answer = self._worked(request)
        if self.lose:
            self.lose -= 1
            raise httpx.ReadError("connection reset", request=request)
        return answer

    def _worked(self, request: httpx.Request) -> httpx.Response:
        try:
            if request.method == "GET":
                return self._get(request)
            assert request.headers["content-type"] == "application/json"
            assert len(request.content) <= 2**20
            body = json.loads(request.content)
            parts = request.url.path.split("/")
            if len(parts) == 3:
                return self._create(body)
            experiment = self._found(parts[3])
            work = getattr(self, f"_{parts[4]}")
            if not isinstance(body, list):
                return httpx.Response(200, json=work(experiment, body))
            assert 1 <= len(body) <= 1000
            return httpx.Response(200, json=[self._item(work, experiment, item) for item in body])
        except Wrong as wrong:
            status = STATUSES[wrong.error["code"] or ""]
            return httpx.Response(status, json={"error": wrong.error})

    def _item(self, work: Any, experiment: Any, item: Any) -> Any:
        try:
            return work(experiment, item)
        except Wrong as wrong:
            return {"error": wrong.error}

    def _found(self, name: str) -> dict[str, Any]:
        if name not in self.experiments:
            raise Wrong("not_found", f"no experiment {name}")
        return self.experiments[name]

    def _create(self, body: dict[str, Any]) -> httpx.Response:
        known = self.experiments.get(body["name"])
        if known is not None and known["body"] != body:
            raise Wrong("conflict", "another experiment has this name", "name")
        made = {"body": body, "open": dict.fromkeys(body["arms"], True), "policy": "ucb1"}
        self.experiments.setdefault(body["name"], made)
        return httpx.Response(201 if known is None else 200, json=self._described(body["name"]))

    def _described(self, name: str) -> dict[str, Any]:
        body = self._found(name)["body"]
        return {"name": name, "fallback": body.get("fallback"), "seq": self.seq, "arms": []}

    def _get(self, request: httpx.Request) -> httpx.Response:
        parts = request.url.path.split("/")
        if parts[1] == "ready":
            return httpx.Response(200, json={"ready": True})
        if parts[2] == "status":
            return httpx.Response(200, json={"version": "1", "ready": True, "seq": self.seq})
        if len(parts) == 3:
            return httpx.Response(
                200, json={"experiments": [{"name": n} for n in self.experiments]}
            )
        if len(parts) == 4:
            return httpx.Response(200, json=self._described(parts[3]))
        self._found(parts[3])
        if parts[4] == "export":
            rows = "".join(f"{id},{d[1]['arm']}\n" for id, d in self.decisions.items())
            return httpx.Response(200, content=f"id,arm\n{rows}".encode())
        after, limit = (int(request.url.params[word]) for word in ("after", "limit"))
        seqs = [seq for seq in range(1, self.seq + 1) if seq > after][:limit]
        events = [{"seq": seq, "at": 0.0, "kind": "decided"} for seq in seqs]
        return httpx.Response(200, json={"events": events, "last": self.seq})

    def _decisions(self, experiment: Any, body: Any) -> Any:
        if body["id"] in self.decisions:
            before, answer = self.decisions[body["id"]]
            if before != body:
                raise Wrong("conflict", "this id was another decision", "id")
            return answer
        if body.get("key") == "nobody":
            raise Wrong("bad_request", "nobody is not welcome", "key")
        allowed = body.get("among") or [
            arm for arm, is_open in experiment["open"].items() if is_open
        ]
        self.seq += 1
        arm = allowed[self.seq % len(allowed)]
        answer = {"id": body["id"], "arm": arm, "pull": 1, "key": body.get("key"), "seq": self.seq}
        self.decisions[body["id"]] = body, answer
        return answer

    def _shown(self, experiment: Any, body: Any) -> Any:
        if "arm" in body:
            self.reported.append(body)
            wanted = {"id": body["decision"], "key": body.get("key")}
            answer = {**wanted, "arm": body["arm"], "pull": 1, "seq": self.seq}
            before, _ = self.decisions.get(body["decision"], (wanted, None))
            self.decisions[body["decision"]] = before, answer
        if body["decision"] not in self.decisions:
            raise Wrong("not_found", "no such decision", "decision")
        return {"decision": body["decision"], "pull": 1, "seq": self.seq}

    def _rewards(self, experiment: Any, body: Any) -> Any:
        id, reward = body["decision"], body["reward"]
        if id not in self.decisions:
            raise Wrong("not_found", "no such decision", "decision")
        if self.rewards.get(id, reward) != reward:
            raise Wrong("conflict", "another reward came before", "reward")
        applied = id not in self.rewards
        self.rewards[id] = reward
        return {"decision": id, "applied": applied, "seq": self.seq}

    def _arms(self, experiment: Any, body: Any) -> Any:
        ((verb, arm),) = body.items()
        if verb != "add" and arm not in experiment["open"]:
            raise Wrong("not_found", "no such arm")
        is_open = verb != "retire"
        applied = experiment["open"].get(arm) is not is_open
        experiment["open"][arm] = is_open
        return {"arm": arm, "open": is_open, "applied": applied, "seq": self.seq}

    def _policy(self, experiment: Any, body: Any) -> Any:
        experiment["policy"] = body
        return {"policy": {"name": "new"}, "seq": self.seq}

    def _history(self, experiment: Any, body: Any) -> Any:
        assert 1 <= len(body["rows"]) <= 1000
        applied = body["id"] not in self.history
        self.history.setdefault(body["id"], body["rows"])
        return {"id": body["id"], "rows": len(body["rows"]), "applied": applied, "seq": self.seq}

    def _erase(self, experiment: Any, body: Any) -> Any:
        return {"erased": body["key"] == "ann", "seq": self.seq}
