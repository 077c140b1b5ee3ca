"""Makes the log that is shipped with the package, src/rotting/logs/example.csv.

    python benchmarks/example_log.py

It is made up: 900 users, four creatives, 90 days. Each user is shown two of the creatives, one of
them at random at every visit. A creative pays n^-theta of its first showing at the n-th to the same
user. Users have rates of their own, and leave by them, sooner after a showing without a click.
Nothing but uniform numbers is drawn, so that every version of numpy makes the same file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

USERS, VISITS, DAYS = 900, 24, 90.0
CREATIVES = {  # what the first showing is worth, and how fast it wears out
    "discount": (1.3, 0.55),
    "family": (1.0, 0.25),
    "sunset": (0.9, 0.10),
    "countdown": (1.1, 0.70),
}
PLACE = Path(__file__).parent.parent / "src" / "rotting" / "logs" / "example.csv"
_FIRST = np.datetime64("2026-03-01T00:00", "m")


def rows(seed: int = 16) -> list[tuple[int, str, str, int]]:
    """User, creative, time, click."""
    generator = np.random.default_rng(seed)
    names = list(CREATIVES)
    found = []
    for user in range(USERS):
        rate = 0.08 + 0.5 * generator.random() ** 2  # most are hard to please, a few are not
        pair = _pair(generator, len(names))
        shown = [0] * len(names)
        day = (DAYS - 10.0) * generator.random()
        for _ in range(VISITS):
            arm = pair[int(2.0 * generator.random())]
            shown[arm] += 1
            first, theta = CREATIVES[names[arm]]
            clicked = generator.random() < min(0.95, rate * first) * shown[arm] ** -theta
            found.append((_time(day), 1001 + user, names[arm], int(clicked)))
            leaves = (0.02 if clicked else 0.10) + 0.25 * rate
            day += 0.1 - 1.4 * np.log(1.0 - generator.random())
            if generator.random() < leaves or day > DAYS:
                break
    found.sort()
    return [(user, creative, str(time), clicked) for time, user, creative, clicked in found]


def _pair(generator: np.random.Generator, count: int) -> tuple[int, int]:
    one = int(count * generator.random())
    return one, (one + 1 + int((count - 1) * generator.random())) % count


def _time(day: float) -> Any:
    return _FIRST + np.timedelta64(int(day * 1440.0), "m")


def text() -> str:
    """The file."""
    lines = [f"{user},{creative},{time},{clicked}" for user, creative, time, clicked in rows()]
    return "\n".join(["user,creative,shown_at,clicked", *lines]) + "\n"


def main() -> int:
    PLACE.write_text(text(), encoding="utf-8")
    print(f"{PLACE}: {PLACE.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
