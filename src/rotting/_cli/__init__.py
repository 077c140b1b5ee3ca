"""The command line, `rotting COMMAND`: one module a command.

Beside the commands: `base` (the application and shared options), `inputs` (scenario, runs and
policies from options or a file), `log_options` (options of commands on logs), `show` (play and show
a comparison), `console` (output), `narrow` (help in narrow terminals), `completion` (of shells),
`notices` (log lines and warnings).
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
    app()
