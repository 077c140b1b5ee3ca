"""The page of the command line, made from the commands by Typer's own generator."""

from __future__ import annotations

import html
import re
import subprocess
import sys

OPENING = """# Command line

Here you can look up every command and every option. `rotting --help` and `rotting COMMAND --help`
print the same, and `rotting --install-completion` completes commands, policies and scenarios in
your shell. This page is made from the commands.
"""


def page() -> str:
    """The page, as Markdown."""
    done = subprocess.run(
        [sys.executable, "-m", "typer", "rotting._cli", "utils", "docs", "--name", "rotting"],
        capture_output=True,
        text=True,
        check=True,
    )
    return OPENING + tidy(done.stdout)


def tidy(made: str) -> str:
    """What Typer made, one level lower, with examples as code and lists of commands as links.

    >>> usage = "**Usage**:\\n\\n```console\\n$ a b\\n```\\n"
    >>> print(tidy(f"# `a`\\n\\nWhat.\\n\\nExample: a b --c\\n\\n{usage}"))
    ## `a`
    <BLANKLINE>
    What.
    <BLANKLINE>
    ```sh
    a b --c
    ```
    <BLANKLINE>
    **Usage**: `a b`
    <BLANKLINE>
    """
    text = html.unescape(made)
    text = re.sub(r"^(#+ `)", r"#\1", text, flags=re.MULTILINE)
    text = re.sub(r"^Example: (.*)$", r"```sh\n\1\n```", text, flags=re.MULTILINE)
    text = re.sub(r"(\*\*Usage\*\*:)\s+```console\n\$ (.*)\n```", r"\1 `\2`", text)
    # names only: Typer cuts what a command does after some letters, and it stands below anyway
    return re.sub(r"\*\*Commands\*\*:\n\n(?:\* .*\n)+", _linked, text)


def _linked(found: re.Match[str]) -> str:
    names = re.findall(r"^\* `([^`]+)`", found.group(), re.MULTILINE)
    before = found.string[: found.start()]
    (parent,) = re.findall(r"^#+ `([^`]+)`", before, re.MULTILINE)[-1:]
    links = [f"[{name}](#{parent.replace(' ', '-')}-{name})" for name in names]
    return f"**Commands**: {', '.join(links)}\n"
