"""Twin of a bandit for each key: other keys' events do not matter."""

from twins.common import History


def own_history(history: History, keys: list[int], key: int) -> History:
    """Return what happened in the rounds of one key; `keys` are those of all rounds so far."""
    return [event for event, who in zip(history, keys, strict=True) if who == key]
