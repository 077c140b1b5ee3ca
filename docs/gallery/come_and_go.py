# %% [markdown]
# # A hundred creatives that come and go
#
# Every 400 visits a new creative starts and the oldest one ends; 25 are live at a time, and each
# wears out as it is shown. A policy must try new ones quickly and leave old favourites in time.
#
# **What to see.** Each row is a creative: grey while it is live, darker the larger its share of
# visits. UCB1 gives much to every new creative and spreads the rest thinly over all that are live.
# `SteadyUCB` concentrates on a few, leaves them when they wear out, and gets more clicks.
# %%
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from rotting import plots, policies
from rotting.plots import ink

CREATIVES, LIVE, LENGTH = 100, 25, 400  # the length of a period, in visits
PERIODS = CREATIVES - LIVE + 1
rates = 0.01 + 0.29 * np.random.default_rng(0).random(CREATIVES) ** 3  # few are very good


def play(policy, run):
    """Which creative was shown at each visit, and how many clicks that took."""
    random = np.random.default_rng(run)
    player = policy.online(range(LIVE), seed=run)
    shown, clicks = [], 0
    for visit in range(PERIODS * LENGTH):
        if visit > 0 and visit % LENGTH == 0:
            period = visit // LENGTH
            player.add(period + LIVE - 1)
            player.retire(period - 1)
        decision = player.select()
        rate = rates[decision.arm] * np.exp(-decision.pull / 1000)  # it fades as it is shown
        clicked = int(random.random() < rate)
        player.update(decision, clicked)
        shown.append(decision.arm)
        clicks += clicked
    return shown, clicks


figure, panels = plots.new_figure(height=5.6, panels=2, rows=2)
for axes, policy in zip(panels, (policies.UCB1(), policies.SteadyUCB(None)), strict=True):
    name = type(policy).__name__
    runs = [play(policy, run) for run in range(5)]
    clicks = [taken for _, taken in runs]
    print(f"{name:9} {np.mean(clicks):.0f} clicks on average, {min(clicks)} to {max(clicks)}")
    share = np.full((CREATIVES, PERIODS), np.nan)  # of the visits of each period; NaN: not alive
    for period in range(PERIODS):
        visits = runs[0][0][period * LENGTH : (period + 1) * LENGTH]
        alive = np.arange(period, period + LIVE)
        share[alive, period] = np.bincount(visits, minlength=CREATIVES)[alive] / LENGTH
    colours = LinearSegmentedColormap.from_list(name, ["#E8E8E8", ink(name).colour])
    axes.pcolormesh(share, cmap=colours, vmin=0, vmax=0.4)
    axes.set_title(f"{name}: {clicks[0]:,} clicks", loc="left")
    axes.set_ylabel("creative")
panels[1].set_xlabel(f"time, in periods of {LENGTH} visits  (darker: shown more often)")
plots.save_figure(figure, "come_and_go.png")
