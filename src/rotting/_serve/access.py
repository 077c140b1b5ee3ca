"""API keys with roles, made on the command line and shown once.

A key is `rot_ID_SECRET`. The store has a hash of the secret. A fast hash is enough, because the
secret is 256 random bits and cannot be guessed. Comparisons take constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from typing import NamedTuple

from rotting._serve.errors import Refusal
from rotting._serve.requests import NAME, is_fine_id
from rotting._serve.store import Audit, Store

ROLES = ("decide", "reward", "read", "admin")
_FRESH = 1.0  # seconds between reads of the keys; a revoked key works at most that much longer
_NOTHING = hashlib.sha256(b"").hexdigest()


class Who(NamedTuple):
    """The sender of a request."""

    name: str
    roles: frozenset[str]
    experiments: frozenset[str]  # empty: all of them

    def may(self, *roles: str) -> bool:
        """Whether the sender has any of these roles."""
        return "admin" in self.roles or any(role in self.roles for role in roles)

    def sees(self, experiment: str) -> bool:
        """Whether the sender may see an experiment; to others it does not exist."""
        return not self.experiments or experiment in self.experiments


LOCAL = Who("local", frozenset(ROLES), frozenset())  # every sender while no key is required


class Token(NamedTuple):
    """An API key as it is stored."""

    id: str
    name: str
    hash: str
    roles: str
    experiments: str


class Gate:
    """The check of API keys, which are read again every `_FRESH` seconds."""

    def __init__(self, required: bool) -> None:
        self._required = required
        self._tokens: dict[str, Token] = {}
        self._ever = False
        self._read_at = -1e9

    @property
    def requires_key(self) -> bool:
        """Whether a key is required; revoking the last key does not end that."""
        return self._required or self._ever

    def stale(self) -> bool:
        return time.monotonic() - self._read_at > _FRESH

    def refresh(self, rows: list[tuple[str, str, str, str, str]], ever: bool = False) -> None:
        """Replace the keys; `ever` says whether there ever was one."""
        self._ever = self._ever or ever or bool(rows)
        self._tokens = {row[0]: Token(*row) for row in rows}
        self._read_at = time.monotonic()

    def who(self, header: str | None) -> Who:
        """The sender with this Authorization header, or a refusal."""
        if not self.requires_key:
            return LOCAL
        scheme, _, given = (header or "").partition(" ")
        mark, _, rest = given.strip().partition("_")
        id_, _, secret = rest.partition("_")
        token = self._tokens.get(id_)
        wanted = token.hash if token is not None else _NOTHING
        same = hmac.compare_digest(hash_of(secret), wanted)
        if scheme.lower() != "bearer" or mark != "rot" or token is None or not same or not secret:
            raise Refusal("unauthorized", "a valid API key is needed: Authorization: Bearer KEY")
        chosen = frozenset(filter(None, token.experiments.split(",")))
        return Who(token.name, frozenset(token.roles.split(",")), chosen)


def hash_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def check_token(name: str, roles: list[str], experiments: list[str]) -> None:
    """Refuse an invalid name, role or experiment of an API key."""
    if not name.strip() or len(name) > 100:
        raise ValueError(f"name must have 1 to 100 characters, got {name!r}")
    if not is_fine_id(name):
        raise ValueError(f"name must have no control or bidirectional characters, got {name!a}")
    if not roles or not set(roles) <= set(ROLES):
        raise ValueError(f"role must be one or more of {', '.join(ROLES)}, got {roles}")
    for one in experiments:  # an empty one would be a key to all
        if not re.match(NAME, one):
            raise ValueError(f"experiment must be a name of letters, digits, . _ -, got {one!r}")


def add_token(store: Store, name: str, roles: list[str], experiments: list[str]) -> str:
    """Make and return an API key. Only its hash is stored, so it cannot be shown again."""
    check_token(name, roles, experiments)
    id_, secret = secrets.token_hex(5), secrets.token_urlsafe(32)
    row = (id_, name, hash_of(secret), ",".join(roles), ",".join(experiments))
    store.add_token(row, _audit("key added", f"{name} ({id_}): {','.join(roles)}"))
    return f"rot_{id_}_{secret}"


def revoke_token(store: Store, id_: str) -> None:
    """Revoke an API key; ValueError if it is not valid."""
    names = {one: name for one, name, *_ in store.tokens()}
    if id_ not in names:
        raise ValueError(f"id must be that of a valid key, got {id_!r}")
    store.revoke_token(id_, _audit("key revoked", f"{names[id_]} ({id_})"))


def _audit(what: str, details: str) -> Audit:
    return Audit(time.time(), "command line", what, "", details)


class Rate:
    """A limit of requests a second for each sender, by a token bucket."""

    def __init__(self, per_second: float, most: int = 10_000) -> None:
        self._rate, self._most = per_second, most
        self._buckets: dict[str, tuple[float, float]] = {}  # tokens left, at a time

    def take(self, who: str, cost: float = 1.0) -> None:
        """Take from a sender's bucket, or refuse."""
        if self._rate <= 0.0:
            return
        now = time.monotonic()
        full = max(2.0 * self._rate, 1.0)
        cost = min(cost, full)  # a large request takes a full bucket
        left, at = self._buckets.get(who, (full, now))
        left = min(full, left + (now - at) * self._rate)
        if left < cost:
            self._buckets[who] = (left, now)
            raise Refusal("too_many_requests", f"at most {self._rate:g} requests a second")
        if len(self._buckets) >= self._most:
            self._buckets.clear()
        self._buckets[who] = (left - cost, now)
