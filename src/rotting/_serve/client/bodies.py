"""Bodies of the client's requests: their checks, and batches within the limits of the service."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from rotting import _checks
from rotting._plain import to_plain
from rotting._serve.client.answers import Choice

if TYPE_CHECKING:
    from rotting.logs._log import Log

ITEMS = 1000  # in a batch, at most
BYTES = 1_000_000  # in a body; the service takes 1 MiB
ID, LABEL, KEY = 200, 200, 500  # characters at most
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_NOT_ALLOWED = ("Cc", "Cs")  # control characters, and surrogates, which UTF-8 cannot encode


def text(name: str, value: Any, most: int) -> str:
    """A text of 1 to `most` characters, none of them a control character.

    >>> text("arm", "", LABEL)
    Traceback (most recent call last):
    ValueError: arm must be a text of 1 to 200 characters, got ''
    """
    if not isinstance(value, str) or not 1 <= len(value) <= most:
        shown = repr(value) if len(repr(value)) <= 80 else repr(value)[:80] + "..."
        raise ValueError(f"{name} must be a text of 1 to {most} characters, got {shown}")
    for place, character in enumerate(value):
        if unicodedata.category(character) in _NOT_ALLOWED:
            raise ValueError(
                f"{name} must be a text without control characters, got {character!r} at place "
                f"{place}"
            )
    return str(value)


def experiment_name(value: Any) -> str:
    """The name of an experiment, checked; it is part of URLs."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError(
            "experiment must be a name of 1 to 100 letters, digits, '.', '_' and '-', the first a "
            f"letter or digit, got {str(value)[:80]!r}"
        )
    return str(value)


def labels(name: str, values: Any) -> list[str]:
    """Arm labels, checked: at least one, all different."""
    found = _checks.labels(name, values)
    return [text(f"each of {name}", value, LABEL) for value in found]


def address(url: Any) -> str:
    """The service's address, without a slash at its end."""
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"url must be like 'http://127.0.0.1:8100', got {str(url)[:80]!r}")
    if "@" in parts.netloc or parts.query or parts.fragment:  # may be a secret: not shown
        raise ValueError(
            f"url must have no password, query or fragment, got one for {parts.hostname!r}; an API "
            "key is given as key"
        )
    return str(url).rstrip("/")


def secret(key: Any) -> str | None:
    """The API key, checked. Messages never show it."""
    if key is None:
        return None
    if not isinstance(key, str) or not re.fullmatch(r"[!-~]{1,500}", key):
        raise ValueError(
            "key must be a text of 1 to 500 ASCII characters without spaces, got something else "
            "(not shown)"
        )
    return key


def policy_data(policy: Any) -> Any:
    """A policy as JSON: plain data, a name, or the text of a file."""
    if policy is None or isinstance(policy, str):
        return policy
    if isinstance(policy, Path):
        if policy.suffix != ".toml":
            raise ValueError(f"policy must be a .toml file as `rotting fit` writes, got {policy}")
        return policy.read_text(encoding="utf-8")
    if isinstance(policy, Mapping):
        return dict(policy)
    data = to_plain(policy)
    if not isinstance(data, dict):
        raise ValueError(f"policy must be a policy, its name, a dict or a Path, got {policy!r}")
    return data


def body(data: Any) -> bytes:
    """Data as UTF-8 JSON."""
    try:
        written = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return written.encode("utf-8")
    except (TypeError, ValueError) as error:
        raise ValueError(f"what is sent must be finite numbers, texts and lists: {error}") from None


def packed(items: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Items in batches within `ITEMS` and `BYTES`; equal items give equal batches."""
    batch: list[Mapping[str, Any]] = []
    size = 0
    for item in items:
        own = len(body(item)) + 1
        if batch and (len(batch) == ITEMS or size + own > BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += own
    if batch:
        yield batch


def history(rows: Any, id: str) -> Iterable[dict[str, Any]]:
    """Rows of history, from tuples, dicts or a log; all are checked before the first is yielded."""
    if hasattr(rows, "exposure"):
        return _logged(rows, id)
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        raise ValueError(f"rows must be tuples (arm, reward[, key]) or dicts, got {rows!r}")
    return [_pull(place, row) for place, row in enumerate(rows)]


def _pull(place: int, row: Any) -> dict[str, Any]:
    if isinstance(row, Mapping):
        unknown = set(row) - {"arm", "reward", "key"}
        if unknown or "arm" not in row or "reward" not in row:
            raise ValueError(f"rows[{place}] must have arm, reward and perhaps key, got {row!r}")
        given = row["arm"], row["reward"], row.get("key")
    elif isinstance(row, tuple) and len(row) in (2, 3):
        given = row[0], row[1], row[2] if len(row) == 3 else None
    else:
        raise ValueError(f"rows[{place}] must be (arm, reward), (arm, reward, key), got {row!r}")
    found = {
        "arm": text(f"arm of rows[{place}]", given[0], LABEL),
        "reward": _checks.reward(given[1], f"reward of rows[{place}]"),
    }
    if given[2] is not None:
        found["key"] = text(f"key of rows[{place}]", given[2], KEY)
    return found


def _logged(log: Log, id: str) -> Iterator[dict[str, Any]]:
    """The pulls of a log in the order of time.

    A log has numbers in place of its keys. A bare number could be the key of another person, so the
    id is put before it. Wear is learnt from these keys, but the people are not recognised later.
    """
    unknown = int(np.isnan(log.reward).sum())
    if unknown:
        raise ValueError(
            f"rows must have rewards, but {unknown} of {log.reward.size} rows of the log have "
            "none; log.only(...) leaves rows out"
        )
    _checks.rewards(log.reward)
    arms = labels("arms of the log", log.arms)
    for place in np.argsort(log.time, kind="stable"):
        pull = {"arm": arms[log.arm[place]], "reward": float(log.reward[place])}
        yield {**pull, "key": f"log {id} {log.key[place]}"} if log.has_keys else pull


def decision(id: str, key: str | None, among: list[str] | None) -> dict[str, Any]:
    """The body of a request for a decision."""
    item: dict[str, Any] = {"id": id}
    if key is not None:
        item["key"] = text("key", key, KEY)
    if among is not None:
        item["among"] = among
    return item


def id_of(choice_or_id: Choice | str) -> str:
    if isinstance(choice_or_id, Choice):
        choice_or_id = choice_or_id.id
    return text("choice_or_id", choice_or_id, ID)


def reward(choice_or_id: Choice | str, value: float, id: str | None) -> dict[str, Any]:
    """The body of a reward."""
    item: dict[str, Any] = {"decision": id_of(choice_or_id), "reward": _checks.reward(value)}
    if id is not None:
        item["id"] = text("id", id, ID)
    return item


def is_own(choice_or_id: Choice | str) -> bool:
    """Whether this is a fallback, chosen by the client."""
    return isinstance(choice_or_id, Choice) and choice_or_id.fallback


def shown(choice: Choice) -> dict[str, Any]:
    """The body that confirms the showing of a fallback."""
    item = {"decision": choice.id, "arm": choice.arm, "key": choice.key}
    return {name: value for name, value in item.items() if value is not None}
