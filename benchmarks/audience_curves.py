"""Four creatives for 2,000 users: what frequency caps earn, what was learnt, and the learnt caps.

    python benchmarks/audience_curves.py
    python benchmarks/audience_curves.py --draw      only docs/images/audience_curves.svg

The player is the recommended one for clicks, online, in batches of 100, for 100,000 showings; the
picture is of seed 0, and the learnt caps are also those of players with the five seeds after it.
Fixed caps are simulated, 20 runs, beside the recommended policy and on the same clicks.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from record import record
from rotting import Arm, Audience, Bernoulli, Scenario, models, policies, simulate
from rotting._show import plots
from rotting.theory._caps import caps_of

CREATIVES = {
    "spring": Arm(models.Step(at=3, before=0.08, after=0.015)),
    "summer": Arm(models.Polynomial(0.3).times(0.06)),
    "autumn": Arm(models.Constant(0.04)),
    "winter": Arm(models.Exponential(0.5).times(0.07)),
}
USERS, SHOWINGS, BATCH, SEED = 2_000, 100_000, 100, 0
RUNS, PLAYERS, MOST = 20, 6, 30
CAPS = (1, 2, 3, 5, 8, 13)


def shares() -> dict[str, float]:
    """What each policy takes of what pi_max takes."""
    scenario = Scenario(list(CREATIVES.values()), Bernoulli(), SHOWINGS, audience=Audience(USERS))
    contestants = {
        "no cap": policies.Thompson(),
        **{f"cap {cap}": policies.Capped(policies.Thompson(), cap) for cap in CAPS},
        "Fatigue": policies.recommended(audience=True, rewards="bernoulli"),
    }
    return {
        name: float(simulate(policy, scenario, runs=RUNS, seed=SEED, noise="common").share.mean())
        for name, policy in contestants.items()
    }


def learnt(seed: int) -> Any:
    """The curves of a player after all showings."""
    player = policies.recommended(audience=True, rewards="bernoulli").audience(
        list(CREATIVES), seed=seed, compiled=True
    )
    rng = np.random.default_rng(seed)
    means = np.stack([arm.mean(np.arange(1, SHOWINGS + 1)) for arm in CREATIVES.values()])
    for _ in range(SHOWINGS // BATCH):
        batch = player.select_many(rng.integers(USERS, size=BATCH).tolist())
        rates = means[batch.numbers, batch.pulls - 1]
        player.update_many(batch, (rng.random(BATCH) < rates).astype(float))
    return player.curves(most=MOST)


def draw(curves: Any, truth: Any) -> None:
    """What was learnt, and the truth."""
    figure, (axes,) = plots.new_figure(height=3.8)
    curves.plot(axes)
    for row in truth:
        axes.plot(np.arange(1, MOST + 1), row, lw=1.2, ls=":", color="#333333", zorder=5)
    axes.set_xlabel("showing to the same user\n(bands: 95 %; dots: caps; dotted: truth)")
    axes.set_ylabel("click rate")
    axes.set_title("")
    plots.save_figure(figure, Path(__file__).parents[1] / "docs" / "images" / "audience_curves.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true", help="only learn seed 0's curves, and draw")
    truth = np.stack([arm.mean(np.arange(1, MOST + 1)) for arm in CREATIVES.values()])
    if parser.parse_args().draw:
        draw(learnt(SEED), truth)
        return
    players = [learnt(seed) for seed in range(SEED, SEED + PLAYERS)]
    curves = players[0]
    true_caps = [cap.showings for cap in caps_of(truth)]
    print(curves)
    caps = {
        arm: {"true": true, "learnt": [player.cap[arm] for player in players]}
        for arm, true in zip(CREATIVES, true_caps, strict=True)
    }
    for arm, found_caps in caps.items():
        print(arm, found_caps)
    found = shares()
    print({name: round(share, 4) for name, share in found.items()})
    draw(curves, truth)
    rows = [{"policy": name, "share": round(share, 4)} for name, share in found.items()]
    more: dict[str, Any] = {"runs": RUNS, "seed": SEED, "players": PLAYERS, "caps": caps}
    record("audience_curves", rows, users=USERS, showings=SHOWINGS, **more)


if __name__ == "__main__":
    main()
