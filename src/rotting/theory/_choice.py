"""The choice of a policy, for `rotting theory` and for `policies.recommended` alike."""

from __future__ import annotations

# the league's names of the recommended policies, by the prior knowledge
CHOICES = {
    "nothing_known": "SteadyUCB",
    "family": "Guarded",
    "family_and_constants": "Guarded",
    "bernoulli": "SteadyUCB",
    "many_arms": "SteadyUCB",
}


def policy_for(*, family: bool, constants: bool = False) -> str:
    """The name of the policy to use, with or without a family of models and constants of the arms.

    The league (`docs/guides/choosing.md`) has the figures behind each choice; none has a proof.

    >>> policy_for(family=False), policy_for(family=True, constants=True)
    ('SteadyUCB', 'Guarded')
    """
    if not family:
        return CHOICES["nothing_known"]
    return CHOICES["family_and_constants" if constants else "family"]
