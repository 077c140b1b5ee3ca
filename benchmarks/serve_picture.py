"""The picture of the dashboard in docs/guides/serving.md: the demo, as it looks after some seconds.

    python benchmarks/serve_picture.py [--out docs/images/serve-dashboard.png] [--seconds 20]

Starts `rotting serve --demo` on a free port with a database that is thrown away, waits until the
past was played and visitors come, and takes the page of the demo's experiment with Playwright and
the system's Chromium: light, as on a tablet, down to the end of the curves. It fails if the page
says anything on its console.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from rotting._serve.demo import NAME

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WIDTH, PAST = 860, 4000  # pixels; decisions of the day that the demo plays at once
LAST = "curves"  # the id of the last heading whose section is in the picture


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def decisions(url: str) -> int:
    """How many the demo has made."""
    try:
        with urlopen(f"{url}/v1/experiments", timeout=5) as answer:
            found = json.load(answer)["experiments"]
    except (URLError, ConnectionError, TimeoutError):
        return 0
    return int(found[0]["decisions"]) if found else 0


def take(url: str, out: Path) -> None:
    """The page as a file, of few colours, so that it is small."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    place = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if place is None:
        raise SystemExit(f"Chromium must be there, under one of the names {', '.join(BROWSERS)}")
    said: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=place, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(
            viewport={"width": WIDTH, "height": 1000}, color_scheme="light", locale="en-GB"
        )
        page.on("console", lambda message: said.append(message.text))
        page.goto(f"{url}/#/experiments/{NAME}")
        page.wait_for_selector(".panel canvas, .panel svg", timeout=30_000)
        page.wait_for_timeout(3000)  # one more answer, and everything is drawn
        section = page.locator(f"section[aria-labelledby={LAST}]").bounding_box()
        assert section is not None
        height = section["y"] + section["height"] + 8
        clip = {"x": 0.0, "y": 0.0, "width": float(WIDTH), "height": height}
        page.screenshot(path=out, full_page=True, clip=clip)
        browser.close()
    Image.open(out).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, 2).save(
        out, optimize=True
    )
    if said:
        raise SystemExit(f"the page says on its console: {said}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images/serve-dashboard.png"))
    parser.add_argument("--seconds", type=float, default=20.0, help="of visitors, before it")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        data = str(Path(folder) / "demo.db")
        command = ["-m", "rotting", "serve", "--demo", "--data", data, "--port", str(port)]
        server = subprocess.Popen([sys.executable, *command])
        try:
            until = time.monotonic() + 120.0
            while decisions(f"http://127.0.0.1:{port}") <= PAST:
                if time.monotonic() > until or server.poll() is not None:
                    raise SystemExit("the demo does not begin")
                time.sleep(0.5)
            time.sleep(asked.seconds)
            take(f"http://127.0.0.1:{port}", asked.out)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)
    print(f"{asked.out}: {asked.out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
