# %% [markdown]
# # Late clicks, and clicks that never come
#
# You show a creative now. A click comes later, if at all, and "no click" is never reported. How
# long should the player wait, and how should it count silence?
#
# **What to see.** Clicks come 200 decisions late on average. Reporting only clicks (red) does no
# better than equal shares: to the player everything is always clicked. With `reward_window` and
# `default_reward=0.0` silence becomes a zero at the end of the window. A short window misses late
# clicks, a long one delays learning. In between little is lost against immediate rewards (green).
# %%
import warnings
from collections import defaultdict

import numpy as np

from rotting import plots, policies
from rotting.plots import BLACK, GREEN, RED

HORIZON, RUNS = 10_000, range(10)
rates = np.outer(np.linspace(0.02, 0.16, 8), np.exp(-0.0004 * np.arange(HORIZON)))
best = np.sort(rates, axis=None)[-HORIZON:].sum()  # rates fall, so the best play takes these
figure, (axes,) = plots.new_figure()


def share(run, window, delay, default):
    """The part of the best possible clicks that one run takes, in %."""
    random = np.random.default_rng(run)  # the same clicks and delays, however long we wait
    clicks = random.random(rates.shape) < rates
    delays = 1 + random.exponential(delay, rates.shape).astype(int)
    player = policies.SteadyUCB(None).online(range(8), reward_window=window, default_reward=default)
    arriving, taken = defaultdict(list), 0.0
    for now in range(HORIZON):
        for decision in arriving[now]:
            player.update(decision, 1.0)
        decision = player.select()
        place = decision.arm, decision.pull - 1
        taken += rates[place]
        if clicks[place] and delays[place] <= window:  # a later one would be refused
            arriving[now + delays[place]].append(decision)
    return 100 * taken / best


windows = {f"{window:,}": (window, 200, 0.0) for window in (10, 30, 100, 300, 1_000)}
ways = {"clicks only": (HORIZON, 200, None), **windows, "heard at once": (1, 0, 0.0)}
for name, way in ways.items():
    with warnings.catch_warnings(action="ignore"):  # the player warns if it hears of clicks only
        found = np.array([share(run, *way) for run in RUNS])
    print(f"{name:13} {found.mean():.1f} %")
    half = 1.96 * found.std(ddof=1) / len(RUNS) ** 0.5
    colour = {"clicks only": RED, "heard at once": GREEN}.get(name, BLACK)
    axes.errorbar(name.replace(" ", "\n", 1), found.mean(), half, fmt="o", color=colour, capsize=3)
print(f"equal shares  {100 * rates[:, : HORIZON // 8].sum() / best:.1f} %")
axes.set_xlabel("silence is a zero after so many decisions  (bars: 95 % intervals)")
axes.set_ylabel("% of the best possible clicks")
axes.set_title("Wait about as long as clicks take", loc="left")
plots.save_figure(figure, "late_clicks.png")
