# %% [markdown]
# # Ask your click log: does it wear out, and what else could you have earned?
#
# You have a table of who was shown what, when, and whether they clicked. The log here is a small
# synthetic one from the package. Do its creatives wear out, or did just those users leave who
# click? And what would another policy have earned on the same users?
#
# **What to see.** Left: the grey dots are the raw click rates. They fall fast, but part of that is
# selection: users who stay differ from users who left. The line is what remains after correction
# for leaving, and it still falls. Right: the log replayed. `Fatigue`, which models wear-out for
# each user, earns most; the last printed line has the differences and their intervals.

# %%
from importlib.resources import files
from itertools import pairwise

from rotting import logs, plots, policies
from rotting.plots import BLUE, GREY, ink

log = logs.read(files("rotting.logs") / "example.csv")
found = logs.diagnose(log)
print(found.headline)
print(found["selection"].verdict)

# %% [markdown]
# A replay answers each decision with the reward that the log has for that creative and showing.

# %%
replayed = logs.replay(log, [policies.UCB1(), policies.Fatigue()], runs=5, resamples=40, seed=0)
earned = {"the log's own play": replayed.logged} | {each.name: each.reward for each in replayed}
for name, clicks in earned.items():
    low, high = 100 * clicks.low, 100 * clicks.high
    print(f"{name:18} {100 * clicks.mean:.1f} clicks in 100 ({low:.1f} to {high:.1f})")
print(replayed.recommendation)

# %%
figure, (left, right) = plots.new_figure(width=5.4, height=3.0, panels=2)
curve = found["shape"].evidence["curves"][0]  # that of all creatives together
rate, numbers, groups = 100 * curve["level"], curve["numbers"], range(len(curve["numbers"]))
raw, worth, low, high = ([rate * x for x in curve[k]] for k in ("raw", "worth", "low", "high"))
left.fill_between(groups, low, high, color=BLUE, alpha=0.2, linewidth=0)
left.plot(groups, worth, color=BLUE, linewidth=2)
left.plot(groups, raw, "o", color=GREY)
names = [f"{n}" if after == n + 1 else f"{n}-{after - 1}" for n, after in pairwise(numbers)]
left.set_xticks(groups, [*names, f"{numbers[-1]}+"])  # late showings are rare, so in groups
left.set_ylim(bottom=0)
left.set_title("It wears out", loc="left")
left.set_xlabel("showing to the same user\n(band: 95 %; dots: logged)")
left.set_ylabel("clicks in 100")
for row, (name, clicks) in enumerate(earned.items()):
    ends = [[100 * (clicks.mean - clicks.low)], [100 * (clicks.high - clicks.mean)]]
    colour = GREY if row == 0 else ink(name).colour
    right.errorbar(100 * clicks.mean, row, xerr=ends, fmt="o", color=colour, capsize=3)
right.set_yticks(range(len(earned)), ["as logged", *list(earned)[1:]])
right.set_ylim(-0.5, len(earned) - 0.5)
right.set_title("More was possible", loc="left")
right.set_xlabel("clicks in 100\n(bars: 95 % intervals)")
plots.save_figure(figure, "log_diagnosed.png")
