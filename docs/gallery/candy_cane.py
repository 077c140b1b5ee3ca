# %% [markdown]
# # Kaggle's Candy Cane Contest
#
# In a contest of 2020 bots played a hundred vending machines, 2,000 pulls in all. Each machine
# starts with its own chance to give a candy cane, from 0 to 1, and every pull multiplies it by
# 0.97. There bots met in pairs; here each plays alone. Which policy collects most?
#
# **What to see.** Above, shares of the candy that optimal play with known chances collects.
# `Guarded` is given the rule (the 0.97) and leads; `SteadyUCB` is not and comes close. CTO has the
# rule, too, but pulls fewer than half of the machines more than five times; optimal play does so
# with two thirds. Below, the distribution of pulls.

# %%
import numpy as np

import rotting
from rotting import plots, policies
from rotting.league import CANDY_FAMILY, candy_cane
from rotting.plots import End, ink, name_ends

scenario = candy_cane()
contestants = {
    "Oracle": policies.Oracle(),
    "Guarded": policies.Guarded(CANDY_FAMILY, sigma=0.5),
    "SteadyUCB": policies.SteadyUCB(None),
    "UCB1": policies.UCB1(),
    "CTO": policies.CTO(CANDY_FAMILY),
    "RoundRobin": policies.RoundRobin(),
}
results = {}
print("             share of the best    machines pulled")
print("             possible candy       more than 5 times")
for name, policy in contestants.items():
    results[name] = rotting.simulate(policy, scenario, runs=200, seed=0, checkpoints=1)
    share, used = results[name].share, (results[name].pulls > 5).sum(axis=1).mean()
    error = share.std(ddof=1) / share.size**0.5
    print(f"{name:12} {share.mean():.3f} +- {error:.4f} {used:16.0f} of 100")

# %%
figure, (above, below) = plots.new_figure(height=5.4, panels=2, rows=2)
names, ends = [name for name in reversed(contestants) if name != "Oracle"], []
for row, name in enumerate(names):
    share = 100 * results[name].share
    half = 1.96 * share.std(ddof=1) / share.size**0.5
    above.errorbar(share.mean(), row, xerr=half, fmt="o", color=ink(name).colour, capsize=3)
above.set_yticks(range(len(names)), names)
above.set_xlabel("% of the best possible candy  (bars: 95 % intervals)")
above.set_title("Guarded is ahead, SteadyUCB close behind", loc="left")
for name in ("Oracle", "Guarded", "UCB1", "RoundRobin"):
    # each run's machines, the most pulled first; then the mean over runs
    most = np.sort(results[name].pulls, axis=1)[:, ::-1].mean(axis=0)
    below.plot(range(1, 101), most, **ink(name).line)
    ends.append(End(most[-1], name, ink(name).colour))
below.set(xlim=(1, 100), ylim=(0, None), ylabel="pulls")
below.set_xlabel("machines, the most pulled first")
name_ends(below, ends)
plots.save_figure(figure, "candy_cane.png")
