"""The scenarios of the audience league: other curves, sizes, arrivals, users and noise.

They differ from the twelve settings that policies were designed on. Others are drawn at random, by
a seed that was drawn after the policies' constants were frozen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rotting.bandits import (
    ArmDraw,
    Audience,
    Bernoulli,
    Gaussian,
    HalfLife,
    RandomArms,
    Scenario,
    Window,
)
from rotting.league._audience_settings import HORIZON, SETTINGS, power_family
from rotting.league._curves import SHAPES, Curves
from rotting.league._entry import Entry

ROTTING = ("power", "exponential", "step")
# Drawn after the constants were frozen. Later corrections were not chosen by these scenarios. None:
# no such group.
DRAWN_SEED: int | None = 20261116
_LIVE, _CREATIVES = 10, 30


def _entry(
    about: str,
    shapes: Sequence[str],
    arms: int = 10,
    tops: tuple[float, float] = (0.02, 0.1),
    users: int = 2_000,
    sigma: float | None = None,
    openings: Mapping[int, Any] | None = None,
    **audience: Any,
) -> Entry:
    """A scenario like the settings but for these arguments; Gaussian if there is a sigma."""
    scenario = Scenario(
        RandomArms.drawn(Curves(tuple(shapes), *tops), arms),
        Bernoulli() if sigma is None else Gaussian(sigma),
        HORIZON,
        openings=openings,
        audience=Audience(users, **audience),
    )
    return Entry(about, scenario, power_family(*tops) if tuple(shapes) == ("power",) else None)


def _comings_and_goings() -> dict[int, Any]:
    """Openings with ten arms live at a time; a new one replaces the oldest, again and again."""
    period = HORIZON // (_CREATIVES - _LIVE + 1)
    begins = [max(0, k - _LIVE + 1) * period for k in range(_CREATIVES)]
    return {
        k: (begins[k] + 1, (k + 1) * period if k < _CREATIVES - _LIVE else None)
        for k in range(_CREATIVES)
    }


AUDIENCE: dict[str, Entry] = {
    "audience_plateau": _entry("nothing happens for 2 to 10 showings, then it falls", ["plateau"]),
    "audience_logarithm": _entry("a slow fall without an end, 1 / (1 + theta ln n)", ["logarithm"]),
    "audience_two_steps": _entry("two steps down", ["two_steps"]),
    "audience_convex": _entry("most is lost by the first showings", ["convex"]),
    "audience_concave": _entry("it falls ever faster, to 5 % of the top", ["concave"]),
    "audience_half_rots": _entry(
        "arms that rot beside arms that do not", [*ROTTING, *["flat"] * 3]
    ),
    "audience_all_shapes": _entry("every shape there is, one an arm", list(SHAPES)),
    "audience_3_arms": _entry("three arms", ROTTING, arms=3),
    "audience_100_arms": _entry("a hundred arms", ROTTING, arms=100),
    "audience_100_users": _entry("a hundred users, 2,000 showings each", ROTTING, users=100),
    "audience_100k_users": _entry("100,000 users, two showings each", ROTTING, users=100_000),
    "audience_zipf": _entry(
        "few users come often, most seldom", ROTTING, users=20_000, arrivals="zipf:1.1"
    ),
    "audience_factors": _entry(
        "users differ by factors of 0.2 to 1.8 on all rates", ROTTING, factors=(0.2, 1.8)
    ),
    "audience_zipf_factors": _entry(
        "users differ in how often they come and in what they click: n^-theta",
        ["power"],
        arrivals="zipf:1.1",
        factors=(0.2, 1.8),
    ),
    "audience_gaussian": _entry(
        "Gaussian rewards, tops of 1 to 5 and a sigma of 10", ROTTING, tops=(1.0, 5.0), sigma=10.0
    ),
    "audience_gaussian_clear": _entry(
        "Gaussian rewards, tops of 1 to 5 and a sigma of 1", ROTTING, tops=(1.0, 5.0), sigma=1.0
    ),
    "audience_live": _entry(
        "ten arms live at a time, every 9,500 showings the oldest makes room for a new one",
        ROTTING,
        arms=_CREATIVES,
        openings=_comings_and_goings(),
    ),
    "audience_half_life": _entry(
        "exposures count half after 20 decisions of the user", ROTTING, rest=HalfLife(20)
    ),
    "audience_daily": _entry(
        "exposures are forgotten every 50,000 rounds, 25 decisions of a user",
        ROTTING,
        rest=Window(50_000),
    ),
    "audience_rare": _entry("top rates of 0.05 to 0.2 %", ROTTING, tops=(0.0005, 0.002)),
    "audience_frequent": _entry("top rates of 20 to 80 %", ROTTING, tops=(0.2, 0.8)),
}


def drawn(seed: int, count: int = 12) -> dict[str, Entry]:
    """Scenarios drawn at random: shapes, arms, users, arrivals, rates, noise.

    >>> list(drawn(seed=7, count=2))
    ['audience_drawn_01', 'audience_drawn_02']
    """
    return {f"audience_drawn_{k + 1:02d}": _drawn(ArmDraw(seed, 0, k)) for k in range(count)}


def _drawn(draw: ArmDraw) -> Entry:
    picked = [draw.choice(list(SHAPES)) for _ in range(draw.choice([1, 1, 2, 3]))]
    shapes = list(dict.fromkeys(picked))
    arms = draw.choice([3, 5, 10, 20, 40])
    users = int(10.0 ** draw.uniform(2.0, 5.0))
    arrivals = draw.choice(["uniform", "uniform", "zipf:0.8", "zipf:1.1", "turns"])
    top = 10.0 ** draw.uniform(-2.5, -0.3)  # of the best possible arm
    tops = (top * draw.uniform(0.1, 0.6), top)
    spread = draw.choice([None, None, (0.5, 1.5), (0.2, 1.8)])
    noisy = draw.choice([False, False, True])
    if spread is not None and not noisy:
        tops = (tops[0] / spread[1], tops[1] / spread[1])  # no rate above 1
    sigma = tops[1] * draw.uniform(0.5, 5.0) if noisy else None
    about = f"{', '.join(shapes)}; {arms} arms, {users:,} users, {arrivals}; tops to {tops[1]:.2g}"
    about += "" if sigma is None else f", sigma {sigma:.2g}"
    about += "" if spread is None else f"; users differ, {spread[0]} to {spread[1]}"
    more: dict[str, Any] = {"arrivals": arrivals, "factors": spread}
    return _entry(about, shapes, arms, tops, users, sigma, **more)


# all named scenarios with an audience; `_audience_contestants` has the policies for them
AUDIENCES: dict[str, Mapping[str, Entry]] = {
    "audience_settings": SETTINGS,
    "audience": AUDIENCE,
    **({} if DRAWN_SEED is None else {"audience_drawn": drawn(DRAWN_SEED)}),
}
