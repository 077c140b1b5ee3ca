"""The commands on the pages about the service run against a real server, in order.

A ```bash block that starts `rotting serve` (re)starts the server; any other runs as it is, with the
port replaced. A ```json block after it has the shape of what came out. A line that ends with
`# refused` must fail. ```python blocks of a page share a namespace, and a ```toml block whose first
line is a file's name becomes that file.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

import rotting
from helpers.page_blocks import SERVING, blocks
from rotting._cli import app

START = re.compile(r"rotting serve( --(?!check|verify)[\w-]+( [^-\s]\S*)?)*")
PLAIN = re.compile(r"(rotting [^|$;&<>]*( > [\w.]+)?\n)+")  # lines that need no shell
PROMISED = re.compile(r"[^#]*?\b(?:says|ends with) `([^`]+)`")  # in the prose after a block
EXACT = ("code", "message", "field", "what", "kind")  # whose texts must be those of the page


class Running:
    """A server that is started, and started again, as a page says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as made:
            made.bind(("127.0.0.1", 0))
            self.port = int(made.getsockname()[1])
        self.process: subprocess.Popen[bytes] | None = None
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        code = str(Path(rotting.__file__).parents[1])  # this one, wherever commands are run
        self.environ = {**os.environ, "PATH": path, "PYTHONPATH": code, "COLUMNS": "200"}
        self.environ["ROTTING_SERVE_COMPILED"] = "false"  # to compile takes too long
        (folder / "bin").mkdir()
        shim = folder / "bin" / "rotting"
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rotting "$@"\n')
        shim.chmod(0o755)

    def start(self, command: str) -> None:
        """Stop the one that runs, and start this one."""
        self.stop()
        words = [sys.executable, "-m", *command.split(), "--port", str(self.port)]
        self.process = subprocess.Popen(words, cwd=self.folder, env=self.environ)
        for _ in range(300):
            assert self.process.poll() is None, f"{command} has ended"
            try:
                with urlopen(f"http://127.0.0.1:{self.port}/ready", timeout=5):
                    return
            except (URLError, ConnectionError, TimeoutError):
                time.sleep(0.05)
        raise AssertionError(f"{command} is not ready")

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            assert self.process.wait(30) == 0
            self.process = None

    def here(self, text: str) -> str:
        """A block with the port of this server."""
        return re.sub(r"(127\.0\.0\.1:|port = )8100", rf"\g<1>{self.port}", text)

    def run(self, text: str) -> str:
        """What the commands of a block print; it must be refused where the page says so."""
        refused = text.rstrip().endswith("# refused")
        if PLAIN.fullmatch(text):
            return "".join(self.call(line, refused) for line in text.splitlines())
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.here(text)],
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode != 0) == refused, f"{text}{done.stdout}{done.stderr}"
        return done.stdout + (done.stderr if refused else "")

    def call(self, line: str, refused: bool) -> str:
        """What a command of ours prints, called in this process: a start takes a second."""
        words, _, target = line.partition(" > ")
        done = CliRunner().invoke(app, shlex.split(words, comments=True)[1:], env=self.environ)
        assert (done.exit_code != 0) == refused, f"{line}\n{done.output}\n{done.exception!r}"
        if target:
            (self.folder / target).write_text(done.stdout)
        return done.output


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    version = subprocess.run(["curl", "--version"], capture_output=True, text=True).stdout.split()
    if tuple(map(int, version[1].split(".")[:2])) < (7, 82):
        pytest.skip("needs curl 7.82 or later, for --json")
    monkeypatch.chdir(tmp_path)
    made = Running(tmp_path)
    yield made
    if made.process is not None:
        made.process.kill()
        made.process.wait()


def values(text: str) -> list[Any]:
    """All JSON values that stand one after another in a text."""
    found, place = [], 0
    while text[place:].strip():
        place += len(text[place:]) - len(text[place:].lstrip())
        value, place = json.JSONDecoder().raw_decode(text, place)
        found.append(value)
    return found


def shape(value: Any, name: str = "") -> Any:
    """What must be the same in a page and in an answer: keys, kinds, yes and no, refusals."""
    if isinstance(value, dict):
        return {key: shape(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value if name in EXACT else "text"
    return "number"


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
@pytest.mark.skipif(sys.platform == "win32", reason="needs bash")
@pytest.mark.parametrize("page", SERVING, ids=lambda page: page.name)
def test_the_page_does_what_it_says(page: Path, running: Running) -> None:
    scope: dict[str, object] = {"__name__": "page"}
    printed, checked = "", 0
    for block in blocks(page.read_text()):
        text = block.text.strip()
        if block.language == "python":
            exec(compile(running.here(text), page.name, "exec"), scope)
        elif block.language == "toml":
            (running.folder / text.split()[1]).write_text(running.here(text))
        elif block.language == "json":
            shown, came = values(text), values(printed)
            assert shape(shown) == shape(came), f"{text}\nis shown, but this came:\n{printed}"
            checked += 1
        elif block.language == "bash" and START.fullmatch(text):
            running.start(text)
            checked += 1
        elif block.language == "bash":
            printed = running.run(block.text)
            promised = PROMISED.match(block.after)
            if promised:
                said = running.here(promised[1])
                assert said in printed, f"{said!r} is not in\n{printed}"
            checked += 1
    running.stop()
    assert checked > 5


def test_what_is_checked_can_fail() -> None:
    """A page that shows another key, another answer or another refusal is found out."""
    said = [{"decision": "a", "applied": True, "seq": 3}]
    assert shape(said) == shape([{"decision": "b", "applied": True, "seq": 9}])
    assert shape(said) != shape([{"decision": "a", "applied": False, "seq": 3}])
    assert shape(said) != shape([{"decision": "a", "applied": True}])
    assert shape({"error": {"code": "conflict"}}) != shape({"error": {"code": "expired"}})
    assert values('{"a": 1}{"a": 2}\n[3]') == [{"a": 1}, {"a": 2}, [3]]
    assert START.fullmatch("rotting serve --data x.db --demo")
    assert not START.fullmatch("rotting serve --data x.db --check")
    assert not START.fullmatch("rotting serve backup --data x.db --to y.db")
