"""docs/reference/names.md: every public name, made from the modules.

    python docs/making/names.py

A module is public if no part of its name begins with an underscore; its names are its `__all__`.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import textwrap
from pathlib import Path
from typing import Any

import typer

import rotting
from rotting._cli import app

PAGE = Path(__file__).parents[1] / "reference" / "names.md"
OPENING = """# Every public name

Here you can find every public name of the library and every command. `help(name)` has the
arguments, the results, the errors and an example; so have the pages of the site. Modules whose
names begin with an underscore are not listed: they may change in any release.

This page is made by `python docs/making/names.py`.
"""
COMMANDS = """## The command line

A policy reads like `wswa:alpha=0.2,restart=keep`, a scenario like `av` or `av:horizon=3000`.
`sigma` and `family`, where a policy needs them, are the scenario's unless given. Every command has
`--help` with an example, `--json` for machines and, where anything is drawn, `--seed`.
"""
FIRST = ("rotting", "rotting.models", "rotting.bandits", "rotting.policies", "rotting.theory")


def public_modules() -> list[str]:
    """The modules that users import, those most used first."""
    found = [module.name for module in pkgutil.walk_packages(rotting.__path__, "rotting.")]
    public = [name for name in found if not any(part[0] == "_" for part in name.split("."))]
    for_policies = ("rotting.kernel", "rotting.parameters", "rotting.policies.parts")
    last = [name for name in public if name.startswith(for_policies)]
    return [*FIRST, *(name for name in public if name not in (*FIRST, *last)), *last]


def section(name: str) -> str:
    """A module: what it is, and its names."""
    module = importlib.import_module(name)
    lines = [f"## `{name}`", "", " ".join((module.__doc__ or "").split("\n\n")[0].split())]
    names = [key for key in getattr(module, "__all__", ()) if key not in public_children(name)]
    if names:
        listed = ", ".join(f"`{key}`" for key in names) + "."
        lines += ["", textwrap.fill(listed, 100, break_long_words=False, break_on_hyphens=False)]
    return "\n".join(lines)


def public_children(name: str) -> set[str]:
    """Modules within a package, which have sections of their own."""
    return {each.rpartition(".")[2] for each in public_modules() if each.rpartition(".")[0] == name}


def commands() -> str:
    """Every command and its first sentence."""
    rows = [COMMANDS, "| command | |", "|---|---|"]
    group = typer.main.get_command(app)
    rows += [f"| `{name}` | {text} |" for name, text in _commands(group, "rotting")]
    return "\n".join(rows)


def _commands(group: Any, above: str) -> list[tuple[str, str]]:
    found = []
    for name, command in group.commands.items():
        if not command.hidden:
            text = re.split(r"\n\s*\n|Example:", command.help or "")[0]
            found.append((f"{above} {name}", " ".join(text.split())))
            if hasattr(command, "commands"):
                found += _commands(command, f"{above} {name}")
    return found


def page() -> str:
    """The whole page."""
    parts = [OPENING, *(section(name) for name in public_modules()), commands()]
    return "\n\n".join(part.strip() for part in parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
