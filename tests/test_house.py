"""The layers of the package: imports go down, never in a cycle, and every module has its place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import rotting
from helpers.house import ENTRANCES, back_edges, cycles, imports_of, loose, strangers

SOURCE = Path(rotting.__path__[0])


def test_a_module_imports_from_lower_floors_only() -> None:
    found = back_edges(SOURCE, ENTRANCES)
    assert not found, "\n" + "\n".join(found)


def test_imports_have_no_cycle() -> None:
    found = cycles(SOURCE, ENTRANCES)
    assert not found, "\n" + "\n".join(found)


def test_nothing_lies_loose() -> None:
    found = loose(SOURCE)
    assert not found, "\n" + "\n".join(found)


def test_policies_holds_policies() -> None:
    found = strangers(SOURCE)
    assert not found, "\n" + "\n".join(found)


# ------------------------------------------------------------- what the checks see in small houses


def build(folder: Path, files: dict[str, str]) -> Path:
    """A package `rotting` of these files, with an `__init__` in every folder that has none."""
    root = folder / "rotting"
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        for above in file.relative_to(root).parents:
            (root / above / "__init__.py").touch()
    return root


def test_a_back_edge_is_named(tmp_path: Path) -> None:
    files = {
        "models/curves.py": "import math\nfrom rotting.theory._sums import total\n",
        "theory/_sums.py": "total = 1\n",
        "policies/parts/window.py": "from .._base import Policy\n",
        "policies/_base.py": "from rotting.policies.parts import heap\nclass Policy: ...\n",
        "policies/parts/heap.py": "import rotting._checks\n",
        "_checks.py": "",
    }
    assert back_edges(build(tmp_path, files), set()) == [
        "rotting.models.curves:2 imports rotting.theory._sums: from models up to theory",
        "rotting.policies.parts.window:1 imports rotting.policies._base: "
        "from policies.parts up to policies",
    ]


def test_the_roof_imports_all_and_nothing_imports_the_roof(tmp_path: Path) -> None:
    files = {
        "__init__.py": "from rotting._cli import main\n__version__ = '1'\n",
        "__main__.py": "from rotting._cli.main import app\n",
        "_cli/main.py": "from rotting import __version__\nfrom rotting import models\napp = 1\n",
        "models/__init__.py": "",
    }
    root = build(tmp_path, files)
    assert back_edges(root, set()) == [
        "rotting._cli.main:1 imports rotting: from _cli up to roof",
    ]
    (found,) = cycles(root, set())
    assert "rotting:1 imports rotting._cli.main" in found
    assert "rotting._cli.main:1 imports rotting" in found


@pytest.mark.parametrize("late", [False, True])
def test_a_cycle_is_found_though_an_import_is_late(tmp_path: Path, late: bool) -> None:
    """Within a floor, so that no back edge gives it away."""
    back = (
        "def learn():\n    from rotting._engines import loop\n" if late else "from . import loop\n"
    )
    files = {
        "_engines/loop.py": "from rotting._engines.compiled.calls import step\n",
        "_engines/compiled/calls.py": "step = 1\nfrom rotting._engines import plan\n",
        "_engines/plan.py": back,
    }
    root = build(tmp_path, files)
    assert back_edges(root, set()) == []
    (found,) = cycles(root, set())
    assert "rotting._engines.loop:1 imports rotting._engines.compiled.calls" in found
    assert "rotting._engines.compiled.calls:2 imports rotting._engines.plan" in found
    line = (
        "2 imports rotting._engines.loop (in learn)" if late else "1 imports rotting._engines.loop"
    )
    assert f"rotting._engines.plan:{line}" in found
    (root / "_engines" / "plan.py").write_text("")
    assert cycles(root, set()) == []


def test_every_cycle_is_listed(tmp_path: Path) -> None:
    files = {
        f"theory/{name}.py": f"from rotting.theory import {other}\n"
        for name, other in ("ab", "ba", "cd", "dc", "ea")
    }
    found = cycles(build(tmp_path, files), set())
    assert len(found) == 2
    assert not any("rotting.theory.e" in circle for circle in found)


@pytest.mark.parametrize("test", ["TYPE_CHECKING", "typing.TYPE_CHECKING"])
def test_imports_for_type_checkers_do_not_count(tmp_path: Path, test: str) -> None:
    text = f"if {test}:\n    from rotting._cli import main\nelse:\n    from rotting import league\n"
    root = build(tmp_path, {"models/a.py": text, "_cli/main.py": "", "league/__init__.py": ""})
    assert [str(edge) for edge in imports_of(root)] == ["rotting.models.a:4 imports rotting.league"]
    (root / "models" / "a.py").write_text(text.replace(f"if {test}", f"if not {test}"))
    assert len(imports_of(root)) == 2


def test_an_entrance_is_one_import_in_one_function(tmp_path: Path) -> None:
    entrance = ("rotting.policies._base", "online", "rotting._online.player")
    base = (
        "class Policy:\n"
        "    def online(self):\n        from rotting._online.player import Player\n"
        "    def other(self):\n        from rotting._online.player import Player\n"
    )
    player = "from rotting.policies._base import Policy\nclass Player: ...\n"
    root = build(tmp_path, {"policies/_base.py": base, "_online/player.py": player})
    (found,) = back_edges(root, {entrance})
    assert found.startswith("rotting.policies._base:5 imports rotting._online.player (in other): ")
    assert len(cycles(root, {entrance})) == 1
    (root / "policies" / "_base.py").write_text(base[: base.index("    def other")])
    assert back_edges(root, {entrance}) == cycles(root, {entrance}) == []
    (root / "policies" / "_base.py").write_text("")
    assert back_edges(root, {entrance}) == [
        "entrance not used: rotting.policies._base online rotting._online.player"
    ]


def test_loose_modules_and_strangers_are_named(tmp_path: Path) -> None:
    files = {
        "_checks.py": "",
        "helpers.py": "",
        "shed/tools.py": "",
        "policies/_base.py": "class Policy: ...\n",
        "policies/_cto.py": "from rotting.policies import _base\nclass CTO(_base.Policy): ...\n",
        "policies/tree.py": "class Tree: ...\n",
        "policies/parts/heap.py": "",
        "policies/more/ucb.py": "class UCB(Policy): ...\n",
    }
    root = build(tmp_path, files)
    assert loose(root) == [
        "helpers.py lies loose at the root of the package",
        "shed/ is on no floor",
    ]
    assert strangers(root) == [
        "policies/more/__init__.py is no policy",
        "policies/more/ucb.py is no policy",
        "policies/tree.py is no policy",
    ]


def test_policies_leave_the_machinery_to_their_parts() -> None:
    """What makes a decision fast has names in parts/, and none in a policy."""
    machinery = {"leader", "rival", "tree", "changed", "unjudged", "gaps"}
    for file in (SOURCE / "policies").glob("*.py"):
        nodes = list(ast.walk(ast.parse(file.read_text())))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        assert not names & machinery, f"{file.name} speaks of {names & machinery}"
