"""Which decisions belong to which version of the code that plays (`rotting._provenance.PLAYS`).

`decisions.json` has that number and a digest of every decision on record. Where one changes the
number must be raised: a service accepts the decisions in events of other versions, and decides
again those of its own version. New records are added, and need no higher number.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import recorded
from records import file_of, known
from rotting._provenance import PLAYS


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:8]


def decisions() -> dict[str, str]:
    """What is on record of every policy and player, without regrets, as digests by name."""
    found = {}
    for name, plays in json.loads(recorded.RECORD.read_text()).items():
        pulls = {
            what: play["pulls"] if isinstance(play, dict) else play for what, play in plays.items()
        }
        found[name] = digest(pulls)
    for name, play in known("players").items():
        found[f"player {name}"] = digest(play["digest"])
    for name, play in known("service").items():
        found[f"service {name}"] = digest(play["then"])
    return found


def changed(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Those that are others, or gone."""
    return [name for name, then in before.items() if now.get(name) != then]


def write() -> None:
    """Put them on record; ValueError if one changed and the number did not."""
    now = decisions()
    path = file_of("decisions")
    if path.exists():
        before = known("decisions")
        others = changed(before["decisions"], now)
        if others and before["plays"] >= PLAYS:
            raise ValueError(
                f"decisions changed ({', '.join(others[:5])}): PLAYS in _provenance.py must "
                f"be more than {before['plays']}, got {PLAYS}"
            )
    path.write_text(json.dumps({"plays": PLAYS, "decisions": now}, indent=1) + "\n")


if __name__ == "__main__":
    write()
