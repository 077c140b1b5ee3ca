"""What the client of `rotting serve` returns and raises, and how it reads the service's answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rotting._printable import printable

_LONGEST = 500  # characters of a message that are shown


class Choice(NamedTuple):
    """A decision of the service, or the fallback arm in its place.

    id        its id, by which it is rewarded
    arm       what to show
    pull      the how-manieth showing of the arm (to the key, with an audience) this is; None before
              it was shown where that must be confirmed, and for a fallback
    key       whom it is for; None without an audience
    seq       its place among all events of the service; None for a fallback
    fallback  whether the service was away and this is the fallback arm; what was shown, and its
              reward, are reported when the service answers again
    """

    id: str
    arm: str
    pull: int | None
    key: str | None = None
    seq: int | None = None
    fallback: bool = False


class Refused(ValueError):  # noqa: N818
    """The service refused what was asked; asking again gives the same answer.

    code     a word, as "conflict", "not_found", "no_open_arm", "not_shown", "expired"
    message  a sentence
    field    which field of the body it is about, if it says so
    status   of the HTTP answer; of an item of a batch, that of the whole
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
        """Whether the same name, id or decision was used before for something else."""
        return self.code == "conflict"

    @property
    def not_found(self) -> bool:
        """Whether there is no such experiment, decision or arm."""
        return self.code == "not_found"


class PartlyRefused(Refused):
    """Some items of a batch were refused; all others were done.

    `answers` has one entry an item, in order: what it would have returned, or its `Refused`. The
    code, message and field are those of the first that was refused.
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
    """The service did not answer in time, or said that it cannot answer now.

    What was asked may or may not have been done, and may be asked again with the same id.

    id       of the decision, reward or history that was asked for, to repeat it with
    answers  of a call in several batches: what came back before the service was away
    """

    def __init__(self, message: str, id: str | None = None, answers: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.id, self.answers = id, list(answers)


def refusal(error: Any, status: int) -> Refused | None:
    """The exception for the `error` of an answer; None if it is not shaped like one."""
    if not isinstance(error, dict):
        return None
    code, message, field = error.get("code"), error.get("message"), error.get("field")
    if not isinstance(code, str) or not isinstance(message, str):
        return None
    return Refused(code, message, field if isinstance(field, str) else None, status)


def as_object(answer: Any) -> dict[str, Any]:
    """The answer, if it is a JSON object."""
    if not isinstance(answer, dict):
        raise Away(f"the answer must be a JSON object, got {str(answer)[:80]!r}")
    return answer


def field(answer: Mapping[str, Any], name: str, *kinds: type) -> Any:
    """A field of an answer, if it is there and of one of these kinds."""
    if name not in answer or type(answer[name]) not in kinds:
        raise Away(f"{name} is missing from the answer, or is no {kinds[0].__name__}")
    return answer[name]


def whole_or_refused(answers: Sequence[Any]) -> list[Any]:
    """The answers of a batch, if none was refused."""
    if any(isinstance(each, Refused) for each in answers):
        raise PartlyRefused(answers)
    return list(answers)


def each_or_refused(answers: Sequence[Any], read: Callable[[Any], Any]) -> list[Any]:
    """What `read` makes of those answers of a batch that are no refusals."""
    return [each if isinstance(each, Refused) else read(each) for each in answers]


def choice(answer: Mapping[str, Any], item: Mapping[str, Any]) -> Choice:
    """The answer to the body that asked for a decision."""
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
    """What an answer says of a reward: whether it was applied now."""
    return bool(field(as_object(answer), "applied", bool))
