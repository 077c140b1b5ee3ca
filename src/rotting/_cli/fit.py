"""`rotting fit`: fits curves to a log, and writes a file for `rotting run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rotting import _checks
from rotting._cli import console, log_options
from rotting._cli.base import AsJson, Seed, command
from rotting._table import Table

if TYPE_CHECKING:
    from rotting.logs._fits.fitted import Fit


_LINES = 8  # of Python that are shown, at most


@command("fit")
@log_options.with_columns
def fit_command(
    log: log_options.File = None,
    *,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="A .toml file to write, for `rotting run`.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="A .png, .svg or .pdf file for the curves.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    as_json: AsJson = False,
    example: log_options.Example = False,
    **columns: Any,
) -> None:
    """Fit each arm's mean reward by exposure to a log, to simulate it and choose a policy.

    Example: rotting fit log.csv --key user --arm creative --reward clicked --out family.toml
    """
    from rotting.logs._fits.fitting import fit

    named = log_options.named_log(log, example, columns)
    _checks.number("level", level, above=0, below=1)
    _checks.integer("seed", seed, least=0)
    _check_files(out, picture, force)
    table = named.read(quiet=as_json)
    with log_options.stage("fitting", as_json) as progress:
        found = fit(table, seed=seed, level=level, progress=progress)
    if picture is not None:
        _draw(found, picture)
    if out is not None:
        found.write_toml(out)
    if as_json:
        console.print_json({**found.as_data(), "recommended": found.recommended()[1]})
        return
    _show(found, named)
    if picture is not None:
        console.say(f"Curves: {picture}")
    if out is not None:
        console.say(f"To simulate this log: rotting run {out}")


def _check_files(out: Path | None, picture: Path | None, force: bool) -> None:
    """Refuse files that cannot be written, before any work."""
    from rotting._show.folders import check_place
    from rotting._show.plots import picture_file

    if out is not None and out.suffix != ".toml":
        raise ValueError(f"out must end in .toml, got {str(out)!r}")
    if picture is not None:
        picture_file("picture", picture)
        check_place("picture", picture)
    for name, path in (("out", out), ("picture", picture)):
        if path is None:
            continue
        if path.is_dir():
            raise ValueError(f"{name} must be a file, but {path} is a folder")
        if not path.absolute().parent.is_dir():
            raise ValueError(f"{name} must be in a folder that exists, got {str(path)!r}")
        if path.exists() and not force:
            raise ValueError(
                f"{name} must be a new file, but {path} exists; use --force to replace it"
            )


def _draw(found: Fit, picture: Path) -> None:
    from rotting._show.plots import save_figure

    save_figure(found.curves().plot().figure.canvas.figure, picture)


def _show(found: Fit, named: log_options.NamedLog) -> None:
    """Print families with their scores, arms with their curves, and the policy."""
    data = found.as_data()
    log_options.heading(data["best"])
    log_options.paragraph(data["why"])
    if data["doubt"]:
        log_options.paragraph(data["doubt"])
    columns = ["family", "score on held-out keys", "behind the best", "+-"]
    rows = [
        [
            each["family"],
            f"{each['score']:.5f}",
            f"{each['behind']:.5f}",
            f"{each['behind_standard_error']:.5f}",
        ]
        for each in data["families"]
    ]
    console.table(Table(columns, rows))
    names = [name for name in data["arms"][0] if name not in ("arm", "rewards", "amplitude")]
    arms = [
        [
            each["arm"],
            f"{each['rewards']:,}",
            *(_interval(each[name]) for name in ("amplitude", *names)),
        ]
        for each in data["arms"]
    ]
    console.table(Table(["arm", "rewards", "first showing", *names], arms))
    for note in data["notes"][bool(data["doubt"]) :]:
        log_options.paragraph(note)
    log_options.heading("To play with")
    why, *lines = found.recommended()[1]
    log_options.paragraph(why.removeprefix("# "))
    if len(lines) > _LINES:
        log_options.paragraph(
            "The family is in the file of --out, and with --json as lines of Python."
        )
        lines = lines[-1:]
    for line in lines:
        console.say(f"  {line}")
    for line in _played(found, named):
        console.say(f"  {line}")


def _played(found: Fit, named: log_options.NamedLog) -> list[str]:
    """Lines of Python that make a player of the policy and let it learn the log."""
    kind = "audience" if found.log.has_keys else "online"
    whom = "'a key'" if found.log.has_keys else ""
    if named.example:
        return [f"player = policy.{kind}({list(found.arms)!r})", f"player.select({whom})"]
    read = f"log = logs.read({named.arguments()})"
    if len(read) + 2 > console.out.width:
        read = "log = logs.read(...)  # this file, with these columns"
    return [
        "from rotting import logs",
        read,
        f"player = policy.{kind}(log.arms)",
        "player.learn(log)",
        f"player.select({whom})",
    ]


def _interval(numbers: dict[str, float]) -> str:
    value, low, high = (f"{numbers[name]:.4g}" for name in ("estimate", "low", "high"))
    return value if low == high else f"{value} ({low} to {high})"
