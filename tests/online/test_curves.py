"""The curves that a player of an audience has learnt."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rotting import AudiencePlayer, models, policies
from rotting._online.curves import Curves, curves_of
from rotting.kernel.verbs import CurvePoint

NAN = np.nan


def some_curves() -> Curves:
    estimate = np.array([[0.9, 0.6, 0.3, 0.1], [0.5, 0.5, 0.5, 0.4], [NAN] * 4])
    return Curves("P", ["red", "<blue>", "new"], estimate, estimate - 0.1, estimate + 0.1)


def test_the_cap_is_where_the_best_play_turns_to_another_arm() -> None:
    assert some_curves().cap == {"red": 2, "<blue>": None, "new": None}
    alone = Curves("P", ["red"], np.array([[0.5, 0.1]]), np.zeros((1, 2)), np.zeros((1, 2)))
    assert alone.cap == {"red": None}


def test_the_plan_is_greedy_by_the_estimates() -> None:
    curves = some_curves()
    assert curves.plan(0) == {"red": 0, "<blue>": 0, "new": 0}
    assert curves.plan(3) == {"red": 2, "<blue>": 1, "new": 0}
    assert curves.plan(7) == {"red": 2, "<blue>": 5, "new": 0}  # 0.4 for ever beats 0.3
    with pytest.raises(ValueError, match="decisions must be an integer from 0"):
        curves.plan(-1)


def test_it_can_be_read() -> None:
    curves = some_curves()
    assert str(curves).splitlines() == [
        "P: worth of the n-th showing to a key, estimated",
        "",
        "arm     cap      #1      #2      #3",
        "─" * 35,
        "red       2  0.9000  0.6000  0.3000",
        "<blue>    -  0.5000  0.5000  0.5000",
        "new       -       -       -       -",
    ]
    assert "&lt;blue&gt;" in curves._repr_html_()
    assert "<blue>" not in curves._repr_html_()
    frame = pytest.importorskip("pandas") and curves.to_frame()
    assert list(frame.columns) == ["arm", "showing", "estimate", "low", "high"]
    assert frame[frame.arm == "red"].estimate.tolist() == [0.9, 0.6, 0.3, 0.1]


def test_it_is_drawn_with_names_and_caps() -> None:
    axes = some_curves().plot()
    said = [text.get_text() for text in axes.texts]
    assert said == ["red (cap 2)", "<blue>"]
    assert some_curves().plot(axes) is axes
    many = Curves("P", range(12), *np.broadcast_to(np.linspace(1, 0, 12)[:, None], (3, 12, 5)))
    assert len(many.plot().texts) == 8


def test_beliefs_without_a_band_or_without_anything() -> None:
    curves = curves_of(
        "P", ["a", "b"], [[CurvePoint(0.5), CurvePoint(0.4, 0.3, 0.5)], [None, None]]
    )
    assert curves.most == 2
    assert np.array_equal(curves.estimate, [[0.5, 0.4], [NAN, NAN]], equal_nan=True)
    assert np.array_equal(curves.low, [[NAN, 0.3], [NAN, NAN]], equal_nan=True)


def learnt() -> AudiencePlayer:
    family = models.Polynomial().over([0.05, 0.3, 1.5])
    player = policies.LCTO(family).audience(["slow", "fast", "gone"], compiled=False)
    rng, thetas = random.Random(1), {"slow": 0.05, "fast": 1.5, "gone": 0.3}
    for _ in range(400):
        decision = player.select(rng.randrange(30))
        player.update(decision, decision.pull ** -thetas[decision.arm] + rng.gauss(0.0, 0.05))
    player.retire("gone")
    return player


def test_a_player_shows_what_it_has_learnt_of_its_open_arms() -> None:
    player = learnt()
    before = player.to_json()
    curves = player.curves()
    assert player.to_json() == before
    assert curves.arms == ("slow", "fast")
    assert curves.most == max(max(player.shown(key).values()) for key in player.keys)
    showings = np.arange(1, curves.most + 1)
    assert curves.estimate[0] == pytest.approx(showings**-0.05)
    assert curves.estimate[1] == pytest.approx(showings**-1.5)
    assert player.curves(3).estimate.shape == (2, 3)
    assert player.curves(200).most == 200


def test_who_has_none() -> None:
    with pytest.raises(ValueError, match="policy must count by key to have curves, but UCB1"):
        policies.UCB1().audience(["a"], compiled=False).curves()
    player = learnt()
    player.retire("slow")
    player.retire("fast")
    with pytest.raises(ValueError, match="arms must not all be retired"):
        player.curves()
