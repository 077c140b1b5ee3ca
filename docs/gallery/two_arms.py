# %% [markdown]
# # The two arms of the paper, step by step
#
# One arm always pays 0.5. The other pays 1 for 7,500 pulls, and 0.4 after that. A policy sees noisy
# rewards and none of these numbers. What do UCB1 and wSWA do, pull by pull?
#
# **What to see.** Each policy has a marker on each arm, which moves to the right with every pull.
# At first both walk along the good arm. Then it falls. wSWA soon turns to the other; UCB1 stays and
# gives the other few pulls. The animation shows the same run.
# %%
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter

from rotting import plots, policies
from rotting.papers import levine2017
from rotting.plots import QUIET, ink

arms, T = levine2017.non_parametric().arms, levine2017.HORIZON
EVERY, MOMENTS = 600, (7_200, 9_000, 18_000, 30_000)  # rounds between frames; those of the picture
pulls = {"UCB1": [], "wSWA": []}  # of each arm, at each frame
for name, policy in (("UCB1", policies.UCB1()), ("wSWA", policies.WSWA(0.2, levine2017.SIGMA))):
    noise, player = np.random.default_rng(0), policy.online([0, 1], seed=0)
    for t in range(1, T + 1):
        arm, pull = player.select()
        player.update((arm, pull), arms[arm].mean(pull) + levine2017.SIGMA * noise.normal())
        if t % EVERY == 0:
            pulls[name].append([player.pulls[0], player.pulls[1]])
print("pulls of the steady arm and of the other")
for t in MOMENTS:
    print(f"after {t:6,} rounds ", {name: at[t // EVERY - 1] for name, at in pulls.items()})


def draw(axes, t):
    for drawn in list(axes.lines):  # of the frame before
        drawn.remove()
    for arm in arms:
        axes.plot(np.arange(1, T, 50), arm.mean(np.arange(1, T, 50)), color=QUIET, linewidth=2)
    for name, up, marker in (("UCB1", 0.04, "o"), ("wSWA", -0.04, "s")):  # a little apart
        along = pulls[name][t // EVERY - 1]
        heights = [arm.mean(n + 1) + up for arm, n in zip(arms, along, strict=True)]
        axes.plot(along, heights, marker, color=ink(name).colour, markersize=7, label=name)
    axes.set(xlim=(-900, T), ylim=(0.25, 1.15))
    axes.set_xticks([0, 10_000, 20_000], ["0", "10,000", "20,000"])
    axes.set_title(f"round {t:,}", fontsize=10, loc="left")
    if t in (EVERY, MOMENTS[0]):  # the first frame, and the first panel
        axes.legend(frameon=False, fontsize=9, loc="upper right")


moving, (axes,) = plots.new_figure(height=3.0)
axes.set(xlabel="pulls of the arm so far", ylabel="mean of its next reward")
frames = FuncAnimation(moving, lambda k: draw(axes, EVERY * (k + 1)), T // EVERY)
frames.save("two_arms.gif", PillowWriter(fps=8), dpi=100)
figure, panels = plots.new_figure(height=4.4, panels=4, rows=2)
for axes, t in zip(panels, MOMENTS, strict=True):
    draw(axes, t)
figure.supxlabel("pulls of the arm so far", fontsize=10)
figure.supylabel("mean of its next reward", fontsize=10)
plots.save_figure(figure, "two_arms.png")
