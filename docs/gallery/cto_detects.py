# %% [markdown]
# # Watching CTO detect each arm's curve
#
# You know *how* your arms may rot, a short list of curves, but not which arm follows which. CTO
# compares the sum of an arm's rewards with the sum that each curve expects, and picks the closest.
# Does it find the right ones?
#
# **What to see.** Above, the share of 30 runs in which CTO has an arm's true curve. For the slow
# arm, which it pulls most, that is all. Others are pulled rarely, and theta 0.3 is wrong in most
# runs to the end. (0.4 is last in the list: all that pays too little is taken for it.) Below, mean
# regret still becomes nearly flat. wSWA, without curves, has far more.
# %%
import numpy as np

import rotting
from rotting import Arm, Gaussian, Scenario, plots, policies
from rotting.papers import levine2017
from rotting.plots import BLACK, BLUE, ORANGE, PINK, End, name_ends

family, T, RUNS = levine2017.FAMILY, 8_000, 30  # seven speeds of rotting, theta = 0.1 to 0.4
thetas, colours = (0.1, 0.2, 0.3, 0.4), (BLUE, BLACK, PINK, ORANGE)
arms = [Arm(family.model.with_theta(theta)) for theta in thetas]
scenario = Scenario(arms, Gaussian(levine2017.SIGMA), horizon=T)
means = [arm.mean(np.arange(1, T + 1)) for arm in arms]
expected = np.cumsum([model.mean(np.arange(1, T + 1)) for model in family.members], axis=1)

believed = np.zeros((RUNS, T // 20, 4))  # theta-hat of each arm, every 20 rounds
pulls = np.zeros((RUNS, 4), dtype=int)
for run in range(RUNS):
    noise = np.random.default_rng(run).normal(0.0, levine2017.SIGMA, T)
    player, sums = policies.CTO(family).online(range(4), seed=run), np.zeros(4)
    for t in range(T):
        arm, n = player.select()
        reward = means[arm][n - 1] + noise[t]
        player.update((arm, n), reward)
        sums[arm] += reward
        if t % 20 == 19:
            pulls[run] = [player.pulls[k] for k in range(4)]
            off = abs(expected[:, pulls[run] - 1] - sums)  # of each curve, for each arm
            believed[run, t // 20] = np.take(family.thetas, off.argmin(axis=0))

# %%
both = {"CTO": policies.CTO(family), "wSWA": policies.WSWA(0.2, levine2017.SIGMA)}
found = rotting.compare(both, scenario, runs=100, seed=0)
for name, result in found.results.items():
    print(f"{name}: mean regret {result.mean_regret[-1]:.1f} +- {result.standard_error[-1]:.1f}")
figure, (above, below) = plots.new_figure(height=5.2, panels=2, rows=2)
right = (believed == thetas).sum(axis=0)  # in how many runs, at each moment, for each arm
for k, theta in enumerate(thetas):
    print(f"theta {theta}: right in {right[-1, k]} of {RUNS} runs, {pulls[:, k].mean():.0f} pulls")
    above.plot(range(20, T + 1, 20), right[:, k], color=colours[k])
above.set(xlim=(0, T), ylim=(0, 31), ylabel="runs of 30 that are right")
above.set_xticks(range(0, T + 1, 2_000), ["0", "2,000", "4,000", "6,000", "8,000"])
above.set_title("Regret goes flat before all curves are found", loc="left")
name_ends(above, [End(right[-1, k], f"theta {thetas[k]}", colours[k]) for k in range(4)])
plots.regret_curves(found, axes=below)
plots.save_figure(figure, "cto_detects.png")
