"""Where the nanoseconds of a decision go: the same loop with more and more in it.

    python benchmarks/where.py          (make bench)

On the paper's AV (D-CTO: ANV) with ten arms: the loop that only takes arms in turn, without noise
and with it; UCB1, which looks for the highest of ten indices; and the policies that know the
family, once with a single theta, so that there is nothing to detect, and once with all. Measured
as in `decisions.py`.
"""

from __future__ import annotations

import dataclasses

from rich.console import Console
from rich.table import Table

from decisions import nanoseconds
from record import record
from rotting import NoNoise, Scenario, policies
from rotting.papers import levine2017


def cases() -> list[tuple[str, policies.Policy, Scenario]]:
    """What is measured, in words."""
    av, anv = levine2017.av(), levine2017.anv()
    family, sigma = levine2017.FAMILY, levine2017.SIGMA
    one = family.model.over(family.thetas[:1])
    return [
        ("arms in turn, no noise", policies.RoundRobin(), dataclasses.replace(av, noise=NoNoise())),
        ("arms in turn", policies.RoundRobin(), av),
        ("UCB1", policies.UCB1(), av),
        ("CTO, one theta", policies.CTO(one), av),
        ("CTO", policies.CTO(family), av),
        ("D-CTO, one theta", policies.DCTO(one, sigma), anv),
        ("D-CTO", policies.DCTO(family, sigma), anv),
        ("posterior mean, one theta", policies.Posterior(one, sigma), av),
        ("posterior mean", policies.Posterior(family, sigma), av),
    ]


def main() -> None:
    rows = []
    for what, policy, scenario in cases():
        ours, numpy = nanoseconds(policy, scenario)
        rows.append(
            {"what": what, "nanoseconds": round(ours, 1), "normals": round(ours / numpy, 2)}
        )
    table = Table("what", "ns a decision", "x normal")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console(width=100).print(table)
    record("where", rows)


if __name__ == "__main__":
    main()
