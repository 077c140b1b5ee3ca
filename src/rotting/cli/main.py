"""The command line: `rotting COMMAND`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rotting
from rotting import checks
from rotting.catalogue import names as catalogue
from rotting.catalogue.experiment_file import EXAMPLE, read_experiment
from rotting.cli import console
from rotting.cli import league as cli_league
from rotting.cli import theory as cli_theory
from rotting.cli.base import (
    Address,
    AsJson,
    Backend,
    Engine,
    Force,
    NoiseKind,
    OutFolder,
    Runs,
    ScenarioName,
    Seed,
    app,
    command,
)
from rotting.experiments.comparison import Comparison
from rotting.experiments.simulation import simulate
from rotting.experiments.tuning import tune
from rotting.papers import levine2017
from rotting.reports import plots
from rotting.reports.folders import output_folder

__all__ = ["app", "cli_league", "cli_theory", "main"]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"rotting {rotting.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """What all commands share."""


@command()
def demo(
    runs: Runs = 100,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Where to put the picture.")] = Path("out/demo.png"),
    as_json: AsJson = False,
) -> None:
    """Play the paper's non-parametric scenario with all its policies: a table and a picture.

    Example: rotting demo --runs 100 --out out/demo.png
    """
    if out.suffix not in (".png", ".svg", ".pdf"):
        raise ValueError(f"out must end in .png, .svg or .pdf, got {str(out)!r}")
    if out.is_dir():
        raise ValueError(f"out must be a file, but {out} is a folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    scenario = levine2017.non_parametric()
    policies = levine2017.reported_policies("non_parametric")
    found = _compare(policies, scenario, as_json, runs=runs, seed=seed)
    plots.regret_curves(found.results, out, title="Two arms, one of them rots after 7,500 pulls")
    if as_json:
        console.print_json(found.summary())
        return
    console.comparison(found, f"{scenario.name}: T = {scenario.horizon}, {runs} runs, seed {seed}")
    console.say(f"Regret curves: {out}")


@command("simulate")
def simulate_command(
    policy: Annotated[str, typer.Argument(help="A policy, as wswa:alpha=0.2.")],
    scenario: ScenarioName = "non_parametric",
    runs: Runs = 100,
    seed: Seed = 0,
    noise: NoiseKind = "independent",
    engine: Engine = "cpu",
    backend: Backend = "threads",
    address: Address = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Save the result to this .npz file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    as_json: AsJson = False,
) -> None:
    """Play one policy on a scenario and show its regret.

    Example: rotting simulate wswa:alpha=0.2 --scenario non_parametric --runs 100
    """
    chosen = catalogue.parse_scenario(scenario)
    named = catalogue.parse_policies([policy], chosen)
    (name,) = named
    if out is not None:
        _check_result_file(out, force)
    found = _compare(named, chosen, as_json, runs=runs, seed=seed, noise=noise, engine=engine,
                     backend=backend, address=address)  # fmt: skip
    result = found[name]
    if out is not None:
        result.save(out)
    if as_json:
        summary = {**found.summary(), "provenance": result.provenance}
        console.print_json(
            {key: summary[key] for key in summary if key[:4] not in ("wins", "p_va")}
        )
        return
    console.comparison(found, _title(chosen, runs, seed))
    if out is not None:
        console.say(f"Saved: {out}")


@command("compare")
def compare_command(
    policies: Annotated[list[str], typer.Argument(help="Policies, as ucb1 wswa:alpha=0.2.")],
    scenario: ScenarioName = "non_parametric",
    runs: Runs = 100,
    seed: Seed = 0,
    noise: NoiseKind = "independent",
    engine: Engine = "cpu",
    backend: Backend = "threads",
    address: Address = None,
    out: OutFolder = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Play several policies on the same bandits: means, wins, p-values.

    Example: rotting compare ucb1 wswa:alpha=0.2 cto --scenario av --runs 100 --out out/av
    """
    chosen = catalogue.parse_scenario(scenario)
    named = catalogue.parse_policies(policies, chosen)
    options = {"runs": runs, "seed": seed, "noise": noise, "engine": engine, "backend": backend,
               "address": address}  # fmt: skip
    _compare_and_write(named, chosen, as_json, out, force, **options)


@command("tune")
def tune_command(
    policy: Annotated[str, typer.Argument(help="A policy, as wswa or swucb:B=1.")],
    grid: Annotated[list[str], typer.Argument(help="Values to try, as alpha=0.2,0.4,0.6.")],
    scenario: ScenarioName = "non_parametric",
    runs: Runs = 100,
    seed: Seed = 0,
    noise: NoiseKind = "independent",
    as_json: AsJson = False,
) -> None:
    """Try parameters on a grid and show which has the least mean regret.

    Example: rotting tune wswa alpha=0.2,0.4,0.6,0.8,1 --scenario av
    """
    chosen = catalogue.parse_scenario(scenario)
    values = dict(_grid_values(part) for part in grid)
    first = ",".join(f"{name}={choices[0]}" for name, choices in values.items())
    made = catalogue.parse_policy(policy + ("," if ":" in policy else ":") + first, chosen)
    settings = 1
    for choices in values.values():
        settings *= len(choices)
    with console.progress(settings * runs, quiet=as_json) as advance:
        found = tune(made, values, chosen, runs=runs, seed=seed, noise=noise,
                     progress=_steps(advance, made.title))  # fmt: skip
    if as_json:
        console.print_json({"policy": found.best.key, "chosen": found.chosen, "rows": found.rows()})
        return
    rows = [
        [*(f"{row[name]}" for name in values), f"{row['mean_regret']:.2f}",
         f"{row['standard_error']:.2f}", "<- least" if place == found._best else ""]
        for place, row in enumerate(found.rows())
    ]  # fmt: skip
    header = [*values, "mean regret", "standard error", ""]
    console.table(header, rows, f"{made.title} on {_title(chosen, runs, seed)}")
    console.say(f"Least mean regret: {found.best.short_label}")


@command("policies")
def list_policies(as_json: AsJson = False) -> None:
    """List the policies with their parameters.

    Example: rotting policies
    """
    _list(catalogue.describe_policies(), as_json)


@command("scenarios")
def list_scenarios(as_json: AsJson = False) -> None:
    """List the named scenarios.

    Example: rotting scenarios
    """
    _list(catalogue.describe_scenarios(), as_json)


@command()
def run(
    file: Annotated[
        Path | None, typer.Argument(help="An experiment file (TOML).", show_default=False)
    ] = None,
    example: Annotated[bool, typer.Option("--example", help="Print an example file.")] = False,
    force: Force = False,
    as_json: AsJson = False,
    seed: Annotated[int | None, typer.Option(help="Instead of the file's seed.")] = None,
) -> None:
    """Run an experiment described in a file: scenario, policies, runs, seed, outputs.

    Example: rotting run --example > experiment.toml; rotting run experiment.toml
    """
    if example:
        print(EXAMPLE, end="")
        return
    if file is None:
        raise ValueError("file must be given; rotting run --example prints one to start from")
    asked = read_experiment(file)
    _compare_and_write(
        asked.policies, asked.scenario, as_json, Path(asked.folder), force, runs=asked.runs,
        seed=asked.seed if seed is None else seed, noise=asked.noise,
    )  # fmt: skip


@command()
def reproduce(
    paper: Annotated[
        str, typer.Argument(help="Which paper: levine2017 or seznec2019.")
    ] = "levine2017",
    runs: Annotated[
        int, typer.Option("--runs", "-r", help="Trajectories of the evaluation.")
    ] = 100,
    seed: Seed = 0,
    engine: Engine = "cpu",
    backend: Backend = "threads",
    address: Address = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder to write; out/PAPER if not given.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce a paper's simulations: report, figure, table, raw results.

    Example: rotting reproduce levine2017 --runs 100 --out out/levine2017
    """
    checks.known("paper", paper, ["levine2017", "seznec2019"])
    checks.integer("runs", runs, least=2)
    folder = out or Path("out") / paper
    command = f"rotting reproduce {paper} --runs {runs} --seed {seed}"
    if engine == "cuda":
        from rotting.engines.cuda import engine as cuda

        cuda.require()  # before any work
        command += " --engine cuda"
    options = {"engine": engine, "backend": backend, "address": address}
    work = _reproduce_levine if paper == "levine2017" else _reproduce_seznec
    work(runs, seed, folder, force, as_json, command, options)


def _reproduce_levine(
    runs: int, seed: int, folder: Path, force: bool, as_json: bool, command: str,
    options: dict[str, Any],
) -> None:  # fmt: skip
    from rotting.papers.levine2017 import published, reproduction, tables, writing

    total = reproduction.decisions(runs)
    with output_folder(folder, force) as work, console.progress(total, as_json) as advance:
        found = reproduction.reproduce(runs=runs, seed=seed, report=advance, **options)
        advance("writing the report", 0)
        writing.write(found, work, command)
    if as_json:
        console.print_json(tables.as_data(found))
        return
    for setup, comparison in found.reported.items():
        header, rows = tables.matrix(setup, comparison)
        console.table(header, rows, f"{published.SETUPS[setup]}: wins under the diagonal, p-values "
                      "above; in parentheses the paper's")  # fmt: skip
    console.say(f"Played in {_took(found.seconds)}. Report: {folder / 'report.html'}")


def _reproduce_seznec(
    runs: int, seed: int, folder: Path, force: bool, as_json: bool, command: str,
    options: dict[str, Any],
) -> None:  # fmt: skip
    from rotting.papers.seznec2019 import reproduction

    steps = reproduction.steps()
    with output_folder(folder, force) as work, console.progress(steps, as_json) as advance:
        found = reproduction.reproduce(runs, seed, advance, **options)
        reproduction.write(found, work, command)
    if as_json:
        console.print_json(reproduction.as_data(found, command))
        return
    console.table(
        *reproduction.rows(found, errors=False), "mean regret; in parentheses the reference"
    )
    for line in reproduction.far_off(found):
        console.say(f"Not within four standard errors: {line}")
    console.say(f"Played in {_took(found.seconds)}. Report: {folder / 'report.html'}")


def _compare_and_write(
    policies: Any, scenario: Any, as_json: bool, out: Path | None, force: bool, **options: Any
) -> None:
    """Compare, print, and write a folder if one is wanted."""
    if out is None:
        found = _compare(policies, scenario, as_json, **options)
    else:
        with output_folder(out, force) as work:
            found = _compare(policies, scenario, as_json, **options)
            found.write(work)
    if as_json:
        console.print_json(found.summary())
        return
    console.comparison(found, _title(scenario, options["runs"], options["seed"]))
    if out is not None:
        console.say(f"Results and picture: {out}")


def _compare(policies: Any, scenario: Any, quiet: bool, **options: Any) -> Comparison:
    runs = checks.integer("runs", options["runs"], least=1)
    with console.progress(runs * len(policies), quiet) as advance:
        return Comparison({
            name: simulate(policy, scenario, progress=_steps(advance, name), **options)
            for name, policy in policies.items()
        })  # fmt: skip


def _steps(advance: Any, what: str) -> Any:
    """Turn (runs done, runs) into steps of a bar, over several simulations."""
    before = 0

    def progress(done: int, total: int) -> None:
        nonlocal before
        advance(what, done - before)
        before = 0 if done == total else done

    return progress


def _title(scenario: Any, runs: int, seed: int) -> str:
    name = scenario.name or "scenario"
    return f"{name}: K = {scenario.arm_count}, T = {scenario.horizon}, {runs} runs, seed {seed}"


def _list(rows: list[dict[str, str]], as_json: bool) -> None:
    if as_json:
        console.print_json(rows)
    else:
        console.table(list(rows[0]), [list(row.values()) for row in rows])


def _grid_values(part: str) -> tuple[str, list[Any]]:
    name, equals, values = part.partition("=")
    if not name or not equals or not values:
        raise ValueError(f"grid must read like alpha=0.2,0.4, got {part!r}")
    return name, [catalogue.read_value(value) for value in values.split(",")]


def _check_result_file(path: Path, force: bool) -> None:
    if path.suffix != ".npz":
        raise ValueError(f"out must end in .npz, got {str(path)!r}")
    if not path.parent.is_dir():
        raise ValueError(f"out must be in a folder that exists, got {str(path)!r}")
    if path.exists() and not force:
        raise ValueError(f"out must be a new file, but {path} exists; use --force to replace it")


def _took(seconds: float) -> str:
    """How long it took, and how much of it in a GPU's kernels, if any."""
    from rotting.engines.cuda.engine import SPENT

    return f"{seconds:.1f} s" + (f", {SPENT[0]:.1f} s of them on the GPU" if SPENT[0] else "")


def main() -> None:
    """Run the command line."""
    app()
