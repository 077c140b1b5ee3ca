"""What the commands on logs share: options, reading a log, the command as a line, text output."""

from __future__ import annotations

import contextlib
import shlex
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, fields, replace
from importlib import resources
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from rotting._cli import completion, console
from rotting._log_columns import Columns, listing
from rotting._printable import printable
from rotting._progress import Progress

if TYPE_CHECKING:
    from rotting.logs._log import Log

EXAMPLE = "example.csv"
_PARTS = 1000  # of a bar
_NO = "no_"  # before the name of a parameter for a flag --no-...

File = Annotated[
    Path | None,
    typer.Argument(
        metavar="LOG", help="A CSV or Parquet file with one row a showing.", show_default=False
    ),
]
Example = Annotated[
    bool, typer.Option("--example", help="Use the small synthetic log that comes with rotting.")
]
F = TypeVar("F", bound=Callable[..., Any])


def with_columns(function: F) -> F:
    """Give a command with `**columns` an option for each field of `Columns`."""
    options = [option for each in fields(Columns) for option in _options(each)]
    return listing(function, options, eval_str=True)


def _options(each: Field[Any]) -> Iterator[Parameter]:
    """The option of a field. A field that is true by default has two flags, one of them hidden."""
    about = each.metadata
    if isinstance(each.default, bool):
        name = each.name.replace("_", "-")
        denied = typer.Option(f"--no-{name}", help=about["flag"])
        affirmed = typer.Option(f"--{name}", hidden=True)  # the default, said explicitly
        yield _parameter(f"{_NO}{each.name}", False, Annotated[bool, denied])
        yield _parameter(each.name, False, Annotated[bool, affirmed])
        return
    usual, choices = about.get("usual", each.default is not None), about.get("choices", ())
    complete = completion.words(*choices) if choices else None
    option = typer.Option(help=about["about"], show_default=usual, autocompletion=complete)
    yield _parameter(each.name, each.default, Annotated[str | None, option])


def _parameter(name: str, default: Any, annotation: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


@dataclass(frozen=True)
class NamedLog:
    """A log as the command line names it."""

    source: Path | None
    example: bool
    columns: Columns

    def read(self, quiet: bool, odd: bool = True) -> Log:
        """The log. Its notes go to standard error, and so do its problems if `odd`."""
        from rotting.logs._read.reader import read

        with console.progress(1, quiet) as advance, self._path() as path:
            advance("reading", 0)
            log = read(path, self.columns)
        if self.example:  # not the path in the installation
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
        """The log as arguments of `logs.read`, defaults left out."""
        given = [f"{name}={value!r}" for name, value in self._given()]
        return ", ".join([repr(str(self.source)), *given])

    def words(self) -> list[str]:
        """The log and its options as words of a command, defaults left out."""
        found = ["--example"] if self.example else [str(self.source)]
        for name, value in self._given():
            option = name.replace("_", "-")
            found += [f"--no-{option}"] if value is False else [f"--{option}", str(value)]
        return found

    def _given(self) -> list[tuple[str, Any]]:
        """The fields of the columns that differ from their defaults."""
        values = [(each, getattr(self.columns, each.name)) for each in fields(Columns)]
        return [(each.name, value) for each, value in values if value != each.default]


def named_log(source: Path | None, example: bool, options: Mapping[str, Any]) -> NamedLog:
    """The log that a command names; a refusal before any work. The options are `with_columns`'."""
    if example and source is not None:
        raise ValueError(f"log must not be given together with --example, got {str(source)!r}")
    if not example and source is None:
        raise ValueError("log must be given, as clicks.csv, or --example")
    values = {}
    for each in fields(Columns):
        values[each.name] = options[each.name]
        if isinstance(each.default, bool):
            denied = options[f"{_NO}{each.name}"]
            if denied and options[each.name]:
                name = each.name.replace("_", "-")
                raise ValueError(f"{name} must be given once, got --{name} and --no-{name}")
            values[each.name] = not denied
    return NamedLog(source, example, Columns(**values))


def say_odd(log: Log) -> None:
    """Print a log's problems on standard error."""
    for each in log.problems:
        examples = f" ({'; '.join(each.examples)})" if each.examples else ""
        console.note([f"Note: {each.sentence}{examples}"])


def command_line(name: str, words: list[str], options: Mapping[str, Any]) -> str:
    """The command as a line that can be run again.

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
    """A progress bar for one part of the work, which reports its number of steps itself."""
    before = 0
    with console.progress(_PARTS, quiet) as advance:

        def progress(done: int, of: int) -> None:
            nonlocal before
            now = _PARTS * min(done, of) // max(1, of)
            advance(what, now - before)
            before = now

        yield progress


def heading(text: str) -> None:
    """Print an empty line, then a line in bold."""
    console.out.print()
    console.out.print(_filled(text, ""), style="bold", markup=False, soft_wrap=True)


def paragraph(text: str, indent: str = "") -> None:
    """Print a text, wrapped between words at the terminal's width."""
    console.out.print(_filled(text, indent), markup=False, soft_wrap=True)


def _filled(text: str, indent: str) -> str:
    kept = printable(text).replace(" %", "\0%")  # do not wrap between a number and its %
    width = max(20, console.out.width)
    lines = textwrap.fill(kept, width, initial_indent=indent, subsequent_indent=indent)
    return lines.replace("\0", " ")
