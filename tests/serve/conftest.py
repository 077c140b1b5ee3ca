"""Fixtures for tests of the client."""

from __future__ import annotations

import pytest

from helpers.serve.fake_transport import Fake


@pytest.fixture
def fake() -> Fake:
    """A service that has one experiment, banner, and has had no request yet."""
    made = Fake()
    made.client().create("banner", ["A", "B", "C"], fallback="B")
    made.requests.clear()
    return made
