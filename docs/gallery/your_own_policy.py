# %% [markdown]
# # Your own policy against all others
#
# You have an idea for a policy. Any object with `select()` and `update(decision, reward)` can be
# played as it is, on the same bandits as every policy of the league.
#
# **What to see.** Mean regret in the paper's setup AV: less is better. The policy of this page,
# `Recent`, takes the arm with the best mean of its last fifty rewards, and sometimes a random one.
# That is enough to beat UCB1 and SWUCB. Most policies made for rotting arms are better, and those
# with a known family (`Guarded`, `Posterior`, `LCTO`) are far ahead.
# %%
from collections import deque

import numpy as np

from rotting import league, plots
from rotting.plots import GREY, PINK


class Recent:
    """The best mean of the last fifty rewards; any arm in one of twenty decisions."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.last = [deque(maxlen=50) for _ in range(10)]
        self.mean = np.full(10, np.inf)  # an arm that was never tried comes first

    def select(self):
        explores = self.random.random() < 0.05
        return int(self.random.integers(10) if explores else np.argmax(self.mean))

    def update(self, arm, reward):
        self.last[arm].append(reward)
        self.mean[arm] = sum(self.last[arm]) / len(self.last[arm])


# %%
found = league.play(20, seed=0, scenarios=["av"], extra={"Recent (ours)": Recent}).cells["av"]
ranked = sorted(found, key=lambda name: found[name]["mean"])
for place, name in enumerate(ranked, start=1):
    if place <= 3 or "ours" in name or name in ("SteadyUCB", "RAWUCB", "WSWA", "UCB1", "SWUCB"):
        half = 1.96 * found[name]["standard_error"]
        print(f"{place:2} of {len(ranked)}  {name:15} {found[name]['mean']:4.0f} +- {half:.0f}")
figure, (axes,) = plots.new_figure(height=6.0)
for name in reversed(ranked):
    colour = PINK if "ours" in name else GREY
    mean, half = found[name]["mean"], 1.96 * found[name]["standard_error"]
    axes.errorbar(mean, name, xerr=half, fmt="o", color=colour, capsize=3)
axes.set(xscale="log", xlabel="mean regret, with 95 % intervals")
axes.set_title("A dozen lines of your own, and the league", loc="left")
plots.save_figure(figure, "your_own_policy.png")
