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


@pytest.mark.parametrize("name", list(stories()))
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
