"""One rule for where a picture may be saved: the suffix says the format, a folder is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rotting.cli import app
from rotting.reports import plots

COMMANDS = (["demo"], ["theory", "--scenario", "av"])


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("name", "refusal"),
    [("x.gif", "out must end in .png, .svg or .pdf, got"), ("x.png", "out must be a file, but")],
)
def test_commands_refuse_before_any_work(
    words: list[str], name: str, refusal: str, tmp_path: Path
) -> None:
    (tmp_path / "x.png").mkdir()
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / name)])
    assert done.exit_code == 2
    assert refusal in done.stderr


def test_every_format_is_saved_atomically(tmp_path: Path) -> None:
    figure, _ = plots.new_figure(1.0, 1.0)
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert set(starts) == set(plots.PICTURES)
    for suffix, start in starts.items():
        path = plots.save_figure(figure, tmp_path / f"x{suffix}")
        assert path.read_bytes().startswith(start)
    (tmp_path / "folder.png").mkdir()
    for wrong in ("x.gif", "x", "folder.png"):
        with pytest.raises(ValueError, match=r"path must (end in|be a file)"):
            plots.save_figure(figure, tmp_path / wrong)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["folder.png", "x.pdf", "x.png", "x.svg"]
