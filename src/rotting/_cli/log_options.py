"""What the commands on logs share: their options, reading, and the command as a line."""

from __future__ import annotations

import contextlib
import shlex
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rotting._cli import completion, console
from rotting._printable import printable
from rotting._progress import Progress

if TYPE_CHECKING:
    from rotting.logs._log import Log

EXAMPLE = "example.csv"
_PARTS = 1000  # of a bar

File = Annotated[
    Path | None,
    typer.Argument(
        metavar="LOG", help="A CSV or Parquet file, a row a showing.", show_default=False
    ),
]
Example = Annotated[
    bool, typer.Option("--example", help="Take the small made-up log that comes with rotting.")
]
Key = Annotated[
    str | None,
    typer.Option(help="The column of who was shown it, or none.", show_default="by its name"),
]
Arm = Annotated[
    str | None,
    typer.Option(help="The column of what was shown.", show_default="by its name"),
]
Time = Annotated[
    str | None, typer.Option(help="The column of when, or none.", show_default="by its name")
]
Reward = Annotated[
    str | None, typer.Option(help="The column of what it paid.", show_default="by its name")
]
Exposure = Annotated[
    str | None,
    typer.Option(help="The column of a showing's number.", show_default="counted"),
]
Propensity = Annotated[
    str | None,
    typer.Option(help="The column of the chance of a choice.", show_default="by its name"),
]
Rows = Annotated[
    str,
    typer.Option(
        help="last: the table has only the last row of each story.",
        autocompletion=completion.words("all", "last"),
    ),
]
Window = Annotated[
    str | None,
    typer.Option(
        help="How late a reward may come, as 7d or 12h: younger rows are no zeros.",
        show_default=False,
    ),
]
Incomplete = Annotated[
    bool,
    typer.Option(
        "--no-history-complete", help="Keys may have been shown arms before the log began."
    ),
]
Complete = Annotated[bool, typer.Option("--history-complete", hidden=True)]  # the usual, aloud


@dataclass(frozen=True)
class Asked:
    """A log as the command line names it."""

    source: Path | None
    example: bool
    key: str | None
    arm: str | None
    time: str | None
    reward: str | None
    exposure: str | None
    propensity: str | None
    rows: str
    window: str | None
    incomplete: bool
    complete: bool = False

    def check(self) -> None:
        """Refuse what no log can be read by, before anything is done."""
        from rotting import _checks
        from rotting.logs._read.reader import window_in_days

        if self.example and self.source is not None:
            raise ValueError(
                f"log must not be given together with --example, got {str(self.source)!r}"
            )
        if not self.example and self.source is None:
            raise ValueError("log must be given, as clicks.csv, or --example")
        if self.incomplete and self.complete:
            raise ValueError("history-complete must be said or denied, got both")
        _checks.choice("rows", self.rows, ("all", "last"))
        window_in_days(self.window)

    def read(self, quiet: bool, odd: bool = True) -> Log:
        """The log; what was taken for what, and what is `odd`, is said on standard error."""
        from rotting.logs._read.reader import read

        with console.progress(1, quiet) as advance, self._path() as path:
            advance("reading", 0)
            log = read(
                path,
                key=self.key,
                arm=self.arm,
                time=self.time,
                reward=self.reward,
                exposure=self.exposure,
                propensity=self.propensity,
                rows=self.rows,
                window=self.window,
                history_complete=not self.incomplete,
            )
        if self.example:  # where it lies is nobody's business
            log = replace(log, source=EXAMPLE)
        console.note(log.notes)
        if odd:
            say_odd(log)
        return log

    @contextlib.contextmanager
    def _path(self) -> Iterator[Path]:
        if self.source is not None:
            yield self.source
            return
        with resources.as_file(resources.files("rotting.logs") / EXAMPLE) as path:
            yield path

    def arguments(self) -> str:
        """The same as arguments of `logs.read`, those that are not the usual ones."""
        columns = ("key", "arm", "time", "reward", "exposure", "propensity", "window")
        named = {name: getattr(self, name) for name in columns}
        found = [f"{name}={value!r}" for name, value in named.items() if value is not None]
        found += [] if self.rows == "all" else [f"rows={self.rows!r}"]
        found += ["history_complete=False"] if self.incomplete else []
        return ", ".join([repr(str(self.source)), *found])

    def words(self) -> list[str]:
        """The log and its options as words of a command, those that are not the usual ones."""
        columns = ("key", "arm", "time", "reward", "exposure", "propensity", "window")
        found = ["--example"] if self.example else [str(self.source)]
        for name in columns:
            value = getattr(self, name)
            found += [] if value is None else [f"--{name}", value]
        found += [] if self.rows == "all" else ["--rows", self.rows]
        return found + (["--no-history-complete"] if self.incomplete else [])


def say_odd(log: Log) -> None:
    """Say on standard error what is odd about a log."""
    for each in log.problems:
        examples = f" ({'; '.join(each.examples)})" if each.examples else ""
        console.note([f"Note: {each.sentence}{examples}"])


def command_line(name: str, words: list[str], options: Mapping[str, Any]) -> str:
    """The command that does the same again.

    >>> command_line("diagnose", ["my log.csv"], {"seed": 3, "out": None})
    "rotting diagnose 'my log.csv' --seed 3"
    """
    given = [
        word
        for option, value in options.items()
        if value is not None
        for word in (f"--{option}", str(value))
    ]
    return shlex.join(["rotting", name, *words, *given])


@contextlib.contextmanager
def stage(what: str, quiet: bool) -> Iterator[Progress]:
    """A bar for one part of the work, whose steps are not known before it tells them."""
    before = 0
    with console.progress(_PARTS, quiet) as advance:

        def progress(done: int, of: int) -> None:
            nonlocal before
            now = _PARTS * min(done, of) // max(1, of)
            advance(what, now - before)
            before = now

        yield progress


def heading(text: str) -> None:
    """Print a line in bold, after an empty one."""
    console.out.print()
    console.out.print(_filled(text, ""), style="bold", markup=False, soft_wrap=True)


def paragraph(text: str, indent: str = "") -> None:
    """Print a text in lines of the terminal's width, between words."""
    console.out.print(_filled(text, indent), markup=False, soft_wrap=True)


def _filled(text: str, indent: str) -> str:
    kept = printable(text).replace(" %", "\0%")  # a number and its per cent stay together
    width = max(20, console.out.width)
    lines = textwrap.fill(kept, width, initial_indent=indent, subsequent_indent=indent)
    return lines.replace("\0", " ")
