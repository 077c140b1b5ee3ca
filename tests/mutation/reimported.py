"""A fault outside all functions: python -m mutation.reimported MODULE PLACE TEST...

It imports the package with the fault in it and plays the tests; exits with 0 if they pass.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import CodeType
from typing import Any

from mutation.host import passes, with_tests
from mutation.sites import file_of, mutated, sites


class Mutated(importlib.machinery.SourceFileLoader):
    """Loads a module with a fault in it."""

    def __init__(self, module: str, code: CodeType) -> None:
        super().__init__(module, str(file_of(module)))
        self.code = code

    def get_code(self, fullname: str) -> CodeType:
        """The mutated code, whatever is in the file or in a cache of it."""
        return self.code


class Finder(importlib.abc.MetaPathFinder):
    """Finds that one module."""

    def __init__(self, loader: Mutated) -> None:
        self.loader = loader

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """None for all others, which are found as usual."""
        if name != self.loader.name:
            return None
        return importlib.util.spec_from_file_location(name, self.loader.path, loader=self.loader)


def main(module: str, place: int, tests: Sequence[str]) -> None:
    """Play the tests on the module with one of its faults."""
    code = compile(mutated(sites(module)[place]), str(file_of(module)), "exec")
    sys.meta_path.insert(0, Finder(Mutated(module, code)))
    order = {test: rank for rank, test in enumerate(tests)}
    found: list[bool] = []

    def work(items: Sequence[Any]) -> None:
        known = sorted(
            (item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid]
        )
        found.append(len(known) == len(order) and all(passes(item) for item in known))

    with_tests(work, sorted({test.split("::")[0] for test in tests}))
    sys.exit(0 if found == [True] else 1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
