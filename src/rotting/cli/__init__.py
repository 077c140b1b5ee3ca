"""The command line: one module a command."""

from rotting.cli.main import app, main

__all__ = ["app", "main"]
