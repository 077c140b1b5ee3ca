"""Results and exceptions of the client, and the checks of the service's answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rotting._printable import printable

_LONGEST = 500  # characters of a message that are shown


class Choice(NamedTuple):
    """A decision of the service, or the fallback arm in its place.

    Attributes:
        id: The decision's id. It is all that `Client.reward` needs, from any process.
        arm: The label of the arm to show.
        pull: The pull number of the arm: 1 for its first showing, with an audience its first
            showing to this key. None for a fallback, and before `Client.shown` in an experiment
            with `require_shown`.
        key: The key that the decision is for; None without an audience.
        seq: The number of the decision's event in the service's log; None for a fallback.
        fallback: Whether the service was away and `arm` is the fallback. What was shown and its
            reward are then reported when the service answers again.

    >>> from rotting.client import Choice
    >>> choice = Choice("visit 1", "red", 3, key="ann", seq=7)
    >>> choice.arm, choice.fallback
    ('red', False)
    """

    id: str
    arm: str
    pull: int | None
    key: str | None = None
    seq: int | None = None
    fallback: bool = False


class Refused(ValueError):  # noqa: N818
    """The service refused a request. The same request would be refused again.

    Attributes:
        code: The kind of error in one word, such as "conflict", "not_found", "no_open_arm",
            "not_shown" or "expired".
        message: A sentence for people.
        field: The field of the request that is wrong; None if the service names none.
        status: The status of the HTTP answer; for an item of a batch that of the whole batch.

    >>> from rotting.client import Refused
    >>> try:
    ...     raise Refused("conflict", "another reward came before", "reward", 409)
    ... except Refused as error:
    ...     print(error)
    another reward came before (conflict, status 409, field reward)
    """

    def __init__(self, code: str, message: str, field: str | None, status: int) -> None:
        self.code, self.message, self.field, self.status = code, message, field, status
        about = "" if field is None else f", field {printable(field[:_LONGEST])}"
        words = printable(message[:_LONGEST])
        super().__init__(f"{words} ({printable(code[:_LONGEST])}, status {status}{about})")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.message, self.field, self.status)

    @property
    def conflict(self) -> bool:
        """Whether the name, id or decision was used before with other content."""
        return self.code == "conflict"

    @property
    def not_found(self) -> bool:
        """Whether the experiment, decision or arm does not exist."""
        return self.code == "not_found"


class PartlyRefused(Refused):
    """Some items of a batch were refused; all others were done.

    The code, message and field are those of the first refused item.

    Attributes:
        answers: One entry for each item, in order: its result, or its `Refused`.

    >>> from rotting.client import Choice, PartlyRefused, Refused
    >>> error = PartlyRefused([Choice("a", "red", 1), Refused("conflict", "id is used", "id", 200)])
    >>> [each for each in error.answers if not isinstance(each, Refused)]
    [Choice(id='a', arm='red', pull=1, key=None, seq=None, fallback=False)]
    >>> error.message
    '1 of 2 refused; item 1: id is used'
    """

    def __init__(self, answers: Sequence[Any]) -> None:
        self.answers = list(answers)
        wrong = [(n, each) for n, each in enumerate(self.answers) if isinstance(each, Refused)]
        place, first = wrong[0]
        message = f"{len(wrong)} of {len(self.answers)} refused; item {place}: {first.message}"
        super().__init__(first.code, message, first.field, first.status)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.answers,)


class Away(ConnectionError):  # noqa: N818
    """The service did not answer in time, or answered that it is unavailable.

    The request may or may not have been carried out. Repeating it with the same id is safe.

    Attributes:
        id: The id with which `Client.decide` and `Client.learn` repeat the request; None for other
            calls.
        answers: For a call in several batches, the answers received before the service was away.

    >>> from rotting.client import Away
    >>> Away("no answer after 5 tries", id="visit 1").id
    'visit 1'
    """

    def __init__(self, message: str, id: str | None = None, answers: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.id, self.answers = id, list(answers)


def refusal(error: Any, status: int) -> Refused | None:
    """The exception for the `error` object of an answer; None if it has another shape."""
    if not isinstance(error, dict):
        return None
    code, message, field = error.get("code"), error.get("message"), error.get("field")
    if not isinstance(code, str) or not isinstance(message, str):
        return None
    return Refused(code, message, field if isinstance(field, str) else None, status)


def as_object(answer: Any) -> dict[str, Any]:
    """The answer, or `Away` if it is no JSON object."""
    if not isinstance(answer, dict):
        raise Away(f"the answer must be a JSON object, got {str(answer)[:80]!r}")
    return answer


def field(answer: Mapping[str, Any], name: str, *kinds: type) -> Any:
    """A field of an answer, or `Away` if it is missing or of another type."""
    if name not in answer or type(answer[name]) not in kinds:
        raise Away(f"{name} is missing from the answer, or is no {kinds[0].__name__}")
    return answer[name]


def whole_or_refused(answers: Sequence[Any]) -> list[Any]:
    """The answers of a batch, or `PartlyRefused` if it has a refusal."""
    if any(isinstance(each, Refused) for each in answers):
        raise PartlyRefused(answers)
    return list(answers)


def each_or_refused(answers: Sequence[Any], read: Callable[[Any], Any]) -> list[Any]:
    """The answers of a batch, each read by `read`; refusals stay."""
    return [each if isinstance(each, Refused) else read(each) for each in answers]


def choice(answer: Mapping[str, Any], item: Mapping[str, Any]) -> Choice:
    """The decision in an answer, checked against the request `item`."""
    if answer.get("id") != item["id"]:
        raise Away("the answer is that of another decision")
    nothing = type(None)
    made = Choice(
        item["id"],
        field(answer, "arm", str),
        field(answer, "pull", int, nothing),
        field(answer, "key", str, nothing),
        field(answer, "seq", int),
    )
    if made.key != item.get("key"):
        raise Away("the answer is that for another key")
    if made.arm not in item.get("among", (made.arm,)):
        raise Away("the answer is an arm that is not allowed")
    return made


def applied(answer: Any) -> bool:
    """Whether a reward was applied by this answer."""
    return bool(field(as_object(answer), "applied", bool))
