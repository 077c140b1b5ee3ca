"""What to do after a diagnosis: sentences, and lines of Python that run, for each verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rotting.logs._diagnosis import codes

if TYPE_CHECKING:
    from rotting.logs._diagnosis.diagnosis import Diagnosis

_WIDE = 76  # characters of a line
_MEMORIES = 10  # effective lengths of a discounting policy's memory in the log


class NextSteps(NamedTuple):
    """Sentences on what to do, and lines of Python that make the policy."""

    sentences: list[str]
    lines: list[str]


def next_steps(diagnosis: Diagnosis, recommended: Sequence[str] = ()) -> NextSteps:
    """The next steps; `recommended` are lines of a fit that make `policy`."""
    facts = diagnosis["contents"].evidence
    keys, clicks = facts["keys"] is not None, facts["rewards"] == "zeros and ones"
    code = diagnosis.overall
    sentences, made = _for(code, diagnosis, keys, clicks)
    if recommended and code in (codes.ROTS, codes.BOTH, codes.UNKNOWN):
        why = [line.removeprefix("# ") for line in recommended if line.startswith("# ")]
        sentences, made = [*sentences, *why], [x for x in recommended if not x.startswith("# ")]
    return NextSteps(sentences, [*made, *_played(diagnosis, keys, clicks)])


def _for(code: str, diagnosis: Diagnosis, keys: bool, clicks: bool) -> tuple[list[str], list[str]]:
    facts = diagnosis["contents"].evidence
    if code == codes.STAYS:
        said = [
            "Showing it again costs nothing that matters, so no caps are needed: an ordinary "
            "bandit finds the best arm and stays with it."
        ]
        return said, _simple(facts, clicks)
    if code == codes.CALENDAR:
        said = [
            "Caps would not help: rewards move with the date, not with the number of showings. "
            "Refresh what you show by date, and use a policy that discounts old rewards.",
            f"The memory of this one is about 1/{_MEMORIES} of the log.",
        ]
        return said, _forgetful(facts, clicks)
    if code == codes.RECOVERS:
        return _resting(diagnosis, keys, clicks)
    said = []
    if code == codes.UNKNOWN:
        said = [diagnosis.advice] if diagnosis.advice else []
        said.append(
            "Until that is known, this policy is safe: it learns from new rewards whether arms "
            "wear out, and plays like an ordinary bandit if they do not."
        )
    elif keys:
        said.append(
            "Instead of one cap for everything, let a policy learn each arm's curve and turn to "
            "another arm for each key when this one is worn out."
        )
    else:
        said.append("Use a policy that notices when an arm is worn out, and turns to another one.")
    if code == codes.BOTH:
        said.append(
            "The calendar moves rewards, too: have new arms ready at a date, and diagnose a new "
            "log then."
        )
    if code == codes.ROTS and diagnosis.advice:
        said.append(diagnosis.advice)
    return said, _recommended(keys, clicks)


def _recommended(keys: bool, clicks: bool) -> list[str]:
    """The policy that `policies.recommended` gives."""
    if keys:
        made = "policies.Fatigue()" if clicks else 'policies.Fatigue("gaussian")'
    else:
        made = "policies.SteadyUCB(sigma=None)"
    return ["from rotting import policies", "", f"policy = {made}"]


def _simple(facts: Mapping[str, Any], clicks: bool) -> list[str]:
    inside = "" if clicks else f"sigma={facts['scatter']:.4g}"
    return ["from rotting import policies", "", f"policy = policies.Thompson({inside})"]


def _forgetful(facts: Mapping[str, Any], clicks: bool) -> list[str]:
    gamma = 1.0 - 1.0 / max(10.0, facts["rows"] / _MEMORIES)
    made = f"policies.DTS(gamma={gamma:.6g}, sigma={facts['scatter']:.4g})"
    return ["from rotting import policies", "", f"policy = {made}"]


def _resting(diagnosis: Diagnosis, keys: bool, clicks: bool) -> tuple[list[str], list[str]]:
    """Half-lives in rounds: the number of the log's showings in that time."""
    facts = diagnosis["contents"].evidence
    days = diagnosis["recovery"].evidence.get("half_life_days")
    if not keys or not days or not facts["days"]:
        said = ["Give arms a rest: rewards recover with rest."]
        return said, _recommended(keys, clicks)
    rounds = max(1, round(days * facts["rows"] / facts["days"]))
    said = [
        "Give each key a rest from an arm rather than dropping it: rewards recover with rest. With "
        f"this policy a showing counts half after {rounds:,} decisions over all keys, which is "
        f"{days:.2g} days at this log's pace.",
        "If you must use caps, let them expire: policies.Capped(policies.Thompson(), cap=3, "
        f"rest=Window({rounds})), three showings in that number of decisions.",
    ]
    inside = "" if clicks else '"gaussian", '
    return said, [
        "from rotting import HalfLife, policies",
        "",
        f'policy = policies.Fatigue({inside}rest=HalfLife({rounds}, "rounds"))',
    ]


def _played(diagnosis: Diagnosis, keys: bool, clicks: bool) -> list[str]:
    """Lines that make a player of the policy and use it."""
    facts = diagnosis["contents"].evidence
    own = list(facts["arm_names"])
    others = "" if len(own) == facts["arms"] else f"  # and {facts['arms'] - len(own):,} more"
    paid = (
        "reward=1.0)  # or 0.0: a showing that did not pay is a zero" if clicks else "reward=2.5)"
    )
    made, chosen = "player = policy.online(arms)", "showing = player.select()  # what to show now"
    if keys:
        made = "player = policy.audience(arms)"
        chosen = 'showing = player.select("user 17")  # what to show to this key now'
    return [*_listed(own, others), made, chosen, f"player.update(showing, {paid}"]


def _listed(names: list[str], comment: str) -> list[str]:
    line = f"arms = {names!r}{comment}"
    if len(line) <= _WIDE:
        return [line]
    return [f"arms = [{comment}", *(f"    {name!r}," for name in names), "]"]
