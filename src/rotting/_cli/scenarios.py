"""`rotting scenarios`: a list of the named scenarios."""

from __future__ import annotations

import itertools

from rotting._catalogue import names as catalogue
from rotting._catalogue.scenarios import heading
from rotting._cli import console
from rotting._cli.base import AsJson, command
from rotting._table import Column, Table


@command("scenarios")
def scenarios_command(as_json: AsJson = False) -> None:
    """List the named scenarios with their sizes.

    Example: rotting scenarios
    """
    rows = catalogue.describe_scenarios()
    if as_json:
        console.print_json(rows)
        return
    for group, listed in itertools.groupby(rows, lambda row: row["group"]):
        cells = [[row["scenario"], row["size"], row["about"]] for row in listed]
        columns = [Column("scenario", "text"), Column("size"), Column("about", "text")]
        console.table(Table(columns, cells, title=heading(group)))
