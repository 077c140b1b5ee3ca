"""An experiment in a TOML file: scenario, policies, runs, seed, outputs."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rotting import _checks, models
from rotting._catalogue.models import RANGES, make_belief, make_model, model_names, parameters
from rotting._catalogue.names import filled_in, make_policy, policy_name
from rotting._catalogue.scenarios import make_scenario, parse_scenario
from rotting._experiments.comparison import name_policies
from rotting._experiments.simulation import NOISES
from rotting.bandits import (
    Arm,
    Audience,
    Bernoulli,
    Gaussian,
    HalfLife,
    Noise,
    NoNoise,
    Opening,
    RandomArms,
    Scenario,
    Window,
)
from rotting.policies._base import POLICIES, Policy

EXAMPLE = """\
runs = 100
seed = 0
noise = "independent"          # or "common"

# The scenario: a named one (name = "av", and a horizon if you like; rotting scenarios lists them),
# or arms, one by one as here, or drawn at random for every run:
#   random_arms = { model = "plateau", thetas = [0.1, 0.3], count = 5, constants = [0.0, 0.5] }
# Models: polynomial(theta), plateau(theta, length), exponential(theta), settling(theta, floor),
# constant(value), step(at, before, after), table(values). Each takes an amplitude, a factor on its
# means; an arm adds its own constant. Random arms and families have lists or ranges of theta, of
# the amplitude, or of both: thetas, theta_between, amplitudes, amplitude_between. Click rates of 2
# or 10 %:
#   random_arms = { model = "exponential", theta = 0.01, amplitudes = [0.02, 0.1], count = 8 }
# A family may also list its models one by one, with weights if some are likelier:
#   family = { members = [{ model = "polynomial", theta = 0.3 }, { ... }], weights = [3, 1] }
# Arms that come and go: the first and the last round in which an arm may be pulled.
#   openings = [{ arm = 2, first = 1001 }, { arm = 0, last = 4000 }]
# Arms that rot for each of many keys, such as users; of these lines only keys is required:
#   [scenario.audience]
#   keys = 2000
#   arrivals = "zipf:1.1"        # or "uniform", "turns", a list of key numbers
#   factors = [0.5, 1.5]         # a factor on all means of a key, drawn from this range
#   rest = { half_life = 20, unit = "decisions" }      # or { window = 1000, unit = "rounds" }
[scenario]
horizon = 5000
noise = { kind = "gaussian", sigma = 0.5 }
arms = [
  { model = "constant", value = 0.5 },
  { model = "step", at = 1000, before = 1.0, after = 0.3 },
  { model = "plateau", theta = 0.3, length = 100, constant = 0.2 },
]

[[policies]]
policy = "wswa"
alpha = 0.2                    # sigma, if not given, is that of the scenario

[[policies]]
policy = "ucb1"
name = "UCB1, bold"
c = 0.5

[[policies]]
policy = "dcto"
family = { model = "plateau", length = 100, thetas = [0.1, 0.3] }

[outputs]
folder = "out/my-experiment"

# For `rotting tune --file`: lists of values to try; other parameters stand beside the grid
[tune]
policy = "wswa"
grid = { alpha = [0.1, 0.2, 0.4] }
"""


@dataclass(frozen=True)
class ExperimentFile:
    """The contents of an experiment file."""

    scenario: Scenario
    policies: dict[str, Policy]
    runs: int
    seed: int
    noise: str
    folder: str
    filled_in: Sequence[str] = ()  # notes on parameters that came from the scenario
    tuning: tuple[Policy, dict[str, list[Any]]] | None = (
        None  # of [tune]: the policy and lists of values
    )


def read_experiment(path: str | Path, *, need_policies: bool = True) -> ExperimentFile:
    """Read and check an experiment file; an error names the path of the key in it."""
    try:
        text = Path(path).read_bytes().decode()
    except FileNotFoundError:
        raise ValueError(f"file must exist, but there is no {path}") from None
    except IsADirectoryError:
        raise ValueError(f"file must be a file, but {path} is a folder") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from None
    return parse_experiment(text, str(path), need_policies=need_policies)


def parse_experiment(text: str, path: str, *, need_policies: bool = True) -> ExperimentFile:
    """Parse the text of an experiment file; errors name `path`."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from None
    keys = _Keys(data, "")
    keys.only("scenario", "policies", "runs", "seed", "noise", "outputs", "tune")
    scenario = _scenario(keys)
    outputs = keys.table("outputs", optional=True)
    outputs.only("folder")
    wanted = need_policies or "policies" in data
    policies, filled = _policies(keys, scenario) if wanted else ({}, [])
    return ExperimentFile(
        scenario=scenario,
        policies=policies,
        runs=_checks.integer("runs", keys.value("runs", int, 100), 1, _checks.EXACT),
        seed=keys.value("seed", int, 0),
        noise=_checks.choice("noise", keys.value("noise", str, "independent"), NOISES),
        folder=outputs.value("folder", str, "") or f"out/{Path(path).stem}",
        filled_in=filled,
        tuning=_tuning(keys.table("tune"), scenario) if "tune" in data else None,
    )


class _Keys:
    """A table of the file, with its path for error messages."""

    def __init__(self, data: Mapping[str, Any], path: str) -> None:
        self.data, self.path = data, path

    def place(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def only(self, *names: str) -> None:
        for key in self.data:
            _checks.known("key", self.place(key), [self.place(name) for name in names])

    def value(self, key: str, kind: type, default: Any = None) -> Any:
        if key not in self.data:
            if default is None:
                raise ValueError(f"{self.place(key)} must be given")
            return default
        found = self.data[key]
        whole = kind is float and isinstance(found, int)
        if isinstance(found, bool) or not (isinstance(found, kind) or whole):
            raise ValueError(f"{self.place(key)} must be {_WORDS[kind]}, got {found!r}")
        return found

    def table(self, key: str, optional: bool = False) -> _Keys:
        if optional and key not in self.data:
            return _Keys({}, self.place(key))
        return _Keys(self.value(key, dict), self.place(key))

    def tables(self, key: str) -> list[_Keys]:
        found = self.value(key, list)
        for place, item in enumerate(found):
            if not isinstance(item, dict):
                raise ValueError(f"{self.place(key)}[{place}] must be a table, got {item!r}")
        return [_Keys(item, f"{self.place(key)}[{place}]") for place, item in enumerate(found)]

    def attempt(self, work: Any) -> Any:
        """Call `work`; prefix the message of an error with the path of this table."""
        try:
            return work()
        except (ValueError, TypeError, ArithmeticError, AttributeError) as error:
            message = str(error)
            where = "" if message.startswith(self.path) else f"{self.path}: "
            raise ValueError(where + message) from None


_WORDS = {int: "a whole number", float: "a number", str: "a text", dict: "a table", list: "a list"}


def _scenario(file: _Keys) -> Scenario:
    if isinstance(file.data.get("scenario"), str):
        named: Scenario = file.attempt(lambda: parse_scenario(file.data["scenario"]))
        return named
    keys = file.table("scenario")
    if "name" in keys.data:
        if "arms" in keys.data or "random_arms" in keys.data:
            raise ValueError(f"{keys.path}.name is for a named scenario, which has its own arms")
        keys.only("name", "horizon")
        name = keys.value("name", str)
        settings = {"horizon": keys.value("horizon", int)} if "horizon" in keys.data else {}
        found: Scenario = keys.attempt(lambda: make_scenario(name, settings))
        return found
    keys.only("name", "arms", "random_arms", "noise", "horizon", "openings", "audience")
    if ("arms" in keys.data) == ("random_arms" in keys.data):
        raise ValueError(f"{keys.path} must have a name, arms or random_arms (one of them)")
    arms: Any
    if "arms" in keys.data:
        arms = [_arm(table) for table in keys.tables("arms")]
    else:
        arms = _random_arms(keys.table("random_arms"))
    noise = _noise(keys.table("noise"))
    horizon = keys.value("horizon", int)
    openings = _openings(keys)
    audience = _audience(keys.table("audience")) if "audience" in keys.data else None
    made: Scenario = keys.attempt(
        lambda: Scenario(arms, noise, horizon, openings=openings, audience=audience)
    )
    return made


def _audience(keys: _Keys) -> Audience:
    """The audience: number of keys, arrivals, factors, rest."""
    keys.only("keys", "arrivals", "factors", "rest")
    count = keys.value("keys", int)
    arrivals = keys.data.get("arrivals", "uniform")
    if not isinstance(arrivals, (str, list)):
        raise ValueError(
            f"{keys.place('arrivals')} must be a text or a list of key numbers, got {arrivals!r}"
        )
    factors = tuple(keys.value("factors", list)) if "factors" in keys.data else None
    rest = _rest(keys.table("rest")) if "rest" in keys.data else None
    made: Audience = keys.attempt(lambda: Audience(count, arrivals, factors, rest))
    return made


def _rest(keys: _Keys) -> HalfLife | Window:
    keys.only("half_life", "window", "unit")
    if ("half_life" in keys.data) == ("window" in keys.data):
        raise ValueError(f"{keys.path} must have a half_life or a window (one of them)")
    unit = {"unit": keys.value("unit", str)} if "unit" in keys.data else {}
    made: HalfLife | Window = keys.attempt(
        lambda: (
            HalfLife(keys.value("half_life", float), **unit)
            if "half_life" in keys.data
            else Window(keys.value("window", int), **unit)
        )
    )
    return made


def _openings(keys: _Keys) -> list[Opening] | None:
    """The rounds in which arms may be pulled; first and last are optional."""
    if "openings" not in keys.data:
        return None
    found = []
    for table in keys.tables("openings"):
        table.only("arm", "first", "last")
        last = table.value("last", int) if "last" in table.data else None
        found.append(Opening(table.value("arm", int), table.value("first", int, 1), last))
    return found


def _settings(keys: _Keys, *others: str) -> dict[str, Any]:
    """The settings of a model, with its ranges."""
    if "model" not in keys.data:  # a misspelt key is the better error
        keys.only(
            "model", *(field for name in model_names() for field in parameters(name)), *others
        )
    name = keys.value("model", str)
    fields = keys.attempt(lambda: parameters(name))
    keys.only("model", *fields, *others)
    return {key: keys.data[key] for key in (*fields, *RANGES) if key in keys.data}


def _model(keys: _Keys, settings: dict[str, Any]) -> models.Model:
    model: models.Model = keys.attempt(lambda: make_model(keys.data["model"], settings))
    return model


def _arm(keys: _Keys) -> Arm:
    model = _model(keys, _settings(keys, "constant"))
    arm: Arm = keys.attempt(lambda: Arm(model, keys.value("constant", float, 0.0)))
    return arm


def _random_arms(keys: _Keys) -> RandomArms:
    belief = _settings(keys, *RANGES, "count", "constants")
    count = keys.value("count", int)
    constants = keys.value("constants", list, [0.0, 0.0])
    # if theta is drawn as well, the amplitude is drawn independently
    beside = "amplitude_between" in belief and {"thetas", "theta_between"} & belief.keys()
    amplitudes = tuple(keys.value("amplitude_between", list)) if beside else None
    if beside:
        del belief["amplitude_between"]
    made: RandomArms = keys.attempt(
        lambda: RandomArms(
            make_belief(keys.data["model"], belief), count, tuple(constants), amplitudes
        )
    )
    return made


def _family(keys: _Keys) -> models.Family | models.Interval:
    if "members" in keys.data:
        return _members(keys)
    settings = _settings(keys, *RANGES)
    family: models.Family | models.Interval = keys.attempt(
        lambda: make_belief(keys.data["model"], settings)
    )
    return family


def _members(keys: _Keys) -> models.Family:
    keys.only("members", "weights")
    listed = [_model(table, _settings(table)) for table in keys.tables("members")]
    weights = keys.value("weights", list) if "weights" in keys.data else None
    family: models.Family = keys.attempt(lambda: models.Family.of(listed, weights))
    return family


def _noise(keys: _Keys) -> Noise:
    if "kind" not in keys.data:
        keys.only("kind", "sigma")
    kind = keys.value("kind", str)
    keys.attempt(lambda: _checks.choice("kind", kind, ("gaussian", "bernoulli", "none")))
    keys.only("kind", "sigma") if kind == "gaussian" else keys.only("kind")
    if kind == "gaussian":
        noise: Gaussian = keys.attempt(lambda: Gaussian(keys.value("sigma", float)))
        return noise
    return Bernoulli() if kind == "bernoulli" else NoNoise()


def _policies(keys: _Keys, scenario: Scenario) -> tuple[dict[str, Policy], list[str]]:
    """The policies by name, and notes on parameters from the scenario."""
    named: dict[str, Policy] = {}
    given: list[tuple[str, dict[str, Any]]] = []
    for table in keys.tables("policies"):
        policy, settings = _policy(table, scenario, "name")
        name = table.value("name", str, "") if "name" in table.data else ""
        label = name or policy.short_label
        if label in named:
            raise ValueError(f"{table.path} must have another name: there is a {label!r} already")
        named[label] = policy
        given.append((table.data["policy"], settings))
    return name_policies(named), filled_in(given, scenario)


def _policy(
    table: _Keys, scenario: Scenario, other: str, more: Mapping[str, Any] | None = None
) -> tuple[Policy, dict[str, Any]]:
    """The policy of a table and its settings; `more` are settings made of its key `other`."""
    if "policy" not in table.data:
        fields = {f.name for kind in POLICIES.values() for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
        table.only("policy", other, *sorted(fields))
    key = policy_name(table.value("policy", str))
    settings = {k: v for k, v in table.data.items() if k not in ("policy", other)}
    if key in POLICIES:
        known = [f.name for f in dataclasses.fields(POLICIES[key])]  # type: ignore[arg-type]
        for name in settings:
            table.attempt(lambda n=name: _checks.known(f"parameter of {key}", n, [*known, other]))
    if isinstance(settings.get("family"), dict):
        settings["family"] = _family(table.table("family"))
    settings |= more or {}
    return table.attempt(lambda: make_policy(key, settings, scenario)), settings


def _tuning(table: _Keys, scenario: Scenario) -> tuple[Policy, dict[str, list[Any]]]:
    """A policy and the lists of values to try; the policy has the first of each."""
    if "grid" not in table.data:  # a misspelt key is the better error
        _policy(table, scenario, "grid")
    grid = table.table("grid")
    values = {name: grid.value(name, list) for name in grid.data}
    for name, choices in values.items():
        if not choices:
            raise ValueError(f"{grid.place(name)} must hold at least one value, got none")
        if name in table.data:
            raise ValueError(f"{grid.place(name)} must not be given beside {table.place(name)}")
    if not values:
        raise ValueError(f"{grid.path} must hold at least one parameter, got none")
    first = {name: choices[0] for name, choices in values.items()}
    return _policy(table, scenario, "grid", first)[0], values
