"""Inks: one for each policy, distinct for the colour-blind, in print, and within a figure."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from rotting._show import ink
from rotting.policies import POLICIES

# what a colour becomes for the colour-blind, in linear RGB: Machado, Oliveira & Fernandes 2009
KINDS = {
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}
XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750]]
XYZ += [[0.0193339, 0.1191920, 0.9503041]]
TOGETHER = {  # figures of the documents
    "the paper": ("UCB1", "DUCB", "SWUCB", "wSWA", "CTO"),
    "audiences": ("Fatigue", "Mixture", "SteadyUCB", "Thompson", "best cap"),
    "a family": ("CTO", "Guarded", "SteadyUCB"),
    "your own": ("UCB1", "SWUCB", "wSWA", "RAWUCB", "SteadyUCB", "CTO"),
    "growth": ("UCB1", "SWA", "CTO", "Posterior"),
}


def linear(colour: str) -> Any:
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb: Any) -> Any:
    """CIELAB of linear RGB, under D65."""
    found = np.array(XYZ) @ rgb / np.array([0.95047, 1.0, 1.08883])
    f = np.where(found > 0.008856, np.cbrt(found), 7.787 * found + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(kind: str, one: str, other: str) -> float:
    """How different two colours look (CIE 1976); 2 is just seen, 10 at a glance."""
    seen = [lab(np.clip(np.array(KINDS[kind]) @ linear(each), 0, 1)) for each in (one, other)]
    return float(np.linalg.norm(seen[0] - seen[1]))


def contrast(colour: str) -> float:
    return float(1.05 / (np.array(XYZ[1]) @ linear(colour) + 0.05))


def test_every_registered_policy_has_an_ink_of_its_own() -> None:
    # other tests register further policies
    ours = {key: kind for key, kind in POLICIES.items() if kind.__module__.startswith("rotting.")}
    names = list(ours)
    classes = [made.__name__ for made in ours.values()]
    assert [ink.policy_of(name) for name in names] == [ink.policy_of(name) for name in classes]
    alone = [ink.ink(name) for name in names]
    assert len(set(alone)) == len(alone)
    lines = [each.line for each in ink.inks(names).values()]
    assert lines == [each.line for each in alone]  # no ink changes, even if all are drawn
    assert not set(ink._ALIASES) & set(ink._TABLE)
    assert set(ink._ALIASES.values()) <= set(ink._TABLE)


def test_grey_is_never_solid() -> None:
    """Pink looks grey to some, and solid pink is a policy's."""
    found = [ink.ink(f"user {letter}{number}") for letter in "abcdefgh" for number in range(99)]
    found += [ink.ink(name) for name in POLICIES]
    assert any(each.colour == ink.GREY for each in found)
    assert not any(each.colour == ink.GREY and each.dashes == ink.DASHES[0] for each in found)


@pytest.mark.parametrize("kind", KINDS)
def test_colours_drawn_together_are_told_apart(kind: str) -> None:
    for figure, names in TOGETHER.items():
        drawn = ink.inks(names)
        for one, other in itertools.combinations(names, 2):
            colours = drawn[one].colour, drawn[other].colour
            found = 0.0 if colours[0] == colours[1] else apart(kind, *colours)
            assert found > 12 or drawn[one].dashes != drawn[other].dashes, (figure, one, other)


def test_two_of_one_policy_have_its_colour_and_nobody_is_drawn_twice_the_same() -> None:
    names = ["mine", "Guarded", *(f"SteadyUCB: {k}" for k in range(5)), "SteadyUCB", "mine 2"]
    drawn = ink.inks(names)
    assert list(drawn) == names
    assert len({(each.colour, each.dashes) for each in drawn.values()}) == len(names)
    assert len({each.marker for each in drawn.values()}) == len(names)
    assert drawn["Guarded"].line == ink.ink("Guarded").line
    assert drawn["SteadyUCB: 0"].line == ink.ink("SteadyUCB").line
    assert all(drawn[f"SteadyUCB: {k}"].colour == ink.BLACK for k in range(4))
    assert drawn["mine"].colour == drawn["mine 2"].colour
    more = ink.inks(f"own {letter * 3}" for letter in "abcdefghijklmnopqrstuvwxyz")
    assert len({(each.colour, each.dashes) for each in more.values()}) == len(more)
    assert len(ink.inks(f"SteadyUCB {k}" for k in range(60))) == 60  # more than there are inks


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("wSWA .002", "wswa"),
        ("EFF-RAW 1.4, m = 1.1", "effrawucb"),
        ("RAW-UCB++", "rawucbpp"),
        ("RAWUCB told", "rawucb"),
        ("Fatigue (recommended)", "fatigue"),
        ("D-CTO_UCB", "dctoucb"),
        ("Capped(cap=8), resting", "capped"),
        ("cap 3", "capped"),
        ("3 arms", "3arms"),
        ("", ""),
    ],
)
def test_the_policy_of_a_label(name: str, policy: str) -> None:
    assert ink.policy_of(name) == policy


def test_letters_are_dark_enough() -> None:
    for colour in (*ink.COLOURS, ink.QUIET):
        assert contrast(ink.readable(colour)) >= 4.5
    assert all(contrast(ink.ink(name).text) >= 4.5 for name in POLICIES)
