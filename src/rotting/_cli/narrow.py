"""Help in narrow terminals, with lines wrapped and nothing cut."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from typer.core import TyperCommand, TyperGroup

from rotting._cli import console

LEAST = 72  # columns of a terminal; in less, typer's own layout cuts options and words


class Command(TyperCommand):
    """A command with help for any width."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        if console.out.width >= LEAST:
            super().format_help(ctx, formatter)
        else:
            formatter.write(_help(self, ctx))


class Group(TyperGroup):
    """A group of commands with help for any width."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        if console.out.width >= LEAST:
            super().format_help(ctx, formatter)
        else:
            formatter.write(_help(self, ctx))


def _help(command: Any, ctx: Any) -> str:
    """Usage and description, then every option and command with its help below it."""
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    sections = [_wrapped(f"Usage: {usage}", "", "  ")]
    for part in (command.help or "").split("\n\n"):
        sections.append(_wrapped(part, ""))
    records = [param.get_help_record(ctx) for param in command.get_params(ctx)]
    sections.append(_definitions(record for record in records if record))
    if isinstance(command, TyperGroup):
        commands = [(name, command.get_command(ctx, name)) for name in command.list_commands(ctx)]
        short = [(name, (found.help or "").split("\n\n")[0]) for name, found in commands if found]
        sections.append(_definitions(short))
    return "\n\n".join(filter(None, sections)) + "\n"


def _definitions(records: Iterable[tuple[str, str]]) -> str:
    return "\n".join(line for record in records for line in _definition(*record))


def _definition(name: str, about: str) -> Iterator[str]:
    yield _wrapped(name, "", "  ")
    yield _wrapped(about.replace("\\[", "["), "    ")  # some versions escape it for rich


def _wrapped(text: str, indent: str, more: str = "") -> str:
    return textwrap.fill(
        " ".join(text.split()),
        max(20, console.out.width),
        initial_indent=indent,
        subsequent_indent=indent + more,
        break_on_hyphens=False,
    )
