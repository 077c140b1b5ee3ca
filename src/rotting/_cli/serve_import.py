"""`rotting serve import`: sends a log of earlier showings to a running service."""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from rotting._cli import console
from rotting._cli.base import command
from rotting._cli.serve import group


@command("import", group)
def import_command(
    log: Annotated[Path, typer.Argument(help="A CSV file with one row a showing, in order.")],
    experiment: Annotated[str, typer.Option(help="The experiment that learns from it.")],
    arm: Annotated[str, typer.Option(help="Column of the arm.")],
    reward: Annotated[str, typer.Option(help="Column of the reward.")],
    key: Annotated[str | None, typer.Option(help="Column of the key, as user_id.")] = None,
    time: Annotated[
        str | None, typer.Option(help="Column to sort by; default: the order of the file.")
    ] = None,
    url: Annotated[str, typer.Option(help="URL of the service.")] = "http://127.0.0.1:8100",
) -> None:
    """Send earlier showings and their rewards to the service, as history.

    Keys keep their names, so that their exposures count. Importing the same file again changes
    nothing. The variable ROTTING_KEY may hold an API key.

    Example: rotting serve import clicks.csv --experiment banner --arm ad --reward clicked
    """
    from rotting._serve.client import Client

    name = f"import-{hashlib.sha256(log.read_bytes()).hexdigest()[:24]}"
    rows = list(_rows(log, arm, reward, key, time))
    if not rows:
        raise ValueError(f"log must have rows, but {log} has none")
    with Client(url, os.environ.get("ROTTING_KEY")) as client:
        known = client.experiment(experiment)
        labels = {one["arm"] for one in known["arms"]}
        missing = sorted({row[0] for row in rows} - labels)
        if missing:
            raise ValueError(
                f"arms of the log must be arms of the experiment, got {missing[0]!r}; "
                "add and retire those that are gone"
            )
        if known["audience"] and key is None:
            raise ValueError("key must be given: the experiment has an audience")
        sent = client.learn(experiment, rows, id=name)
    console.out.print(f"{experiment}: {sent} rows of {log} learnt", markup=False)


def _rows(
    path: Path, arm: str, reward: str, key: str | None, time: str | None
) -> Iterator[tuple[str, float] | tuple[str, float, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        columns = reader.fieldnames or []
        named = {"arm": arm, "reward": reward, "key": key, "time": time}
        for option, column in named.items():
            if column is not None and column not in columns:
                raise ValueError(f"{option} must be a column of {path}, got {column!r}")
        lines = enumerate(reader, 2)
        ordered = lines if time is None else sorted(lines, key=lambda line: line[1][time])
        for number, row in ordered:
            try:
                value = float(row[reward])
            except (TypeError, ValueError):
                raise ValueError(
                    f"reward must be a number, got {row[reward]!r} in line {number} of {path}"
                ) from None
            yield (row[arm], value) if key is None else (row[arm], value, row[key])
