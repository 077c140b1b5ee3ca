"""The policy that is recommended for what is known."""

from __future__ import annotations

import pytest

from rotting import policies
from rotting.papers import levine2017


def test_recommended() -> None:
    family = levine2017.FAMILY
    assert policies.recommended(sigma=0.4) == policies.SteadyUCB(0.4)
    assert policies.recommended(rewards="bernoulli") == policies.SteadyUCB(None)
    found = policies.recommended(sigma=0.4, family=family, constants=True)
    assert found == policies.Guarded(family, 0.4, constants=True)
    with pytest.raises(ValueError, match="sigma must be given with a family"):
        policies.recommended(family=family)
    with pytest.raises(ValueError, match="rewards must be one of"):
        policies.recommended(rewards="gamma")
