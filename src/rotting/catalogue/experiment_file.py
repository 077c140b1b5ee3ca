"""An experiment described in a TOML file: scenario, policies, runs, seed, outputs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rotting import checks, models
from rotting.bandits import Arm, Bernoulli, Gaussian, Noise, NoNoise, RandomArms, Scenario
from rotting.catalogue.models import make_model, parameters
from rotting.catalogue.names import make_policy, make_scenario
from rotting.experiments.comparison import name_policies
from rotting.experiments.simulation import NOISES
from rotting.policies.base import Policy

EXAMPLE = """\
runs = 100
seed = 0
noise = "independent"          # or "common"

# The scenario: a named one (name = "av", perhaps with a horizon), arms one by one as here, or
# drawn anew for every run:
#   random_arms = { model = "plateau", thetas = [0.1, 0.3], count = 5, constants = [0.0, 0.5] }
# Models: polynomial(theta), plateau(theta, length), exponential(theta), constant(value),
# step(at, before, after), table(values); an arm adds its own constant.
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
alpha = 0.2                    # sigma is the scenario's unless given

[[policies]]
policy = "ucb1"
name = "UCB1, bold"
c = 0.5

[[policies]]
policy = "dcto"
family = { model = "plateau", length = 100, thetas = [0.1, 0.3] }

[outputs]
folder = "out/my-experiment"
"""


@dataclass(frozen=True)
class ExperimentFile:
    """What the file asks for."""

    scenario: Scenario
    policies: dict[str, Policy]
    runs: int
    seed: int
    noise: str
    folder: str


def read_experiment(path: str | Path) -> ExperimentFile:
    """Read and check an experiment file; a refusal names the key's path."""
    try:
        with Path(path).open("rb") as file:
            data = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from None
    keys = _Keys(data, "")
    keys.only("scenario", "policies", "runs", "seed", "noise", "outputs")
    scenario = _scenario(keys.table("scenario"))
    outputs = keys.table("outputs", optional=True)
    outputs.only("folder")
    return ExperimentFile(
        scenario=scenario,
        policies=_policies(keys, scenario),
        runs=keys.value("runs", int, 100),
        seed=keys.value("seed", int, 0),
        noise=checks.choice("noise", keys.value("noise", str, "independent"), NOISES),
        folder=outputs.value("folder", str, "") or f"out/{Path(path).stem}",
    )


class _Keys:
    """A table of the file, with its path for messages."""

    def __init__(self, data: Mapping[str, Any], path: str) -> None:
        self.data, self.path = data, path

    def place(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def only(self, *names: str) -> None:
        for key in self.data:
            checks.known("key", self.place(key), [self.place(name) for name in names])

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
        """Call `work`; a refusal gets the path of this table in front."""
        try:
            return work()
        except (ValueError, TypeError, ArithmeticError, AttributeError) as error:
            message = str(error)
            where = "" if message.startswith(self.path) else f"{self.path}: "
            raise ValueError(where + message) from None


_WORDS = {int: "a whole number", float: "a number", str: "a text", dict: "a table", list: "a list"}


def _scenario(keys: _Keys) -> Scenario:
    if "name" in keys.data:
        if "arms" in keys.data or "random_arms" in keys.data:
            raise ValueError(f"{keys.path}.name is for a named scenario, which has its own arms")
        keys.only("name", "horizon")
        name = keys.value("name", str)
        settings = {"horizon": keys.value("horizon", int)} if "horizon" in keys.data else {}
        found: Scenario = keys.attempt(lambda: make_scenario(name, settings))
        return found
    keys.only("arms", "random_arms", "noise", "horizon")
    if ("arms" in keys.data) == ("random_arms" in keys.data):
        raise ValueError(f"{keys.path} must have a name, arms or random_arms (one of them)")
    arms: Any
    if "arms" in keys.data:
        arms = [_arm(table) for table in keys.tables("arms")]
    else:
        arms = _random_arms(keys.table("random_arms"))
    noise = _noise(keys.table("noise"))
    horizon = keys.value("horizon", int)
    made: Scenario = keys.attempt(lambda: Scenario(arms, noise, horizon))
    return made


def _model(keys: _Keys, *others: str) -> models.Model:
    name = keys.value("model", str)
    fields = keys.attempt(lambda: parameters(name))
    keys.only("model", *fields, *others)
    settings = {field: keys.data[field] for field in fields if field in keys.data}
    model: models.Model = keys.attempt(lambda: make_model(name, settings))
    return model


def _arm(keys: _Keys) -> Arm:
    model = _model(keys, "constant")
    arm: Arm = keys.attempt(lambda: Arm(model, keys.value("constant", float, 0.0)))
    return arm


def _random_arms(keys: _Keys) -> RandomArms:
    thetas = keys.value("thetas", list)
    count = keys.value("count", int)
    constants = keys.value("constants", list, [0.0, 0.0])
    model = _model(keys, "thetas", "count", "constants")
    made: RandomArms = keys.attempt(lambda: RandomArms(model.over(thetas), count, tuple(constants)))
    return made


def _family(keys: _Keys) -> models.Family:
    thetas = keys.value("thetas", list)
    model = _model(keys, "thetas")
    family: models.Family = keys.attempt(lambda: model.over(thetas))
    return family


def _noise(keys: _Keys) -> Noise:
    kind = keys.value("kind", str)
    keys.attempt(lambda: checks.choice("kind", kind, ("gaussian", "bernoulli", "none")))
    keys.only("kind", "sigma") if kind == "gaussian" else keys.only("kind")
    if kind == "gaussian":
        noise: Gaussian = keys.attempt(lambda: Gaussian(keys.value("sigma", float)))
        return noise
    return Bernoulli() if kind == "bernoulli" else NoNoise()


def _policies(keys: _Keys, scenario: Scenario) -> dict[str, Policy]:
    named: dict[str, Policy] = {}
    for table in keys.tables("policies"):
        key = table.value("policy", str)
        name = table.value("name", str, "") if "name" in table.data else ""
        settings = {k: v for k, v in table.data.items() if k not in ("policy", "name")}
        if isinstance(settings.get("family"), dict):
            settings["family"] = _family(table.table("family"))
        policy = table.attempt(lambda k=key, s=settings: make_policy(k, s, scenario))
        label = name or policy.short_label
        if label in named:
            raise ValueError(f"{table.path} must have another name: there is a {label!r} already")
        named[label] = policy
    return name_policies(named)
