"""The browser for tests of pages; they are skipped where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str | None:
    """Where Chromium is, or None."""
    return next((place for name in NAMES if (place := shutil.which(name))), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """A Chromium without a window. Skips the test where it, or Playwright, is missing."""
    api = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    place = chromium()
    if place is None:
        pytest.skip("needs Chromium, under one of the names " + ", ".join(NAMES))
    with api.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=place, args=SWITCHES)
        try:
            yield found
        finally:
            found.close()


class Watched:
    """A page with its console messages and its requests."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.said.append(f"{message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        self.asked.append(request.url)


@contextmanager
def watched(
    found: Browser, *, width: int = 1280, height: int = 900, scheme: str = "light"
) -> Iterator[Watched]:
    """A fresh page of that width and colour scheme ("light" or "dark")."""
    context = found.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        timezone_id="UTC",
    )
    try:
        yield Watched(context.new_page())
    finally:
        context.close()
