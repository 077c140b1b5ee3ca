"""DUCB: what happens when its weights fade to nothing."""

from __future__ import annotations

import numpy as np

from rotting import policies


def test_long_silence() -> None:
    """DUCB's weights fade to nothing while no reward arrives; the engines agree all the same."""
    for gamma in (0.2, 0.9):
        players = [policies.DUCB(gamma=gamma).online([0, 1], compiled=c) for c in (True, False)]
        for player in players:
            for _ in range(2):
                player.update(player.select(), 1e100)
            for _ in range(1000):
                last = player.select()
            player.update(last, 0.5)
            assert np.all(np.isfinite(player._state.mean))
        assert players[0].pulls == players[1].pulls
