"""A stand-in for the service: the page's files with their headers, and made-up JSON.

`python tests/helpers/serve/fake_service.py [port]` shows the page; one experiment changes as time
passes.
"""

from __future__ import annotations

import json
import mimetypes
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[2]))

from helpers.serve.made_experiments import START, Answer, experiment, summary, zoo

STATIC = Path(__file__).parents[3] / "src" / "rotting" / "_serve" / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


class FakeService:
    """The service as the page sees it; tests change what it says while it runs."""

    def __init__(self, experiments: dict[str, Answer] | None = None) -> None:
        self.experiments = {} if experiments is None else experiments
        self.keys: dict[str, set[str]] = {}  # roles by key; no key is needed while empty
        self.trouble: tuple[int, str, str] | None = None  # what every request of the API gets
        self.asked: list[str] = []
        self._server: ThreadingHTTPServer | None = None
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/"

    def start(self, port: int = 0) -> FakeService:
        service = self

        class Handler(_Handler):
            fake = service

        self._server = ThreadingHTTPServer(("127.0.0.1", port or self._port), Handler)
        self._server.daemon_threads = True
        self._port = self._server.server_port
        run = self._server.serve_forever
        threading.Thread(target=run, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def stop(self) -> None:
        """Goes away; `start` brings it back at the same address."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def answer(self, path: str, query: dict[str, list[str]], key: str) -> tuple[int, Any]:
        if self.trouble is not None:
            status, code, message = self.trouble
            return status, _error(code, message)
        if path == "/v1/status":
            return 200, {
                "version": "0.17.0", "started": START, "now": START + 9, "ready": True,
                "reason": None, "seq": 1, "experiments": len(self.experiments),
                "keys_required": bool(self.keys),
            }  # fmt: skip
        if self.keys and key not in self.keys:
            return 401, _error("unauthorized", "a key is needed")
        if self.keys and not self.keys[key] & {"read", "admin"}:
            return 403, _error("forbidden", "this key may not do that: it needs read")
        if path == "/v1/experiments":
            return 200, {"experiments": [summary(one) for one in self.experiments.values()]}
        parts = path.removeprefix("/v1/experiments/").split("/")
        one = self.experiments.get(urllib.parse.unquote(parts[0]))
        if one is None:
            return 404, _error("not_found", f"no experiment {parts[0]!r}")
        if parts[1:] == ["events"]:
            seq = int(query["after"][0]) + 1
            return 200, {"events": [{"seq": seq, "at": START + 60, "kind": "policy_changed"}],
                         "last": one["seq"]}  # fmt: skip
        return 200, one


def _error(code: str, message: str) -> Answer:
    return {"error": {"code": code, "message": message}}


class _Handler(BaseHTTPRequestHandler):
    fake: FakeService

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        self.fake.asked.append(self.path)
        if url.path.startswith("/v1/"):
            key = self.headers.get("Authorization", "").removeprefix("Bearer ")
            status, body = self.fake.answer(url.path, urllib.parse.parse_qs(url.query), key)
            self._send(status, "application/json", json.dumps(body).encode())
            return
        name = "index.html" if url.path == "/" else url.path.removeprefix("/static/")
        file = (STATIC / name).resolve()
        if not file.is_file() or not file.is_relative_to(STATIC):
            self._send(404, "application/json", json.dumps(_error("not_found", "")).encode())
            return
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        self._send(200, kind, file.read_bytes())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": POLICY,
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """No log on stderr: requests are kept in `asked`."""


def main() -> None:
    service = FakeService(zoo()).start(int(sys.argv[1]) if len(sys.argv) > 1 else 8101)
    print(service.url)
    minutes = 90
    while True:  # a minute of the experiment every two seconds
        time.sleep(2)
        minutes += 1
        arms = [row["arm"] for row in service.experiments["banner"]["arms"]]
        service.experiments["banner"] = experiment("banner", arms, minutes=minutes)


if __name__ == "__main__":
    main()
