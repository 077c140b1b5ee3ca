"""The picture at the top of README: four ads wear out; who loses how many clicks by that?

    python benchmarks/hero.py     docs/images/hero-light.svg and hero-dark.svg, in some seconds

Scenario, player and caps are those of audience_curves.py. Left, true click rates, coloured up to
the caps that the player has learnt; right, the mean of 20 runs.
"""

from pathlib import Path

import numpy as np

from audience_curves import CREATIVES, RUNS, SEED, SHOWINGS, USERS, learnt
from rotting import Audience, Bernoulli, Scenario, policies, simulate
from rotting._show import plots
from rotting._show.ink import GREY, PINK, ink, readable

PICTURES = Path(__file__).parents[1] / "docs" / "images"
GROUNDS = {"light": ("#FFFFFF", "#1F2328", "#D0D7DE"), "dark": ("#0D1117", "#E6EDF3", "#3D444D")}
CONTESTANTS = {
    "equal shares": policies.Uniform(),
    "UCB1": policies.UCB1(),
    "best cap (3)": policies.Capped(policies.Thompson(), 3),  # the best of audience_curves.py
    "Fatigue\n(recommended)": policies.recommended(audience=True, rewards="bernoulli"),
}
scenario = Scenario(list(CREATIVES.values()), Bernoulli(), SHOWINGS, audience=Audience(USERS))
lost, caps, n = {}, learnt(SEED).cap, np.arange(1, 11)
for name, policy in CONTESTANTS.items():
    found = simulate(policy, scenario, runs=RUNS, seed=SEED, noise="common")
    thousands, lost[name] = found.checkpoints / 1000, found.mean_regret
    print(f"{name.split()[0]:8} {lost[name][-1]:6.0f} clicks lost, {found.share.mean():.1%} taken")
for mode, (ground, words, quiet) in GROUNDS.items():
    figure, (left, right) = plots.new_figure(7.8, 3.7, panels=2)
    figure.set_facecolor(ground)
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
    for row, (name, arm) in enumerate(CREATIVES.items()):
        colours = [PINK if k <= (caps[name] or k) else quiet for k in n]
        left.scatter(n, 0 * n - row, 3600 * arm.mean(n), colours, linewidths=0)
    left.set(xlim=(0.3, 10.5), ylim=(-3.6, 0.6), xticks=(1, 5, 10))
    left.set_yticks([0, -1, -2, -3], list(CREATIVES))
    left.set_xlabel("showing to the same user\n(pink: worth it, as learnt)")
    for name, policy in CONTESTANTS.items():
        own, dashes, _ = ink(policy.label)
        dark = "#9DA5AE" if own == GREY else own
        colour = readable(own) if mode == "light" else dark
        wide, place = (4.0, 120) if own == PINK else (2.2, lost[name][-1])
        right.plot(thousands, lost[name], linestyle=dashes, linewidth=wide, color=colour)
        right.text(103, place, name, color=colour, va="center", weight="bold", size=12.5)
    right.set(xlim=(0, 100), ylim=(0, None), xticks=(0, 50, 100))
    right.set_yticks([0, 400, 800, 1200], ["0", "400", "800", "1,200"])
    right.set_xlabel("thousand showings\n(against the best possible play)")
    for panel, title in ((left, "Click rates of four ads"), (right, "Clicks lost")):
        panel.set_facecolor(ground)
        panel.set_title(title, loc="left", color=words, fontsize=14, weight="bold")
        panel.grid(axis="y", color=quiet, linewidth=0.7)
        panel.spines[["left", "bottom"]].set_visible(False)
        panel.tick_params(labelsize=12, labelcolor=words, length=0)
        panel.xaxis.label.set(color=words, fontsize=11.5)
    plots.save_figure(figure, PICTURES / f"hero-{mode}.svg")
