"""Settings of an experiment from a request: its policy, its player, and the code's version."""

from __future__ import annotations

import dataclasses
import math
import secrets
from typing import Any

import msgspec

from rotting import _plain
from rotting._catalogue.experiment_file import parse_experiment
from rotting._catalogue.names import policy_name
from rotting._catalogue.words import split
from rotting._checks import EXACT, HUGE
from rotting._online.audience import AudiencePlayer
from rotting._online.player import Player
from rotting._provenance import PLAYS
from rotting._serve.errors import Refusal, bad
from rotting._serve.requests import NewExperiment, fine_text
from rotting.bandits import HalfLife, Window
from rotting.policies._base import POLICIES, Policy
from rotting.policies._recommend import recommended

SHOWN_WINDOW = 3600.0  # seconds; the default


class Settings(msgspec.Struct):
    """An experiment's settings, checked; the policy as plain data."""

    name: str
    arms: list[str]
    policy: Any
    audience: bool
    rest: Any  # plain data of a HalfLife or a Window, or None
    control: float
    reward_window: float | None
    default_reward: float | None
    require_shown: bool
    shown_window: float
    fallback: str | None
    seed: int
    horizon: int | None


def code_version() -> str:
    """The version of the code that plays, as in events and snapshots; 0.2.0 had a digest."""
    return str(PLAYS)


def settled(request: NewExperiment) -> Settings:
    """Settings from a request, or a refusal."""
    labels = [fine_text("arms", label) for label in request.arms]
    if len(set(labels)) < len(labels):
        raise bad("arms", "arms must be different labels, got one twice")
    if request.fallback is not None and request.fallback not in labels:
        raise bad("fallback", f"fallback must be one of the arms, got {request.fallback!r}")
    default = request.default_reward
    if default is not None and not abs(default) <= HUGE:
        raise bad("default_reward", f"default_reward must be at most 1e100, got {default}")
    if default is not None and request.reward_window is None:
        raise bad(
            "default_reward",
            "default_reward must come with a reward_window in seconds, after which it is the "
            f"reward, got {default:g} alone",
        )
    if request.shown_window is not None and not request.require_shown:
        raise bad("shown_window", "shown_window must come with require_shown, got it alone")
    policy, audience = make_policy(request.policy, bool(request.audience), len(labels))
    made = Settings(
        name=request.name,
        arms=labels,
        policy=_plain.to_plain(policy),
        audience=audience,
        rest=_plain.to_plain(_rest(request.audience)),
        control=request.control,
        reward_window=request.reward_window,
        default_reward=default,
        require_shown=request.require_shown,
        shown_window=request.shown_window or SHOWN_WINDOW,
        fallback=request.fallback,
        seed=secrets.randbits(53) if request.seed is None else request.seed,
        horizon=request.horizon,
    )
    make_player(made, made.policy, made.horizon)  # refuses settings that cannot be played
    return made


def make_policy(request: Any, audience: bool, arms: int) -> tuple[Policy, bool]:
    """The policy of a request, and whether it is for an audience."""
    if request is None:
        return recommended(audience=audience, rewards="bernoulli", arms=arms), audience
    try:
        if isinstance(request, str) and "\n" in request:
            file = parse_experiment(request, "policy")
            return next(
                iter(file.policies.values())
            ), audience or file.scenario.audience is not None
        data = _named(request) if isinstance(request, str) else request
        if not isinstance(data.get("policy"), str):
            raise ValueError('policy must be a name or an object {"policy": NAME, ...}')
        data = {**data, "policy": policy_name(data["policy"])}
        if data["policy"] not in POLICIES:
            raise ValueError(
                f"policy must be one of {', '.join(sorted(POLICIES))}, got {data['policy']!r}"
            )
        made = _filled(data)
    except (ValueError, RecursionError) as error:
        raise bad("policy", str(error)) from None
    assert isinstance(made, Policy)
    return made, audience


def _named(text: str) -> dict[str, Any]:
    """A policy by name with optional parameters, as on the command line (wswa:alpha=0.2)."""
    name, settings = split("policy", text)
    return {"policy": name, **settings}


def _filled(data: dict[str, Any]) -> Any:
    """A policy from plain data; `sigma` defaults to None, which means unknown."""
    fields = dataclasses.fields(POLICIES[data["policy"]])  # type: ignore[arg-type]
    needed = [one.name for one in fields if one.default is dataclasses.MISSING]
    missing = [name for name in needed if name not in data]
    if missing == ["sigma"]:
        data, missing = {**data, "sigma": None}, []
    if missing:
        raise ValueError(f"{data['policy']} must be given {', '.join(missing)}")
    return _plain.from_plain(data)


def _rest(request: bool | dict[str, Any]) -> HalfLife | Window | None:
    """How exposures are forgotten; None if they are not."""
    if isinstance(request, bool) or not request:
        return None
    rest = request.get("rest")
    if set(request) != {"rest"} or not isinstance(rest, dict):
        raise bad("audience", 'audience must be true, false or {"rest": {...}}')
    kinds: dict[str, Any] = {"half_life": HalfLife, "window": Window}
    named = [name for name in kinds if name in rest]
    if len(named) != 1 or not set(rest) <= {*named, "unit"}:
        raise bad("audience", "rest must have a half_life or a window, and perhaps a unit")
    settings = {"unit": rest["unit"]} if "unit" in rest else {}
    try:
        made: HalfLife | Window = kinds[named[0]](rest[named[0]], **settings)
        return made
    except (ValueError, TypeError) as error:
        raise bad("audience", str(error)) from None


def make_player(
    settings: Settings, policy: Any, horizon: int | None, *, compiled: bool = False
) -> Player | AudiencePlayer:
    """A new player with these settings."""
    made = _plain.from_plain(policy)
    keywords: dict[str, Any] = {
        "seed": settings.seed,
        "horizon": horizon,
        "compiled": compiled,
        "explore": settings.control,
    }
    if settings.default_reward is not None:
        # the service ends windows, in seconds; the player's own, in decisions, never ends
        keywords.update(default_reward=settings.default_reward, reward_window=int(EXACT))
    try:
        if settings.audience:
            return AudiencePlayer(
                made, settings.arms, rest=_plain.from_plain(settings.rest), **keywords
            )
        return Player(made, settings.arms, **keywords)
    except ValueError as error:
        raise Refusal("bad_request", str(error), "policy") from None


def finite(field: str, value: float) -> float:
    """The value, or a refusal if it cannot be a reward."""
    if not math.isfinite(value) or abs(value) > HUGE:
        raise bad(field, f"{field} must be a number of at most 1e100, got {value}")
    return value
