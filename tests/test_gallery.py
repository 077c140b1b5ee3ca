"""Every story of the gallery, played as a notebook: no error, and it prints what its page says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gallery import play
from rotting.kernel.arrays import FloatArray
from stories import IMAGES, SECTIONS, Story, stories


def greys(path: Path) -> FloatArray:
    """How light each pixel is, of an animation its first frame."""
    with Image.open(path) as picture:
        return np.asarray(picture.convert("L"), dtype=np.float64)


# What a story plays less of in `make test`; all of it is played by `make test-long`.
LESS = {
    "why_ucb1_fails": {"runs=100": "runs=3"},
    "two_arms": {"EVERY, MOMENTS = 600,": "EVERY, MOMENTS = 1_800,"},
    "cto_detects": {"8_000, 30 ": "8_000, 2 ", "runs=100": "runs=3"},
    "wrong_family": {"runs=50": "runs=2", "in range(10)": "in range(2)"},
    "your_own_policy": {"league.play(20,": "league.play(2,"},
    "caps_or_curves": {"runs=20": "runs=2"},
    "learnt_curves": {"range(1_000)": "range(30)"},
    "log_diagnosed": {"runs=5, resamples=40": "runs=2, resamples=20"},
    "late_clicks": {"= 10_000, range(10)": "= 2_000, range(2)"},
    "come_and_go": {"100, 25, 400": "100, 25, 20"},
    "regret_and_bounds": {"runs=50": "runs=2"},
    "candy_cane": {"runs=200": "runs=3"},
    "gpu_million": {"RUNS = 10_000": "RUNS = 100"},
}
WHOLE = "tuning_alpha"  # the story whose notebook is executed in `make test` as well


@pytest.mark.parametrize("name", LESS)
def test_the_script_plays_and_draws(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With fewer runs, in this process: its numbers are others than on its page."""
    story = stories()[name]
    script = story.path.read_text(encoding="utf-8")
    for text, less in LESS[name].items():
        assert script.count(text) == 1, f"{story.path.name} has no {text}"
        script = script.replace(text, less)
    monkeypatch.chdir(tmp_path)
    exec(compile(script, str(story.path), "exec"), {"__name__": "story"})
    assert capsys.readouterr().out
    for picture in story.pictures:
        assert greys(tmp_path / picture).shape == greys(IMAGES / picture).shape


def test_every_story_is_tested() -> None:
    assert sorted({*LESS, WHOLE}) == sorted(stories())


@pytest.mark.parametrize(
    "name",
    [WHOLE, *(pytest.param(name, marks=pytest.mark.long) for name in LESS)],
)
def test_the_notebook_prints_what_the_page_says(name: str, tmp_path: Path) -> None:
    story = stories()[name]
    assert play(story, tmp_path) == story.printed
    for picture in story.pictures:
        drawn, kept = greys(tmp_path / picture), greys(IMAGES / picture)
        assert drawn.shape == kept.shape
        # another Matplotlib draws letters otherwise: that is less than a tenth of the ink
        assert np.abs(drawn - kept).mean() < (255.0 - kept).mean() / 10.0


def test_a_notebook_is_made_the_same_each_time() -> None:
    story = stories()[SECTIONS["Study"][0]]
    assert story.notebook() == story.notebook()


def test_a_story_that_fails_is_an_error(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text("# %% [markdown]\n# # Title\n#\n# **What to see.** It.\n# %%\n1 / 0\n")
    with pytest.raises(Exception, match="ZeroDivisionError"):
        play(Story(script), tmp_path)


def test_a_story_without_its_picture_is_an_error(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text('# %% [markdown]\n# # Title\n# %%\nname = "broken.png"\n')
    with pytest.raises(Exception, match=r"broken\.png"):
        play(Story(script), tmp_path)


def test_a_script_without_words_is_an_error(tmp_path: Path) -> None:
    script = tmp_path / "silent.py"
    script.write_text("# %%\n1\n")
    with pytest.raises(ValueError, match="title"):
        Story(script).page()
    script.write_text("# %% [markdown]\n# # Title\n#\n# Words.\n")
    with pytest.raises(ValueError, match="what to see"):
        Story(script).page()
