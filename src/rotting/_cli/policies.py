"""`rotting policies`: a list of all policies."""

from __future__ import annotations

from rotting._catalogue import names as catalogue
from rotting._cli import console
from rotting._cli.base import AsJson, command


@command("policies")
def policies_command(as_json: AsJson = False) -> None:
    """List the policies with their parameters.

    Example: rotting policies
    """
    console.records(catalogue.describe_policies(), as_json)
