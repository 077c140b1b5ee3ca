"""The walk beside the model notices a service that is wrong, and passes one that is not."""

from __future__ import annotations

import pytest

from helpers.serve.random_walk import walk


def test_a_right_service_passes() -> None:
    walk(300, seed=3, standin="")


def test_a_service_that_forgets_its_rewards_is_noticed() -> None:
    with pytest.raises(AssertionError, match="applied"):
        walk(300, seed=3, standin="twice")
