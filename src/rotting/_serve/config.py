"""The settings of `rotting serve`, from flags, the environment and a file.

A flag overrides a variable, a variable the file, and the file the default.
"""

from __future__ import annotations

import ipaddress
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from rotting._serve.sqlite import real

PREFIX = "ROTTING_SERVE_"
MOST_WAITING = 1_000_000  # decisions of an experiment without a reward window


class Config(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """All settings of a server. Flags, variables and files use these names."""

    data: str = "service.db"
    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] = 8100
    log: str = "text"  # or "json"
    verbose: bool = False  # a line for each request
    body_limit: Annotated[int, Meta(ge=1024, le=1 << 28)] = 1 << 20  # bytes of a request
    body_seconds: Annotated[float, Meta(gt=0, le=3600)] = 10.0  # to receive a request
    rate_limit: Annotated[float, Meta(ge=0)] = 0.0  # requests a second for each key; 0: no limit
    connections: Annotated[int, Meta(ge=1, le=100_000)] = 1000  # at once; more are answered 503
    # waiting decisions of an experiment without a reward window; beyond it the oldest end
    waiting_limit: Annotated[int, Meta(ge=1, le=10**9)] = MOST_WAITING
    grace: Annotated[float, Meta(ge=0, le=3600)] = 10.0  # seconds to end requests when stopping
    compiled: bool = True
    accept_loss: bool = False  # start even if acknowledged events are missing

    @property
    def path(self) -> Path:
        """The database file, with symbolic links resolved."""
        return real(Path(self.data))


def resolve(
    flags: Mapping[str, Any], environ: Mapping[str, str], file: Path | None
) -> tuple[Config, dict[str, str]]:
    """The settings, and the origin of each."""
    names = Config.__struct_fields__
    found: dict[str, Any] = {}
    origin: dict[str, str] = dict.fromkeys(names, "default")
    if file is not None:
        try:
            written = tomllib.loads(file.read_text("utf-8"))
        except FileNotFoundError:
            raise ValueError(f"config must be a TOML file, but {file} is not there") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"config must be TOML, but {file} is not: {error}") from None
        # as flags are written: rate-limit for rate_limit
        _take(found, origin, {k.replace("-", "_"): v for k, v in written.items()}, str(file))
    wanted = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environ.items()
        if name.startswith(PREFIX)
    }
    _take(found, origin, wanted, "environment")
    _take(found, origin, {k: v for k, v in flags.items() if v is not None}, "flag")
    try:
        made = msgspec.convert(found, Config, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(_words(error, found, origin)) from None
    if made.log not in ("text", "json"):
        raise ValueError(f"log must be text or json, got {made.log!r} ({origin['log']})")
    return made, origin


def _take(
    found: dict[str, Any], origin: dict[str, str], values: Mapping[str, Any], where: str
) -> None:
    for name, value in values.items():
        if name not in origin:
            known = ", ".join(Config.__struct_fields__)
            raise ValueError(f"settings must be of {known}, got {name!r} ({where})")
        found[name], origin[name] = value, where


def _words(error: msgspec.ValidationError, found: Mapping[str, Any], origin: Any) -> str:
    text, _, path = str(error).partition(" - at `$.")
    name = path.rstrip("`")
    return f"{name} cannot be {found.get(name)!r} ({origin.get(name)}): {text}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
