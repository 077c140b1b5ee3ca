"""The signals that ask the work to stop."""

from __future__ import annotations

import signal

# Ctrl-C, what service managers and schedulers send, a terminal that closes. Not every operating
# system knows them all.
STOPS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
