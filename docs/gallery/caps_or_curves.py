# %% [markdown]
# # Three for each user? What a frequency cap leaves on the table
#
# You show four creatives to many users, and each user tires of what they have seen. A frequency cap
# is one number for all creatives. Which number is best, and what does a policy earn that learns
# each creative's wear-out curve from the clicks?
#
# **What to see.** Each dot is a share of the clicks of optimal play with known curves. No cap comes
# near it. All creatives soon reach a low cap and are then all allowed again; a high cap stops the
# creative that never wears out, and worn-out ones fill its place. `Fatigue` learns a curve for each
# creative and needs no cap.

# %%
import rotting
from rotting import Arm, Audience, Bernoulli, Scenario, models, plots, policies
from rotting.plots import ink

creatives = {
    "spring": Arm(models.Step(at=3, before=0.08, after=0.015)),  # good three times, then over
    "summer": Arm(models.Polynomial(0.3).times(0.06)),  # falls slowly
    "autumn": Arm(models.Constant(0.04)),  # never wears out
    "winter": Arm(models.Exponential(0.5).times(0.07)),  # gone after a few showings
}
scenario = Scenario(creatives.values(), Bernoulli(), horizon=60_000, audience=Audience(keys=1_200))

# %% [markdown]
# The caps wrap Thompson sampling, a bandit that does not distinguish users.

# %%
bandit = policies.Thompson()
caps = (1, 2, 3, 5, 8, 13)
contestants = {f"cap {cap}": policies.Capped(bandit, cap) for cap in caps}
contestants |= {"no cap": bandit, "Fatigue": policies.Fatigue()}

shares, errors = {}, {}
for name, policy in contestants.items():
    # common noise: everybody meets the same users, and the same click at the same showing
    share = rotting.simulate(policy, scenario, runs=20, seed=0, noise="common").share
    shares[name], errors[name] = share.mean(), share.std(ddof=1) / share.size**0.5
    print(f"{name:8} {100 * shares[name]:5.1f} % of the best possible play's clicks")

# %%
figure, (axes,) = plots.new_figure(height=3.2)
for row, name in enumerate(reversed(contestants)):
    colour = ink(contestants[name].label).colour
    half = 100 * 1.96 * errors[name]
    axes.errorbar(100 * shares[name], row, xerr=half, fmt="o", color=colour, capsize=3)
axes.set_yticks(range(len(contestants)), list(reversed(contestants)))
axes.axvline(100, color="#888888", linewidth=0.8)
axes.set_xlabel("% of the best possible play's clicks  (bars: 95 % intervals)")
axes.set_title("No cap comes near a learnt curve", loc="left")
axes.grid(axis="x", color="#E6E6E6", linewidth=0.6)
plots.save_figure(figure, "caps_or_curves.png")
