"""Every policy chooses the arms its naive twin allows, round by round."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import twins
from helpers.cases import mu_of, name_of, scenarios
from rotting import Arm, Player, Scenario, models, policies
from rotting.kernel.random import Draw, new_draw, normal, uniform
from rotting.policies import POLICIES, Policy
from twins import (
    capped,
    ccto,
    cellucb,
    common,
    cto,
    dcto,
    dcto_ucb,
    ducb,
    eff,
    exp3s,
    fatigue,
    fewa,
    glr,
    greedy,
    guarded,
    lcto,
    mixture,
    oracle,
    posterior,
    rawucb,
    sampling,
    simple,
    steady,
    swa,
    swucb,
    thompson,
    ucb1,
    wswa,
)
from twins.models import plateau

SMALL = models.Plateau(length=7).over([0.4, 0.1, 0.2])
SMOOTH = models.Polynomial().over([0.1, 0.25, 0.4])
WEIGHTED = models.Polynomial().over([0.1, 0.25, 0.4], weights=[8, 1, 3])
HORIZON = 260
Twin = tuple[Policy, Callable[..., set[int]], dict[str, Any]]


def family_args(family: models.Family) -> dict[str, Any]:
    """Theta and mu as the twins take them."""
    return {"thetas": list(family.thetas), "mu": mu_of(family)}


TWINS: list[Twin] = [
    (policies.Uniform(), simple.uniform, {}),
    (policies.RoundRobin(), simple.round_robin, {}),
    (policies.GreedyLast(), greedy.greedy_last, {}),
    (policies.UCB1(), ucb1.ucb1, {}),
    (policies.UCB1(c=0.3), ucb1.ucb1, {"c": 0.3}),
    (policies.DUCB(gamma=0.97), ducb.ducb, {"gamma": 0.97}),
    (policies.DUCB(gamma=0.25, B=0.2, xi=0.6), ducb.ducb, {"gamma": 0.25, "B": 0.2, "xi": 0.6}),
    (policies.SWUCB(tau=40), swucb.swucb, {"tau": 40}),
    (policies.SWUCB(tau=5, B=0.1), swucb.swucb, {"tau": 5, "B": 0.1}),
    (policies.SWUCB(tau=1000, B=0.5, xi=0.7), swucb.swucb, {"tau": 1000, "B": 0.5, "xi": 0.7}),
    *[
        (policies.SWA(alpha=a, sigma=0.5), swa.swa, {"alpha": a, "sigma": 0.5, "horizon": HORIZON})
        for a in (0.05, 0.3, 2.0)
    ],
    *[
        (
            policies.WSWA(alpha=a, sigma=0.5, restart=r),
            wswa.wswa,
            {"alpha": a, "sigma": 0.5, "restart": r},
        )
        for a in (0.02, 0.1, 0.5)
        for r in ("forget", "keep")
    ],
    *[(policies.CTO(f), cto.cto, family_args(f)) for f in (SMALL, SMOOTH)],
    *[
        (policies.DCTO(f, sigma=0.4), dcto.dcto, {**family_args(f), "sigma": 0.4})
        for f in (SMALL, SMOOTH)
    ],
    (
        policies.DCTO(SMOOTH, sigma=0.4, c=0.5),
        dcto.dcto,
        {**family_args(SMOOTH), "sigma": 0.4, "c": 0.5},
    ),
    *[
        (
            policies.DCTO(SMOOTH, sigma=0.4, start=n, halves="even"),
            dcto.dcto,
            {**family_args(SMOOTH), "sigma": 0.4, "start": n, "halves": "even"},
        )
        for n in (1, 2, 3)
    ],
    *[
        (
            policies.DCTO_UCB(f, sigma=0.4, delta=0.1, exploration=m),
            dcto_ucb.dcto_ucb,
            {**family_args(f), "sigma": 0.4, "exploration": m + m % 2},
        )
        for f, m in ((SMALL, 9), (SMOOTH, 40), (SMALL, 2))
    ],
    *[
        (policies.RAWUCB(sigma=0.5, alpha=a), rawucb.raw_ucb, {"sigma": 0.5, "alpha": a})
        for a in (1.4, 0.05)
    ],
    *[
        (
            policies.RAWUCBPP(sigma=0.5, alpha=a, beta=b),
            rawucb.raw_ucb_pp,
            {"sigma": 0.5, "alpha": a, "beta": b},
        )
        for a, b in ((1.4, 0.0), (0.3, 0.7))
    ],
    *[
        (policies.FEWA(sigma=0.5, alpha=a), fewa.fewa, {"sigma": 0.5, "alpha": a})
        for a in (0.06, 1.0)
    ],
    *[
        (kind(sigma=0.5, alpha=a, growth=m), rule, {"sigma": 0.5, "alpha": a, "growth": m})
        for kind, rule in ((policies.EFFRAWUCB, eff.eff_raw_ucb), (policies.EFFFEWA, eff.eff_fewa))
        for a, m in ((1.4, 1.1), (0.1, 2.0), (0.06, 3.0))
    ],
    *[
        (
            policies.GLRUCB(sigma=s, delta=d, every=e),
            glr.glr_ucb,
            {"sigma": s, "delta": d, "every": e},
        )
        for s, d, e in ((0.5, 0.5, 3), (0.3, 0.01, 10), (None, 0.3, 10))
    ],
    (policies.EXP3S(), exp3s.exp3s, {"gamma": 0.05, "alpha": 1e-4}),
    (
        policies.EXP3S(gamma=0.4, alpha=0.01, low=-1.0, high=2.0),
        exp3s.exp3s,
        {"gamma": 0.4, "alpha": 0.01, "low": -1.0, "high": 2.0},
    ),
    *[
        (policies.SWTS(tau=tau, sigma=0.4), thompson.sw_ts, {"tau": tau, "sigma": 0.4})
        for tau in (7, 60)
    ],
    *[(policies.LCTO(f), lcto.likelihood_cto, family_args(f)) for f in (SMALL, SMOOTH)],
    *[
        (
            policies.LDCTO(f, sigma=0.4, c=c, start=n),
            lcto.likelihood_dcto,
            {**family_args(f), "sigma": 0.4, "c": c, "start": n},
        )
        for f, c, n in ((SMALL, 1.0, 2), (SMOOTH, 0.3, 3))
    ],
    *[
        (
            policies.Posterior(f, sigma=s, constants=c, rule=r, z=z),
            posterior.posterior,
            {**family_args(f), "sigma": s, "constants": c, "rule": r, "z": z},
        )
        for f, s, c, r, z in (
            (SMOOTH, 0.4, False, "mean", 1.0),
            (SMALL, 0.4, True, "mean", 1.0),
            (SMOOTH, 0.4, True, "upper", 2.0),
            (SMALL, 0.4, False, "upper", 1.0),
            (SMOOTH, None, False, "mean", 1.0),
            (SMOOTH, None, True, "upper", 1.0),
            (SMOOTH, 0.4, False, "thompson", 1.0),
            (SMALL, 0.4, True, "thompson", 1.0),
        )
    ],
    *[
        (
            policies.Posterior(f, sigma=s, constants=c, rule=r),
            posterior.posterior,
            {
                **family_args(f),
                "sigma": s,
                "constants": c,
                "rule": r,
                "z": 2.0,
                "weights": [8.0, 1.0, 3.0],
            },
        )
        for f, s, c, r in (
            (WEIGHTED, 0.4, False, "mean"),
            (WEIGHTED, None, True, "upper"),
            (WEIGHTED, 0.4, True, "thompson"),
        )
    ],
    *[
        (
            policies.SteadyUCB(sigma=s, alpha=a, c=c, few=f),
            steady.steady_ucb,
            {"sigma": s, "alpha": a, "c": c, "few": f},
        )
        for s, a, c, f in ((0.5, 3.0, 0.8, 0.3), (0.4, 0.5, 0.3, 0.0), (None, 1.0, 0.8, 0.3))
    ],
    *[
        (
            policies.Guarded(f, sigma=s, constants=c, doubt=d),
            guarded.guarded,
            {**family_args(f), "sigma": s, "constants": c, "doubt": d},
        )
        for f, s, c, d in (
            (SMOOTH, 0.4, False, 2.0),
            (SMOOTH, 0.4, True, 2.0),
            (SMALL, 0.3, False, 0.3),
            (SMALL, 0.2, False, 500.0),  # hardly ever given up: arms differ for a while, and again
            (SMOOTH, 0.2, True, 0.3),
        )
    ],
    *[
        (policies.CCTO(f), ccto.interval_cto, family_args(f.family))
        for f in (
            models.Plateau(length=7).between(0.1, 0.4, 6),
            models.Polynomial().between(0.1, 0.4, 9),
        )
    ],
    *[
        (
            policies.CellUCB(sigma=s, cells=n, delta=d),
            cellucb.cell_ucb,
            {"sigma": s, "cells": n, "delta": d},
        )
        for s, n, d in ((0.5, 10, 0.05), (0.05, 3, 0.5))
    ],
    (policies.Mixture(), mixture.mixture, {}),
    *[
        (policies.Fatigue(f, s), fatigue.fatigue, {"family": f, "sigma": s})
        for f, s in (("bernoulli", None), ("gaussian", 0.5), ("gaussian", None))
    ],
    (policies.DTS(gamma=0.95, sigma=0.4), thompson.d_ts, {"gamma": 0.95, "sigma": 0.4}),
    *[(policies.Thompson(sigma=s), sampling.thompson, {"sigma": s}) for s in (None, 0.4)],
    *[
        (policies.Capped(policies.UCB1(c=0.3), n), capped.capped_ucb1, {"cap": n, "c": 0.3})
        for n in (2, 60)
    ],
    (policies.Capped(policies.Thompson(), 25), capped.capped_thompson, {"cap": 25}),
    (policies.PerKey(policies.UCB1(c=0.3)), ucb1.ucb1, {"c": 0.3}),  # in an audience: test_per_key
]


def rewards(scenario: Scenario, seed: int) -> Callable[[int, int], float]:
    """A reward for (arm, pull), with its own noise."""
    bandits = scenario.bandits(seed, 0, 1)
    world = scenario.world()
    draw = new_draw(seed)

    def reward(arm: int, pull: int) -> float:
        mean = world.means[bandits.models[0, arm], pull - 1] + bandits.constants[0, arm]
        if world.noise == 1:
            return float(mean + world.sigma[min(pull, world.sigma.size) - 1] * normal(draw))
        return float(uniform(draw) < mean) if world.noise == 2 else float(mean)

    return reward


def stream_of(draw: Draw) -> Iterator[tuple[float, float]]:
    """The random numbers that a draw will give, each as a uniform and as a normal."""
    while True:
        other = draw.copy()
        yield float(uniform(draw)), float(normal(other))


def numbers_ahead(rule: Callable[..., set[int]], player: Player) -> dict[str, Any]:
    """The random numbers that the next decision will draw, for the twins that take them."""
    wanted = inspect.signature(rule).parameters
    draw = player.core.draw.copy()
    if "stream" in wanted:
        return {"stream": stream_of(draw)}
    if "uniforms" in wanted:
        return {"uniforms": [float(uniform(draw))]}
    if "numbers" in wanted:
        if player.policy.rule != "thompson":  # type: ignore[attr-defined]
            return {}
        constants = player.policy.constants  # type: ignore[attr-defined]
        found = []
        for _ in range(3):
            found.append(float(uniform(draw)))
            if constants:
                found.append(float(normal(draw)))
        return {"numbers": found}
    return {"normals": [float(normal(draw)) for _ in range(3)]} if "normals" in wanted else {}


SHORT = {"bernoulli": 120, "fixed": 80, "negative": 80, "no noise": 40}  # for slow twins


def cases() -> Iterator[Any]:
    """Every twin with every scenario, and for how many rounds."""
    for twin in TWINS:
        slow = isinstance(twin[0], policies.Fatigue)
        for kind in SHORT if slow else scenarios():
            rounds = SHORT[kind] if slow else HORIZON
            yield pytest.param(twin, kind, rounds, id=f"{name_of(twin[0])}-{kind}")


@pytest.mark.parametrize(("twin", "kind", "rounds"), list(cases()))
def test_same_arms(twin: Twin, kind: str, rounds: int) -> None:
    policy, rule, arguments = twin
    reward = rewards(scenarios(HORIZON)[kind], seed=len(kind))
    player = policy.online(range(3), seed=5, horizon=HORIZON, compiled=False)
    history: common.History = []
    for t in range(1, rounds + 1):
        allowed = rule(history, 3, **arguments, **numbers_ahead(rule, player))
        decision = player.select()
        assert decision.arm in allowed, f"round {t}: chose {decision.arm}, allowed {allowed}"
        outcome = reward(decision.arm, decision.pull)
        player.update(decision, outcome)
        history.append((decision.arm, outcome))


@pytest.mark.parametrize("kind", ["random", "constants"])
@pytest.mark.parametrize("constants", [False, True])
def test_posterior_on_an_interval(kind: str, constants: bool) -> None:
    """Against sums over 400 thetas; little noise, so that the posterior gets narrow."""
    model = models.Plateau(length=10)
    sigma = 0.1
    policy = policies.Posterior(model.between(0.1, 0.45, nodes=17), sigma, constants=constants)
    reward = rewards(scenarios(HORIZON)[kind], seed=len(kind))
    player = policy.online(range(3), seed=5, horizon=HORIZON, compiled=False)
    history: common.History = []
    for t in range(1, 121):
        decision = player.select()
        if t % 4 == 1:
            allowed = posterior.interval_posterior(
                history, 3, 0.1, 0.45, lambda n, theta: plateau(n, theta, 10), sigma, constants
            )
            assert decision.arm in allowed, f"round {t}: chose {decision.arm}, allowed {allowed}"
        outcome = reward(decision.arm, decision.pull)
        player.update(decision, outcome)
        history.append((decision.arm, outcome))


def mean_of(arm: Arm) -> common.Mean:
    return lambda n: float(arm.mean(n))


def test_oracle_follows_its_twin() -> None:
    for kind, scenario in scenarios(120).items():
        if not scenario.fixed:
            continue
        arms = list(scenario.arms)  # type: ignore[arg-type]
        player = policies.Oracle(arms).online(range(3), compiled=False)
        means = [mean_of(arm) for arm in arms]
        counts = [0, 0, 0]
        for _ in range(120):
            arm = player.select().arm
            assert arm in oracle.oracle(counts, means), kind
            counts[arm] += 1


def test_every_policy_has_a_twin() -> None:
    twinned = {type(policy) for policy, _, _ in TWINS} | {policies.Oracle}
    ours = {kind for kind in POLICIES.values() if kind.__module__.startswith("rotting.")}
    assert ours == twinned


def test_twins_are_independent() -> None:
    """A twin imports the standard library and other twins: `rotting` can spoil none of them."""
    files = sorted(Path(twins.__path__[0]).rglob("*.py"))
    assert {"common.py", "cto.py", "theory_star.py"} <= {file.name for file in files}
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file.name}:{node.lineno}"
                imported = [node.module or ""]
            elif isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            else:
                continue
            for name in imported:
                root = name.split(".")[0]
                allowed = root == "twins" or root in sys.stdlib_module_names
                assert allowed, f"{file.name}:{node.lineno} imports {name}"
