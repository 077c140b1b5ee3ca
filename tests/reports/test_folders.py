"""An output folder is put in place whole, or not at all."""

from __future__ import annotations

import contextlib
from pathlib import Path

from rotting.reports.folders import output_folder


def test_an_output_folder_is_put_in_place_whole(tmp_path: Path) -> None:
    with output_folder(tmp_path / "a" / "b") as work:
        (work / "x").write_text("1")
        (work / "sub").mkdir()
        (work / "sub" / "y").write_text("2")
        assert not (tmp_path / "a" / "b" / "x").exists()
    assert (tmp_path / "a" / "b" / "sub" / "y").read_text() == "2"
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == ["sub", "x"]
    for target, force in ((tmp_path / "c", False), (tmp_path / "a" / "b", True)):
        with contextlib.suppress(RuntimeError), output_folder(target, force) as work:
            (work / "x").write_text("3")
            raise RuntimeError
    assert not (tmp_path / "c").exists()
    assert (tmp_path / "a" / "b" / "x").read_text() == "1"
