# %% [markdown]
# # Why UCB1 fails when arms rot
#
# Two options. "Steady" always pays 0.5. "Falls" pays 1 for 7,500 uses, and 0.4 after that. UCB1 is
# the bandit that most people start with. How long does it take to notice the fall?
#
# **What to see.** Above, one run: UCB1 uses the mean of *all* rewards of "falls". The old ones hold
# it up, so the estimate sinks slowly while the truth lies far below. Below, that costs it reward in
# every later round. wSWA uses recent rewards only, and soon turns away.

# %%
import numpy as np

import rotting
from rotting import plots, policies
from rotting.papers import levine2017
from rotting.plots import BLACK, End, ink, name_ends

scenario = levine2017.non_parametric()
steady, falls = scenario.arms
rng = np.random.default_rng(0)
player = policies.UCB1().online(["steady", "falls"], seed=0)
belief, truth = [], []
for t in range(1, scenario.horizon + 1):
    arm, pull = player.select()
    mean = (steady if arm == "steady" else falls).mean(pull)
    player.update((arm, pull), mean + levine2017.SIGMA * rng.standard_normal())
    if t % 100 == 0:
        row = player.table()["falls"]
        belief.append(row.estimate)
        truth.append(falls.mean(row.pulls + 1))

# %%
both = {"UCB1": policies.UCB1(), "wSWA": policies.WSWA(alpha=0.2, sigma=levine2017.SIGMA)}
found = rotting.compare(both, scenario, runs=100, seed=0)
fell = int(np.argmin(truth))  # the first with the lower mean
print("UCB1, one run:  believes of 'falls'   truth")
for after in (0, 50, 100, 200):
    moment = fell + after
    print(f"{100 * after:6} rounds after the fall {belief[moment]:8.2f} {truth[moment]:7.2f}")
for name, result in found.results.items():
    shares = result.pulls.mean(axis=0) / scenario.horizon
    print(f"{name}: mean regret {result.mean_regret[-1]:5.0f}, {shares[1]:.0%} of pulls on 'falls'")

# %%
figure, (above, below) = plots.new_figure(height=5.2, panels=2, rows=2)
rounds = range(100, scenario.horizon + 1, 100)
above.plot(rounds, belief, **ink("UCB1").line)
above.plot(rounds, truth, color=BLACK)
above.set(xlim=(0, scenario.horizon), ylim=(0.3, 1.1), ylabel="mean reward of 'falls'")
above.set_xticks(range(0, 30_001, 10_000), ["0", "10,000", "20,000", "30,000"])
above.set_title("UCB1 never forgets that an arm was good", loc="left")
name_ends(above, [End(belief[-1], "UCB1 believes", ink("UCB1").colour), End(0.4, "truth", BLACK)])
plots.regret_curves(found, axes=below)
plots.save_figure(figure, "why_ucb1_fails.png")
