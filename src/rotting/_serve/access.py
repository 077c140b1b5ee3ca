"""Who may do what: API keys with roles, made on the command line and shown once.

A key is `rot_ID_SECRET`. The store has a hash of the secret, which is 256 random bits, so that a
fast hash does: there is nothing to guess. Comparisons take the same time whatever differs.
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
_FRESH = 1.0  # seconds after which keys are read again: a revoked one works no longer than that
_NOTHING = hashlib.sha256(b"").hexdigest()


class Who(NamedTuple):
    """Somebody who asks."""

    name: str
    roles: frozenset[str]
    experiments: frozenset[str]  # empty: all of them

    def may(self, *roles: str) -> bool:
        """Whether any of these roles is theirs."""
        return "admin" in self.roles or any(role in self.roles for role in roles)

    def sees(self, experiment: str) -> bool:
        """Whether an experiment exists for them at all."""
        return not self.experiments or experiment in self.experiments


LOCAL = Who("local", frozenset(ROLES), frozenset())  # on this machine, without keys


class Token(NamedTuple):
    """An API key as it is stored."""

    id: str
    name: str
    hash: str
    roles: str
    experiments: str


class Gate:
    """Knows the keys, and reads them again now and then."""

    def __init__(self, required: bool) -> None:
        self._required = required
        self._tokens: dict[str, Token] = {}
        self._ever = False
        self._read_at = -1e9

    @property
    def asks(self) -> bool:
        """Whether a key is needed: whoever revokes the last one does not open the door."""
        return self._required or self._ever

    def stale(self) -> bool:
        """Whether it is time to read the keys again."""
        return time.monotonic() - self._read_at > _FRESH

    def refresh(self, rows: list[tuple[str, str, str, str, str]], ever: bool = False) -> None:
        """Take the keys as they are now, and whether there ever was one."""
        self._ever = self._ever or ever or bool(rows)
        self._tokens = {row[0]: Token(*row) for row in rows}
        self._read_at = time.monotonic()

    def who(self, header: str | None) -> Who:
        """Who sends this Authorization header, or a refusal."""
        if not self.asks:
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
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def check_token(name: str, roles: list[str], experiments: list[str]) -> None:
    """Refuse what no API key can be."""
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
    """Make an API key; this is the only time that it is seen."""
    check_token(name, roles, experiments)
    id_, secret = secrets.token_hex(5), secrets.token_urlsafe(32)
    row = (id_, name, hash_of(secret), ",".join(roles), ",".join(experiments))
    store.add_token(row, _audit("key added", f"{name} ({id_}): {','.join(roles)}"))
    return f"rot_{id_}_{secret}"


def revoke_token(store: Store, id_: str) -> None:
    """Let an API key be valid no longer; ValueError if it is not valid."""
    names = {one: name for one, name, *_ in store.tokens()}
    if id_ not in names:
        raise ValueError(f"id must be that of a valid key, got {id_!r}")
    store.revoke_token(id_, _audit("key revoked", f"{names[id_]} ({id_})"))


def _audit(what: str, details: str) -> Audit:
    return Audit(time.time(), "command line", what, "", details)


class Rate:
    """At most so many requests a second for each who asks: a bucket that fills (token bucket)."""

    def __init__(self, per_second: float, most: int = 10_000) -> None:
        self._rate, self._most = per_second, most
        self._buckets: dict[str, tuple[float, float]] = {}  # what is left, and when it was

    def take(self, who: str, cost: float = 1.0) -> None:
        """Take from the bucket, or refuse."""
        if self._rate <= 0.0:
            return
        now = time.monotonic()
        full = max(2.0 * self._rate, 1.0)
        cost = min(cost, full)  # what is large takes all there is
        left, at = self._buckets.get(who, (full, now))
        left = min(full, left + (now - at) * self._rate)
        if left < cost:
            self._buckets[who] = (left, now)
            raise Refusal("too_many_requests", f"at most {self._rate:g} requests a second")
        if len(self._buckets) >= self._most:
            self._buckets.clear()
        self._buckets[who] = (left - cost, now)
