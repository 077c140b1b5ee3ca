"""`rotting serve`: the decision service, and maintenance of its database."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rotting._cli import console, narrow
from rotting._cli.base import AsJson, app, command, guarded
from rotting._cli.log_options import stage
from rotting._table import Column, Table

if TYPE_CHECKING:
    from rotting._serve.config import Config

group = typer.Typer(cls=narrow.Group, invoke_without_command=True)

Data = Annotated[str | None, typer.Option(help="The database file; default: service.db.")]
Needed = Annotated[Path, typer.Option("--data", help="The database file.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the target if it exists.")]


def need_libraries() -> None:
    """Refuse, with the command to install them, if libraries are missing."""
    needed = ("starlette", "uvicorn", "httptools", "msgspec", "prometheus_client")
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise ValueError(f"rotting serve needs {', '.join(missing)}: pip install 'rotting[serve]'")


@group.callback()
def serve(
    context: typer.Context,
    data: Data = None,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; without API keys only 127.0.0.1.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port; default: 8100; 0: any free one.")] = None,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Start with an example experiment and simulated visitors."),
    ] = False,
    config: Annotated[
        Path | None, typer.Option(help="A TOML file with settings, named like the options.")
    ] = None,
    log: Annotated[
        str | None, typer.Option(help="Format of the log: text, or json with one object a line.")
    ] = None,
    rate_limit: Annotated[
        float | None, typer.Option(help="Requests a second of each API key; 0: no limit.")
    ] = None,
    body_limit: Annotated[
        int | None, typer.Option(help="Largest size of a request in bytes.")
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Check the settings and the database, print them, and exit."),
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Replay and compare all events, and exit.")
    ] = False,
    accept_loss: Annotated[
        bool,
        typer.Option(
            "--accept-loss", help="Start this once although acknowledged events are missing."
        ),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log every request.")] = False,
) -> None:
    """Serve decisions over HTTP: exactly once, with a dashboard that shows what wears out.

    Settings come from options, then variables ROTTING_SERVE_..., then --config, in this order.

    Example: rotting serve --data service.db, and then http://127.0.0.1:8100
    """
    if context.invoked_subcommand is not None:
        return
    flags = {
        "data": data,
        "host": host,
        "port": port,
        "log": log,
        "rate_limit": rate_limit,
        "body_limit": body_limit,
        "verbose": verbose or None,
        "accept_loss": accept_loss or None,
    }
    guarded(_serve)(flags, config, demo, check, verify)


def _serve(
    flags: Mapping[str, object], file: Path | None, demo: bool, check: bool, verify: bool
) -> None:
    need_libraries()
    from rotting._serve import server
    from rotting._serve.config import resolve

    config, origin = resolve(flags, os.environ, file)
    if verify:
        _verify(config.path)
        return
    lines = server.check(config)
    if check:
        _show_settings(config, origin)
        console.out.print(*lines, sep="\n", markup=False)
        console.out.print(f"would listen on http://{config.host}:{config.port}", markup=False)
        return
    server.set_up_logs(config.log, config.verbose)
    if config.log == "text":
        console.out.print(f"rotting serve: {config.path}", markup=False)
    server.serve(config, demo=demo, ready=_announce if config.log == "text" else None)


def _announce(address: str) -> None:
    console.out.print(f"dashboard and API: {address}  (Ctrl-C stops)", markup=False)


def _show_settings(config: Config, origin: dict[str, str]) -> None:
    rows = [[name, str(getattr(config, name)), where] for name, where in origin.items()]
    columns = [Column(name, "text") for name in ("setting", "value", "from")]
    console.table(Table(columns, rows))


def _verify(path: Path, as_json: bool = False) -> None:
    from rotting._serve.verify import as_data, verify

    if not path.exists():
        raise ValueError(f"data must be a database, but {path} is not there")
    with stage("verifying", as_json) as report:
        found = verify(path, progress=report)
    if as_json:
        console.print_json(as_data(found))
    else:
        console.out.print(*found.lines, sep="\n", markup=False)
        console.out.print(*(f"PROBLEM: {line}" for line in found.problems), sep="\n", markup=False)
    if found.problems:
        raise typer.Exit(1)
    if not as_json:
        console.out.print("all is as it should be")


@command("verify", group)
def verify_command(data: Needed, as_json: AsJson = False) -> None:
    """Replay all events of a database, and compare the results bit for bit.

    Example: rotting serve verify --data service.db
    """
    need_libraries()
    _verify(data, as_json)


@command("backup", group)
def backup_command(
    data: Needed,
    to: Annotated[Path, typer.Option(help="File for the backup.")],
    force: Force = False,
) -> None:
    """Copy a consistent state of a database, while the server runs.

    Example: rotting serve backup --data service.db --to monday.db
    """
    need_libraries()
    from rotting._serve.backup import backup

    last = backup(data, to, force=force)
    console.out.print(f"{to}: all events up to {last}, checked", markup=False)


@command("restore", group)
def restore_command(
    data: Needed,
    backup: Annotated[Path, typer.Option("--from", help="The backup.")],
    erased: Annotated[
        list[Path] | None,
        typer.Option(help="A list of keys erased since; may be repeated."),
    ] = None,
    force: Force = False,
) -> None:
    """Replace a database by a backup and verify it. No server may use the database.

    Keys that were erased since the backup are erased again. They are found in the database that is
    replaced, in lists (service.db.erased) in its folder and in that of the backup, and in the lists
    of --erased.

    Example: rotting serve restore --from monday.db --data new.db --erased service.db.erased
    """
    need_libraries()
    from rotting._serve.backup import restore

    done = restore(backup, data, force=force, erased=erased or ())
    keys = "key" if done.again == 1 else "keys"
    line = f"{data}: all events up to {done.last}; {done.again} {keys} erased again"
    console.out.print(line, markup=False)
    if done.archives:
        console.out.print(f"archives: {', '.join(done.archives)}", markup=False)
    if not done.lists:
        text = (
            "no list of erased keys was found: who was erased after the backup was made is back, "
            "unless it is restored again with --force and --erased FILE (service.db.erased)"
        )
        console.note([f"rotting: {text}"])
    _verify(data)


@command("archive", group)
def archive_command(
    data: Needed,
    to: Annotated[Path, typer.Option(help="File of the archive, beside the database.")],
    older: Annotated[
        float, typer.Option(help="Least number of days since a decision was closed.")
    ] = 30.0,
) -> None:
    """Move old closed decisions to an archive file, whether the server runs or not.

    Example: rotting serve archive --data service.db --to 2026.db --older 90
    """
    need_libraries()
    from rotting._serve.archive import archive

    if not older >= 0.0:
        raise ValueError(f"older must be a number of days from 0 on, got {older}")
    moved = archive(data, to, older=older * 86_400.0)
    console.out.print(f"{to}: {moved} events moved there", markup=False)
    if not moved:
        console.out.print(
            "only closed decisions move that both of the last two snapshots hold, or the only one. "
            "A snapshot is taken every 5,000 events or more, and at a stop after new events"
        )


@command("export", group)
def export_command(
    data: Needed,
    experiment: Annotated[str, typer.Option(help="Name of the experiment.")],
    out: Annotated[Path, typer.Option("--out", help="A .csv or .parquet file.")],
    force: Force = False,
) -> None:
    """Write all decisions of an experiment, with archived ones, as a table.

    Example: rotting serve export --data service.db --experiment banner --out banner.csv
    """
    need_libraries()
    from rotting._serve.export import write

    rows = write(data, experiment, out, force=force)
    console.out.print(f"{out}: {rows} decisions", markup=False)


app.add_typer(group, name="serve", cls=narrow.Group)
