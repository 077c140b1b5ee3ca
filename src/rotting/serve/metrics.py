"""Figures for Prometheus, read off the service when somebody asks."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from rotting.serve.access import Who
from rotting.serve.journal import Journal

_LOG = logging.getLogger("rotting.serve.requests")
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
_VERBS = ("decisions", "rewards", "shown", "arms", "policy", "history", "erase", "events", "export")


class Metrics:
    """Counts of requests as they come; everything else as it is when asked."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "rotting_requests", "Requests", ["verb", "status"], registry=self._registry
        )
        self._took = Histogram(
            "rotting_request_seconds",
            "Time to answer",
            ["verb"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._counts: dict[tuple[str, int], Any] = {}
        self._times: dict[str, Any] = {}

    def note(self, scope: Any, status: int, seconds: float) -> None:
        """A request was answered."""
        verb = verb_of(scope["path"])
        known = self._counts.get((verb, status))
        if known is None:
            known = self._counts[verb, status] = self._requests.labels(verb, str(status))
        known.inc()
        took = self._times.get(verb)
        if took is None:
            took = self._times[verb] = self._took.labels(verb)
        took.observe(seconds)
        if _LOG.isEnabledFor(logging.DEBUG) or status >= 500:
            about = {"method": scope["method"], "verb": verb, "status": status}
            _LOG.log(
                logging.WARNING if status >= 500 else logging.DEBUG,
                "request %s",
                json.dumps({**about, "ms": round(1000 * seconds, 2)}),
            )

    def text(self, who: Who) -> tuple[bytes, str]:
        """All figures that somebody may see."""
        registry = CollectorRegistry()

        def gauge(name: str, words: str, value: float) -> None:
            Gauge(name, words, registry=registry).set(value)

        journal = self._journal
        gauge("rotting_ready", "Whether events can be written", journal.reason is None)
        gauge("rotting_commits", "Commits since the start", journal.commits)
        gauge("rotting_failures", "Times that writing failed since the start", journal.failures)
        gauge("rotting_time_seconds", "Time of this answer", time.time())
        if journal.book is not None:
            gauge("rotting_events", "The last event's number", journal.book.committed)
            fields = ("decisions", "pulls", "rewards", "late", "missing", "unshown", "keys")
            made = {
                name: Gauge(f"rotting_{name}", name, ["experiment"], registry=registry)
                for name in (*fields, "outstanding")
            }
            for one in journal.book.experiments.values():
                if who.sees(one.name):
                    for name in fields:
                        made[name].labels(one.name).set(getattr(one.counts, name))
                    waiting = len(one.waiting) + len(one.unshown)
                    made["outstanding"].labels(one.name).set(waiting)
        return generate_latest(self._registry) + generate_latest(registry), CONTENT_TYPE_LATEST


def verb_of(path: str) -> str:
    """What a path asks for, with a bounded number of answers.

    >>> verb_of("/v1/experiments/banner/decisions"), verb_of("/v1/experiments"), verb_of("/x")
    ('decisions', 'experiments', 'other')
    """
    parts = path.strip("/").split("/")
    if parts[:2] == ["v1", "experiments"]:
        if len(parts) == 4:
            return parts[3] if parts[3] in _VERBS else "other"
        return "experiments" if len(parts) == 2 else "experiment"
    known = ("health", "ready", "metrics", "", "static")
    return (parts[0] or "page") if parts[0] in known else "other"
