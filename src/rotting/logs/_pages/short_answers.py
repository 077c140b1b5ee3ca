"""The verdicts in a few words, for the table at the top of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rotting.logs._diagnosis.diagnosis import Diagnosis

_SHORT = {  # by a part's code, where the code itself is not the answer
    "cannot-tell": "cannot tell",
    "nobody-leaves": "no: hardly any key leaves",
    "no-keys": "cannot tell: there are no keys",
    "no-times": "cannot tell: no times",
    "not-shown": "not shown",
    "nothing-to-recover": "there is no fall to recover from",
    "power": "gradual, steepest at first",
    "exponential": "fast at first, then it settles",
    "step": "one step down",
    "constant": "no clear shape",
    "unknown": "not known",
}
_CALENDAR = {  # (it falls with exposure, the calendar moves it)
    (True, True): "both",
    (True, False): "use",
    (False, True): "the calendar",
    (False, False): "neither was shown",
}


def short(diagnosis: Diagnosis, name: str) -> str:
    part = diagnosis[name]
    if name == "cost":
        share = 100.0 * part.evidence.get("share", 0.0)
        paid = f"{share:.0f} % of what first showings would have paid"
        return paid if part.code == "yes" else _SHORT.get(part.code, "no cost was shown")
    if name == "calendar" and part.code in ("yes", "no"):
        return _CALENDAR[diagnosis["exposure"].code == "yes", part.code == "yes"]
    if name == "selection" and part.code == "yes":
        falls = diagnosis["exposure"].code == "yes"
        return f"{'in part' if falls else 'those who left differ'}; it is accounted for"
    if name == "shape" and part.code == "none":
        return "no fall was shown"
    return _SHORT.get(part.code, part.code)
