"""Evidence for how the paper's open points were read: each reading against its alternatives.

    python benchmarks/readings.py

Mean regret at T = 30,000 over 1,000 runs with independent noise, seed 0, unless a row says
otherwise; wins are per 100.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

from record import record
from rotting import Result, policies, simulate, stats, tune
from rotting._engines.compiled import compiler  # noqa: F401  # makes the draws known to numba
from rotting._engines.plan import stream_keys
from rotting.kernel import random
from rotting.papers import levine2017

RUNS = 1000
SIGMA, FAMILY = levine2017.SIGMA, levine2017.FAMILY
rows: list[dict[str, Any]] = []
kept: dict[tuple[str, str, int, str], Result] = {}


def play(
    policy: policies.Policy, setup: str, runs: int = RUNS, noise: str = "independent"
) -> Result:
    key = (repr(policy), setup, runs, noise)
    if key not in kept:
        scenario = levine2017.SETUPS[setup]()
        kept[key] = simulate(policy, scenario, runs=runs, noise=noise, checkpoints=1)
    return kept[key]


def note(question: str, reading: str, setup: str, result: Result, **more: Any) -> None:
    rows.append(
        {
            "question": question,
            "reading": reading,
            "setup": setup,
            "runs": result.runs,
            "mean_regret": round(float(result.mean_regret[-1]), 2),
            "standard_error": round(float(result.standard_error[-1]), 2),
            **more,
        }
    )


def wins(first: Result, second: Result) -> float:
    return round(100 * stats.wins(first.final_regret, second.final_regret) / first.runs, 1)


def restart() -> None:
    for setup in levine2017.SETUPS:
        for kind in ("forget", "keep"):
            wswa = play(policies.WSWA(0.2, SIGMA, restart=kind), setup)
            more = {}
            if setup == "anv":
                more["wins_of_dcto"] = wins(play(policies.DCTO(FAMILY, SIGMA), setup), wswa)
            note("restart of wSWA", kind, setup, wswa, **more)


def constants() -> None:
    tau = {"non_parametric": 4000, "av": 8000, "anv": 16000}
    for setup in levine2017.SETUPS:
        wswa, ucb1 = play(policies.WSWA(0.2, SIGMA), setup), play(policies.UCB1(), setup)
        for B in (1.0, 2.0):
            for window in dict.fromkeys((tau[setup], 20_000)):
                result = play(policies.SWUCB(tau=window, B=B), setup)
                note(
                    "constants of SWUCB",
                    f"B = {B:g}, tau = {window}",
                    setup,
                    result,
                    wins_over_ucb1=wins(result, ucb1),
                    wins_of_wswa=wins(wswa, result),
                )
        gamma = 0.999 if setup == "non_parametric" else 0.999999
        for B in (0.5, 1.0):
            result = play(policies.DUCB(gamma=gamma, B=B), setup)
            note(
                "constants of DUCB",
                f"B = {B:g}, gamma = {gamma}",
                setup,
                result,
                wins_over_ucb1=wins(result, ucb1),
            )


def grid_of_tau() -> None:
    """Which window the grid search of SWUCB chooses, for several constants B."""
    values = {"tau": [1000 * k for k in range(1, 21)]}
    for setup in levine2017.SETUPS:
        scenario = levine2017.SETUPS[setup]()
        for b in (1.0, 1.5, 1.9, 2.0):
            found = tune(policies.SWUCB(tau=1, B=b), values, scenario, checkpoints=1)
            best = found.results[found.policies.index(found.best)]
            note(f"tau chosen by the grid if B = {b:g}", str(found.chosen["tau"]), setup, best)


@numba.njit  # type: ignore[untyped-decorator]
def add_noise(noise: Any, pulls: Any, total: Any) -> None:
    """Add to each run's total the noise of the rewards it drew, in units of sigma."""
    for r in range(pulls.shape[0]):
        run = random.fold(noise, np.uint64(r))
        for i in range(pulls.shape[1]):
            key = random.fold(run, np.uint64(i))
            step = random.step_of(key)
            for n in range(1, pulls[r, i] + 1):
                total[r] += random.normal_at(key, step, np.uint64(n))


def drawn_rewards(policy: policies.Policy, result: Result) -> np.ndarray:
    """What each run's rewards add up to as they were drawn; `total_reward` is of their means."""
    noise = np.zeros(result.runs)
    add_noise(stream_keys(0, "independent", policy.label).noise, result.pulls, noise)
    return np.asarray(result.total_reward + SIGMA * noise)


def means_or_draws() -> None:
    """Wins by the expected rewards of what was pulled, and by the rewards that were drawn."""
    for setup, name in (("av", "CTO"), ("anv", "D-CTO")):
        chosen = levine2017.reported_policies(setup)
        ours, wswa = play(chosen[name], setup), play(chosen["wSWA"], setup)
        drawn = drawn_rewards(chosen[name], ours) > drawn_rewards(chosen["wSWA"], wswa)
        note("regret", "by means", setup, ours, wins_over_wswa=wins(ours, wswa))
        share = round(100 * float(drawn.mean()), 1)
        note("regret", "by the rewards drawn", setup, ours, wins_over_wswa=share)


def noise() -> None:
    for setup in ("av", "anv"):
        for kind in ("independent", "common"):
            ucb1 = play(policies.UCB1(), setup, noise=kind)
            ducb = play(policies.DUCB(gamma=0.999999), setup, noise=kind)
            note("noise", kind, setup, ducb, wins_over_ucb1=wins(ducb, ucb1))


def ties() -> None:
    turned = levine2017.FAMILY.model.over(FAMILY.thetas[::-1])
    for name, family in (("first of Theta", FAMILY), ("last of Theta", turned)):
        note("ties over theta", name, "av", play(policies.CTO(family), "av"))


def halves() -> None:
    wswa = play(policies.WSWA(0.2, SIGMA), "anv")
    for kind in ("all", "even"):
        result = play(policies.DCTO(FAMILY, SIGMA, halves=kind), "anv")
        note("odd N in D-CTO", kind, "anv", result, wins_over_wswa=wins(result, wswa))
    for start in (1, 2, 4):
        result = play(policies.DCTO(FAMILY, SIGMA, start=start), "anv")
        note(
            "start of D-CTO",
            f"{start} pulls an arm",
            "anv",
            result,
            wins_over_wswa=wins(result, wswa),
        )


def ucb1_and_ducb() -> None:
    for setup in ("av", "anv"):
        ucb1 = play(policies.UCB1(), setup, runs=10_000)
        ducb = play(policies.DUCB(gamma=0.999999), setup, runs=10_000)
        p = stats.paired_p_value(ducb.final_regret, ucb1.final_regret)
        note("UCB1 and DUCB", "UCB1", setup, ucb1)
        note(
            "UCB1 and DUCB",
            "DUCB",
            setup,
            ducb,
            wins_over_ucb1=wins(ducb, ucb1),
            p_value=float(f"{p:.2g}"),
        )


def main() -> None:
    for part in (
        restart,
        constants,
        grid_of_tau,
        noise,
        ties,
        halves,
        ucb1_and_ducb,
        means_or_draws,
    ):
        part()
    table = Table("question", "reading", "setup", "runs", "mean regret", "+-", "more")
    for row in rows:
        values = list(row.values())
        more = ", ".join(f"{k} {v}" for k, v in list(row.items())[6:])
        table.add_row(*(str(value) for value in values[:6]), more)
    Console(width=140).print(table)
    record("readings", rows)


if __name__ == "__main__":
    main()
