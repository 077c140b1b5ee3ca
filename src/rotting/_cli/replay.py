"""`rotting replay`: estimates from a log what other policies would have earned."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rotting import _checks, models
from rotting._catalogue import names as catalogue
from rotting._cli import completion, console, log_options
from rotting._cli.base import AsJson, Force, Seed, command
from rotting._show.folders import output_folder
from rotting.bandits import Arm, Bernoulli, Scenario
from rotting.policies._base import POLICIES, Policy

if TYPE_CHECKING:
    from rotting.logs._diagnosis.diagnosis import Diagnosis
    from rotting.logs._fits.fitted import Fit
    from rotting.logs._log import Log

RECOMMENDED = "recommended"
_USUAL = (RECOMMENDED, "thompson", "uniform")
_ALPHA = 0.2  # of sliding windows without one: the paper's for unknown arms
_WINDOWS = ("swa", "wswa")


@command("replay")
@log_options.with_columns
def replay_command(
    log: log_options.File = None,
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            help="Policies, as recommended ucb1 wswa:alpha=0.2.",
            show_default=" ".join(_USUAL),
            autocompletion=completion.replayed,
        ),
    ] = None,
    *,
    by_time: Annotated[
        bool,
        typer.Option(
            "--by-time", help="Replay by time, for logs whose rewards move with the calendar."
        ),
    ] = False,
    runs: Annotated[int, typer.Option("--runs", "-r", help="Replays of the log.")] = 50,
    resamples: Annotated[
        int, typer.Option(help="Resamples for the intervals; 0: no intervals.")
    ] = 200,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for a page with the results.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
    example: log_options.Example = False,
    **columns: Any,
) -> None:
    """Estimate from a log what other policies would have earned, with bounds.

    Example: rotting replay log.csv recommended wswa ucb1 --key user --out out/replay
    """
    from rotting.logs._diagnosis import codes
    from rotting.logs._pages import replay_page
    from rotting.logs._replay.replay import replay

    words = _words(log, policies or [], example)
    source = log_options.named_log(None if example else log, example, columns)
    _check(words, runs, resamples, seed)
    with contextlib.ExitStack() as stack:
        work = None if out is None else stack.enter_context(output_folder(out, force))
        table = source.read(quiet=as_json)
        diagnosis = _diagnosed(table, seed, by_time, as_json)
        fitted = _fitted(table, seed, as_json)
        named = _policies(words, fitted)
        known = diagnosis.overall != codes.UNKNOWN
        modelled = known and not by_time and not fitted.doubt
        if fitted.doubt:
            console.note([fitted.doubt])
        with log_options.stage("replaying", as_json) as progress:
            found = replay(
                table,
                named,
                seed=seed,
                runs=runs,
                resamples=resamples,
                calendar=by_time,
                by_time=by_time,
                pooled=None if known else False,
                simulator=replay_page.simulator_of(fitted) if modelled else None,
                progress=progress,
            )
        found = found if known else found.bounds_only()
        if work is not None:
            given = {"runs": runs, "resamples": resamples, "seed": seed, "out": out}
            own = [*source.words(), *words, *(["--by-time"] if by_time else [])]
            line = log_options.command_line("replay", own, given)
            replay_page.write(work, found, diagnosis, table.source, line)
    if as_json:
        console.print_json(found.as_data() | {"diagnosis": diagnosis.overall})
        return
    console.table(found.table())
    for note in [*found.notes(), *replay_page.doubts(found, diagnosis)]:
        log_options.paragraph(note)
    if out is not None:
        console.say("")
        console.say(f"Page: {out / 'replay.html'}")


def _words(log: Path | None, policies: Sequence[str], example: bool) -> list[str]:
    """The policies that were named; with `--example` the first word is one, and no file."""
    words = list(policies)
    if example and log is not None:
        return [str(log), *words]
    if log is not None and not log.exists():
        name = catalogue.policy_name(log.name.split(":")[0])
        files = [word for word in words if Path(word).is_file()]
        if files and name in (RECOMMENDED, *POLICIES):
            raise ValueError(f"log must come first, got {str(log)!r} before {files[0]!r}")
    return words or list(_USUAL)


def _check(words: Sequence[str], runs: int, resamples: int, seed: int) -> None:
    """Refuse policies and numbers that cannot be replayed, before the log is read."""
    for word in words:
        name, _ = catalogue.split("policy", word)
        _checks.known("policy", name, [RECOMMENDED, *POLICIES])
    unknown = models.Constant(0.5)  # the fit's sigma and family come later
    pretended = Scenario([Arm(unknown)], Bernoulli(), 1, belief=models.Family.of([unknown]))
    catalogue.parse_policies([_complete(word) for word in words if word != RECOMMENDED], pretended)
    _checks.integer("runs", runs, 1, _checks.EXACT)
    _checks.integer("resamples", resamples, 0, _checks.EXACT)
    _checks.integer("seed", seed, least=0)


def _diagnosed(table: Log, seed: int, by_time: bool, quiet: bool) -> Diagnosis:
    """The diagnosis of the log; refused if a replay of this kind would be wrong."""
    from rotting.logs._diagnosis import codes
    from rotting.logs._diagnosis.diagnosing import STEPS, diagnose_log

    with console.progress(STEPS - 1, quiet) as advance:
        diagnosis = diagnose_log(
            table, smallest=0.1, alpha=0.05, seed=seed, progress=advance, pictures=False
        )
    console.note([f"Diagnosis: {diagnosis.overall}. {diagnosis.headline}"])
    moves = diagnosis["calendar"].code == "yes"
    if moves and diagnosis.overall == codes.UNKNOWN:
        raise ValueError(
            "log must tell use from calendar to be replayed: the calendar moves its rewards, and "
            "a fall by use is not excluded, so neither a replay by exposure nor one by time is "
            f"right; {diagnosis.advice or 'rotting diagnose says what would settle it'}"
        )
    if moves and not by_time:
        raise ValueError(
            "by-time must be said for this log: the calendar moves its rewards, so a showing pays "
            "by its date, and a replay by exposure would be wrong; --by-time goes by time, and is "
            "right if the log chose at random"
        )
    if by_time and diagnosis.overall == codes.UNKNOWN:
        raise ValueError(
            "by-time must not be said for this log: it is right only where nothing wears out by "
            "use, which the diagnosis cannot tell; without it bounds are shown"
        )
    if by_time:
        console.note(["By time: only rows count in which a policy chooses what was shown."])
    elif diagnosis.overall == codes.RECOVERS:
        console.note(["Rest brings rewards back here: a replay by exposure is pessimistic."])
    elif diagnosis.overall == codes.UNKNOWN:
        console.note(["So bounds are shown, and no estimates; nothing is compared."])
    return diagnosis


def _fitted(table: Log, seed: int, quiet: bool) -> Fit:
    from rotting.logs._fits.fitting import fit

    with log_options.stage("fitting", quiet) as progress:
        return fit(table, seed=seed, progress=progress)


def _policies(words: Sequence[str], fitted: Fit) -> dict[str, Policy]:
    """The policies by name; sigma and the family, where they need them, come from the fit."""
    scenario = replace(fitted.scenario(), belief=fitted.family())
    found: dict[str, Policy] = {}
    for word in words:
        if word == RECOMMENDED:
            policy = fitted.recommended()[0]
            one = {f"{RECOMMENDED} ({policy.title})": policy}
        else:
            one = catalogue.parse_policies([_complete(word)], scenario)
        if found.keys() & one.keys():
            raise ValueError(f"policies must differ, got {word} twice")
        found |= one
    whole = [_complete(word) for word in words if word != RECOMMENDED]
    console.note(catalogue.filled_in(whole, scenario))
    if any(_complete(word) != word for word in words):
        console.note([f"alpha = {_ALPHA} filled in, since none is given: sliding windows"])
    return found


def _complete(word: str) -> str:
    """The policy with alpha added, if it is a sliding window without one."""
    if word == RECOMMENDED:
        return word
    name, settings = catalogue.split("policy", word)
    if name not in _WINDOWS or "alpha" in settings:
        return word
    return f"{word}{',' if settings else ':'}alpha={_ALPHA}"
