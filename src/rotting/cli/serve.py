"""`rotting serve`: the decision service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rotting.cli.base import command

Data = Annotated[str | None, typer.Option(help="The database file; made if it is not there.")]


@command("serve")
def serve_command(
    data: Data = None,
    host: Annotated[str | None, typer.Option(help="Where to listen.")] = None,
    port: Annotated[int | None, typer.Option(help="Which port; 0 for any.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="An example, with visitors.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Play everything again.")] = False,
) -> None:
    """Serve."""
    import os

    from rotting.serve.config import resolve
    from rotting.serve.server import serve, set_up_logs

    config, _ = resolve({"data": data, "host": host, "port": port}, os.environ, None)
    if verify:
        from rotting.serve.verify import verify as check

        found = check(config.path)
        print(*found.lines, *found.problems, sep="\n")
        raise typer.Exit(1 if found.problems else 0)
    set_up_logs(config.log, config.verbose)
    serve(config, demo=demo)
