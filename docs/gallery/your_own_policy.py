# %% [markdown]
# # Your own policy against all others
#
# You have an idea for a policy. Anything with `select()` and `update(decision, reward)` can be
# simulated as it is, against everything in the library, on the same bandits.
#
# **What to see.** Mean regret in the paper's setup AV, sorted: less is better. The policy of this
# page, `Recent`, takes the arm with the best mean of its last fifty rewards, and now and then any
# arm. That is enough to beat UCB1 and SWUCB. Policies made for rotting arms are better still, and
# CTO, which knows how arms may rot, is far ahead.
# %%
from collections import deque

import numpy as np

import rotting
from rotting import policies
from rotting.papers import levine2017
from rotting.reports import plots
from rotting.reports.ink import PINK, ink


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
contestants = {
    "Recent (ours)": Recent,  # made anew for each run, from a seed
    "UCB1": policies.UCB1(),
    "SWUCB": policies.SWUCB(tau=8_000),
    "wSWA": policies.WSWA(0.2, levine2017.SIGMA),
    "RAWUCB": policies.RAWUCB(levine2017.SIGMA),
    "SteadyUCB": policies.SteadyUCB(levine2017.SIGMA),
    "CTO": policies.CTO(levine2017.FAMILY),
}
found = {n: rotting.simulate(p, levine2017.av(), runs=20, seed=0) for n, p in contestants.items()}
figure, (axes,) = plots.new_figure()
for name in sorted(found, key=lambda name: -found[name].mean_regret[-1]):
    mean, half = found[name].mean_regret[-1], 1.96 * found[name].standard_error[-1]
    print(f"{name:13} {mean:4.0f} +- {half:.0f}")
    colour = PINK if contestants[name] is Recent else ink(name).colour
    axes.errorbar(mean, name, xerr=half, fmt="o", color=colour, capsize=3)
axes.set(xlim=(0, None), xlabel="mean regret after 30,000 decisions  (bars: 95 % intervals)")
axes.set_title("A dozen lines of your own, and six others", loc="left")
plots.save_figure(figure, "your_own_policy.png")
