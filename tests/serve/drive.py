"""A long random walk: `python tests/serve/drive.py --steps 100000 --seed 0` (make slow)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from helpers.serve.random_walk import check_walk

    check_walk(options.steps, options.seed, report=True)
    print(f"{options.steps:,} steps: the service and the model agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
