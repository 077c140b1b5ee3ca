"""Rewrite records."""

from __future__ import annotations

import sys

from records import NAMES, write

for name in sys.argv[1:] or NAMES:
    print(f"{name}: {write(name)} on record")
