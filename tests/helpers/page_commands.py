"""Commands as pages show them: how a line is read, and how it is checked.

Commands of ours are run, in a folder of the page's own, in this process: a start takes a second.
Those that cannot be run here are listed with the reason, and at least their options exist.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

from typer.testing import CliRunner

import rotting.logs
from helpers.page_blocks import ROOT
from rotting._cli import app

Words = list[str]


class Left(NamedTuple):
    """Commands that are not run, and why."""

    pattern: str
    reason: str


NOT_RUN = [
    Left(r"rotting serve( --data \S+)?( --demo)?", "it does not end; tests/serve starts it"),
    Left(r"rotting reproduce levine2017", "a minute; tests/papers plays a small one"),
    Left(r"rotting league( .*)?", "minutes; tests/league plays a small one"),
    Left(r"rotting .* --engine cuda", "it needs a GPU"),
    Left(r"rotting .* --backend dask .*", "it needs a cluster; tests/engines has one"),
    Left(r"rotting diagnose (bank-full|tv_ratings)\.csv .*", "these files are not shipped"),
    Left(r"rotting --install-completion", "it would change the shell of whoever tests"),
    Left(r"docker (build|run) .*", "it needs Docker"),
    Left(r"make .*|pip install .*|python benchmarks/.*", "they build, fetch or take long"),
    Left(r"\. \.venv/bin/activate", "the environment is there"),
]
LOG = "log.csv"  # the reader's own, of which pages speak: here it is the one that is shipped
_TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
_EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
_TERMINAL = {"COLUMNS": "100"}


def commands(text: str) -> list[Words]:
    """The commands of a block, without comments; a line that ends with a backslash goes on."""
    lines = text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def follow(words: Words, folder: Path) -> str:
    """Run a command in a folder, or see that what it names is there; what it printed."""
    if is_run(words):
        return run(words, folder)
    check(words)
    return ""


def is_run(words: Words) -> bool:
    """Whether a command is run; one that is neither ours nor listed is refused."""
    line = " ".join(words)
    if any(re.fullmatch(left.pattern, line) for left in NOT_RUN):
        return False
    known = words[0] == "rotting" or words[:2] == ["python", "-c"]
    assert known, f"nobody knows whether this is true: {line}"
    return True


def run(words: Words, folder: Path) -> str:
    """What a command prints, to the file it names if any; what it is to write is there."""
    if words[0] == "python":  # it may import what the page has written
        program = [sys.executable, *words[1:]]
        return subprocess.run(
            program, cwd=folder, check=True, stdout=subprocess.PIPE, text=True
        ).stdout
    words, target = (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, "")
    if LOG in words and not (folder / LOG).exists():
        shutil.copy(Path(rotting.logs.__file__).with_name("example.csv"), folder / LOG)
    done = CliRunner().invoke(app, words[1:], env=_TERMINAL)
    assert done.exit_code == 0, f"{' '.join(words)}\n{done.output}\n{done.exception!r}"
    if target:
        (folder / target).write_text(done.stdout)
    if "--out" in words:
        written = folder / words[words.index("--out") + 1]
        assert written.is_file() or any(written.iterdir()), f"{written} was not written"
    return done.stdout


def check(words: Words) -> None:
    """What can be said of a command without running it: what it names is there."""
    line = " ".join(words)
    if words[0] == "rotting":
        _check_options(words)
    elif words[:2] == ["docker", "run"]:  # the image runs rotting serve
        _check_options(["rotting", "serve", *words[words.index("rotting-serve") + 1 :]])
    elif words[0] == "make":
        goals = {word for word in words[1:] if "=" not in word}
        assert goals <= _TARGETS, f"{line}: the Makefile has not all of these"
    elif words[:2] == ["pip", "install"]:
        for extra in ",".join(re.findall(r"rotting\[([^\]]*)\]", line)).split(","):
            assert not extra or extra in _EXTRAS, f"{line}: pyproject.toml has no such extra"
    elif words[0] == "python" and words[1].endswith(".py"):
        script = ROOT / words[1]
        assert script.is_file(), f"{line}: there is no such file"
        for flag in (word for word in words if word.startswith("--")):
            assert f'"{flag}"' in script.read_text(), f"{line}: it knows no {flag}"


def _check_options(words: Words) -> None:
    """`--help` comes last: an unknown command or option is refused before it."""
    endings = [["VALUE"], []] if words[-1].startswith("--") else [[]]  # what an option may want
    for ending in endings:
        done = CliRunner().invoke(app, [*words[1:], *ending, "--help"], env=_TERMINAL)
        if done.exit_code == 0:
            return
    raise AssertionError(f"{' '.join(words)}\n{done.output}")
