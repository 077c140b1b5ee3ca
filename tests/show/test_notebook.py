"""HTML of objects in a notebook: correct, escaped and well-formed for any content."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from helpers.cases import FAMILY, scenarios
from rotting import (
    Arm,
    Audience,
    Bernoulli,
    Comparison,
    Gaussian,
    HalfLife,
    NoNoise,
    RandomArms,
    Result,
    Scenario,
    Tuning,
    compare,
    models,
    policies,
    simulate,
    tune,
)
from rotting._numbers import figure
from rotting._numbers import figures as figures_of
from rotting._online.inspect import ARMS, curves_of_player
from rotting._show import means, notebook, plots
from rotting.models import Family

PLAYED: dict[str, Any] = {"engine": "reference"}
EVIL = '<b>$x$ "quoted" & \u202e\x1b[2J \U0001f600'
SMALL = scenarios(horizon=60)["fixed"]


class Reader(HTMLParser):
    """Rows of cells and the text around them; complains of tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.bold: list[int] = []
        self.open: list[str] = []
        self.pictures = 0
        self.words = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag not in ("script", "style", "b")
        assert not any(name.startswith("on") for name, _ in attrs)
        self.open.append(tag)
        self.pictures += tag == "svg"
        if tag == "tr":
            self.rows.append([])
            if "bold" in (dict(attrs).get("style") or ""):
                self.bold.append(len(self.rows) - 1)
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        assert "svg" in self.open, "only SVG has tags that end themselves"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif "svg" not in self.open:
            self.words += data

    def column(self, heading: str) -> list[str]:
        place = self.rows[0].index(heading)
        return [row[place] for row in self.rows[1:]]


def believed_of(made: Any) -> Any:
    return curves_of_player(made.core.snapshot())


def read(shown: Any) -> Reader:
    """What an object shows, without letters that do not belong into a page."""
    text = shown._repr_html_()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", text)
    assert re.search(r"\bnan\b|\binf\b", re.sub(r"<svg.*?</svg>", "", text, flags=re.S)) is None
    return Reader(text)


def played(runs: int = 4, **options: Any) -> Comparison:
    named = {"UCB1": policies.UCB1(), EVIL: policies.Uniform(), "Oracle": policies.Oracle()}
    return compare(named, SMALL, runs=runs, **{**PLAYED, **options})


# --------------------------------------------------------------------------------------- results


def test_a_result_shows_its_figures_and_its_curve() -> None:
    result = simulate(policies.UCB1(), SMALL, runs=5, **PLAYED)
    seen = read(result)
    figures = result.summary()
    assert seen.column("mean regret") == [figure(result.final_regret.mean())]
    error = result.final_regret.std(ddof=1) / 5**0.5
    assert seen.column("standard error") == [figure(error)]
    assert seen.column("worst run") == [figure(result.final_regret.max())]
    assert seen.column("mean reward") == [figure(result.total_reward.mean())]
    assert seen.column("share of pi_max") == [f"{100 * result.share.mean():.1f} %"]
    low, high = figures["low_95"], figures["high_95"]
    assert low < figures["mean_regret"] < high
    assert seen.column("95 % interval") == [" to ".join(figures_of([low, high]))]
    assert "UCB1: 5 runs of 60 rounds" in seen.words
    assert seen.pictures == 1


def test_a_comparison_is_sorted_and_says_what_is_better() -> None:
    found = played()
    seen = read(found)
    regrets = {name: result.mean_regret[-1] for name, result in found.results.items()}
    order = sorted(regrets, key=lambda name: float(regrets[name]))
    assert order[0] == "Oracle"
    assert order != list(found.results)
    assert seen.column("policy") == [notebook.clipped(name, 70) for name in order]
    assert seen.column("mean regret") == [figure(regrets[name]) for name in order]
    wins = [str(sum(found.wins[name].values())) for name in order]
    assert seen.column(f"wins of {4 * 2}") == wins
    assert "Lower is better." in seen.words
    assert escape(EVIL[:10]) in found._repr_html_()
    assert seen.pictures == 1


def test_one_run_has_no_errors_and_one_checkpoint_no_curve() -> None:
    seen = read(played(runs=1))
    assert seen.rows[0] == ["policy", "mean regret", "share of pi_max", "wins of 2"]
    single = played(runs=1, checkpoints=1)
    assert read(single).pictures == read(single["UCB1"]).pictures == 0
    alone = read(Comparison({"UCB1": single["UCB1"]}))
    assert alone.rows[0] == ["policy", "mean regret", "share of pi_max"]
    loss = simulate(policies.UCB1(), scenarios()["negative"], runs=2, **PLAYED)
    assert np.isnan(loss.summary()["mean_share"])
    assert "share of pi_max" not in read(loss).rows[0]


def test_many_policies_and_checkpoints_are_cut_and_that_is_said() -> None:
    result = played(runs=2)["UCB1"]
    many = Comparison({f"{'very ' * 40}long {k:02}": result for k in range(50)})
    text = many._repr_html_()
    seen = Reader(text)
    assert len(seen.rows) == 1 + 30
    assert "30 of 50 policies are in the table, those with the least regret." in seen.words
    assert "6 of 50 policies are drawn, those with the least regret." in seen.words
    times = np.arange(1, 20_001)
    long = dataclasses.replace(result, checkpoints=times, regret=np.tile(times / 7.0, (2, 1)))
    assert len(long._repr_html_()) < 100_000


def test_a_result_says_what_is_odd_about_it() -> None:
    crowd = Scenario(
        [Arm(models.Polynomial(0.5)), Arm(models.Constant(0.3))],
        Bernoulli(),
        50,
        audience=Audience(keys=5, rest=HalfLife(3)),
    )
    ignored = read(simulate(policies.UCB1(), crowd, runs=2, **PLAYED))
    assert "Keys ignored." in ignored.words
    assert "No adversarial regret (each key has a bandit of its own)." in ignored.words
    assert "mean regret against greedy play" in ignored.rows[0]
    assert "share of greedy play" in ignored.rows[0]
    bare = Result(
        np.array([3]), np.ones((1, 1)), np.ones((1, 2), dtype=np.int64), np.ones(1), np.ones(1)
    )
    assert "A policy: 1 run of 3 rounds" in read(bare).words


def test_a_grid_search_shows_all_settings_the_best_in_bold() -> None:
    found = tune(policies.UCB1(), {"c": [2.0, 0.1, 1.0]}, SMALL, runs=3, **PLAYED)
    seen = read(found)
    rows = found.rows()
    assert seen.column("c") == ["2", "0.1", "1"]
    assert seen.column("mean regret") == [figure(row["mean_regret"]) for row in rows]
    (best,) = seen.bold
    assert seen.rows[best][0] == figure(found.chosen["c"])
    assert min(row["mean_regret"] for row in rows) == rows[best - 1]["mean_regret"]
    assert seen.pictures == 1
    both: dict[str, list[Any]] = {"alpha": [0.1, 1.0], "restart": ["keep", "forget"]}
    several = tune(policies.WSWA(0.2, 0.5), both, SMALL, runs=1, **PLAYED)
    assert read(several).pictures == 0
    assert read(several).rows[0] == ["alpha", "restart", "mean regret"]


def test_a_large_grid_keeps_its_best() -> None:
    found = tune(policies.UCB1(), {"c": [1.0]}, SMALL, runs=2, **PLAYED)
    rng = np.random.default_rng(0)
    results = [
        dataclasses.replace(found.results[0], regret=found.results[0].regret + shift)
        for shift in rng.uniform(1.0, 9.0, 80)
    ]
    large = Tuning([{"c": k} for k in range(80)], found.policies * 80, results)
    seen = read(large)
    assert len(seen.rows) == 1 + 30
    assert seen.rows[seen.bold[0]][0] == str(large.chosen["c"])
    assert "of 80 settings are in the table" in seen.words
    odd = tune(
        policies.CTO(FAMILY), {"family": [FAMILY, models.Polynomial().over([0.1])]}, SMALL, runs=1
    )
    assert read(odd).pictures == 1


# --------------------------------------------------------------------------- models and scenarios


def test_a_model_shows_its_means() -> None:
    seen = read(models.Exponential(0.01))
    assert seen.column("mu(1)") == ["1"]
    assert seen.column("mu(100)") == [figure(float(np.exp(-0.99)))]
    assert "mu(n) = exp(-theta (n - 1))." in seen.words
    assert seen.pictures == 1
    for unknown in (models.Polynomial(), models.Exponential().times(0.1)):
        seen = read(unknown)
        assert seen.pictures == 0
        assert "Theta is left open" in seen.words


def breaks(n: Any) -> Any:
    """Good as far as it is checked, and no further."""
    if np.max(n) > 4096:
        raise RuntimeError("too far")
    return 1.0 / n


ODD_MODELS: list[Any] = [
    models.Constant(0.0),
    models.Constant(-1e99),
    models.Step(7500, 1.0, -1e50),
    models.Table([0.5]),
    models.Table(np.linspace(1.0, 0.0, 30_000).tolist()),
    models.Function(lambda n: 1 / (1 + np.log(n))),
    models.Function(breaks),
    models.Function(lambda n: np.where(n > 5000, np.nan, 1.0 / n)),
    models.Function(lambda n: np.exp(-np.minimum(n, 1e6) * 1.0)),
    models.Polynomial().over([0.3]),
    models.Polynomial().over(np.linspace(0.0, 2.0, 500)),
    models.Exponential(0.01).over(amplitudes=[0.02, 0.05], weights=[1, 9]),
    models.Exponential().over(np.geomspace(1e-6, 1, 50), amplitudes=np.linspace(0.1, 2, 50)),
    Family.of(
        [models.Exponential(0.1), models.Table(np.linspace(1, 0, 500).tolist()), models.Constant(1)]
    ),
    models.Polynomial().between(0.1, 0.4, nodes=3),
    models.Polynomial().between(0.1, 0.4, nodes=100_000),
]


@pytest.mark.parametrize("shown", ODD_MODELS, ids=range(len(ODD_MODELS)))
def test_odd_models_and_families_are_shown(shown: Any) -> None:
    seen = read(shown)
    assert seen.pictures == 1
    assert 2 <= len(seen.rows) <= 13


def test_a_family_shows_members_weights_and_how_many_are_left_out() -> None:
    family = models.Polynomial().over([0.1, 0.4, 0.7], weights=[2, 1, 1])
    seen = read(family)
    assert seen.column("member") == ["theta 0.1", "theta 0.4", "theta 0.7"]
    assert seen.column("prior weight") == ["0.5", "0.25", "0.25"]
    last = seen.rows[0][-1]
    assert seen.column(last) == [figure(float(m.mean(100))) for m in family.members]
    assert last == "mu(100)"
    many = read(models.Polynomial().over(np.linspace(0.0, 2.0, 500)))
    assert many.column("member")[0] == "theta 0"
    assert many.column("member")[-1] == "theta 2"
    assert "12 of 500 members are in the table." in many.words
    assert "40 of 500 curves are drawn. 6 of 40 curves drawn are named." in many.words
    assert "prior weight" not in many.rows[0]


def test_a_scenario_in_words_and_curves() -> None:
    seasonal = Scenario(
        [Arm(models.Exponential(0.01)), Arm(models.Constant(0.2), 0.1)],
        Gaussian(0.3),
        500,
        name=EVIL,
        openings={0: [(1, 80), (200, None)]},
        belief=FAMILY,
    )
    seen = read(seasonal)
    assert "2 arms, Gaussian(sigma=0.3), 500 rounds. Arms come and go." in seen.words
    assert "Policies get: Plateau(theta=None, length=10) with one of 3 thetas" in seen.words
    assert seen.column("open in rounds") == ["1 to 80; 200 on", "all"]
    assert seen.column("constant") == ["-", "0.1"]
    assert seen.column("pull 100") == [figure(float(np.exp(-0.99))), "0.3"]
    assert seen.pictures == 1


def test_random_arms_are_those_of_the_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    source = RandomArms(models.Polynomial().between(0.1, 0.4), 1_000_000, amplitudes=(0.5, 2.0))
    asked: list[int] = []
    plain = RandomArms.arms

    def counting(self: RandomArms, seed: int, run: int) -> tuple[Arm, ...]:
        asked.append(self.count)
        return plain(self, seed, run)

    with monkeypatch.context() as patch:
        patch.setattr(RandomArms, "arms", counting)
        seen = read(Scenario(source, NoNoise(), 2000))
    assert asked
    assert max(asked) < 1_000, "a million arms must not be drawn"
    assert "1,000,000 arms drawn for each run" in seen.words
    assert "run 0 of seed 0" in seen.words
    first = dataclasses.replace(source, count=3).arms(seed=0, run=0)
    shown = seen.column("pull 1")[:3]
    assert shown == [figure(float(arm.mean(1))) for arm in first]


def drawn_arm(draw: Any) -> Arm:
    return Arm(models.Exponential(draw.uniform(0.01, 0.1)), draw.arm * 1.0)


def test_the_first_arms_of_fewer_are_the_same() -> None:
    for source in (
        RandomArms(FAMILY, 9, (0.0, 1.0)),
        RandomArms(models.Polynomial().between(0.1, 0.4), 9, amplitudes=(0.5, 2.0)),
        RandomArms.drawn(drawn_arm, 9),
    ):
        assert source.first(4).count == 4
        assert source.first(4).arms(seed=3, run=5) == source.arms(seed=3, run=5)[:4]


ODD_SCENARIOS: dict[str, Scenario] = {
    **scenarios(),
    "one round": Scenario([Arm(models.Constant(0.1))], NoNoise(), 1),
    "drawn": Scenario(RandomArms.drawn(drawn_arm, 3), NoNoise(), 100),
    "200 arms": Scenario([Arm(models.Exponential(0.001 * k)) for k in range(200)], NoNoise(), 90),
    "turns": Scenario(
        [Arm(models.Constant(0.1))] * 2, NoNoise(), 10**9, audience=Audience(7, arrivals="turns")
    ),
    "given keys": Scenario(
        [Arm(models.Constant(0.1))] * 2,
        Bernoulli(),
        4,
        audience=Audience(2, arrivals=[0, 0, 1, 0], factors=(0.5, 1.5), rest=HalfLife(2)),
    ),
}


@pytest.mark.parametrize("name", ODD_SCENARIOS)
def test_odd_scenarios_are_shown(name: str) -> None:
    seen = read(ODD_SCENARIOS[name])
    assert seen.pictures == 1
    assert len(seen.rows) <= 13


# --------------------------------------------------------------------------------------- players


def player(policy: policies.Policy, arms: list[Any], rounds: int = 60) -> Any:
    made = policy.online(arms, compiled=False)
    for _ in range(rounds):
        decision = made.select()
        made.update(decision, decision.pull ** -(0.1 + 0.4 * (decision.arm == arms[0])))
    return made


def test_a_player_that_believes_in_curves_shows_them() -> None:
    made = player(policies.LCTO(models.Polynomial().over([0.1, 0.5])), [EVIL, "b", "c"])
    seen = read(made)
    assert [row[0] for row in seen.rows] == [
        "arm",
        EVIL.replace("\u202e\x1b", "\\u202e\\x1b"),
        *"bc",
    ]
    assert seen.pictures == 1
    believed = believed_of(made)
    assert believed.arms == (EVIL, "b", "c")
    np.testing.assert_allclose(believed.estimate[0], believed.numbers**-0.5)
    np.testing.assert_allclose(believed.estimate[1], believed.numbers**-0.1)
    assert believed.upcoming == tuple(made.pulls[arm] + 1 for arm in made.arms)
    assert read(player(policies.UCB1(), ["a", "b"])).pictures == 0


@pytest.mark.parametrize("policy", [p for k in policies.POLICIES.values() for p in k.examples()])
def test_every_player_is_shown(policy: policies.Policy) -> None:
    horizon = {"horizon": 3000} if policy.needs_horizon else {}
    made = policy.online(["a", "b", "c"], compiled=False, **horizon)
    assert read(made).pictures == 0  # no estimate yet
    for _ in range(12):
        made.update(made.select(), 0.5)
    believes = bool(policy.verbs.score or policy.verbs.curve)
    assert read(made).pictures == believes
    made.retire("a")
    read(made)


def audience(policy: policies.Policy, arms: int = 3) -> Any:
    made = policy.audience([f"ad {k}" for k in range(arms)], compiled=False)
    rng = random.Random(1)
    for _ in range(150):
        decision = made.select(rng.randrange(5))
        made.update(decision, float(rng.random() < 0.8 / decision.pull))
    return made


def test_a_player_of_an_audience() -> None:
    made = audience(policies.Fatigue())
    assert read(made).pictures == 1
    assert believed_of(made).upcoming is None
    assert np.isfinite(believed_of(made).low).all()
    assert read(made.curves()).pictures == 1
    assert read(audience(policies.UCB1())).pictures == 0
    many = audience(policies.CellUCB(0.5), arms=60)
    assert f"{ARMS} of 60 open arms are drawn, those pulled most." in read(many).words
    for arm in many.arms:
        many.retire(arm)
    assert read(many).pictures == 0


def test_the_arms_drawn_are_those_pulled_most() -> None:
    made: Any = policies.CTO(FAMILY).online(range(20), compiled=False)
    made.learn([*range(20), *range(5, 13)], [0.5] * 28)
    assert believed_of(made).arms == tuple(range(5, 13))


# ---------------------------------------------------------------------------- pictures, notebooks


def test_pictures_stand_on_white_whatever_the_style() -> None:
    import matplotlib.style

    result = simulate(policies.UCB1(), SMALL, runs=2, **PLAYED)
    usual = result._repr_html_()
    with matplotlib.style.context("dark_background"):
        assert result._repr_html_() == usual
        assert matplotlib.rcParams["figure.facecolor"] == "black"


def test_axes_are_accepted_and_returned() -> None:
    found = played(runs=2)
    grid = tune(policies.UCB1(), {"c": [0.1, 2.0]}, SMALL, runs=2, **PLAYED)
    family = models.Polynomial().over([0.1, 0.4])
    interval = models.Polynomial().between(0.1, 0.4)
    learnt = audience(policies.Fatigue()).curves()
    things: list[Any] = [found, found["UCB1"], grid, family, family.members[0], interval, SMALL]
    ways: list[Callable[..., Any]] = [thing.plot for thing in (*things, learnt)]
    ways.append(lambda axes=None: learnt.plot(ax=axes))
    ways.append(lambda axes=None: means.mean_curves({"a": SMALL.arms[0]}, axes=axes))  # type: ignore[index]
    for plot in ways:
        assert plot().lines
        _, (left, right) = plots.new_figure(8.0, 3.0, panels=2)
        assert plot(axes=right) is right
        assert right.lines
        assert not left.lines


def test_means_are_drawn_as_far_as_asked() -> None:
    family = models.Polynomial().over([0.1, 0.4])
    drawn = family.plot(pulls=7)
    for line, member in zip(drawn.lines, family.members, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 8))
        np.testing.assert_array_equal(line.get_ydata(), member.mean(np.arange(1, 8)))
    assert [text.get_text() for text in drawn.texts] == ["theta 0.4", "theta 0.1"]
    with pytest.raises(ValueError, match="pulls must be an integer >= 1"):
        family.plot(pulls=0)
    assert len(models.Constant(1.0).plot(pulls=1).lines) == 1


def test_a_notebook_takes_them() -> None:
    formatting = pytest.importorskip("IPython.core.formatters")
    formatter = formatting.DisplayFormatter()
    made = audience(policies.Fatigue())
    found = played(runs=2)
    for thing in (found, found["UCB1"], FAMILY, models.Constant(1.0), SMALL, made, made.table()):
        formats, _ = formatter.format(thing)
        assert formats["text/html"] == thing._repr_html_()
        assert "text/plain" in formats
