# %% [markdown]
# # What the theorems promise, and what happens
#
# The paper bounds the regret of SWA (Theorem 3.1) and of wSWA (Corollary 3.1.1). Such a bound must
# hold for the worst possible arms. How far is it from the regret that you will see?
#
# **What to see.** Both axes are logarithmic. A bound is informative only below the grey line, the
# largest possible regret. Measured regret lies far below both bounds. The bounds grow like T^(2/3),
# but for a logarithm: slower than T. They are promises for long runs.

# %%
import dataclasses

import numpy as np

import rotting
from rotting import plots, policies, theory
from rotting.papers import levine2017
from rotting.plots import GREY, End, ink, name_ends

SIGMA = levine2017.SIGMA
ALPHA = theory.best_alpha(max_mean=1.0)  # where the bounds are smallest
horizons = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000]
players = {"SWA": policies.SWA(ALPHA, SIGMA), "wSWA": policies.WSWA(ALPHA, SIGMA)}
bounds = {"SWA": theory.swa_regret_bound, "wSWA": theory.wswa_regret_bound}

# two arms, one of which falls after a quarter of the horizon, as in the paper
measured = {name: [] for name in players}
for T in horizons:
    arms = [rotting.Arm(rotting.models.Constant(0.5))]
    arms += [rotting.Arm(rotting.models.Step(at=T // 4, before=1.0, after=0.4))]
    scenario = dataclasses.replace(levine2017.non_parametric(), arms=arms, horizon=T)
    for name, policy in players.items():
        measured[name].append(rotting.simulate(policy, scenario, runs=50, seed=0).mean_regret[-1])

print(f"{'T':>8}{'SWA':>9}{'bound':>9}{'wSWA':>9}{'bound':>9}")
for place, T in enumerate(horizons):
    cells = [(measured[name][place], bounds[name](2, T, SIGMA, ALPHA, 1.0)) for name in players]
    print(f"{T:8}" + "".join(f"{regret:9.0f}{bound:9.0f}" for regret, bound in cells))

# %%
figure, (axes,) = plots.new_figure(height=4.2)
wide = np.geomspace(horizons[0], 1e7, 100).astype(int)
axes.plot(wide, wide, color=GREY)
ends = [End(wide[-1], "all is lost", GREY)]
for name, bound in bounds.items():
    line = [bound(2, int(T), SIGMA, ALPHA, 1.0) for T in wide]
    axes.plot(wide, line, color=ink(name).colour, linestyle="--")
    axes.plot(horizons, measured[name], color=ink(name).colour, marker=ink(name).marker)
    ends.append(End(line[-1], f"{name}, bound", ink(name).colour))
    axes.text(horizons[-1] * 1.3, measured[name][-1], name, color=ink(name).text, va="center")
axes.set(xscale="log", yscale="log", xlim=(wide[0], wide[-1]), xlabel="horizon T", ylabel="regret")
axes.set_title("Bounds are promises, not forecasts", loc="left")
name_ends(axes, ends)
plots.save_figure(figure, "regret_and_bounds.png")
