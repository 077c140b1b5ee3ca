# %% [markdown]
# # What the clicks have taught: a wear-out curve for every creative
#
# A policy has shown four creatives to two thousand users and seen the clicks. What has it learnt
# about each creative, and how often should one user see it?
#
# **What to see.** In each panel the line is the estimate for the n-th showing to one user, the band
# its 95 % interval, and the dots are the truth. Bands are wide where the policy stopped exploring:
# it does not need to know how bad spring is at its tenth showing. The vertical line is the learnt
# cap, after which optimal play turns to another creative. Autumn has none: it remains when the
# others are worn out.

# %%
import numpy as np

from rotting import Arm, models, plots, policies
from rotting.plots import BLACK, PINK

truth = {
    "spring": Arm(models.Step(at=3, before=0.08, after=0.015)),
    "summer": Arm(models.Polynomial(0.3).times(0.06)),
    "autumn": Arm(models.Constant(0.04)),
    "winter": Arm(models.Exponential(0.5).times(0.07)),
}
showings = np.arange(1, 100_001)
means = np.stack([arm.mean(showings) for arm in truth.values()])

# %% [markdown]
# The player decides for a hundred users at a time; clicks are drawn from the true curves.

# %%
player = policies.Fatigue().audience(list(truth), seed=0)
random = np.random.default_rng(0)
for _ in range(1_000):
    batch = player.select_many(random.integers(2_000, size=100).tolist())
    rates = means[batch.numbers, batch.pulls - 1]
    player.update_many(batch, (random.random(100) < rates).astype(float))

curves = player.curves(most=16)
print(curves)
print("a new user's first ten:", curves.plan(10))

# %%
figure, panels = plots.new_figure(height=4.2, panels=4, rows=2)
for place, (axes, name) in enumerate(zip(panels, truth, strict=True)):
    n = np.arange(1, curves.most + 1)
    low, high = 100 * curves.low[place], 100 * curves.high[place]
    axes.fill_between(n, low, high, color=PINK, alpha=0.25, linewidth=0)
    axes.plot(n, 100 * curves.estimate[place], color=PINK, linewidth=2)
    axes.plot(n, 100 * means[place, : curves.most], "o", color=BLACK, markersize=2.5)
    cap = curves.cap[name]
    if cap is not None:
        axes.axvline(cap + 0.5, color=BLACK, linewidth=1)
    axes.set_title(f"{name}: {'no cap' if cap is None else f'cap {cap}'}", loc="left")
    axes.set(ylim=(0, 10), xlim=(0.5, 16.5), xticks=(1, 4, 8, 12, 16))
figure.supxlabel("showing to the same user  (dots: the truth)", fontsize=10)
figure.supylabel("click rate in %: learnt, with 95 % bands", fontsize=10)
plots.save_figure(figure, "learnt_curves.png")
