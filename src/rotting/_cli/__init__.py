"""The command line, `rotting COMMAND`: one module a command.

`base` has what all commands share, `asked` what they are to play, `show` how they play it and show
the outcome, `console` what they print with, `narrow` their help, `completion` what shells complete.
"""

from rotting._cli import (  # noqa: I001  importing a command registers it; --help keeps this order
    league,
    audience,
    diagnose,
    fit,
    replay,
    serve,
    serve_keys,
    serve_import,
    theory,
    demo,
    simulate,
    compare,
    tune,
    policies,
    scenarios,
    run,
    reproduce,
)
from rotting._cli.base import app

__all__ = [
    "app",
    "audience",
    "compare",
    "demo",
    "diagnose",
    "fit",
    "league",
    "main",
    "policies",
    "replay",
    "reproduce",
    "run",
    "scenarios",
    "serve",
    "serve_import",
    "serve_keys",
    "simulate",
    "theory",
    "tune",
]


def main() -> None:
    """Run the command line."""
    app()
