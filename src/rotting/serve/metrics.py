"""Figures for Prometheus, read off the service when somebody asks."""

from __future__ import annotations

import bisect
import itertools
import logging
import time
from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from rotting.serve.access import Who
from rotting.serve.journal import Journal

_LOG = logging.getLogger("rotting.serve.requests")
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Metrics:
    """Counts of requests as they come, in plain lists; everything else as it is when asked."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._registry = CollectorRegistry()
        self._registry.register(self)
        self._counts: dict[tuple[str, int], int] = {}
        self._times: dict[str, list[int]] = {}  # how many took so long, by verb
        self._sums: dict[str, float] = {}

    def note(self, verb: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self._counts[verb, status] = self._counts.get((verb, status), 0) + 1
        times = self._times.get(verb)
        if times is None:
            times = self._times[verb] = [0] * (len(_SECONDS) + 1)
        times[bisect.bisect_left(_SECONDS, seconds)] += 1
        self._sums[verb] = self._sums.get(verb, 0.0) + seconds
        if status >= 500 or _LOG.isEnabledFor(logging.DEBUG):
            level = logging.WARNING if status >= 500 else logging.DEBUG
            _LOG.log(level, "%s %d in %.1f ms", verb, status, 1000.0 * seconds)

    def collect(self) -> Iterator[Any]:
        """What Prometheus' library asks for."""
        requests = CounterMetricFamily("rotting_requests", "Requests", labels=["verb", "status"])
        for (verb, status), count in self._counts.items():
            requests.add_metric([verb, str(status)], count)
        yield requests
        took = HistogramMetricFamily("rotting_request_seconds", "Time to answer", labels=["verb"])
        for verb, times in self._times.items():
            bounds = [*map(str, _SECONDS), "+Inf"]
            total = itertools.accumulate(times)
            took.add_metric([verb], list(zip(bounds, total, strict=True)), self._sums[verb])
        yield took

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
