"""Compiled calls and the state block: supported fields, and that verbs write to the state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rotting import policies
from rotting._engines.compiled.calls import calls_for, pack
from rotting._engines.state_block import state_block_of
from rotting._live import ledger as at
from rotting._live.ledger import new_ledger
from rotting.kernel.random import new_draw
from rotting.policies.parts.openings import closable


def test_fields_that_compiled_code_cannot_take_are_refused() -> None:
    verbs, ledger = policies.UCB1.verbs, new_ledger(2, seed=0)
    params: Any = policies.UCB1().prepare(2, None, 100)
    state = closable(verbs.init(params, 2, 100))
    with pytest.raises(ValueError, match="c of Params must be a number or an array, got None"):
        calls_for(params._replace(c=None), state, ledger)
    arms = state.arms._replace(pulls=np.zeros(4, dtype=np.int64)[::2])
    with pytest.raises(ValueError, match=r"arms\.pulls of Arms must be a contiguous array"):
        calls_for(params, state._replace(arms=arms), ledger)


def test_compiled_verbs_write_to_the_state() -> None:
    """Numba 0.68 with inline="always" loses these writes; the verbs must not be compiled so."""
    policy = policies.UCB1()
    params = policy.prepare(2, None, 100)
    state, ledger = closable(policy.verbs.init(params, 2, 100)), new_ledger(2, seed=0)
    ledger.clock[[at.GROW_AT, at.GROW_AT_PULL]] = 100
    calls = calls_for(params, state, ledger)
    block = pack((params, state, new_draw(0), ledger))
    arm, pull = calls.decide(block)
    assert (arm, pull) == (0, 1)
    assert ledger.clock[at.LATE] == arm  # its reward has not come
    assert calls.learn(block, arm, 1, 0.5)
    assert not calls.learn(block, arm, 1, 0.5)
    assert ledger.clock[at.LATE] == at.NOBODY
    assert state.arms.pulls.tolist() == ledger.pulls.tolist() == [1, 0]
    assert state.mean[0] == 0.5
    assert state.arms.clock.tolist() == [1, 1, 0]
    np.testing.assert_array_equal(state.arms.observed, [1, 0])


@pytest.mark.parametrize("wrong", [[0], 0, np.array([None])])
def test_a_state_of_arrays_only(wrong: Any) -> None:
    fresh = policies.UCB1.verbs.init(None, 3, 10)
    with pytest.raises(ValueError, match=r"arms\.clock of the state must be an array of numbers"):
        state_block_of(fresh._replace(arms=fresh.arms._replace(clock=wrong)))
