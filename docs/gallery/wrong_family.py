# %% [markdown]
# # What a wrong family costs, and how Guarded notices
#
# You specified how your arms rot, and you were wrong. CTO uses the family for ever; `Guarded` uses
# it while the rewards fit. What does each lose?
#
# **What to see.** Above, the family is right: policies that use it have less than a tenth of the
# regret of `SteadyUCB`, which needs none. Below, plateaus are four times as long as the family
# says. CTO keeps the family and loses. `Guarded` finds that sums of rewards do not match the
# family, drops it, and ends where `SteadyUCB` does. The last printed lines show when.

# %%
import numpy as np

import rotting
from rotting import Arm, Gaussian, RandomArms, Scenario, models, plots, policies
from rotting.papers import levine2017

SIGMA, family = levine2017.SIGMA, levine2017.FAMILY  # plateaus of 100 pulls
longer = models.Plateau(length=400).over(family.thetas)  # what the arms really do
truths = {
    "The family is right": levine2017.av(),
    "The family is wrong": Scenario(RandomArms(longer, count=10), Gaussian(SIGMA), 30_000),
}
contestants = {"CTO": policies.CTO(family), "Guarded": policies.Guarded(family, SIGMA)}
contestants["SteadyUCB"] = policies.SteadyUCB(SIGMA)

# %%
figure, panels = plots.new_figure(height=5.6, panels=2, rows=2)
for axes, (words, scenario) in zip(panels, truths.items(), strict=True):
    found = rotting.compare(contestants, scenario, runs=50, seed=0, noise="common")
    plots.regret_curves(found, axes=axes)
    axes.set_title(words, loc="left")
    print(words)
    for name, result in found.results.items():
        regret, error = result.mean_regret[-1], result.standard_error[-1]
        print(f"    {name:10} mean regret {regret:7.1f} +- {error:4.1f}")
panels[0].set_xlabel("")

# %% [markdown]
# When does it notice? Its table shows a padding once it plays without the family. One arm a theta.

# %%
print("runs of 10 in which Guarded plays without the family, after 2,500, 5,000, ... rounds")
for words, truth in (("right", family), ("wrong", longer)):
    means = [Arm(model).mean(np.arange(1, 15_001)) for model in truth.members]
    without = np.zeros(6, dtype=int)
    for run in range(10):
        noise = np.random.default_rng(run).normal(0.0, SIGMA, 15_000)
        player = contestants["Guarded"].online(range(7), seed=run)
        for t in range(15_000):
            arm, pull = player.select()
            player.update((arm, pull), means[arm][pull - 1] + noise[t])
            if t % 2_500 == 2_499:
                without[t // 2_500] += player.table()[0].padding is not None
    print(f"    family {words}:", *(f"{count:3}" for count in without))
plots.save_figure(figure, "wrong_family.png")
