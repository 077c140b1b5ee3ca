"""`rotting scenarios`: the named scenarios there are."""

from __future__ import annotations

from rotting.catalogue import names as catalogue
from rotting.cli import console
from rotting.cli.base import AsJson, command


@command("scenarios")
def scenarios_command(as_json: AsJson = False) -> None:
    """List the named scenarios.

    Example: rotting scenarios
    """
    console.records(catalogue.describe_scenarios(), as_json)
