"""Play the stories of the gallery as notebooks, and keep their pictures and what they print.

python docs/making/gallery.py                    all of them: docs/gallery/images
python docs/making/gallery.py two_arms           some of them

A story is turned into a notebook and executed, as in the tests: what stands on its page is what
the notebook does.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from nbclient import NotebookClient

from stories import IMAGES, Story, stories

LONGEST = 600  # seconds that a cell may take


def play(story: Story, folder: Path) -> str:
    """Execute the story's notebook in a folder; return what it printed. Its pictures are there."""
    notebook = story.notebook()
    client = NotebookClient(
        notebook, timeout=LONGEST, resources={"metadata": {"path": str(folder)}}
    )
    kernel = client.create_kernel_manager()
    with tempfile.TemporaryDirectory() as sockets:
        if os.name == "posix":  # files, on which nobody else can listen, instead of ports
            kernel.transport, kernel.ip = "ipc", str(Path(sockets) / "kernel")
        client.execute()
    printed = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output["output_type"] == "stream" and output["name"] == "stderr":
                raise RuntimeError(f"{story.name} complains: {output['text']}")
            if output["output_type"] == "stream":
                printed.append(output["text"])
    for name in story.pictures:
        if not (folder / name).exists():
            raise RuntimeError(f"{story.name} must save {name}")
    return "".join(printed)


def main() -> int:
    """Play what was asked for; a line for each."""
    every = stories()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(every))
    asked = parser.parse_args().names
    if unknown := sorted(set(asked) - set(every)):
        parser.error(f"there is no story {', '.join(unknown)}; there are {', '.join(every)}")
    IMAGES.mkdir(exist_ok=True)
    for name in asked or every:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            printed = play(every[name], Path(folder))
            for picture in every[name].pictures:
                shutil.copy(Path(folder) / picture, IMAGES / picture)
        (IMAGES / f"{name}.txt").write_text(printed, encoding="utf-8")
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
