"""The service against its OpenAPI description, in short; `schema.py` at length."""

from __future__ import annotations

from serve.schema import study


def test_answers_are_as_described_whether_requests_fit_or_not() -> None:
    count, found = study(3)
    assert not found
    assert count > 40
