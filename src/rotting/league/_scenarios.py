"""The league's scenarios, and others that were held out while policies were designed.

Policies know what a user would: the sigma of Gaussian noise and, in some scenarios, a family of
models, which may be wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from rotting.bandits import Arm, Bernoulli, Gaussian, RandomArms, Scenario
from rotting.league._adversarial import ADVERSARIAL
from rotting.league._candy import FAMILY as CANDY_FAMILY
from rotting.league._candy import candy_cane
from rotting.league._entry import Entry
from rotting.league._openings import OPENINGS
from rotting.models import Constant, Exponential, Family, Plateau, Scaled, Step, Table
from rotting.papers import levine2017, seznec2019


def _stationary(gap: float, arms: int = 2, horizon: int = 5000) -> Entry:
    means = [gap] + [0.0] * (arms - 1)
    scenario = Scenario([Arm(Constant(m)) for m in means], Gaussian(1.0), horizon)
    return Entry(f"nothing rots, {arms} arms, gap {gap:g}", scenario)


def _fall(i: int) -> Entry:
    return Entry(f"one of two arms falls by {seznec2019.level(i):.3g}", seznec2019.two_arms(i))


def _clicks(rates: list[float], lives: list[int], horizon: int) -> Entry:
    arms = [
        Arm(Scaled(Exponential(1.0 / life), rate)) for rate, life in zip(rates, lives, strict=True)
    ]
    return Entry(
        f"click rates from {min(rates):.1%} to {max(rates):.1%} that wear out",
        Scenario(arms, Bernoulli(), horizon),
    )


def _line(first: float, last: float, pulls: int) -> Table:
    return Table([first + (last - first) * k / (pulls - 1) for k in range(pulls)])


def _wrong(
    about: str, truth: Family, belief: Family, constants: tuple[float, float] = (0.0, 0.0)
) -> Entry:
    arms = RandomArms(truth, 10, constants)
    scenario = Scenario(arms, Gaussian(levine2017.SIGMA), 30_000)
    return Entry(about, scenario, belief, constants != (0.0, 0.0))


def _paper(name: str, about: str, constants: bool) -> Entry:
    family = None if name == "non_parametric" else levine2017.FAMILY
    return Entry(about, levine2017.SETUPS[name](), family, constants)


_THETA = [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4]

_MAKERS: dict[str, Callable[[], Entry]] = {
    "non_parametric": lambda: _paper("non_parametric", "the paper's NP: one arm halves", False),
    "av": lambda: _paper("av", "the paper's AV: ten arms rot to zero", False),
    "anv": lambda: _paper("anv", "the paper's ANV: ten arms rot to constants", True),
    **{f"fall_{i:02d}": functools.partial(_fall, i) for i in range(0, 30, 4)},
    "ten_falls": lambda: Entry("nine of ten arms change sign", seznec2019.ten_arms()),
    **{f"stationary_{gap:g}": functools.partial(_stationary, gap) for gap in (0.05, 0.14, 0.4, 1)},
    "clicks": lambda: _clicks(
        [0.01, 0.03, 0.0075, 0.05, 0.015, 0.04, 0.005, 0.02],
        [16_000, 1000, 3000, 500, 2000, 4000, 30_000, 8000],
        20_000,
    ),
    "hundred_arms": lambda: Entry(
        "a hundred arms rot to constants",
        Scenario(
            RandomArms(Plateau(length=50).over([0.1, 0.2, 0.3, 0.4]), 100, (0.0, 0.5)),
            Gaussian(levine2017.SIGMA),
            30_000,
        ),
        Plateau(length=50).over([0.1, 0.2, 0.3, 0.4]),
        True,
    ),
    "sudden": lambda: Entry(
        "five arms fall once, at different times",
        Scenario(
            [
                Arm(Step(at, before, after))
                for at, before, after in (
                    (500, 1.0, 0.1),
                    (1500, 0.8, 0.2),
                    (4000, 0.6, 0.3),
                    (9000, 0.5, 0.1),
                    (100, 0.9, 0.45),
                )
            ],
            Gaussian(0.5),
            20_000,
        ),
    ),
    "gradual": lambda: Entry(
        "five arms fall along a line for 8,000 pulls",
        Scenario(
            [
                Arm(_line(first, last, 8000))
                for first, last in ((1.0, 0.0), (0.9, 0.2), (0.8, 0.3), (0.6, 0.5), (0.7, 0.1))
            ],
            Gaussian(0.5),
            20_000,
        ),
    ),
    "wrong_theta": lambda: _wrong(
        "the true thetas, 0.45 and 0.6, are not in the family",
        Plateau(length=100).over([0.45, 0.6]),
        levine2017.FAMILY,
    ),
    "wrong_length": lambda: _wrong(
        "plateaus are 400 long, not 100", Plateau(length=400).over(_THETA), levine2017.FAMILY
    ),
    "wrong_constants": lambda: _wrong(
        "plateaus are 25 long, not 100, with constants",
        Plateau(length=25).over(_THETA),
        levine2017.FAMILY,
        (0.0, 0.5),
    ),
}

_HELD_OUT_MAKERS: dict[str, Callable[[], Entry]] = {
    **{f"fall_{i:02d}": functools.partial(_fall, i) for i in (2, 7, 10, 13, 18, 22, 26)},
    **{f"stationary_{gap:g}": functools.partial(_stationary, gap) for gap in (0.1, 0.25, 0.7)},
    "stationary_ten": lambda: _stationary(0.3, arms=10, horizon=20_000),
    "other_clicks": lambda: _clicks(
        [0.005, 0.02, 0.01, 0.03, 0.02], [50_000, 9000, 5000, 2000, 300], 30_000
    ),
    "staircase": lambda: Entry(
        "three arms on plateaus of 300",
        Scenario(
            [
                Arm(Plateau(theta, length=300), constant)
                for theta, constant in ((0.2, 0.0), (0.5, 0.2), (0.9, 0.4))
            ],
            Gaussian(0.3),
            15_000,
        ),
    ),
    "fading": lambda: Entry(
        "four arms fade exponentially",
        Scenario(
            [
                Arm(Exponential(rate), constant)
                for rate, constant in ((0.01, 0.1), (0.001, 0.0), (0.0003, 0.0), (0.003, 0.2))
            ],
            Gaussian(0.7),
            12_000,
        ),
    ),
    "thirty_arms": lambda: Entry(
        "thirty arms rot to constants",
        Scenario(
            RandomArms(Plateau(length=80).over([0.2, 0.5, 0.8]), 30, (0.0, 1.0)),
            Gaussian(1.0),
            20_000,
        ),
    ),
}

SCENARIOS: dict[str, Entry] = {name: make() for name, make in _MAKERS.items()}
HELD_OUT: dict[str, Entry] = {name: make() for name, make in _HELD_OUT_MAKERS.items()}
CONTESTS: dict[str, Entry] = {
    "candy_cane": Entry(
        "Kaggle 2020: a hundred machines pay with probability theta 0.97^(n-1), theta uniform",
        candy_cane(),
        CANDY_FAMILY,
    ),
}

# all that have names on the command line and in experiment files
GROUPS: dict[str, Mapping[str, Entry]] = {
    "league": SCENARIOS,
    "held_out": HELD_OUT,
    "adversarial": ADVERSARIAL,
    "contests": CONTESTS,
    "openings": OPENINGS,
}
