"""`rotting serve keys`: makes, lists and revokes API keys."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rotting._cli import console, narrow
from rotting._cli.base import AsJson, command
from rotting._cli.serve import Needed, group, need_libraries
from rotting._table import Column, Table

if TYPE_CHECKING:
    from rotting._serve.store import Store

keys = typer.Typer(cls=narrow.Group, no_args_is_help=True, help="API keys and their roles.")


def _open(path: Path, create: bool = False) -> Store:
    need_libraries()
    from rotting._serve.store import Store

    if not create and not path.exists():
        raise ValueError(f"data must be a database, but {path} is not there")
    return Store.open(path, create=create, lock_timeout=5.0)


@command("add", keys)
def add_command(
    data: Needed,
    name: Annotated[str, typer.Option(help="Name of the key, as shown in the audit list.")],
    role: Annotated[
        list[str], typer.Option(help="decide, reward, read or admin; may be repeated.")
    ],
    experiment: Annotated[
        list[str] | None, typer.Option(help="The only experiments of the key; may be repeated.")
    ] = None,
) -> None:
    """Make a key. It is shown once; the database stores a hash.

    Example: rotting serve keys add --data service.db --name shop --role decide --role reward
    """
    need_libraries()
    from rotting._serve.access import add_token, check_token

    check_token(name, role, experiment or [])
    new = not data.exists()
    store = _open(data, create=True)
    try:
        known = {one for _, one in store.experiments()}
        made = add_token(store, name, role, experiment or [])
    finally:
        store.close()
    print(made)
    missing = [one for one in experiment or [] if one not in known]
    if new:  # a server that has never run may be given its keys
        console.note([f"rotting: {data} was not there, and was made"])
    elif missing:
        console.note([f"rotting: {data} has no experiment {', '.join(missing)} yet"])


@command("list", keys)
def list_command(data: Needed, as_json: AsJson = False) -> None:
    """List all keys with their ids, names, roles, and whether they are revoked."""
    store = _open(data)
    try:
        rows = store.all_tokens()
    finally:
        store.close()
    if as_json:
        names = ("id", "name", "roles", "experiments", "created", "revoked")
        console.print_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    cells = [
        [id_, name, roles, experiments or "all", _day(created), "revoked" if revoked else "valid"]
        for id_, name, roles, experiments, created, revoked in rows
    ]
    names = ("id", "name", "roles", "experiments", "made", "state")
    console.table(Table([Column(name, "text") for name in names], cells))


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


@command("revoke", keys)
def revoke_command(
    data: Needed, key_id: Annotated[str, typer.Option("--id", help="Id of the key.")]
) -> None:
    """Revoke a key. A running server refuses it within a second or two."""
    store = _open(data)
    from rotting._serve.access import revoke_token

    try:
        revoke_token(store, key_id)
    finally:
        store.close()
    console.out.print(f"{key_id} is revoked", markup=False)


group.add_typer(keys, name="keys", cls=narrow.Group)
