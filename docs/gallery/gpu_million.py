# %% [markdown]
# # What a million runs show that a hundred do not
#
# The paper compares policies by a hundred runs. That is enough for a mean, but not for "how bad can
# it get?": the worst of many runs is not among the first hundred.
#
# **What to see.** The share of runs with regret above x, in the paper's setup AV, on logarithmic
# axes. Pale: the first hundred runs, which end early. Full: ten thousand. CTO's mean is less than a
# tenth of wSWA's, but its worst run is not far from wSWA's worst.
#
# Ten thousand runs of each are drawn here, enough for two cores. With an NVIDIA GPU and `pip
# install 'rotting[cuda]'` set `RUNS = 1_000_000`: the first ten thousand are the same runs,
# decision for decision unless rounding decides a tie.
# %%
import numpy as np
from numba import cuda

import rotting
from rotting import plots
from rotting.papers import levine2017
from rotting.plots import ink

RUNS = 10_000
engine = "cuda" if cuda.is_available() else "cpu"
scenario = levine2017.av()
contestants = levine2017.reported_policies("av")

figure, (axes,) = plots.new_figure()
print(f"{'':5} {'mean':>6} {'worst of 100':>13} {'worst of ' + format(RUNS, ','):>16}")
for name in ("CTO", "wSWA"):
    found = rotting.simulate(
        contestants[name], scenario, runs=RUNS, seed=0, engine=engine, checkpoints=1
    )
    regret = found.final_regret
    print(f"{name:5} {regret.mean():6.0f} {regret[:100].max():13.0f} {regret.max():16.0f}")
    for runs, alpha, width in ((regret, 1.0, 1.5), (regret[:100], 0.35, 4.0)):
        ordered = np.sort(runs)[::-1]
        part = np.arange(1, ordered.size + 1) / ordered.size
        axes.step(ordered, 100 * part, color=ink(name).colour, alpha=alpha, linewidth=width)
    axes.plot(regret.max(), 100 / RUNS, "o", color=ink(name).colour)
    axes.text(np.median(regret), 130, name, color=ink(name).text, ha="center", fontsize=10)
axes.set(xscale="log", yscale="log", ylim=(50 / RUNS, 250), xlim=(1, 2000))
axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
axes.set_yticks([100, 10, 1, 0.1, 0.01], ["100", "10", "1", "0.1", "0.01"])
axes.set_xlabel("regret x after 30,000 decisions")
axes.set_ylabel("% of runs with regret above x")
axes.set_title("The worst runs are not among the first hundred", loc="left")
plots.save_figure(figure, "gpu_million.png")
