"""Which tests reach a line, and how long each of them takes.

Every test is played once, in plain Python, under coverage. A mutant then needs only the tests that
reach its line, the quickest first. What was found for a test file is kept in out/mutation until
that file or a module that is mutated changes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mutation.sites import ROOT, SOURCE, file_of

KEPT = ROOT / "out" / "mutation"
LONGEST = 4.0  # seconds of processor time: a test that takes more is not used


class Reach:
    """Lines that tests reach: {file: {line: [test, ...]}}, and the seconds of each test."""

    def __init__(self) -> None:
        self.lines: dict[str, dict[int, list[str]]] = {}
        self.seconds: dict[str, float] = {}

    def add(self, found: dict[str, Any]) -> None:
        """What was found for one file of tests."""
        self.seconds |= found["seconds"]
        for file, lines in found["lines"].items():
            into = self.lines.setdefault(file, {})
            for line, tests in lines.items():
                into.setdefault(int(line), []).extend(tests)

    def of_line(self, module: str, line: int) -> list[str]:
        """The tests that reach a line, the quickest first."""
        return self._quickest_first(self._of(module).get(line, ()))

    def of_module(self, module: str) -> list[str]:
        """The tests that reach any line of a module."""
        return self._quickest_first(t for tests in self._of(module).values() for t in tests)

    def _of(self, module: str) -> dict[int, list[str]]:
        return self.lines.get(str(file_of(module).relative_to(SOURCE)), {})

    def _quickest_first(self, tests: Any) -> list[str]:
        return sorted(set(tests), key=lambda test: (self.seconds[test], test))


def measure(
    items: Sequence[Any],
    play: Callable[[Any], bool],
    modules: Sequence[str],
    say: Callable[[str], None],
) -> Reach:
    """The reach of all tests; those known from before are not played again.

    `play` plays a test in this process and says whether it passed.
    """
    KEPT.mkdir(parents=True, exist_ok=True)
    code = hashlib.sha256(b"".join(file_of(name).read_bytes() for name in modules))
    reach = Reach()
    by_file: dict[str, list[Any]] = {}
    for item in items:
        by_file.setdefault(item.nodeid.split("::")[0], []).append(item)
    for file, tests in by_file.items():
        mark = code.copy()
        mark.update(f"{file} {LONGEST}".encode() + (ROOT / file).read_bytes())
        kept = KEPT / f"reach-{mark.hexdigest()[:24]}.json"
        if not kept.exists():
            say(f"which lines does {file} reach?")
            _watch_all(tests, play, modules, kept)
        reach.add(json.loads(kept.read_text()))
    return reach


def _watch_all(
    tests: Sequence[Any], play: Callable[[Any], bool], modules: Sequence[str], kept: Path
) -> None:
    """Play each test in a separate fork, and record the lines it reaches."""
    found: dict[str, Any] = {"lines": {}, "seconds": {}}
    partial = kept.with_suffix(f".{os.getpid()}")
    for item in tests:
        partial.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            _watch(item, play, [str(file_of(name)) for name in modules], partial)
        os.waitpid(child, 0)
        if not partial.exists():  # it failed or took too long: it cannot kill a mutant
            continue
        one = json.loads(partial.read_text())
        found["seconds"][item.nodeid] = one["seconds"]
        for source, lines in one["lines"].items():
            for line in lines:
                found["lines"].setdefault(source, {}).setdefault(line, []).append(item.nodeid)
    partial.write_text(json.dumps(found))
    partial.replace(kept)


def _watch(item: Any, play: Callable[[Any], bool], files: Sequence[str], out: Path) -> None:
    """Play a test under coverage; ends this process. Past its time the signal ends it."""
    import signal
    import time

    import coverage

    try:
        watch = coverage.Coverage(data_file=None, config_file=False, include=list(files))
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        started = time.process_time()
        watch.start()
        passed = play(item)
        watch.stop()
        seconds = time.process_time() - started
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        if passed:
            data = watch.get_data()
            lines = {
                str(Path(source).relative_to(SOURCE)): data.lines(source)
                for source in data.measured_files()
            }
            out.write_text(json.dumps({"lines": lines, "seconds": round(seconds, 4)}))
    finally:
        os._exit(0)
