"""Adversarial scenarios: a policy of the league does badly on them, or did.

They are reported separately, without a limit. A policy designed on the league has not seen them;
if you find a worse scenario, add it here.
"""

from __future__ import annotations

from rotting.bandits import Arm, Gaussian, Scenario
from rotting.league._entry import Entry
from rotting.models import Constant, Exponential, Plateau, Polynomial, Scaled, Step
from rotting.papers import levine2017

_SLOW = Plateau(length=100).over([0.01, 0.3])


def _steps(falls: list[tuple[int, float, float]], sigma: float, horizon: int) -> Scenario:
    """Arms that fall once; each fall is (pulls before it, mean before, mean after)."""
    return Scenario([Arm(Step(*fall)) for fall in falls], Gaussian(sigma), horizon)


ADVERSARIAL: dict[str, Entry] = {
    "late_falls": Entry(
        "five equal arms fall once each, late and by different amounts",
        _steps(
            [
                (500, 0.5, 0.1),
                (1000, 0.5, 0.45),
                (2000, 0.5, 0.2),
                (3000, 0.5, 0.3),
                (4000, 0.5, 0.4),
            ],
            0.5,
            15_000,
        ),
    ),
    "roots": Entry(
        "ten arms of a n^-0.5, a from 0.55 to 1: they fall fast, and balance",
        Scenario(
            [Arm(Scaled(Polynomial(0.5), 1.0 - 0.05 * k)) for k in range(10)], Gaussian(1.0), 5000
        ),
    ),
    "below_zero": Entry(
        "two good arms fall below a constant one",
        Scenario(
            [Arm(Step(2000, 1.0, 0.0)), Arm(Step(2000, 1.0, -0.5)), Arm(Constant(0.5))],
            Gaussian(1.0),
            10_000,
        ),
    ),
    "deep_fall": Entry(
        "one arm falls by twenty times the noise",
        Scenario([Arm(Step(1000, 20.0, 0.0)), Arm(Constant(0.5))], Gaussian(1.0), 5000),
    ),
    "high_fades": Entry(
        "four arms fade from ten times the noise",
        Scenario(
            [Arm(Scaled(Exponential(rate), 10.0)) for rate in (0.001, 0.002, 0.003, 0.004)],
            Gaussian(1.0),
            5000,
        ),
    ),
    "small_constants": Entry(
        "the family is right but for constants of +-0.02",
        Scenario(
            [Arm(_SLOW.members[0], 0.02), Arm(_SLOW.members[0], -0.02)],
            Gaussian(levine2017.SIGMA),
            20_000,
        ),
        _SLOW,
    ),
    "hardly_falling": Entry(
        "the family is right; its slowest model hardly falls",
        Scenario([Arm(_SLOW.members[0])] * 2, Gaussian(levine2017.SIGMA), 20_000),
        _SLOW,
    ),
}
