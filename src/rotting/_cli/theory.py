"""`rotting theory`: regret bounds for given arms, noise and horizon."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

from rotting import _checks, models, policies
from rotting._catalogue import names as catalogue
from rotting._catalogue.models import make_family
from rotting._cli import completion, console, show
from rotting._cli.base import AsJson, Runs, Seed, command
from rotting._experiments.results import Result
from rotting._show import plots
from rotting._table import Table
from rotting.bandits import Gaussian, RandomArms, Scenario


@command("theory")
def theory_command(
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario",
            "-s",
            help="Scenario with the arms, noise and horizon, as anv.",
            autocompletion=completion.scenarios,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Model of the arms, as plateau:length=100, with --thetas."),
    ] = None,
    thetas: Annotated[str | None, typer.Option(help="Values of theta, as 0.1,0.15,0.2.")] = None,
    amplitudes: Annotated[
        str | None, typer.Option(help="Factors on the model's means, as 0.02,0.05,0.1.")
    ] = None,
    constants: Annotated[
        float, typer.Option(help="Arms fall to unknown constants of at most this; 0: to zero.")
    ] = 0.0,
    max_mean: Annotated[
        float | None, typer.Option(help="The largest first mean, if no model is given.")
    ] = None,
    arms: Annotated[int | None, typer.Option(help="The number of arms, K.")] = None,
    sigma: Annotated[float | None, typer.Option(help="Standard deviation of the noise.")] = None,
    horizon: Annotated[int | None, typer.Option(help="The horizon, T.")] = None,
    delta: Annotated[float, typer.Option(help="Probability with which D-CTO_UCB may fail.")] = 0.1,
    alpha: Annotated[float | None, typer.Option(help="SWA's alpha; default: the best.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Picture of bounds and simulated regret, as out.png."),
    ] = None,
    runs: Runs = 20,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Show the regret bounds for your arms, noise and horizon, and which are informative.

    Example: rotting theory --scenario anv --out out/anv-bounds.png
    """
    from rotting._show.bounds import draw_bounds
    from rotting.theory import advise

    if out is not None:
        plots.picture_file("out", out)
    _checks.integer("runs", runs, least=1)
    _checks.number("constants", constants, least=0, most=1e100)
    if constants > 0 and (model is None or scenario is not None):
        raise ValueError("constants must come with --model and --thetas, and without --scenario")
    played = None if scenario is None else catalogue.parse_scenario(scenario)
    family = None
    if model is not None or thetas is not None or amplitudes is not None:
        family = _family(model, thetas, amplitudes)
    given = {"arms": arms, "sigma": sigma, "horizon": horizon, "max_mean": max_mean}
    wanted = {"delta": delta, "alpha": alpha, **_arguments(played, family, constants, given)}
    advice = advise(**wanted)
    measured: dict[str, Result] = {}
    if out is not None:
        played = _played(played, family, constants, advice)
        out.parent.mkdir(parents=True, exist_ok=True)
        if played is not None:
            measured = _measure(played, advice, wanted, runs, seed, as_json)
        draw_bounds(advice, measured, out, alpha)
    if as_json:
        console.print_json(advice.data())
        return
    _show(advice, measured, runs)
    if out is not None:
        console.say(f"Picture: {out}")


def _arguments(
    scenario: Scenario | None,
    family: models.Family | None,
    constants: float,
    given: dict[str, Any],
) -> dict[str, Any]:
    """The arguments of `advise`: the scenario's values, overridden by those given."""
    wanted: dict[str, Any] = {"constants": False}
    if scenario is not None:
        wanted |= _of_scenario(scenario)
    wanted |= {name: value for name, value in given.items() if value is not None}
    if family is not None:
        wanted["family"] = family
        if scenario is None:
            wanted["constants"] = constants > 0
            wanted.setdefault("max_mean", float(family.table(1).max()) + constants)
    for name in ("arms", "sigma", "horizon"):
        if name not in wanted:
            raise ValueError(f"{name} must be given, or a --scenario that has it")
    return wanted


def _played(
    scenario: Scenario | None, family: models.Family | None, constants: float, advice: Any
) -> Scenario | None:
    """The scenario to simulate beside the bounds, or None."""
    if scenario is not None:
        return _with_changes(scenario, advice)
    if family is None:
        return None
    ends = (0.0, constants) if constants > 0 else None
    drawn = RandomArms(family, advice.arms, *([ends] if ends else []))
    return Scenario(drawn, Gaussian(advice.sigma), advice.horizon)


def _show(advice: Any, measured: dict[str, Result], runs: int) -> None:
    """Print guarantees, assumptions and the policy to use."""
    from rotting.theory._advice import HEADER

    title = f"K = {advice.arms}, sigma = {advice.sigma:.4g}, T = {advice.horizon:,}, "
    title += f"delta = {advice.delta:g}, trivial bound {advice.trivial:,.0f}"
    console.table(Table(HEADER[:-1], [row[:-1] for row in advice.rows()], title=title))
    for guarantee in advice.guarantees:
        console.say(f"{guarantee.algorithm}: {guarantee.note}")
    for verdict in advice.assumptions:
        console.say(str(verdict))
    console.say(f"Use: {advice.use}")
    for name, result in measured.items():
        error = f" +- {result.standard_error[-1]:.1f}" if runs > 1 else ""
        console.say(
            f"Measured: mean regret of {name} {result.mean_regret[-1]:.1f}{error} "
            f"({show.counted(runs)})"
        )


def _of_scenario(scenario: Scenario) -> dict[str, Any]:
    if scenario.closes:
        raise ValueError(
            "scenario must be one whose arms are always open, since no theorem is about arms that "
            f"come and go, got {scenario.name or 'one with openings'}"
        )
    if scenario.crowd is not None:
        raise ValueError(
            "scenario must be one without an audience, since no theorem of the paper is about "
            "keys (theory.audience_regret_bound is, in Python), got "
            f"{scenario.name or 'one with an audience'}"
        )
    if not isinstance(scenario.noise, Gaussian) or callable(scenario.noise.sigma):
        raise ValueError(f"scenario must have Gaussian noise of one sigma, got {scenario.noise!r}")
    found: dict[str, Any] = {
        "arms": scenario.arm_count,
        "sigma": scenario.noise.sigma,
        "horizon": scenario.horizon,
    }
    if isinstance(scenario.arms, RandomArms):
        family = scenario.arms.family
        low, high = scenario.arms.constants
        found |= {"family": family, "constants": high > 0 or low < 0}
        return found | {"max_mean": float(family.table(1).max()) + high}
    return found | {"max_mean": max(float(arm.mean(1)) for arm in scenario.arms)}


def _with_changes(scenario: Scenario, advice: Any) -> Scenario | None:
    """The scenario with the given noise, horizon and number of arms; None if it cannot change."""
    changed = dataclasses.replace(scenario, noise=Gaussian(advice.sigma), horizon=advice.horizon)
    if changed.arm_count == advice.arms:
        return changed
    if not isinstance(scenario.arms, RandomArms):
        return None
    return dataclasses.replace(changed, arms=dataclasses.replace(scenario.arms, count=advice.arms))


def _family(model: str | None, thetas: str | None, amplitudes: str | None) -> models.Family:
    if model is None or (thetas is None and amplitudes is None):
        raise ValueError(
            "model and thetas must be given together, as --model polynomial --thetas 0.1,0.4"
        )
    name, settings = catalogue.split("model", model)
    return make_family(name, settings, _numbers(thetas), _numbers(amplitudes))


def _numbers(text: str | None) -> list[Any] | None:
    return None if text is None else [catalogue.read_value(word) for word in text.split(",")]


def _measure(
    scenario: Scenario, advice: Any, wanted: dict[str, Any], runs: int, seed: int, quiet: bool
) -> dict[str, Result]:
    """The simulated regret of the policies whose bounds are drawn."""
    from rotting.theory import best_alpha

    alpha = wanted["alpha"] or best_alpha(advice.max_mean)
    known: dict[str, policies.Policy] = {
        "SWA": policies.SWA(alpha, advice.sigma),
        "wSWA": policies.WSWA(alpha, advice.sigma),
    }
    if "family" in wanted:
        if wanted["constants"]:
            known[policies.DCTO.title] = policies.DCTO(wanted["family"], advice.sigma)
        else:
            known["CTO"] = policies.CTO(wanted["family"])
    return show.play(known, scenario, quiet, runs=runs, seed=seed).results
