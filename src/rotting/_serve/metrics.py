"""Metrics for Prometheus."""

from __future__ import annotations

import bisect
import itertools
import logging
from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from rotting._serve.access import Who
from rotting._serve.journal import Journal

_LOG = logging.getLogger("rotting.serve.requests")
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Metrics:
    """Counts of requests; all other metrics are read from the service on demand."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._registry = CollectorRegistry()
        self._registry.register(self)
        self._counts: dict[tuple[str, int], int] = {}
        self._times: dict[str, list[int]] = {}  # histogram counts by verb, bounds in `_SECONDS`
        self._sums: dict[str, float] = {}

    def note(self, verb: str, status: int, seconds: float) -> None:
        """Count an answered request."""
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
        """All metrics that a sender may see, and their content type."""
        registry = CollectorRegistry()
        registry.register(Figures(self._journal, who))
        return generate_latest(self._registry) + generate_latest(registry), CONTENT_TYPE_LATEST


class Figures:
    """Metrics of the service as it is now, for the experiments that a sender may see."""

    def __init__(self, journal: Journal, who: Who) -> None:
        self._journal, self._who = journal, who

    def collect(self) -> Iterator[Any]:
        journal = self._journal
        ready = journal.reason is None
        yield GaugeMetricFamily("rotting_ready", "Whether events can be written", float(ready))
        yield CounterMetricFamily("rotting_commits", "Commits", journal.commits)
        yield CounterMetricFamily("rotting_failures", "Times writing failed", journal.failures)
        yield GaugeMetricFamily(
            "rotting_clock_offset_seconds", "Service time ahead of the clock", journal.clock.offset
        )
        yield CounterMetricFamily("rotting_clock_jumps", "Jumps of the clock", journal.clock.jumps)
        book = journal.book
        if book is None:
            return
        yield CounterMetricFamily("rotting_events", "The last event's number", book.committed)
        seen = [one for one in book.experiments.values() if self._who.sees(one.name)]
        for name in ("decisions", "pulls", "rewards", "late", "missing", "unshown", "history"):
            made = CounterMetricFamily(f"rotting_{name}", name, labels=["experiment"])
            for one in seen:
                made.add_metric([one.name], getattr(one.counts, name))
            yield made
        waiting = GaugeMetricFamily("rotting_outstanding", "not closed yet", labels=["experiment"])
        keys = GaugeMetricFamily("rotting_keys", "keys known", labels=["experiment"])
        for one in seen:
            waiting.add_metric([one.name], len(one.waiting) + len(one.unshown))
            known = one.player.core.keys
            keys.add_metric([one.name], 0 if known is None else len(known.numbers))
        yield waiting
        yield keys
