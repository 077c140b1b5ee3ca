"""Notes of the library, on the terminal and with --verbose."""

from __future__ import annotations

import io
import logging
import sys
import warnings

import pytest

from rotting._cli import notices


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "verbose", "expected"),
    [
        (io.StringIO(), False, ""),
        (io.StringIO(), True, "rotting: compiling A\n"),
        (Terminal(), False, "rotting: compiling A\n"),
    ],
)
def test_notes_are_for_people_who_watch_or_ask(
    stream: io.StringIO, verbose: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = logging.getLogger("rotting")
    before = (log.level, list(log.handlers), warnings.formatwarning)
    monkeypatch.setattr(sys, "stderr", stream)
    with notices.shown(verbose):
        log.info("compiling %s", "A")
    log.info("nobody asked")
    assert stream.getvalue() == expected
    assert (log.level, list(log.handlers), warnings.formatwarning) == before


def test_a_warning_is_one_line() -> None:
    with notices.shown(verbose=False):
        shown = warnings.formatwarning("no place", RuntimeWarning, "file.py", 3)
    assert shown == "rotting: no place\n"
