"""The setups of the section Simulations, and the policies with the reported parameters."""

from __future__ import annotations

from collections.abc import Callable

from rotting import _checks
from rotting.bandits import Arm, Gaussian, RandomArms, Scenario
from rotting.models import Constant, Plateau, Step
from rotting.policies import CTO, DCTO, DUCB, SWUCB, UCB1, WSWA, Policy

SIGMA = 0.2**0.5
HORIZON = 30_000
USUAL_B = 2.0  # of SWUCB; the paper does not state its constant, this is the usual one,
OTHER_B = 1.9  # and with this one its wins are those of the paper (docs/paper/readings.md)
FAMILY = Plateau(length=100).over([0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4])


def non_parametric() -> Scenario:
    """NP: one arm stays at 0.5, the other falls from 1 to 0.4 after 7,500 pulls.

    Returns:
        The scenario, with the paper's noise (`SIGMA`) and `HORIZON`.

    >>> non_parametric().arm_count
    2
    """
    return Scenario(
        arms=[Arm(Constant(0.5)), Arm(Step(at=7500, before=1.0, after=0.4))],
        noise=Gaussian(SIGMA),
        horizon=HORIZON,
        name="levine2017 non-parametric",
    )


def av() -> Scenario:
    """AV, asymptotically vanishing: ten arms of the plateau family, theta* drawn for each run.

    Returns:
        The scenario, with the paper's noise (`SIGMA`) and `HORIZON`.

    >>> av().arm_count, av().horizon
    (10, 30000)
    """
    arms = RandomArms(FAMILY, count=10)
    return Scenario(arms, Gaussian(SIGMA), HORIZON, name="levine2017 AV")


def anv() -> Scenario:
    """ANV, asymptotically non-vanishing: the arms of AV with constants drawn from [0, 0.5].

    Returns:
        The scenario, with the paper's noise (`SIGMA`) and `HORIZON`.

    >>> anv().arms.constants
    (0.0, 0.5)
    """
    arms = RandomArms(FAMILY, count=10, constants=(0.0, 0.5))
    return Scenario(arms, Gaussian(SIGMA), HORIZON, name="levine2017 ANV")


SETUPS: dict[str, Callable[[], Scenario]] = {
    "non_parametric": non_parametric,
    "av": av,
    "anv": anv,
}


# the paper's abbreviations
SHORT = {"NP": "non_parametric", "AV": "av", "ANV": "anv"}


def reported_policies(setup: str, swucb_b: float = USUAL_B) -> dict[str, Policy]:
    """The policies of a setup with the parameters that the paper reports.

    The paper's grid searches chose them (section Simulations, Results).

    Args:
        setup: "non_parametric", "av" or "anv"; or NP, AV, ANV in any case.
        swucb_b: The constant B of SWUCB's padding, which the paper does not state.

    Returns:
        Policies by their names in Table 1.

    Raises:
        ValueError: There is no such setup.

    >>> list(reported_policies("AV"))
    ['UCB1', 'DUCB', 'SWUCB', 'wSWA', 'CTO']
    """
    setup = SHORT.get(str(setup).upper(), setup)
    gamma = {"non_parametric": 0.999, "av": 0.999999, "anv": 0.999999}
    tau = {"non_parametric": 4_000, "av": 8_000, "anv": 16_000}
    _checks.choice("setup", setup, SETUPS)
    chosen: dict[str, Policy] = {
        "UCB1": UCB1(),
        "DUCB": DUCB(gamma=gamma[setup]),
        "SWUCB": SWUCB(tau=tau[setup], B=swucb_b),
        "wSWA": WSWA(alpha=0.2, sigma=SIGMA),
    }
    if setup == "av":
        chosen["CTO"] = CTO(FAMILY)
    if setup == "anv":
        chosen["D-CTO"] = DCTO(FAMILY, sigma=SIGMA)
    return chosen
